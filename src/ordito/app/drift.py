"""Look at what exists, and say what is other than was recorded."""

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
    """An attribute that has another value; None for none."""

    before: object
    after: object


class CheckedInstance(msgspec.Struct, frozen=True):
    """An instance that was looked at: its record before and after, the attributes that differ, and why it could not be
    looked at after all ("" if it could)."""

    before: Instance
    after: Instance
    attributes: Mapping[str, AttributeDrift] = {}
    failure: str = ""

    @property
    def differs(self) -> bool:
        """Whether something is other than was recorded."""
        return bool(self.attributes) or (self.before.local, self.before.state) != (self.after.local, self.after.state)

    @property
    def is_well(self) -> bool:
        """Whether it was looked at and is ok."""
        return self.after.local == OK and not self.failure


class DriftResult(msgspec.Struct, frozen=True):
    """What was found. ``unlooked`` are the instances that have no operation to look at them with, ``unwell`` those of
    them that are recorded as something else than ok; ``report`` is None where there was nothing to look at."""

    found: tuple[CheckedInstance, ...]
    unlooked: tuple[str, ...]
    report: JobReport | None = None
    unwell: tuple[str, ...] = ()

    @property
    def is_well(self) -> bool:
        """Whether everything that was asked about is ok, as far as is known."""
        return not self.unwell and all(f.is_well for f in self.found)

    @property
    def differs(self) -> bool:
        """Whether anything is other than was recorded."""
        return any(f.differs for f in self.found)


def look(request: WorkflowRequest, conversation: Conversation) -> DriftResult:
    """Look at instances, all at once save that hosts and targets come first.

    Raises ``InvalidDocument``, ``Refused``, ``Locked``, ``JobUnfinished`` and ``EnsembleError``.
    """
    noting = _Noting()
    result = run_workflow(request, conversation, noting.propose)
    failed = result.report.failures if result.report is not None else ()
    failures = {f.instance: f.outcome.message or str(f.outcome.ending) for f in failed}
    return DriftResult(noting.found(failures), noting.unlooked, result.report, noting.unwell)


class _Noting:
    """How things were when it was planned to look at them."""

    def __init__(self) -> None:
        self._known: PlanningContext | None = None
        self._before: dict[str, Instance] = {}
        self._attributes: dict[str, Mapping[str, object]] = {}
        self.unlooked: tuple[str, ...] = ()
        self.unwell: tuple[str, ...] = ()

    def propose(self, request: Request, known: PlanningContext) -> Proposal | None:
        """The plan, which is kept in mind with what was known."""
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
        """What is other now."""
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
