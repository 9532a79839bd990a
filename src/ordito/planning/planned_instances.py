"""The instances in the draft of a plan: the action for each, and its chains of steps."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import NamedTuple

import msgspec

from ordito.instances.lifecycle import Stage
from ordito.instances.records import Applied, Instance
from ordito.instances.states import STARTED
from ordito.instances.status import OPERATIONAL, UNKNOWN
from ordito.model.service import NodeTemplate
from ordito.work.plan import Action, ChangeCause, ChangeKind, Difference, Gate, StepCondition


class InstanceAction(StrEnum):
    """What becomes of an instance."""

    NEW = "is made"
    CONTINUE = "is continued"
    KEEP = "stays as it is"
    LOOK = "is looked at"
    RUN = "has an operation run on it"
    LEAVE = "is removed"
    DROP = "was never started, so that only its record is removed"
    REPLACE = "is removed and made again under its id"
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


class DownUp(NamedTuple):
    """The two chains that an instance can have in one plan; the one up begins when the one down has ended, whether or
    not it succeeded."""

    down: Down
    up: Up


DOWN_UP: Mapping[InstanceAction, DownUp] = {
    InstanceAction.NEW: DownUp(Down.NONE, Up.MAKE),
    InstanceAction.CONTINUE: DownUp(Down.NONE, Up.MAKE),
    InstanceAction.KEEP: DownUp(Down.NONE, Up.NONE),
    InstanceAction.LOOK: DownUp(Down.NONE, Up.NONE),
    InstanceAction.RUN: DownUp(Down.NONE, Up.NONE),
    InstanceAction.LEAVE: DownUp(Down.REMOVE, Up.NONE),
    InstanceAction.DROP: DownUp(Down.REMOVE, Up.NONE),
    InstanceAction.REPLACE: DownUp(Down.REMOVE, Up.MAKE),
    InstanceAction.STOP: DownUp(Down.STOP, Up.NONE),
    InstanceAction.START: DownUp(Down.NONE, Up.START),
    InstanceAction.RESTART: DownUp(Down.STOP, Up.START),
    InstanceAction.RECONFIGURE: DownUp(Down.STOP, Up.CONFIGURE),
    InstanceAction.UPDATE: DownUp(Down.NONE, Up.UPDATE),
}
"""What each action means for an instance's chains."""

CHANGED = frozenset({InstanceAction.RESTART, InstanceAction.RECONFIGURE, InstanceAction.UPDATE, InstanceAction.REPLACE})
"""The actions of existing instances that stay and are changed."""

GOING = frozenset({InstanceAction.LEAVE, InstanceAction.DROP})
FALLING = frozenset(action for action, ways in DOWN_UP.items() if ways.down)
RISING = frozenset(action for action, ways in DOWN_UP.items() if ways.up)


class DraftStep(msgspec.Struct, gc=False):
    """A step that may still change. ``owner`` is the instance whose chain it belongs to, ``key`` its key in the record;
    ``done`` says that the record shows it as carried out, so that it only keeps the order."""

    id: str
    action: Action
    owner: str = ""
    instance: str = ""
    far: str = ""
    link: str = ""
    call: int = -1
    runs_on: str = ""
    stage: Stage | None = None
    after_failure: bool = False
    reason: int = 0
    enter: str = ""
    leave: str = ""
    opens: bool = False
    closes: bool = False
    done: bool = False
    optional: bool = False
    non_blocking: bool = False
    replaces: bool = False
    condition: StepCondition = StepCondition.ALWAYS
    gate: Gate = Gate.NONE
    counts: bool = False
    written: tuple[str, ...] = ()
    hook: int = -1
    barrier: bool = False
    forms: bool = False


class Chain:
    """The steps of one instance: ``begin`` is the first, ``end`` the last; ``steps`` are all of them that work, in
    order. It was made with ``made`` steps, without the first ``offset`` places of its sequence. What is to come between
    them is gathered in ``between``, by its place among them, as steps with the reasons why each waits for the one
    before; ``Draft.weave`` inserts it. ``first_edge`` is the place of the edge from the first of them to the second."""

    __slots__ = ("begin", "between", "end", "first_edge", "made", "offset", "steps")

    def __init__(self, steps: list[int], *, first_edge: int = 0, offset: int = 0) -> None:
        self.steps = steps
        self.begin = steps[0]
        self.end = steps[-1]
        self.first_edge = first_edge
        self.made = len(steps)
        self.offset = offset
        self.between: dict[int, list[tuple[int, int]]] | None = None


UNCHANGED, NO_CAUSE = ChangeKind.UNCHANGED, ChangeCause.NONE
NOTHING: Mapping[str, tuple[object, object]] = {}
NO_APPLIED: Mapping[str, Applied] = {}
NO_NAMES: frozenset[str] = frozenset()


class PlannedInstance:
    """One instance in the draft: its record, as it is or will be made, and its action with the reason."""

    __slots__ = (
        "action",
        "adopted",
        "cause",
        "changed",
        "differences",
        "done",
        "down",
        "dropped",
        "is_broken",
        "is_conditional",
        "is_lost",
        "is_meant",
        "is_nested",
        "is_taken_back",
        "kind",
        "presumed",
        "reason",
        "record",
        "repaired",
        "template",
        "turn",
        "undone",
        "undone_first",
        "up",
        "was_on",
    )

    def __init__(self, record: Instance, template: NodeTemplate, action: InstanceAction, reason: str) -> None:
        self.record = record
        self.template = template
        self.action = action
        self.reason = reason
        self.cause: ChangeCause = NO_CAUSE

        #: It is gone already, so that nothing takes it down.
        self.is_lost = False
        #: The chain that stops or removes it.
        self.down: Chain | None = None
        #: The chain that makes or starts it; of one that stays as it is a join at which others wait for it, together
        #: with the links that it is given.
        self.up: Chain | None = None
        #: How many of the operations that make it were carried out already, in their order.
        self.done = 0
        #: The steps that undo links of an instance that does not go down, or roll back what a job did to it
        #: (``is_taken_back``), and those of them that follow no other.
        self.undone: list[int] = []
        self.undone_first: list[int] = []
        self.is_taken_back = False

        #: Its class in a deployment or an upgrade, and what differs from what was carried out.
        self.kind: ChangeKind = UNCHANGED
        self.differences: tuple[Difference, ...] = ()
        #: The values by which it is to be updated, with what they were and are.
        self.changed: Mapping[str, tuple[object, object]] = NOTHING
        #: What is recorded of it without being carried out.
        self.adopted: Mapping[str, Applied] = NO_APPLIED
        #: The relationships that linked it and are not wanted any more.
        self.dropped: frozenset[str] = NO_NAMES
        #: The host that it leaves, where ``record`` has the one to which it moves.
        self.was_on: str | None = None
        #: How many instances of its node take their turn before it.
        self.turn = 0
        #: It goes down before something that it requires, or is hosted on, and comes up after that.
        self.is_nested = False

        #: It was asked for to be stopped or started, or goes with one that was, whether or not it has to be: what has
        #: failed of its pairs is carried out again.
        self.is_meant = False
        #: What is done with it is left out where the job finds that it is not needed.
        self.is_conditional = False
        #: It is replaced only because it does not work.
        self.is_broken = False
        #: It counts as up, is asked first, and all that relies on it is left out where it says otherwise.
        self.presumed = False
        #: The first and the last of the steps that repair it before all else.
        self.repaired: tuple[int, int] | None = None

    @property
    def id(self) -> str:
        """The instance's id."""
        return self.record.id

    def on(self, *, falls: bool = False) -> str:
        """The id of its host, "" for none; what takes it down (``falls``) is done on its host from before it moves."""
        return self.was_on if falls and self.was_on is not None else self.record.host

    @property
    def goes(self) -> bool:
        """Whether it will not exist any more."""
        return self.action in GOING

    @property
    def falls(self) -> bool:
        """Whether it is stopped or removed, after its links are undone."""
        return self.action in FALLING

    @property
    def rises(self) -> bool:
        """Whether it is created or started."""
        return self.action in RISING

    @property
    def is_up(self) -> bool:
        """Whether it works in the end, if everything succeeds; for one that stays as it is, whether it was started and
        nothing worse is known."""
        if self.rises or self.falls:
            return self.rises
        return self.presumed or self.was_up

    @property
    def is_looked_at(self) -> bool:
        """Whether it exists, and is changed only if a check finds it not to be ok."""
        return self.is_conditional and self.was_up and self.action in (InstanceAction.RESTART, InstanceAction.REPLACE)

    @property
    def is_down_already(self) -> bool:
        """Whether it exists, is not up, and is continued by what brings it up."""
        return self.action is InstanceAction.CONTINUE and self.record.exists and not self.was_up

    @property
    def was_up(self) -> bool:
        """Whether it was started, and nothing worse is known, before anything is done with it."""
        return self.record.local in OPERATIONAL or (self.record.local == UNKNOWN and self.record.state == STARTED)
