"""Check what exists, and find drift: what differs from the records."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from ordito.app.conversation import Conversation
from ordito.app.job.report import JobReport
from ordito.app.proposal import PlanningContext, Proposal
from ordito.app.proposals.look import chosen_instances, propose
from ordito.app.requests import LookRequest, Request
from ordito.app.workflow_run import WorkflowRequest, run_workflow
from ordito.instances.records import Instance
from ordito.instances.status import OK
from ordito.work.plan import Action


class AttributeDrift(msgspec.Struct, frozen=True):
    """An attribute whose value differs; None for no value."""

    before: object
    after: object


class CheckedInstance(msgspec.Struct, frozen=True):
    """An instance that was checked: its record before and after, the attributes that differ, and why it could not be
    checked ("" if it could)."""

    before: Instance
    after: Instance
    attributes: Mapping[str, AttributeDrift] = {}
    failure: str = ""

    @property
    def differs(self) -> bool:
        """Whether something differs from the record."""
        return bool(self.attributes) or (self.before.local, self.before.state) != (self.after.local, self.after.state)

    @property
    def is_well(self) -> bool:
        """Whether it was checked and is ok."""
        return self.after.local == OK and not self.failure


class DriftResult(msgspec.Struct, frozen=True):
    """What was found."""

    found: tuple[CheckedInstance, ...]
    unlooked: tuple[str, ...]
    """The instances without an operation that could check them."""

    report: JobReport | None = None
    """None if there was nothing to check."""

    unwell: tuple[str, ...] = ()
    """Those of ``unlooked`` whose recorded status is not ok."""

    @property
    def is_well(self) -> bool:
        """Whether all instances that were to be checked are ok, as far as is known."""
        return not self.unwell and all(f.is_well for f in self.found)

    @property
    def differs(self) -> bool:
        """Whether anything differs from the records."""
        return any(f.differs for f in self.found)


def look(request: WorkflowRequest, conversation: Conversation) -> DriftResult:
    """Check instances, all at the same time, except that hosts and targets come first.

    Raises ``InvalidDocument``, ``Refused``, ``Locked``, ``JobUnfinished`` and ``EnsembleError``.
    """
    noting = _Noting()
    result = run_workflow(request, conversation, noting.propose)
    failed = result.report.failures if result.report is not None else ()
    failures = {f.instance: f.outcome.message or str(f.outcome.ending) for f in failed}
    return DriftResult(noting.found(failures), noting.unlooked, result.report, noting.unwell)


class _Noting:
    """Plans the checks, and remembers the state before them."""

    def __init__(self) -> None:
        self._known: PlanningContext | None = None
        self._before: dict[str, Instance] = {}
        self._attributes: dict[str, Mapping[str, object]] = {}
        self.unlooked: tuple[str, ...] = ()
        self.unwell: tuple[str, ...] = ()

    def propose(self, request: Request, known: PlanningContext) -> Proposal | None:
        """Make the plan, and remember it with the state before."""
        assert isinstance(request, LookRequest)
        proposal = propose(request, known)
        if proposal is None:
            return None
        snapshot = known.snapshot
        looked = dict.fromkeys(s.instance for s in proposal.plan.steps if s.action is not Action.JOIN)
        self._known = known
        self._before = {i: snapshot.instances[i] for i in looked}
        self._attributes = {i: dict(snapshot.attributes.get(i, {})) for i in looked}
        chosen = chosen_instances(request, proposal)
        self.unlooked = tuple(
            i.id
            for i in snapshot.instances.values()
            if (i.exists or i.is_missed) and i.id not in looked and (chosen is None or i.id in chosen)
        )
        self.unwell = tuple(name for name in self.unlooked if snapshot.instances[name].local != OK)
        return proposal

    def found(self, failures: Mapping[str, str]) -> tuple[CheckedInstance, ...]:
        """What differs now."""
        if self._known is None:
            return ()
        snapshot = self._known.snapshot
        return tuple(
            CheckedInstance(
                before,
                snapshot.instances[name],
                _changed(self._attributes[name], snapshot.attributes.get(name, {})),
                failures.get(name, ""),
            )
            for name, before in self._before.items()
        )


def _changed(before: Mapping[str, object], after: Mapping[str, object]) -> dict[str, AttributeDrift]:
    names = [n for n in {**before, **after} if n not in before or n not in after or before[n] != after[n]]
    return {name: AttributeDrift(before.get(name), after.get(name)) for name in names}
