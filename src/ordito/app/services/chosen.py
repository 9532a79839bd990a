"""Which service a command is about: the one that is named, or that of the ensemble, or that of a directory."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import msgspec

from ordito.app.given_inputs import GivenInputs
from ordito.app.place import Place, place_of
from ordito.app.spec.environments import Environment
from ordito.app.spec.inputs import GatheredInputs, gather_inputs, read_given
from ordito.base.diagnostics import Diagnostic, Diagnostics, InvalidDocument, Severity

NO_INPUTS = GivenInputs()

OF_THE_WORLD = frozenset({"unset-variable", "missing-file", "missing-secret"})
"""What stands elsewhere and is not there: no fault of a document that is only looked at."""


class InEnvironment(msgspec.Struct, frozen=True):
    """What an ensemble says in one environment: the values of inputs, with those that the command gives, and what was
    found in them."""

    environment: Environment = Environment()
    inputs: GatheredInputs = GatheredInputs()
    found: tuple[Diagnostic, ...] = ()


class ChosenService(msgspec.Struct, frozen=True):
    """A service's path, and what its ensemble says in the environment that is chosen. ``others`` says the same for all
    others; ``place`` is that of the ensemble, None where a service was named."""

    path: str
    chosen: InEnvironment = InEnvironment()
    place: Place | None = None
    others: Callable[[], Iterator[InEnvironment]] = lambda: iter(())

    @property
    def inputs(self) -> GatheredInputs:
        """The values of inputs in the environment that is chosen."""
        return self.chosen.inputs


def chosen_service(
    given: str,
    directory: str,
    diagnostics: Diagnostics,
    inputs: GivenInputs = NO_INPUTS,
    environment: str | None = None,
) -> ChosenService:
    """The service that is ``given``; without one that of the ensemble in ``directory``, or where there is none the one
    that lies there. Raises ``InvalidDocument`` where the ensemble's file holds errors."""
    found = Diagnostics()
    if given:
        asked = read_given(inputs, found)
        gathered = GatheredInputs(asked=asked, values=asked)
        return ChosenService(given, InEnvironment(inputs=gathered, found=tuple(found)))
    from ordito.app.user_part import read_user_part
    from ordito.ensemble.given_service import given_service

    place = place_of(directory)
    user = read_user_part(place.layout, place.manifest, diagnostics)
    if diagnostics.has_errors:
        raise InvalidDocument(diagnostics.sorted())
    user = user.with_given(given_service(place.layout))
    chosen = user.environments.choose(environment, None, place.manifest)
    names = [name for name in user.environments.by_name if name != chosen.name]
    path = user.service_path(place.layout, place.shown) if user.service else place.shown
    return ChosenService(
        path,
        _within(chosen, place, inputs),
        place,
        lambda: (_within(user.environments.get(name), place, inputs) for name in names),
    )


def _within(environment: Environment, place: Place, inputs: GivenInputs) -> InEnvironment:
    from ordito.app.spec.reading import evaluation_of

    found = Diagnostics()
    gathered = gather_inputs(environment, {}, inputs, evaluation_of(place, found, environment), found)
    return InEnvironment(environment, gathered, tuple(map(weighed, found)))


def weighed(found: Diagnostic) -> Diagnostic:
    """A finding where things are only looked at: that something is not there on this machine is no error then."""
    if found.code not in OF_THE_WORLD:
        return found
    return msgspec.structs.replace(found, severity=Severity.WARNING)
