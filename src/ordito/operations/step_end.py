"""What the end of a step means: one decision, made by tables. In each table the first row that fits counts.

``ENDS`` says what has ended. If that is an operation of an instance or of a pair, the other tables say what follows:
``EFFECTS`` which records change, ``EVENTS`` the status event (``LOCAL_AFTER`` has the status after it), ``STATUSES``
whether something else decides the status, ``STATES`` the node state, and ``COUNTS`` what counts as carried out. Nothing
here reads or changes records: ``end_effects`` finds the facts, and carries out the decision.
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
    """The kinds of steps that end in different ways."""

    ORDER = "a join, or a filter"
    ADOPT = "an instance adopts what is wanted, without any operation"
    WORKFLOW = "a workflow that an artifact implements"
    OUTPUT = "an output of a workflow"
    SET_STATE = "a node state that a workflow sets"
    CHECK = "a check"
    OPERATION = "an operation, or what a provider does"


class HowEnded(StrEnum):
    """How a step has ended."""

    WELL = "well"
    BADLY = "not well"
    NEVER_STARTED = "it never started"


class Modified(StrEnum):
    """What an operation has reported about having modified its instance."""

    YES = "it says that it has modified the instance"
    NO = "it says that it has modified nothing"
    UNSAID = "it says nothing of what it has modified"


class StepEndFacts(msgspec.Struct, frozen=True):
    """The facts that decide what has ended. None in a row of a table means that the fact does not matter; None in the
    end of a step, that it was not looked up."""

    kind: StepKind | None = None
    ended: HowEnded | None = None

    condition: StepCondition | None = None
    """The condition of the step, if it is one that is evaluated at its end."""

    holds: bool | None = None
    """Whether that condition holds."""

    host_lost: bool | None = None
    """Whether its instance is a host that cannot be reached, or runs on one."""

    of_pair: bool | None = None
    removes: bool | None = None
    """Whether its instance is ``deleted`` afterwards."""

    is_there: bool | None = None
    """Whether its instance exists."""

    answered: bool | None = None
    """Whether the end of a check tells how the instance is."""

    non_blocking: bool | None = None
    """Whether the steps that follow run even if it fails."""


class StepResult(StrEnum):
    """What the end of a step changes, or why the step has failed."""

    NOTHING = "nothing"
    ADOPTED = "what is wanted of the instance counts as carried out"
    OUTPUTS_WRITTEN = "attributes, to which the outputs of the workflow are mapped"
    OUTPUT_WRITTEN = "the attribute to which the output is mapped"
    PAIR_STATE_SET = "the state of the pair"
    STATE_SET = "the node state, and the status that follows from it"
    REMOVED = "the instance and what it hosts are `absent`, their pairs are forgotten"
    FOUND = "status, state and attributes, as they were found"
    NOT_KNOWN = "the status is `unknown`"
    HOST_AWAY = "it has failed: the host cannot be reached"
    NOT_REPAIRED = "it has failed: the instance is not well"
    NOT_HEALED = "it has failed: the instance is still not well"
    NOT_THERE = "it has failed: the instance is not there"
    OPERATION_ENDED = "what the tables below say"


class OperationEndFacts(msgspec.Struct, frozen=True):
    """The facts that decide what the end of an operation changes. None in a row of a table means that the fact does not
    matter."""

    ended: HowEnded | None = None
    of_pair: bool | None = None

    applies: bool | None = None
    """Whether what it carries out counts as deployed."""

    modified: Modified | None = None
    closes: bool | None = None
    """Whether it is the last operation of the chain that creates, changes or removes its instance."""

    completes: bool | None = None
    """Whether it completes its instance: it closes the chain, or repairs the last failure."""

    lacks: bool | None = None
    """Whether an optional operation of the instance has failed and was not repeated successfully."""

    non_blocking: bool | None = None
    """Whether the instance can do without it."""

    runs_after_failure: bool | None = None
    """Whether it runs even if steps before it failed."""

    heals: bool | None = None
    """Whether it was to repair an instance that is not well."""

    is_well: bool | None = None
    """Whether its instance is ``ok`` or ``degraded``."""

    was_repaired: bool | None = None
    """Whether it is needed only if its instance is well, and the instance is."""

    stops: bool | None = None
    """Whether it stops its instance."""

    reports: bool | None = None
    """Whether it has reported a status, and either ends the chain or has failed."""

    decides_state: bool | None = None
    """Whether it is an operation of the lifecycle, without which there is no instance."""

    called_alone: bool | None = None
    """Whether it is an operation of the lifecycle that was called by another workflow than a deployment."""

    leads: bool | None = None
    """Whether the plan has a node state that it leads to."""

    in_error: bool | None = None
    """Whether the node state is ``error``."""

    being_made: bool | None = None
    """Whether the node state is ``created`` or ``configured``: it has not started yet."""

    was_at_rest: bool | None = None
    """Whether the instance has a state that it gets back if the step never starts."""

    removes: bool | None = None
    """Whether its instance is ``deleted`` afterwards."""

    still_hosts: bool | None = None
    """Whether its instance is a host that its provider has given up without removing it, and something on it was not
    removed."""


class ChangedRecords(StrEnum):
    """Which records the end of an operation changes."""

    PAIR = "the pair, and its source"
    KEPT = "the instance, which is `started` again"
    REMOVED = "the instance and what it hosts are `absent`, their pairs are forgotten"
    INSTANCE = "the instance"


class NextStatus(StrEnum):
    """What the local status is afterwards."""

    REPORTED = "the one that the operation has reported"
    UNCHANGED = "as it is"
    BY_EVENT = "the one that follows from the event"


class NextState(StrEnum):
    """What the node state is afterwards."""

    AS_BEFORE = "the one before the step"
    ERROR = "`error`"
    PLANNED = "the one to which it leads"
    STARTED = "`started`"
    UNCHANGED = "as it is"


class Counted(StrEnum):
    """What counts as carried out, or as failed, afterwards."""

    NOTHING = "as it was"
    THIS = "this operation, and no longer those that it takes back"
    TAKEN_BACK = "no longer those that it takes back"


class Row(msgspec.Struct, Generic[Facts, Result], frozen=True):
    """A row of a table: the ends that it fits, the decision, and the reason."""

    when: Facts
    then: Result
    why: str


WELL, BADLY, NEVER = HowEnded.WELL, HowEnded.BADLY, HowEnded.NEVER_STARTED
CHECK, SET_STATE, WORKFLOW = StepKind.CHECK, StepKind.SET_STATE, StepKind.WORKFLOW
IF_REPAIRED, IF_HEALED, IF_THERE = StepCondition.IF_REPAIRED, StepCondition.IF_HEALED, StepCondition.IF_THERE

ENDS: tuple[Row[StepEndFacts, StepResult], ...] = (
    Row(StepEndFacts(StepKind.ORDER), StepResult.NOTHING, "it only orders others"),
    Row(StepEndFacts(StepKind.ADOPT), StepResult.ADOPTED, "nothing has to be carried out for that"),
    Row(StepEndFacts(WORKFLOW, WELL), StepResult.OUTPUTS_WRITTEN, "they may belong to any instance"),
    Row(StepEndFacts(WORKFLOW), StepResult.NOTHING, "a workflow that did not succeed has no outputs"),
    Row(StepEndFacts(StepKind.OUTPUT), StepResult.OUTPUT_WRITTEN, "it has the last value that an operation gave"),
    Row(StepEndFacts(SET_STATE, of_pair=True), StepResult.PAIR_STATE_SET, "a pair has a state of its own"),
    Row(StepEndFacts(SET_STATE, removes=True, is_there=False), StepResult.NOTHING, "it is gone already"),
    Row(StepEndFacts(SET_STATE, removes=True), StepResult.REMOVED, "a `deleted` instance is gone"),
    Row(StepEndFacts(SET_STATE), StepResult.STATE_SET, "the author of the workflow says so"),
    Row(StepEndFacts(CHECK, answered=True), StepResult.FOUND, "its end says how the instance is"),
    Row(
        StepEndFacts(CHECK, non_blocking=True),
        StepResult.NOT_KNOWN,
        "the steps that follow must not rely on the former status",
    ),
    Row(StepEndFacts(CHECK, NEVER), StepResult.NOTHING, "a check that did not run has found nothing"),
    Row(
        StepEndFacts(condition=IF_REPAIRED, holds=False, host_lost=True),
        StepResult.HOST_AWAY,
        "a host that cannot be reached is waited for",
    ),
    Row(
        StepEndFacts(condition=IF_REPAIRED, holds=False),
        StepResult.NOT_REPAIRED,
        "everything was carried out, and did not help",
    ),
    Row(StepEndFacts(condition=IF_HEALED, holds=True), StepResult.NOTHING, "it is well"),
    Row(StepEndFacts(condition=IF_HEALED, host_lost=True), StepResult.HOST_AWAY, "its host cannot be reached"),
    Row(StepEndFacts(condition=IF_HEALED), StepResult.NOT_HEALED, "the repair has not helped"),
    Row(StepEndFacts(condition=IF_THERE, holds=True), StepResult.NOTHING, "it was found"),
    Row(StepEndFacts(condition=IF_THERE), StepResult.NOT_THERE, "its data would be lost if it were replaced"),
    Row(StepEndFacts(), StepResult.OPERATION_ENDED, "everything else is an operation"),
)
"""What has ended, and what that changes."""

EFFECTS: tuple[Row[OperationEndFacts, ChangedRecords], ...] = (
    Row(OperationEndFacts(of_pair=True), ChangedRecords.PAIR, "it counts for the source, never for the target"),
    Row(
        OperationEndFacts(WELL, removes=True, still_hosts=True),
        ChangedRecords.KEPT,
        "what it hosts can be removed later",
    ),
    Row(OperationEndFacts(WELL, removes=True), ChangedRecords.REMOVED, "a `deleted` instance is gone"),
    Row(OperationEndFacts(), ChangedRecords.INSTANCE, "everything else concerns one instance"),
)
"""Which records the end of an operation changes."""

EVENTS: tuple[Row[OperationEndFacts, StatusEvent], ...] = (
    Row(OperationEndFacts(NEVER), StatusEvent.NEVER_STARTED, "it has changed nothing"),
    Row(OperationEndFacts(BADLY, heals=True), StatusEvent.FAILED_UNMODIFIED, "it is not repaired"),
    Row(
        OperationEndFacts(BADLY, non_blocking=True, closes=True),
        StatusEvent.CHAIN_LACKS,
        "everything else was carried out",
    ),
    Row(
        OperationEndFacts(BADLY, non_blocking=True, of_pair=True, is_well=True),
        StatusEvent.CHAIN_LACKS,
        "an instance that is up is linked after the end of its chain",
    ),
    Row(
        OperationEndFacts(BADLY, modified=Modified.UNSAID),
        StatusEvent.FAILED_UNREPORTED,
        "it is unknown how far it came",
    ),
    Row(
        OperationEndFacts(BADLY, modified=Modified.YES, non_blocking=True),
        StatusEvent.FAILED_OPTIONAL,
        "the instance can do without it",
    ),
    Row(OperationEndFacts(BADLY, modified=Modified.YES), StatusEvent.FAILED_MODIFIED, "it is half done"),
    Row(OperationEndFacts(BADLY), StatusEvent.FAILED_UNMODIFIED, "the instance is as it was"),
    Row(OperationEndFacts(completes=True, lacks=True), StatusEvent.CHAIN_LACKS, "what has failed is optional"),
    Row(OperationEndFacts(completes=True), StatusEvent.CHAIN_ENDED, "everything was carried out"),
    Row(OperationEndFacts(stops=True), StatusEvent.STOPPED, "it is not meant to run"),
    Row(OperationEndFacts(), StatusEvent.SUCCEEDED, "more operations follow, or it belongs to no chain"),
)
"""What the end of an operation means for the local status of its instance, or of the source of its pair."""

STATUSES: tuple[Row[OperationEndFacts, NextStatus], ...] = (
    Row(OperationEndFacts(reports=True), NextStatus.REPORTED, "the operation knows best"),
    Row(OperationEndFacts(was_repaired=True), NextStatus.UNCHANGED, "a check has just said that it is well"),
    Row(OperationEndFacts(), NextStatus.BY_EVENT, "nothing else is known"),
)
"""What the local status is after the end of an operation."""

STATES: tuple[Row[OperationEndFacts, NextState], ...] = (
    Row(
        OperationEndFacts(NEVER, was_at_rest=True),
        NextState.AS_BEFORE,
        "an operation that never started has changed nothing",
    ),
    Row(OperationEndFacts(WELL, closes=True, in_error=True, leads=False), NextState.STARTED, "the failure is repaired"),
    Row(
        OperationEndFacts(BADLY, of_pair=True, being_made=True, runs_after_failure=False),
        NextState.ERROR,
        "until the source has started, linking is a part of creating it",
    ),
    Row(OperationEndFacts(of_pair=True), NextState.UNCHANGED, "the state of the pair changes, not that of its ends"),
    Row(OperationEndFacts(WELL, leads=True), NextState.PLANNED, "the plan says so"),
    Row(OperationEndFacts(WELL), NextState.UNCHANGED, "it is not part of a change of state"),
    Row(OperationEndFacts(decides_state=True), NextState.ERROR, "without it there is no instance"),
    Row(OperationEndFacts(), NextState.UNCHANGED, "the instance is there without it"),
)
"""What the node state of the instance is, or of the source of the pair."""

COUNTS: tuple[Row[OperationEndFacts, Counted], ...] = (
    Row(OperationEndFacts(NEVER), Counted.NOTHING, "it has changed nothing"),
    Row(OperationEndFacts(applies=True), Counted.THIS, "the next plan goes on from there"),
    Row(
        OperationEndFacts(called_alone=True),
        Counted.TAKEN_BACK,
        "an instance that was stopped by hand is no longer started",
    ),
    Row(OperationEndFacts(), Counted.NOTHING, "it does not change what is deployed"),
)
"""What counts as carried out after the end of an operation."""


class OperationDecision(msgspec.Struct, frozen=True):
    """What the end of an operation changes."""

    effect: ChangedRecords
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
def what_ended(end: StepEndFacts) -> StepResult:
    """What the end of a step changes."""
    return first_row(ENDS, end).then


@lru_cache(maxsize=4_096)
def what_comes_of(end: OperationEndFacts) -> OperationDecision:
    """What the end of an operation changes."""
    return OperationDecision(
        first_row(EFFECTS, end).then,
        first_row(EVENTS, end).then,
        first_row(STATUSES, end).then,
        first_row(STATES, end).then,
        first_row(COUNTS, end).then,
    )
