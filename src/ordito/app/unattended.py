"""Planning and carrying out work items, in a process of a server: nobody is asked anything."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress

import msgspec

from ordito.app.conversation import Conversation
from ordito.app.data_at_stake import refuse_risks
from ordito.app.ensemble_checks import no_ensemble
from ordito.app.errors import Refused
from ordito.app.exact_plan import exactly, plan_digest
from ordito.app.job.cancel import CancelRequest, cancel
from ordito.app.job.report import JobReport
from ordito.app.job.run import ResumeRequest, resume
from ordito.app.notices.handling import HandlingRequest, Refusal, handle_waiting
from ordito.app.place import place_of
from ordito.app.plan_basis import ExactPlan
from ordito.app.proposal import Proposal, known_of, propose
from ordito.app.requests import REQUESTS, GivenInputs, Request
from ordito.app.saved_plan import basis_of, encoded, saved_plan
from ordito.app.secrets import get_secret
from ordito.app.work_items import KINDS, AskedRequest, NoticesItem, PlanItem, ResumeItem, WorkItem
from ordito.app.workflow_run import WorkflowRequest, run_workflow
from ordito.base.diagnostics import Diagnostic
from ordito.base.sensitive import Sensitive
from ordito.base.text import listed
from ordito.ensemble.inbox import Firing, InboxEntry
from ordito.ensemble.status import status_during
from ordito.ensemble.store import read_ensemble
from ordito.planning.risks import Risk, risks_of
from ordito.work.events import Event, JobStarted, Listener
from ordito.work.records import AskedBy
from ordito.work.workflows import workflow_of

SECRET = "secret"
"""The only key of a value that is that of a secret of the ensemble."""


class UnattendedPlan(msgspec.Struct, frozen=True):
    """A plan that was made for a request."""

    proposal: Proposal
    exact: ExactPlan
    risks: tuple[Risk, ...]
    saved: bytes
    """The saved plan, empty where plans of the workflow cannot be saved."""

    changed: tuple[str, ...]
    """The instances to be removed that somebody else has changed, without permission so far."""


def request_of(asked: AskedRequest, directory: str) -> Request:
    """The request that is asked for. Raises ``Refused``."""
    kind = KINDS.get(asked.kind)
    if kind is None:
        raise Refused("unknown-workflow", f'there is no workflow "{asked.kind}" that can be asked for')
    try:
        request = msgspec.convert(asked.fields, kind)
    except (msgspec.ValidationError, ValueError) as error:
        raise Refused("bad-request", f"this cannot be asked of {asked.kind}: {error}") from error
    if not asked.inputs and not asked.texts:
        return request
    given = getattr(request, "inputs", None)
    if not isinstance(given, GivenInputs):
        raise Refused("bad-request", f"{asked.kind} takes no inputs", "leave them out")
    values = {name: _value(value, directory) for name, value in asked.inputs.items()}
    return msgspec.structs.replace(request, inputs=msgspec.structs.replace(given, values=values, texts=asked.texts))


def _value(value: object, directory: str) -> object:
    if isinstance(value, dict) and value.keys() == {SECRET} and isinstance(value[SECRET], str):
        return Sensitive(get_secret(directory, value[SECRET]))
    return value


def made_plan(directory: str, asked: AskedRequest, *, is_seen: bool) -> UnattendedPlan | None:
    """Plan a request; None where nothing was ever deployed that it could be about. ``is_seen`` says that somebody will
    look at the plan before it is carried out; else what loses data without permission is refused.

    Raises ``InvalidDocument``, ``PlanRefused``, ``Refused`` and ``EnsembleError``.
    """
    place, request = place_of(directory), request_of(asked, directory)
    if not place.layout.exists and not request.makes_ensemble:
        raise no_ensemble(place.name)
    with read_ensemble(directory) as ensemble:
        status, unfinished = ensemble.status, ensemble.unfinished
        if unfinished is not None and workflow_of(unfinished.header.workflow).revises:
            status = status_during(status, unfinished.header)
        known = known_of(place, ensemble.snapshot, status, asked.environment)
        proposal = propose(request, known)
        if proposal is None:
            return None
        _refuse(proposal, is_seen=is_seen)
        # What operations will find in their environment must be there before anybody is asked.
        known.spec.variables(proposal.service)
        return UnattendedPlan(
            proposal=proposal,
            exact=ExactPlan(basis_of(known, proposal.grounds), plan_digest(proposal, known)),
            risks=risks_of(proposal.plan, proposal.service, proposal.snapshot),
            saved=encoded(saved_plan(known, request, proposal)) if asked.kind in REQUESTS else b"",
            changed=proposal.unapproved,
        )


def _refuse(proposal: Proposal, *, is_seen: bool) -> None:
    """Raise ``Refused`` for what must not be carried out so."""
    refuse_risks(proposal, asks=is_seen)
    if proposal.unapproved and not is_seen:
        raise Refused(
            "changed-meanwhile",
            f"changed since they were created: {listed(proposal.unapproved)}; nothing was removed",
            "a check or a discovery has found that they differ from how the last operation left them;"
            " look at the plan, or give allow_changed to remove them anyway",
        )


def carry_out(item: PlanItem | ResumeItem, begins: Callable[[str], None]) -> JobReport | None:
    """Do what an item says; ``begins`` is called with the id of its job once that has begun. None if there was nothing
    to do.

    Raises what ``run_workflow`` and ``resume`` raise, and ``JobSuspended``.
    """
    conversation = Unattended(item, begins)
    report: JobReport | None = None
    match item:
        case PlanItem():
            plan_it = exactly(item.exact) if item.exact is not None else None
            request = WorkflowRequest(
                item.directory,
                request_of(item.asked, item.directory),
                item.options,
                environment=item.asked.environment,
                asked=item.by,
            )
            report = run_workflow(request, conversation, plan_it).report
        case ResumeItem(cancels=False):
            report = resume(ResumeRequest(item.directory), conversation).report
        case ResumeItem():
            report = cancel(CancelRequest(item.directory, by=item.by), conversation).report
    return report


def handle_notices(directory: str, begins: Callable[[str], None]) -> None:
    """Handle the notices that have arrived at an ensemble; ``begins`` is called with the id of each job of a trigger.
    Raises what ``handle_waiting`` raises, and ``JobSuspended``."""
    request = HandlingRequest(directory, asked=AskedBy(SERVER))
    with suppress(Refused):
        handle_waiting(request, _Unheard(Unattended(NoticesItem(directory), begins)))


SERVER = "server"
"""Who asks for the jobs of triggers."""


class Unattended:
    """The conversation of a work item: nobody is there, so what must not be carried out so is refused."""

    def __init__(self, item: WorkItem, begins: Callable[[str], None]) -> None:
        self._item = item
        self._begins = begins

    def found(self, diagnostics: Sequence[Diagnostic]) -> None:
        """Say nothing: whoever looks at the plan sees them."""

    def warn(self, text: str) -> None:
        """Say nothing."""

    def approve(self, proposal: Proposal) -> bool:
        """Agree, unless data would be lost that nobody has agreed to lose. Raises ``Refused``."""
        item = self._item
        _refuse(proposal, is_seen=isinstance(item, PlanItem) and item.was_seen)
        if isinstance(item, PlanItem) and item.most_risks is not None:
            risks = risks_of(proposal.plan, proposal.service, proposal.snapshot)
            if more := [str(risk) for risk in risks if risk not in item.most_risks]:
                raise Refused(
                    "needs-exact",
                    f"the plan that comes out now has other risks than the one that was asked for: {listed(more)}",
                    "ask for it again, with bind: exact, so that what was looked at is what is carried out",
                )
        return True

    def confirm(self, intent: str, lines: Sequence[str], *, asks: bool = True) -> bool:
        """Agree."""
        return True

    @property
    def wants_inputs(self) -> bool:
        """Nobody wants them."""
        return False

    def listener(self) -> Listener:
        """A listener that tells of the beginning of the job."""
        return self._hear

    def _hear(self, event: Event) -> None:
        if isinstance(event, JobStarted):
            self._begins(event.job)

    @contextmanager
    def cancelling(self, cancel: Callable[[], None]) -> Iterator[None]:
        """Nothing cancels the job from here: requests come through its door."""
        yield

    def cancel_asked(self, times: int, why: str) -> None:
        """Say nothing."""


class _Unheard:
    """Listens to the handling of notices, and tells nobody."""

    def __init__(self, conversation: Conversation) -> None:
        self._conversation = conversation

    def received(self, entry: InboxEntry) -> None:
        """Say nothing."""

    def acting(self, entry: InboxEntry, firing: Firing) -> Conversation:
        """The conversation for its job."""
        return self._conversation

    def acted(self, entry: InboxEntry, firing: Firing, report: JobReport | None) -> None:
        """Say nothing."""

    def refused(self, entry: InboxEntry, firing: Firing, refusal: Refusal) -> None:
        """Say nothing: the inbox keeps it."""

    def telling(self, entry: InboxEntry) -> Conversation:
        """The conversation for its job."""
        return self._conversation

    def told(self, entry: InboxEntry, report: JobReport | Refusal) -> None:
        """Say nothing."""
