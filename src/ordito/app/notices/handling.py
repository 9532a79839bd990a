"""Handle waiting notices: record each, and carry out the actions of triggers, one after the other.

The lock is taken for one small step at a time, and each step is written into the inbox before it is done, with the id
of its job. So the next command finds a step that was interrupted: if its job exists, the step is done; if not, it is
done again. Nothing is lost, nothing is done twice, and other commands can run in between.

A command that has held the lock handles the waiting notices after releasing it: those that came meanwhile could not be
handled by the commands that brought them.
"""

from __future__ import annotations

from enum import Enum
from typing import Protocol

import msgspec

from ordito.app.conversation import Conversation
from ordito.app.data_at_stake import refuse_unasked
from ordito.app.errors import Refused
from ordito.app.job.jobs import ensemble_place
from ordito.app.job.report import JobReport
from ordito.app.job.run import run_new
from ordito.app.place import Place
from ordito.app.proposal import PlanningContext, Proposal, known_of
from ordito.app.proposal import propose as proposal_of
from ordito.app.proposals.making import for_deployed, make_plan, read_deployed
from ordito.app.requests import Request, TriggerRequest
from ordito.app.state.edit import Edit, Record, copied, deployed, write_down
from ordito.base.collector import paused_collector
from ordito.base.diagnostics import InvalidDocument
from ordito.base.sensitive import shown
from ordito.base.text import listed
from ordito.ensemble.inbox import DECIDED, WAITING, Firing, Inbox, InboxEntry
from ordito.ensemble.job_history import job_lines
from ordito.ensemble.owner import Locked
from ordito.ensemble.status import WELL
from ordito.ensemble.store import Ensemble, open_ensemble
from ordito.executors.policy_rules import ask_rule, rule_for
from ordito.instances.context import Context, EvaluationError, Nothing
from ordito.instances.evaluate import Evaluator
from ordito.instances.topology_outputs import topology_outputs
from ordito.model.imperative import Policy
from ordito.operations.artifact_workflows import snapshot_data
from ordito.planning.refused import PlanRefused
from ordito.syntax.expressions import Value
from ordito.work.notices import NotHeard, Notice, changes_of
from ordito.work.options import USUAL, JobOptions
from ordito.work.outputs import WrongValue
from ordito.work.peer_knowledge import has_listeners
from ordito.work.plan import OperationCall
from ordito.work.records import NOBODY, AskedBy
from ordito.work.triggers import Decision, decide, hearing

MOST_STEPS = 10_000
"""How many steps one command does at most: new notices may arrive meanwhile."""

Refusal = Refused | InvalidDocument | PlanRefused
"""Why the actions of a trigger are not carried out: then none of them has run."""


NOTHING_TO_DO = "there was nothing to do"
REFUSED = "refused: "
"""What is kept of a trigger that had nothing to do, and with what it begins for one whose actions were refused."""


class HandlingRequest(msgspec.Struct, frozen=True):
    """The ensemble whose notices are handled; ``options`` are those of the jobs of triggers, ``wait_lock`` is how many
    seconds to wait for another command."""

    directory: str
    options: JobOptions = JobOptions(on_failure=USUAL)
    wait_lock: float = 0.0
    asked: AskedBy = NOBODY
    """Who asks through a server."""


class Handling(msgspec.Struct, frozen=True):
    """What was handled."""

    handled: tuple[int, ...] = ()
    """The numbers of the notices that are handled now."""

    reports: tuple[JobReport, ...] = ()
    """How the jobs of triggers ended."""

    refused: int = 0
    """How many triggers asked for something that was refused."""

    waiting: int = 0
    """How many notices still wait."""

    interrupted: str = ""
    """The job that must be resumed first, "" for none."""

    holder: str = ""
    """The command that works on the ensemble now, "" for none."""

    @property
    def has_failed(self) -> bool:
        """Whether a job of a trigger has failed."""
        return any(report.status not in WELL for report in self.reports)


class Onlooker(Protocol):
    """Listens to the handling of notices."""

    def received(self, entry: InboxEntry) -> None:
        """A notice was recorded, or dropped (``said`` says why), and it is decided what triggers do."""

    def acting(self, entry: InboxEntry, firing: Firing) -> Conversation:
        """The actions of a trigger are about to be planned; returns the conversation for them."""

    def acted(self, entry: InboxEntry, firing: Firing, report: JobReport | None) -> None:
        """Actions were carried out; ``report`` is None if there was nothing to do."""

    def refused(self, entry: InboxEntry, firing: Firing, refusal: Refusal) -> None:
        """The actions of a trigger were refused: none was carried out, and none will be."""

    def telling(self, entry: InboxEntry) -> Conversation:
        """Instances are about to be notified of what a notice and its triggers have changed; returns the conversation
        for that."""

    def told(self, entry: InboxEntry, report: JobReport | Refusal) -> None:
        """Instances were notified, or could not be."""


def handle_waiting(request: HandlingRequest, onlooker: Onlooker) -> Handling:
    """Handle all waiting notices, unless another command works on the ensemble, which will then handle them. Raises
    ``EnsembleError``, and ``Refused`` if there is no ensemble."""
    place = ensemble_place(request.directory)
    if not place.layout.inbox.exists():
        return Handling()
    with Inbox(place.layout) as inbox:
        return _Handler(request, place, inbox, onlooker).handle()


class _Handler:
    """Handles the waiting notices for one command."""

    def __init__(self, request: HandlingRequest, place: Place, inbox: Inbox, onlooker: Onlooker) -> None:
        self._request = request
        self._place = place
        self._inbox = inbox
        self._onlooker = onlooker
        self._handled: list[int] = []
        self._reports: list[JobReport] = []
        self._refused = 0
        self._no_news: set[int] = set()

    def handle(self) -> Handling:
        """Do all steps."""
        interrupted = holder = ""
        for _ in range(MOST_STEPS):
            if self._inbox.next() is None:
                break
            try:
                with open_ensemble(
                    self._request.directory, command="notify", wait_lock=self._request.wait_lock
                ) as ensemble:
                    if ensemble.unfinished is not None:
                        interrupted = ensemble.unfinished.header.id
                        break
                    self._step(ensemble)
            except Locked as locked:
                holder = str(locked.owner or "another command")
                break
            if self._reports and self._reports[-1].status == "cancelled":
                break
        return Handling(
            tuple(self._handled),
            tuple(self._reports),
            self._refused,
            self._inbox.waiting(),
            interrupted,
            holder,
        )

    def _step(self, ensemble: Ensemble) -> None:
        """Find and do the next step, under the lock."""
        entry = self._inbox.next()
        if entry is None:
            # Another command was quicker.
            return
        if entry.state == DECIDED and entry.job in self._place.layout.job_ids():
            # The job was closed, and its end not written down.
            self._inbox.recorded(entry.number)
        elif entry.state in {WAITING, DECIDED}:
            self._receive(ensemble, entry)
        elif (firing := entry.next_firing) is not None:
            self._fire(ensemble, entry, firing)
        else:
            self._finish(ensemble, entry)

    def _receive(self, ensemble: Ensemble, entry: InboxEntry) -> None:
        came_of_it = receive(self._place, ensemble, self._inbox, entry, self._request.options.commit)
        known = self._inbox.entry(entry.number)
        if known is not None:
            self._onlooker.received(known)
        if came_of_it is Reception.DROPPED:
            self._handled.append(entry.number)
        elif came_of_it is Reception.RECORDED:
            self._no_news.add(entry.number)

    def _fire(self, ensemble: Ensemble, entry: InboxEntry, firing: Firing) -> None:
        if firing.job and firing.job in self._place.layout.job_ids():
            ended = next((line.outcome for line in job_lines(self._place.layout) if line.id == firing.job), "")
            self._after(firing, firing.job, ended)
            return
        conversation = self._onlooker.acting(entry, firing)
        try:
            known = known_of(self._place, ensemble.snapshot, ensemble.status, None)
            proposal = proposal_of(
                TriggerRequest(firing.policy, firing.trigger, firing.part, entry.notice.instances), known
            )
            if proposal is None:
                self._inbox.end(firing.number, _said(firing))
                return
            conversation.found(proposal.diagnostics)
            report = self._run(ensemble, entry, firing, known, proposal, conversation)
        except (Refused, InvalidDocument, PlanRefused) as refusal:
            self._refused += 1
            self._inbox.end(firing.number, f"{REFUSED}{refusal}")
            self._onlooker.refused(entry, firing, refusal)
            return
        self._onlooker.acted(entry, firing, report)
        if report is None:
            self._inbox.go_on(firing.number)
        else:
            self._reports.append(report)
            self._after(firing, report.job, report.status)

    def _run(
        self,
        ensemble: Ensemble,
        entry: InboxEntry,
        firing: Firing,
        known: PlanningContext,
        proposal: Proposal,
        conversation: Conversation,
    ) -> JobReport | None:
        """Carry out the actions of a trigger; None if there is nothing to do."""
        if proposal.plan.is_empty:
            return None
        refuse_unasked(proposal)
        if proposal.unapproved:
            raise Refused(
                "changed-meanwhile",
                f"changed since they were created: {listed(proposal.unapproved)}; nothing was removed",
                "check them; they are removed only by a command that allows it",
                next_words=("describe", proposal.unapproved[0]),
                purpose="see what was done to it",
            )
        cause = f"trigger {firing.name}, {entry.notice.event} of {entry.notice.entity}"
        proposal = proposal.with_setting(variables=known.spec.variables(proposal.service)).with_job(cause=cause)
        begins = lambda job: self._inbox.begin(firing.number, job)  # noqa: E731
        return run_new(ensemble, proposal, self._request.options, conversation, begins, self._request.asked)

    def _after(self, firing: Firing, job: str, ended: str) -> None:
        if ended in WELL:
            self._inbox.go_on(firing.number)
        else:
            self._inbox.end(firing.number, f"job {job} {ended}")

    def _finish(self, ensemble: Ensemble, entry: InboxEntry) -> None:
        # What was told is recorded, so that who does this once more after a crash finds nobody to tell.
        if entry.number not in self._no_news:
            self._tell(ensemble, entry)
        self._inbox.finish(entry.number)
        self._handled.append(entry.number)

    def _tell(self, ensemble: Ensemble, entry: InboxEntry) -> None:
        """Notify the instances whose knowledge of peers is outdated."""
        try:
            known = known_of(self._place, ensemble.snapshot, ensemble.status, None)
            proposal = proposal_of(TellRequest(), known)
            if proposal is None or proposal.plan.is_empty:
                return
            variables = known.spec.variables(proposal.service)
            cause = f"{entry.notice.event} of {entry.notice.entity}"
            proposal = proposal.with_setting(variables=variables).with_job(cause=cause)
            telling = self._onlooker.telling(entry)
            report = run_new(ensemble, proposal, self._request.options, telling, asked=self._request.asked)
        except (Refused, InvalidDocument, PlanRefused) as refusal:
            self._onlooker.told(entry, refusal)
            return
        self._reports.append(report)
        self._onlooker.told(entry, report)


def _said(firing: Firing) -> str:
    """The message about a trigger whose actions were all carried out."""
    return "its actions were carried out" if firing.part else NOTHING_TO_DO


# Receive a notice: write down what it changes, as a job of its own, and decide which triggers act on it.

NOTIFY = "notify"
"""The name of the workflow of jobs that record notices."""


class Reception(Enum):
    """The result for a notice: it changed nothing, it was recorded, or peers may have to be notified as well."""

    DROPPED = "dropped"
    RECORDED = "recorded"
    NEWS = "news"


def receive(place: Place, ensemble: Ensemble, inbox: Inbox, entry: InboxEntry, commit: str) -> Reception:
    """Record a notice with the new values of its attributes, and what its triggers are to do. If its instance was
    removed while it waited, it is dropped. Raises ``Refused`` if the job's files must be committed and cannot be, and
    ``EnsembleError``."""
    notice = entry.notice
    if not ensemble.status.service:
        inbox.drop(entry.number, "nothing is deployed any more")
        return Reception.DROPPED
    basis = deployed(place, ensemble)
    service = basis.whole.service
    try:
        before = Evaluator(service, ensemble.snapshot, basis.inputs, root=basis.pinned.root)
        delta = changes_of(before, notice)
        snapshot = copied(ensemble.snapshot)
        snapshot.apply(delta)
        evaluator = Evaluator(service, snapshot, basis.inputs, root=basis.pinned.root)
        # What was decided before a crash holds: evaluations that count were counted then.
        decisions = _decisions(evaluator, notice, inbox) if entry.state == WAITING else _decided(entry)
    except (NotHeard, WrongValue) as error:
        inbox.drop(entry.number, str(error))
        return Reception.DROPPED

    def begins(job: str) -> None:
        if entry.state == WAITING:
            inbox.decide(entry.number, job, decisions)
        else:
            inbox.record_by(entry.number, job)

    outputs, _ = topology_outputs(evaluator, ensemble.status.counts)
    pair = "" if notice.node else notice.entity
    edit = Edit(notice.instances[0], _summary(decisions), lambda _: delta, pair)
    how = Record(NOTIFY, _call(notice), "told from outside", outputs)
    write_down(ensemble, how, [edit], basis, commit, begins=begins)
    inbox.recorded(entry.number)
    return Reception.NEWS if has_listeners(service) else Reception.RECORDED


def _decisions(evaluator: Evaluator, notice: Notice, inbox: Inbox) -> list[Decision]:
    decisions = [decide(evaluator, notice, heard, inbox.evaluations) for heard in hearing(evaluator.service, notice)]
    return [ruled(decision, evaluator, notice) for decision in decisions]


def _decided(entry: InboxEntry) -> list[Decision]:
    return [Decision(f.policy, f.trigger, acts=not f.is_done, said=f.said) for f in entry.firings]


def _summary(decisions: list[Decision]) -> str:
    """What triggers do, for people."""
    said = [f"trigger {d.policy}.{d.trigger}: {'acts' if d.acts else d.said}" for d in decisions]
    return "; ".join(said) or "no trigger waits for it"


def _call(notice: Notice) -> OperationCall:
    owner, side = (notice.node, "") if notice.node else (notice.relationship, "source")
    return OperationCall(owner, side, notice.interface or "event", notice.name)


# What rules of others say to what triggers want to do (R-12-16).

FORMAT = "ordito.policy-rule/1"


def ruled(decision: Decision, evaluator: Evaluator, notice: Notice) -> Decision:
    """The decision after asking the rule for the policy's type, if there is one: a trigger acts only if the rule
    permits it. Triggers that do not act anyway are not asked about."""
    policy = evaluator.service.policies[decision.policy]
    kind = rule_for(policy.kinds) if decision.acts else ""
    if not kind:
        return decision
    ruling = ask_rule(kind, _rule_call(policy, decision, evaluator, notice))
    if ruling.acts:
        return decision
    said = ruling.said or f"the rule of {kind} says no"
    return msgspec.structs.replace(decision, acts=False, said=said)


def _rule_call(policy: Policy, decision: Decision, evaluator: Evaluator, notice: Notice) -> dict[str, object]:
    """The argument of a rule: plain data, in which sensitive values are replaced by a mark."""
    return {
        "format": FORMAT,
        "policy": policy.name,
        "type": policy.type,
        "properties": {name: _value(evaluator, value) for name, value in policy.properties.items()},
        "targets": list(policy.targets),
        "nodes": list(policy.nodes),
        "trigger": decision.trigger,
        "event": notice.event,
        "entity": notice.entity,
        "at": notice.at,
        "values": shown(dict(notice.values)),
        "snapshot": snapshot_data(evaluator.snapshot),
    }


def _value(evaluator: Evaluator, value: Value) -> object:
    try:
        found = evaluator.evaluate(value, Context())
    except EvaluationError:
        return None
    return None if isinstance(found, Nothing) else shown(found)


# What telling instances of changes would do, where these came from outside of any job that could have told of them.


class TellRequest(Request, frozen=True):
    """The request to call ``target_changed`` and similar operations where the knowledge of an instance about its peers
    is outdated."""

    WORKFLOW = "tell"
    planned_by = "notices.handling"


def propose(request: TellRequest, known: PlanningContext) -> Proposal | None:
    """The plan of these calls; None if nothing is deployed, or no instance has such operations.

    Raises ``Refused``, ``InvalidDocument``, ``PlanRefused`` and ``EnsembleError``.
    """
    status = known.status
    if not status.service:
        return None
    with paused_collector():
        read = read_deployed(known)
        if not has_listeners(read.service):
            return None
        made = make_plan(known, request.workflow, read, status.inputs)
    return for_deployed(known, request.workflow, read, made)
