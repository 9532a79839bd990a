"""What checks have found: ``ordito.drift/1``, the result of ``ordito check`` and ``ordito discover``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import msgspec
from msgspec import UNSET, UnsetType

from ordito.base.sensitive import shown
from ordito.instances.records import StatusReason
from ordito.instances.status import ABSENT, ERROR, UNKNOWN
from ordito.results.answer import ResultData

if TYPE_CHECKING:
    from ordito.app.drift import CheckedInstance, DriftResult
    from ordito.work.invocation import Outcome

BROKEN = frozenset({ERROR, UNKNOWN, ABSENT})
"""The statuses that healing may repair."""

NOBODY_KNOWS = frozenset({StatusReason.UNREACHABLE, StatusReason.UNANSWERED})
"""Reasons not to propose healing: the status of the instance could not be found out."""


class ChangedAttribute(msgspec.Struct, frozen=True):
    """An attribute whose value differs from the record; None for no value."""

    before: object
    after: object


class RecordedStatus(msgspec.Struct, frozen=True):
    """How an instance was recorded before."""

    local: str
    state: str


class CheckedData(msgspec.Struct, frozen=True, kw_only=True):
    """What was found of one instance."""

    node: str
    local: str
    """Its operational status now."""

    state: str
    """Its node state now."""

    drift: bool
    """Whether something differs from the record."""

    before: RecordedStatus | UnsetType = UNSET
    """How it was recorded before, if that differs."""

    attributes: Mapping[str, ChangedAttribute] | UnsetType = UNSET
    """The attributes that differ."""

    reason: str | UnsetType = UNSET
    """What its check says, if that found it not ok."""

    failure: str | UnsetType = UNSET
    """Why it could not be checked."""

    unreachable: bool | UnsetType = UNSET
    """True for a host that cannot be reached."""

    tail: tuple[str, ...] | UnsetType = UNSET
    """The last lines that its check printed, if that found it not ok."""

    @property
    def recorded(self) -> RecordedStatus:
        """How it was recorded before."""
        return RecordedStatus(self.local, self.state) if self.before is UNSET else self.before


class DriftData(ResultData, frozen=True, tag="ordito.drift/1"):
    """What was found, by instance, in the order of the checks."""

    workflow: str
    job: str | None
    status: str
    """How the job ended, ``ok`` if there was nothing to check."""

    drift: bool
    """Whether anything differs from the records."""

    well: bool
    """Whether all instances that were to be checked are ok."""

    instances: Mapping[str, CheckedData]
    not_checkable: tuple[str, ...]
    """The instances without an operation that could check them."""

    unwell: tuple[str, ...] | UnsetType = UNSET
    """Those of them that are recorded as not ok."""

    to_heal: tuple[str, ...] | UnsetType = UNSET
    """The instances that are not ok and can be healed, required ones first."""


def drift_data(workflow: str, result: DriftResult, complaints: Mapping[str, Outcome]) -> DriftData:
    """What was found. ``complaints`` are the ends of operations that found instances not ok."""
    report = result.report
    return DriftData(
        workflow,
        report.job if report else None,
        report.status if report else "ok",
        result.differs,
        result.is_well,
        {found.after.id: _checked(found, complaints.get(found.after.id)) for found in result.found},
        result.unlooked,
        result.unwell or UNSET,
        _to_heal(result.found) or UNSET,
    )


def _checked(found: CheckedInstance, complaint: Outcome | None) -> CheckedData:
    before, after = found.before, found.after
    is_same = (before.local, before.state) == (after.local, after.state)
    attributes = {
        name: ChangedAttribute(shown(drift.before), shown(drift.after)) for name, drift in found.attributes.items()
    }
    return CheckedData(
        node=after.node,
        local=after.local,
        state=after.state,
        drift=found.differs,
        before=UNSET if is_same else RecordedStatus(before.local, before.state),
        attributes=attributes or UNSET,
        reason=(complaint.message if complaint is not None else "") or UNSET,
        failure=found.failure or UNSET,
        unreachable=after.status_reason is StatusReason.UNREACHABLE or UNSET,
        tail=complaint.tail if complaint is not None and complaint.tail else UNSET,
    )


def _to_heal(found: Sequence[CheckedInstance]) -> tuple[str, ...]:
    """The instances that are not ok and can be healed, in the order of the checks: required ones first. What is hosted
    on something absent comes back with its host."""
    absent = {f.after.id for f in found if f.after.local == ABSENT}
    broken = (f.after for f in found if f.after.local in BROKEN and not f.failure)
    return tuple(r.id for r in broken if r.host not in absent and r.status_reason not in NOBODY_KNOWS)
