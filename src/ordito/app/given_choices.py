"""What one command chooses where a service leaves a choice."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec


class GivenChoices(msgspec.Struct, frozen=True):
    """What one command gives: the path of a service whose nodes exist already, "" for none, and by node template the
    topology that substitutes it; and the codes of findings with which it goes on (``base.allowable``)."""

    inventory: str = ""
    substitutes: Mapping[str, str] = {}
    allow: tuple[str, ...] = ()
