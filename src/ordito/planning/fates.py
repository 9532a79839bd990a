"""What becomes of an instance by a plan, and which of its chains that asks for."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import NamedTuple


class Fate(StrEnum):
    """What becomes of an instance."""

    NEW = "is made"
    CONTINUE = "is continued"
    KEEP = "stays as it is"
    LOOK = "is looked at"
    RUN = "has an operation run on it"
    LEAVE = "is removed"
    DROP = "was never started, so that only its record is removed"
    ANEW = "is removed and made again under its id"
    STOP = "is stopped"
    START = "is started"
    RESTART = "is stopped and started"
    RECONFIGURE = "is stopped, configured and started"
    UPDATE = "is changed by its own operation for that"


class Down(StrEnum):
    """How far a plan takes an instance down, before it takes it up again, if it does."""

    NONE = ""
    STOP = "started to configured"
    REMOVE = "to deleted"


class Up(StrEnum):
    """How a plan takes an instance up."""

    NONE = ""
    START = "configured to started"
    CONFIGURE = "created, or configured, to started"
    UPDATE = "started to started"
    MAKE = "from nothing, or from where it got to, to started"


class Halves(NamedTuple):
    """The two chains that an instance can have in one plan; the one up begins when the one down has ended, well or
    not."""

    down: Down
    up: Up


HALVES: Mapping[Fate, Halves] = {
    Fate.NEW: Halves(Down.NONE, Up.MAKE),
    Fate.CONTINUE: Halves(Down.NONE, Up.MAKE),
    Fate.KEEP: Halves(Down.NONE, Up.NONE),
    Fate.LOOK: Halves(Down.NONE, Up.NONE),
    Fate.RUN: Halves(Down.NONE, Up.NONE),
    Fate.LEAVE: Halves(Down.REMOVE, Up.NONE),
    Fate.DROP: Halves(Down.REMOVE, Up.NONE),
    Fate.ANEW: Halves(Down.REMOVE, Up.MAKE),
    Fate.STOP: Halves(Down.STOP, Up.NONE),
    Fate.START: Halves(Down.NONE, Up.START),
    Fate.RESTART: Halves(Down.STOP, Up.START),
    Fate.RECONFIGURE: Halves(Down.STOP, Up.CONFIGURE),
    Fate.UPDATE: Halves(Down.NONE, Up.UPDATE),
}
"""What each fate means for an instance's chains."""

CHANGED = frozenset({Fate.RESTART, Fate.RECONFIGURE, Fate.UPDATE, Fate.ANEW})
"""What becomes of instances that are there, stay, and are changed."""

GOING = frozenset({Fate.LEAVE, Fate.DROP})
FALLING = frozenset(fate for fate, halves in HALVES.items() if halves.down)
RISING = frozenset(fate for fate, halves in HALVES.items() if halves.up)
