"""What the end of a step means: one decision, as tables of which the first row that fits is taken.

``ENDS`` says what has ended. Where that is an operation of an instance or of a pair, the other tables say what comes of
it: ``EFFECTS`` which records change, ``EVENTS`` what has happened (``LOCAL_AFTER`` has the status after that),
``STATUSES`` whether something else says more of the status, ``STATES`` the node state, and ``COUNTS`` what counts as
carried out. Nothing here looks at records, or changes them: ``end_effects`` finds the facts, and does what is decided.
"""

from __future__ import annotations

from enum import StrEnum
from functools import lru_cache
from typing import Generic, TypeVar

import msgspec

from ordito.instances.status import StatusEvent
from ordito.work.plan import StepCondition

Result = TypeVar("Result")
Facts = TypeVar("Facts")


class StepKind(StrEnum):
    """What a step is, as far as its end is concerned."""

    ORDER = "a join, or a filter"
    ADOPT = "an instance takes over what is wanted of it"
    WORKFLOW = "a workflow that an artifact implements"
    OUTPUT = "an output of a workflow"
    SET_STATE = "a node state that a workflow sets"
    CHECK = "a check"
    OPERATION = "an operation, or what a provider does"


class Ended(StrEnum):
    """How a step has ended, in short."""

    WELL = "well"
    BADLY = "not well"
    NEVER_STARTED = "it never started"


class Modified(StrEnum):
    """What an operation has reported about having modified its instance."""

    YES = "it says that it has modified the instance"
    NO = "it says that it has modified nothing"
    UNSAID = "it says nothing of what it has modified"


class StepEnd(msgspec.Struct, frozen=True):
    """The facts by which it is decided what has ended. None means in a row that it does not matter, and of the end of
    a step that nobody has asked."""

    kind: StepKind | None = None
    ended: Ended | None = None

    condition: StepCondition | None = None
    """The condition of the step, where it is one that is looked at in the end."""

    holds: bool | None = None
    """Whether that condition holds."""

    host_lost: bool | None = None
    """Whether what it is about is a host that cannot be reached, or runs on one."""

    of_pair: bool | None = None
    removes: bool | None = None
    """Whether its instance is ``deleted`` afterwards."""

    is_there: bool | None = None
    """Whether its instance exists."""

    answered: bool | None = None
    """Whether a check has said by its end how the instance is."""

    dispensable: bool | None = None
    """Whether what follows goes on without it."""


class Change(StrEnum):
    """What the end of a step changes, or how it ends instead."""

    NOTHING = "nothing"
    ADOPTED = "what is wanted of the instance counts as carried out"
    OUTPUTS_WRITTEN = "attributes, to which the outputs of the workflow are mapped"
    OUTPUT_WRITTEN = "the attribute to which the output is mapped"
    PAIR_STATE_SET = "the state of the pair"
    STATE_SET = "the node state, and the status that it stands for"
    REMOVED = "the instance and what it hosts are `absent`, their pairs are forgotten"
    FOUND = "status, state and attributes, as they were found"
    NOT_KNOWN = "the status is `unknown`"
    HOST_AWAY = "it has failed: the host cannot be reached"
    NOT_REPAIRED = "it has failed: the instance is not well"
    NOT_HEALED = "it has failed: the instance is not well in the end"
    NOT_THERE = "it has failed: the instance is not there"
    OPERATION_ENDED = "what the tables below say"


class OperationEnd(msgspec.Struct, frozen=True):
    """The facts by which it is decided what comes of the end of an operation. None means in a row that it does not
    matter."""

    ended: Ended | None = None
    of_pair: bool | None = None

    applies: bool | None = None
    """Whether what it carries out counts as deployed."""

    modified: Modified | None = None
    closes: bool | None = None
    """Whether it is the last one of what makes, changes or removes its instance."""

    completes: bool | None = None
    """Whether its instance is complete with it: it closes its chain, or makes good what had failed last."""

    lacks: bool | None = None
    """Whether an optional operation of the instance has failed that was not made good."""

    dispensable: bool | None = None
    """Whether the instance can do without it."""

    runs_after_failure: bool | None = None
    """Whether it runs whatever became of the steps before it."""

    heals: bool | None = None
    """Whether it was to heal an instance that is not well."""

    is_well: bool | None = None
    """Whether its instance is ``ok`` or ``degraded``."""

    was_repaired: bool | None = None
    """Whether it is only needed where its instance is well, which that is."""

    stops: bool | None = None
    """Whether it is what stops its instance."""

    reports: bool | None = None
    """Whether it has reported a status, and ends the chain or has failed."""

    decides_state: bool | None = None
    """Whether it is of the lifecycle, without which there is no instance."""

    called_alone: bool | None = None
    """Whether somebody has called it who does not deploy, and it is of the lifecycle."""

    leads: bool | None = None
    """Whether the plan says to which node state it leads."""

    in_error: bool | None = None
    """Whether the node state is ``error``."""

    being_made: bool | None = None
    """Whether the node state is ``created`` or ``configured``: it has not started yet."""

    was_at_rest: bool | None = None
    """Whether the instance had a state to go on in before the step was to begin."""

    removes: bool | None = None
    """Whether its instance is ``deleted`` afterwards."""

    still_hosts: bool | None = None
    """Whether its instance is a host that its provider has only given up, and something on it was not removed."""


class Effect(StrEnum):
    """Which records the end of an operation changes."""

    PAIR = "the pair, and its source"
    KEPT = "the instance, which is `started` again"
    REMOVED = "the instance and what it hosts are `absent`, their pairs are forgotten"
    INSTANCE = "the instance"


class NextStatus(StrEnum):
    """What the local status is afterwards."""

    REPORTED = "the one that it has reported"
    UNCHANGED = "as it is"
    BY_EVENT = "the one of the event"


class NextState(StrEnum):
    """What the node state is afterwards."""

    AS_BEFORE = "the one before the step was to begin"
    ERROR = "`error`"
    PLANNED = "the one to which it leads"
    STARTED = "`started`"
    UNCHANGED = "as it is"


class Counted(StrEnum):
    """What counts as carried out, or as failed, afterwards."""

    NOTHING = "as it was"
    THIS = "this operation; not those that it takes back"
    TAKEN_BACK = "not those that it takes back"


class Row(msgspec.Struct, Generic[Facts, Result], frozen=True):
    """A row of a table: for which ends it is, what is decided, and why."""

    when: Facts
    then: Result
    why: str


WELL, BADLY, NEVER = Ended.WELL, Ended.BADLY, Ended.NEVER_STARTED
CHECK, SET_STATE, WORKFLOW = StepKind.CHECK, StepKind.SET_STATE, StepKind.WORKFLOW
IF_REPAIRED, IF_HEALED, IF_THERE = StepCondition.IF_MENDED, StepCondition.IF_HEALED, StepCondition.IF_THERE

ENDS: tuple[Row[StepEnd, Change], ...] = (
    Row(StepEnd(StepKind.ORDER), Change.NOTHING, "it only orders others"),
    Row(StepEnd(StepKind.ADOPT), Change.ADOPTED, "nothing has to be carried out for that"),
    Row(StepEnd(WORKFLOW, WELL), Change.OUTPUTS_WRITTEN, "they may belong to any instance"),
    Row(StepEnd(WORKFLOW), Change.NOTHING, "what does not end well gives nothing"),
    Row(StepEnd(StepKind.OUTPUT), Change.OUTPUT_WRITTEN, "it has the last value that an operation gave"),
    Row(StepEnd(SET_STATE, of_pair=True), Change.PAIR_STATE_SET, "a pair has a state of its own"),
    Row(StepEnd(SET_STATE, removes=True, is_there=False), Change.NOTHING, "it is gone already"),
    Row(StepEnd(SET_STATE, removes=True), Change.REMOVED, "what is `deleted` is gone"),
    Row(StepEnd(SET_STATE), Change.STATE_SET, "the author of the workflow says so"),
    Row(StepEnd(CHECK, answered=True), Change.FOUND, "its end says how the instance is"),
    Row(StepEnd(CHECK, dispensable=True), Change.NOT_KNOWN, "what goes on must not rely on what was known"),
    Row(StepEnd(CHECK, NEVER), Change.NOTHING, "who was not asked has said nothing"),
    Row(
        StepEnd(condition=IF_REPAIRED, holds=False, host_lost=True),
        Change.HOST_AWAY,
        "a host that is away is waited for",
    ),
    Row(StepEnd(condition=IF_REPAIRED, holds=False), Change.NOT_REPAIRED, "all was carried out, and did not help"),
    Row(StepEnd(condition=IF_HEALED, holds=True), Change.NOTHING, "it is as it should be"),
    Row(StepEnd(condition=IF_HEALED, host_lost=True), Change.HOST_AWAY, "nobody gets there"),
    Row(StepEnd(condition=IF_HEALED), Change.NOT_HEALED, "healing has not helped"),
    Row(StepEnd(condition=IF_THERE, holds=True), Change.NOTHING, "it was found"),
    Row(StepEnd(condition=IF_THERE), Change.NOT_THERE, "its data are lost if it is made again"),
    Row(StepEnd(), Change.OPERATION_ENDED, "all else is an operation"),
)
"""What has ended, and what that changes."""

EFFECTS: tuple[Row[OperationEnd, Effect], ...] = (
    Row(OperationEnd(of_pair=True), Effect.PAIR, "it counts for its source, and never for its target"),
    Row(OperationEnd(WELL, removes=True, still_hosts=True), Effect.KEPT, "what is on it can be removed another time"),
    Row(OperationEnd(WELL, removes=True), Effect.REMOVED, "what is `deleted` is gone"),
    Row(OperationEnd(), Effect.INSTANCE, "all else is of one instance"),
)
"""Which records the end of an operation changes."""

EVENTS: tuple[Row[OperationEnd, StatusEvent], ...] = (
    Row(OperationEnd(NEVER), StatusEvent.NEVER_STARTED, "it has changed nothing"),
    Row(OperationEnd(BADLY, heals=True), StatusEvent.FAILED_UNMODIFIED, "it is not repaired"),
    Row(
        OperationEnd(BADLY, dispensable=True, closes=True),
        StatusEvent.CHAIN_LACKS,
        "all else was carried out",
    ),
    Row(
        OperationEnd(BADLY, dispensable=True, of_pair=True, is_well=True),
        StatusEvent.CHAIN_LACKS,
        "the link of an instance that is up comes after the end of its chain",
    ),
    Row(OperationEnd(BADLY, modified=Modified.UNSAID), StatusEvent.FAILED_UNREPORTED, "nobody knows how far it came"),
    Row(
        OperationEnd(BADLY, modified=Modified.YES, dispensable=True),
        StatusEvent.FAILED_OPTIONAL,
        "the instance can do without it",
    ),
    Row(OperationEnd(BADLY, modified=Modified.YES), StatusEvent.FAILED_MODIFIED, "it was left half done"),
    Row(OperationEnd(BADLY), StatusEvent.FAILED_UNMODIFIED, "the instance is as it was"),
    Row(OperationEnd(completes=True, lacks=True), StatusEvent.CHAIN_LACKS, "what has failed is optional"),
    Row(OperationEnd(completes=True), StatusEvent.CHAIN_ENDED, "everything was carried out"),
    Row(OperationEnd(stops=True), StatusEvent.STOPPED, "it is not meant to run"),
    Row(OperationEnd(), StatusEvent.SUCCEEDED, "others are still to come, or it is of no chain"),
)
"""What the end of an operation means for the local status of its instance, or of the source of its pair."""

STATUSES: tuple[Row[OperationEnd, NextStatus], ...] = (
    Row(OperationEnd(reports=True), NextStatus.REPORTED, "the operation knows best"),
    Row(OperationEnd(was_repaired=True), NextStatus.UNCHANGED, "a check has just said that it is well"),
    Row(OperationEnd(), NextStatus.BY_EVENT, "nobody says more"),
)
"""What the local status is after the end of an operation."""

STATES: tuple[Row[OperationEnd, NextState], ...] = (
    Row(OperationEnd(NEVER, was_at_rest=True), NextState.AS_BEFORE, "what never started has changed nothing"),
    Row(OperationEnd(WELL, closes=True, in_error=True, leads=False), NextState.STARTED, "what had failed is made good"),
    Row(
        OperationEnd(BADLY, of_pair=True, being_made=True, runs_after_failure=False),
        NextState.ERROR,
        "before the source has started it is a part of making that",
    ),
    Row(OperationEnd(of_pair=True), NextState.UNCHANGED, "the pair has it, not its ends"),
    Row(OperationEnd(WELL, leads=True), NextState.PLANNED, "the plan says so"),
    Row(OperationEnd(WELL), NextState.UNCHANGED, "it is no part of the way from state to state"),
    Row(OperationEnd(decides_state=True), NextState.ERROR, "without it there is no instance"),
    Row(OperationEnd(), NextState.UNCHANGED, "the instance is there without it"),
)
"""What the node state of the instance is, or of the source of the pair."""

COUNTS: tuple[Row[OperationEnd, Counted], ...] = (
    Row(OperationEnd(NEVER), Counted.NOTHING, "it has changed nothing"),
    Row(OperationEnd(applies=True), Counted.THIS, "the next plan goes on from there"),
    Row(OperationEnd(called_alone=True), Counted.TAKEN_BACK, "what was stopped by hand is no longer started"),
    Row(OperationEnd(), Counted.NOTHING, "it says nothing of what is deployed"),
)
"""What counts as carried out after the end of an operation."""


class OperationDecision(msgspec.Struct, frozen=True):
    """What comes of the end of an operation."""

    effect: Effect
    event: StatusEvent
    status: NextStatus
    state: NextState
    counts: Counted


def first_row(table: tuple[Row[Facts, Result], ...], end: Facts) -> Row[Facts, Result]:
    """The first row of a table that fits an end; the last one fits all."""
    return next(row for row in table if _fits(row.when, end))


def _fits(when: object, end: object) -> bool:
    names = type(when).__struct_fields__  # type: ignore[attr-defined]
    wanted = ((getattr(when, name), getattr(end, name)) for name in names)
    return all(value is None or value == found for value, found in wanted)


# The same few ends come again and again, in a job of a hundred thousand steps as well.


@lru_cache(maxsize=4_096)
def what_ended(end: StepEnd) -> Change:
    """What the end of a step changes."""
    return first_row(ENDS, end).then


@lru_cache(maxsize=4_096)
def what_comes_of(end: OperationEnd) -> OperationDecision:
    """What comes of the end of an operation."""
    return OperationDecision(
        first_row(EFFECTS, end).then,
        first_row(EVENTS, end).then,
        first_row(STATUSES, end).then,
        first_row(STATES, end).then,
        first_row(COUNTS, end).then,
    )
