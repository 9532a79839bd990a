"""Which service a command is about: the one that is named, or that of the ensemble, or that of a directory."""

from __future__ import annotations

import msgspec

from ordito.app.given_inputs import GivenInputs
from ordito.app.spec.inputs import GatheredInputs, gather_inputs, read_given
from ordito.base.diagnostics import Diagnostic, Diagnostics, InvalidDocument, Severity

NO_INPUTS = GivenInputs()

OF_THE_WORLD = frozenset({"unset-variable", "missing-file", "missing-secret"})
"""What stands elsewhere and is not there: no fault of a document that is only looked at."""


class ChosenService(msgspec.Struct, frozen=True):
    """A service's path, the values of inputs that its ensemble and the command give, and what was found in them."""

    path: str
    inputs: GatheredInputs = GatheredInputs()
    found: tuple[Diagnostic, ...] = ()


def chosen_service(
    given: str, directory: str, diagnostics: Diagnostics, inputs: GivenInputs = NO_INPUTS
) -> ChosenService:
    """The service that is ``given``; without one that of the ensemble in ``directory``, or where there is none the one
    that lies there. Raises ``InvalidDocument`` where the ensemble's file holds errors."""
    found = Diagnostics()
    if given:
        asked = read_given(inputs, found)
        return ChosenService(given, GatheredInputs(asked=asked, values=asked), tuple(found))
    from ordito.app.place import place_of
    from ordito.app.spec.reading import evaluation_of
    from ordito.app.user_part import read_user_part

    place = place_of(directory)
    user = read_user_part(place.layout, place.manifest, diagnostics)
    if diagnostics.has_errors:
        raise InvalidDocument(diagnostics.sorted())
    gathered = gather_inputs(user.inputs, {}, inputs, evaluation_of(place, found), found)
    path = user.service_path(place.layout, place.shown) if user.service else place.shown
    return ChosenService(path, gathered, tuple(_weighed(d) for d in found))


def _weighed(found: Diagnostic) -> Diagnostic:
    if found.code not in OF_THE_WORLD:
        return found
    return msgspec.structs.replace(found, severity=Severity.WARNING)
