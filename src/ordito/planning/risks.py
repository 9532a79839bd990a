"""The risks of a plan: what somebody who approves it should know first."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

from ordito.work.workflows import workflow_of

if TYPE_CHECKING:
    from ordito.instances.records import Snapshot
    from ordito.model.service import Service
    from ordito.work.plan import Plan


class Risk(StrEnum):
    """A kind of risk."""

    REMOVES = "removes"
    """Instances are removed."""

    REPLACES = "replaces"
    """Instances are removed and created again."""

    LOSSY = "lossy"
    """Data of instances is lost."""

    OUTAGE = "outage"
    """All instances of a node are down at one time."""

    PROTECTED = "protected"
    """Instances that are protected are removed or replaced."""

    RUNS_ANYTHING = "runs-anything"
    """An operation is run that a user has named, with inputs of their own."""


_REMOVED, _REPLACED = "-", "-/+"


def risks_of(plan: Plan, service: Service, snapshot: Snapshot) -> tuple[Risk, ...]:
    """The risks of a plan, in the order of ``Risk``."""
    symbols = {change.symbol for change in plan.changes}
    gone = {change.instance for change in plan.changes if change.symbol in (_REMOVED, _REPLACED)}
    nodes = {record.node for name in gone if (record := snapshot.instances.get(name)) is not None}
    found = {
        Risk.REMOVES: _REMOVED in symbols,
        Risk.REPLACES: _REPLACED in symbols,
        Risk.LOSSY: bool(plan.summary.losing),
        Risk.OUTAGE: bool(plan.summary.outages),
        Risk.PROTECTED: any(name in service.nodes and service.nodes[name].settings.protected for name in nodes),
        Risk.RUNS_ANYTHING: workflow_of(plan.workflow).calls,
    }
    return tuple(risk for risk in Risk if found[risk])
