"""The service that a command is about: the named one, or that of the ensemble, or that of a directory."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

import msgspec

from ordito.app.inputs.environments import Environment
from ordito.app.inputs.gathered import GatheredInputs, gather_inputs, read_given
from ordito.app.place import Place, place_of
from ordito.app.requests import ChoiceOptions, GivenInputs
from ordito.app.services.read import ReadService, network, read_service
from ordito.app.services.step_blocks import StepSources
from ordito.base.diagnostics import Diagnostic, Diagnostics, InvalidDocument, Severity
from ordito.model.choices import Choices
from ordito.model.circumstances import Circumstances
from ordito.model.resolve import resolve_service
from ordito.model.service import Service
from ordito.source.opening import open_package
from ordito.work.options import HookOptions

NO_INPUTS = GivenInputs()

OF_THE_WORLD = frozenset({"unset-variable", "missing-file", "missing-secret"})
"""Findings about values in other places that are missing: no errors for a document that is only inspected."""


class InEnvironment(msgspec.Struct, frozen=True):
    """The inputs in one environment of an ensemble, with those of the command, and the findings about them."""

    environment: Environment = Environment()
    inputs: GatheredInputs = GatheredInputs()
    found: tuple[Diagnostic, ...] = ()


class ChosenService(msgspec.Struct, frozen=True):
    """The path of a service, and the inputs in the chosen environment of its ensemble. ``others`` gives the same for
    all other environments; ``place`` is that of the ensemble, None if a service was named."""

    path: str
    chosen: InEnvironment = InEnvironment()
    place: Place | None = None
    others: Callable[[], Iterator[InEnvironment]] = lambda: iter(())

    @property
    def inputs(self) -> GatheredInputs:
        """The values of inputs in the chosen environment."""
        return self.chosen.inputs


def chosen_service(
    given: str,
    directory: str,
    diagnostics: Diagnostics,
    inputs: GivenInputs = NO_INPUTS,
    environment: str | None = None,
) -> ChosenService:
    """The ``given`` service; without one, that of the ensemble in ``directory``, or the service in that directory.
    Raises ``InvalidDocument`` if the ensemble's file has errors."""
    found = Diagnostics()
    if given:
        asked = read_given(inputs, found)
        gathered = GatheredInputs(asked=asked, values=asked)
        return ChosenService(given, InEnvironment(inputs=gathered, found=tuple(found)))
    from ordito.app.inputs.user_part import read_user_part
    from ordito.ensemble.pins import given_service

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
    from ordito.app.inputs.variables import evaluation_of

    found = Diagnostics()
    gathered = gather_inputs(environment, {}, inputs, evaluation_of(place, found, environment), found)
    return InEnvironment(environment, gathered, tuple(map(weighed, found)))


def weighed(found: Diagnostic) -> Diagnostic:
    """A finding for a document that is only inspected: that something is missing on this machine is no error then."""
    if found.code not in OF_THE_WORLD:
        return found
    return msgspec.structs.replace(found, severity=Severity.WARNING)


# What a service is resolved with because of what a command gives and what was chosen before.


def circumstances_of(
    given: ChoiceOptions,
    inputs: Mapping[str, object],
    earlier: Choices,
    diagnostics: Diagnostics,
    *,
    final: bool,
    hosts: Callable[[], Service] | None = None,
) -> Circumstances:
    """What a service is resolved with: given values of ``inputs``, and choices; those made ``earlier`` are valid unless
    the command makes others. Without an inventory, ``hosts`` gives one. Raises ``InvalidDocument`` if the inventory has
    errors."""
    return Circumstances(
        inputs=inputs,
        inventory=_inventory(given.inventory, diagnostics) if given.inventory else None,
        hosts=hosts,
        choices=msgspec.structs.replace(earlier, substitutes={**earlier.substitutes, **given.substitutes}),
        final=final,
        allowed=frozenset(given.allow),
    )


def check_choices(given: ChoiceOptions, service: Service, diagnostics: Diagnostics) -> None:
    """Raise ``InvalidDocument`` if a command chooses a topology for a node that does not exist."""
    known = {*service.nodes, *service.substituted}
    unknown = [name for name in given.substitutes if name not in known]
    for name in unknown:
        diagnostics.unknown("unknown-node", "node template", name, None, known, note="--substitute names it")
    if unknown:
        raise InvalidDocument(diagnostics.sorted())


def _inventory(path: str, diagnostics: Diagnostics) -> Service:
    """The service at a path, as an inventory. Notes about it are not repeated."""
    found = Diagnostics()
    package = open_package(path, found)
    service = resolve_service(package, found) if package is not None else None
    if service is None:
        diagnostics.extend(found)
        raise InvalidDocument(diagnostics.sorted())
    return service


# Reading the service that a command looks at and does nothing with, as far as its choices are made.


def look_at(
    service: str,
    directory: str,
    choices: ChoiceOptions,
    diagnostics: Diagnostics,
    *,
    fetch: bool,
    hooks: HookOptions | None = None,
) -> ReadService:
    """The named service, or the one that ``chosen_service`` finds; ``hooks`` say where lifecycle steps and their blocks
    are, None to ignore them. Raises ``InvalidDocument``."""
    chosen = chosen_service(service, directory, diagnostics)
    circumstances = circumstances_of(choices, chosen.inputs.values, Choices(), diagnostics, final=False)
    sources = StepSources(project=directory, looked_past=True)
    if hooks is not None:
        sources = StepSources(hooks.catalogs, hooks.lifecycle, directory)
    read = read_service(chosen.path, diagnostics, network(fetch), circumstances, sources)
    check_choices(choices, read.service, diagnostics)
    return read
