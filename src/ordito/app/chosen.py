"""Which service a command is about: the one that is named, or that of the ensemble, or that of a directory."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from ordito.base.diagnostics import Diagnostics, InvalidDocument
from ordito.source.nodes import Node


class ChosenService(msgspec.Struct, frozen=True):
    """A service's path, and the located values of inputs that its ensemble gives."""

    path: str
    inputs: Mapping[str, Node] = {}


def chosen_service(given: str, directory: str, diagnostics: Diagnostics) -> ChosenService:
    """The service that is ``given``; without one that of the ensemble in ``directory``, or where there is none the one
    that lies there. Raises ``InvalidDocument`` where the ensemble's file holds errors."""
    if given:
        return ChosenService(given)
    from ordito.app.place import place_of
    from ordito.app.user_part import read_user_part

    place = place_of(directory)
    user = read_user_part(place.layout, place.manifest, diagnostics)
    if diagnostics.has_errors:
        raise InvalidDocument(diagnostics.sorted())
    return ChosenService(user.service_path(place.layout, place.shown) if user.service else place.shown, user.inputs)
