"""Verbs that begin a job, given to a server: the plan is made there, asked about here, and its job is followed."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

import msgspec

from ordito.app.errors import Declined, NobodyToAsk, Refused
from ordito.app.job.report import AfterReport, CausesReport, JobReport, RollbackReport
from ordito.app.requests import DescriptionRequest, Request, words_of_losing
from ordito.app.saved_plan import SavedPlanRequest, is_saved_plan
from ordito.app.workflow_run import WorkflowRequest, WorkflowResult
from ordito.base.diagnostics import Diagnostic
from ordito.base.text import listed
from ordito.cli.channel import Channel
from ordito.cli.conversation import CliConversation
from ordito.cli.exit_codes import ExitCode
from ordito.cli.plan_view import write_brief, write_plan
from ordito.cli.progress.lines import asked_by
from ordito.cli.progress.ndjson import event_in
from ordito.cli.progress.report import NextCommand
from ordito.cli.remote import ensemble_of
from ordito.cli.session import Session
from ordito.cli.text_width import printable
from ordito.client.asked import asked_options, asked_request
from ordito.client.connection import LONG_PATIENCE
from ordito.client.errors import ServerError
from ordito.client.events import follow
from ordito.client.plans import (
    ASK,
    AUTO,
    EMPTY,
    PLANNING,
    QUEUED,
    READY,
    RUNNING,
    STARTING,
    WAITING,
    after,
    apply_plan,
    ask_plan,
    cancel_job,
    discard_plan,
    make_ensemble,
    plan_named,
    refuse_unmade,
    report_of,
    shown_plan,
)
from ordito.engine.messages import Counts
from ordito.ensemble.status import Status
from ordito.results.failure import Failure, NextStep
from ordito.results.findings import diagnostic_of
from ordito.results.jobs import NoJobData
from ordito.results.plan import PlanData, change_data
from ordito.results.server_plans import AskedPlan
from ordito.results.status import STATUS, StatusAsked
from ordito.work.events import JobCancelling, JobFinished, StepFailed
from ordito.work.workflows import workflow_of

if TYPE_CHECKING:
    from ordito.client.looks import RemoteEnsemble

Finish = Callable[[WorkflowResult, CliConversation, Session], ExitCode]

MOST_NAMED = 12
UNNAMED = "unnamed-template"
ON_THE_WAY = frozenset({QUEUED, STARTING, RUNNING})


def carry_out(
    session: Session, request: WorkflowRequest, finish: Finish, *, explains: bool = False, asks: bool = True
) -> ExitCode:
    """Have a request planned, ask, have it carried out, follow its job, and report the result. ``asks`` is whether
    somebody has to agree first."""
    if explains:
        message = "--explain compares with files of this machine, and the ensemble is on the server's"
        raise Refused("local-only", message, "leave it out: the plan says what changes, and why")
    ensemble = ensemble_of(session.settings, session.verb)
    goes_on = session.settings.yes or not asks
    package = package_of(ensemble, request.wanted)
    wanted: dict[str, object] = {
        "request": asked_request(request.wanted, package),
        "environment": request.environment,
        "options": asked_options(request.options),
        "apply": AUTO if goes_on else ASK,
    }
    plan = _asked(ensemble, request.wanted, package, wanted)
    session.diagnostics(findings_of(plan))
    refuse_unmade(plan)
    conversation = RemoteConversation(session)
    shown = shown_plan(ensemble, plan)
    if plan.state == EMPTY or not isinstance(shown, PlanData):
        return _nothing_to_do(session, ensemble, request.wanted.workflow, shown, finish)
    try:
        if asks:
            plan = _approved(session, ensemble, plan, shown, conversation)
        return go_on(session, ensemble, plan, request.wait_lock, finish, kept=shown)
    except KeyboardInterrupt:
        _leave(session, ensemble, plan)
        return ExitCode.INTERRUPTED


def plan_there(session: Session, request: Request, write: Callable[[PlanData, Channel], None], out: str) -> ExitCode:
    """Have a request planned, and show the plan. It stays at the server, where it can be approved and applied."""
    ensemble = ensemble_of(session.settings, session.verb)
    package = package_of(ensemble, request)
    environment = session.settings.wanted_environment
    body: dict[str, object] = {"request": asked_request(request, package), "environment": environment}
    plan = _asked(ensemble, request, package, body)
    refuse_unmade(plan)
    shown = shown_plan(ensemble, plan)
    session.diagnostics(findings_of(plan))
    if plan.state == EMPTY or not isinstance(shown, PlanData):
        session.show(shown, lambda _, channel: channel.line(_nothing(request.workflow, shown)))
        return ExitCode.DONE
    session.show(shown, write)
    if out:
        from ordito.app.output_file import write_document

        write_document(out, ensemble.connection.ask("GET", f"{ensemble.path}/plans/{plan.id}/file").body, ())
        session.note(f"written: {out}")
    command = session.settings.command
    may = {
        "apply": NextCommand(command("plans", "apply", plan.id), "carry out exactly this plan"),
        "discard": NextCommand(command("plans", "discard", plan.id), "leave it"),
    }
    if "apply" not in plan.allowed:
        session.note(f"You may not carry it out: plan {plan.id} waits at the server for somebody who may.")
    session.next(*(way for name, way in may.items() if name in plan.allowed))
    return ExitCode.CHANGES


def _nothing(workflow: str, shown: object) -> str:
    said = "nothing is deployed"
    if isinstance(shown, PlanData):
        said = f"{workflow} would change nothing"
        if workflow_of(workflow).describes:
            what = f"{'the named part of ' if shown.part else ''}{shown.service}"
            said = f"according to the records {what} is as described"
    return f"Nothing to do: {said}."


def follow_plan(session: Session, ensemble: RemoteEnsemble, plan: AskedPlan, finish: Finish) -> ExitCode:
    """Go on with a plan that is to be applied, and follow its job."""
    shown = shown_plan(ensemble, plan)
    try:
        return go_on(session, ensemble, plan, 0.0, finish, kept=shown if isinstance(shown, PlanData) else None)
    except KeyboardInterrupt:
        _leave(session, ensemble, plan)
        return ExitCode.INTERRUPTED


def findings_of(plan: AskedPlan) -> list[Diagnostic]:
    """Warnings and notes about a plan, without what only concerns whoever makes archives: here one is only made to send
    a folder."""
    return [diagnostic_of(one) for one in plan.findings if one.code != UNNAMED]


def package_of(ensemble: RemoteEnsemble, request: Request) -> str:
    """The package of the service that a command names, once it is at the server; "" where it names none."""
    if isinstance(request, SavedPlanRequest) or (
        isinstance(request, DescriptionRequest) and request.service and is_saved_plan(request.service)
    ):
        hint = "`ordito plans apply` carries out a plan that the server has made"
        raise Refused("local-only", "a saved plan is for the ensemble on whose machine it was made", hint)
    if not isinstance(request, DescriptionRequest) or not request.service:
        return ""
    from ordito.authoring.package import PackageRequest
    from ordito.client.packages import made_of

    return made_of(ensemble, request.service, PackageRequest("", choices=request.choices, hooks=request.hooks))


def _asked(ensemble: RemoteEnsemble, request: Request, package: str, body: dict[str, object]) -> AskedPlan:
    """The plan, once it is made. The first deployment makes the ensemble, as it does here."""
    try:
        return ask_plan(ensemble, body)
    except ServerError as error:
        if error.failure.code != "unknown-ensemble" or not package or not request.makes_ensemble:
            raise
    make_ensemble(ensemble, package)
    return ask_plan(ensemble, body)


class RemoteConversation(CliConversation):
    """Shows a plan that a server has made, asks about it, and renders the events of its job."""

    def agreed(self, shown: PlanData) -> bool:
        """Show the plan, and ask unless ``--yes`` was given. Raises ``NobodyToAsk`` and ``Refused``."""
        session, settings = self._session, self._session.settings
        if session.stream is not None:
            for change in shown.changes:
                session.stream.say("plan.change", change_data(change))
        if settings.yes:
            if session.stream is None and not settings.quiet:
                write_brief(shown, session.err)
            return True
        _refuse_unnamed(shown)
        if not session.can_ask:
            raise NobodyToAsk(shown.workflow, tuple(shown.losing))
        write_plan(shown, session.err)
        is_agreed = self._ask(shown.workflow, shown, session.err)
        return is_agreed and all(self._may_lose(name, session.err) for name in shown.not_permitted)


def _refuse_unnamed(shown: PlanData) -> None:
    """Refuse what would lose data where nobody is asked. Raises ``Refused``."""
    if shown.not_permitted and not sys.stdin.isatty():
        named = listed(shown.not_permitted, MOST_NAMED)
        raise Refused(
            "data-loss",
            f"data of {named} would be lost; nothing was changed",
            "back them up first; what keeps no data can say so in its metadata: ordito.data: none",
            more_words=words_of_losing(shown.not_permitted),
            purpose=f"do it, and lose the data of {named}",
        )


def _approved(
    session: Session, ensemble: RemoteEnsemble, plan: AskedPlan, shown: PlanData, conversation: RemoteConversation
) -> AskedPlan:
    """The plan once it was agreed to. Raises ``Declined``, ``NobodyToAsk`` and ``ServerError``; the plan is discarded
    then."""
    try:
        is_agreed = conversation.agreed(shown)
    except (NobodyToAsk, Refused):
        discard_plan(ensemble, plan.id)
        raise
    if not is_agreed:
        discard_plan(ensemble, plan.id)
        raise Declined
    return apply_plan(ensemble, plan) if plan.state == READY and not session.settings.yes else plan


def go_on(
    session: Session,
    ensemble: RemoteEnsemble,
    plan: AskedPlan,
    wait_lock: float,
    finish: Finish,
    *,
    kept: PlanData | None = None,
) -> ExitCode:
    """Wait for approvals and for the turn of a plan that is to be applied, follow its job, and report its end."""
    ensemble.connection.absence.tell = session.note
    plan = after(ensemble, plan, lambda one: one.state not in (PLANNING, READY))
    if plan.state == WAITING:
        plan = _approved_by_others(session, ensemble, plan)
        if plan.state == WAITING:
            return ExitCode.NOT_APPROVED
    refuse_unmade(plan)
    if session.settings.detach:
        _say_detached(session, plan)
        return ExitCode.DONE
    plan = _begun(session, ensemble, plan, wait_lock)
    conversation = RemoteConversation(session)
    if plan.job is not None:
        _follow(ensemble, plan, conversation)
        with _going_on(plan.job):
            plan = after(ensemble, plan_named(ensemble, plan.id), lambda one: one.state not in ON_THE_WAY)
    refuse_unmade(plan)
    if plan.job is None:
        return _nothing_to_do(session, ensemble, plan.workflow, kept, finish)
    report = report_of(ensemble, plan)
    result = WorkflowResult(None, Status(), report, tuple(kept.kept) if kept is not None else ())
    return finish(result, conversation, session)


def _approved_by_others(session: Session, ensemble: RemoteEnsemble, plan: AskedPlan) -> AskedPlan:
    """The plan once it is approved, or as it is when the time is over."""
    who = ", ".join(f"{one.count} of {' or '.join((*one.roles, *one.groups)) or 'who may approve'}" for one in
                    plan.approvals.wanted)  # fmt: skip
    seconds = session.settings.wait_approval
    session.note(printable(f"Plan {plan.id} waits for approvals: {who or 'of others'}."))
    if seconds:
        plan = after(ensemble, plan, lambda one: one.state != WAITING, seconds)
    if plan.state == WAITING:
        command = session.settings.command
        session.show(plan)
        session.next(
            NextCommand(command("plans", "approve", plan.id), "for somebody else: approve it"),
            NextCommand(command("plans", "show", plan.id), "see how far it has come"),
            NextCommand(command("plans", "discard", plan.id), "leave it"),
        )
    return plan


def _say_detached(session: Session, plan: AskedPlan) -> None:
    session.note(f"Plan {plan.id} is {plan.state}; it goes on at the server.")
    session.show(plan)
    session.next(NextCommand(session.settings.command("plans", "show", plan.id), "see how far it has come"))


def _begun(session: Session, ensemble: RemoteEnsemble, plan: AskedPlan, wait_lock: float) -> AskedPlan:
    """The plan once its job has begun, or once it has ended without one. Raises ``ServerError`` if that takes longer
    than the command was to wait."""
    plan = after(ensemble, plan, _is_under_way, 1.0)
    if plan.state == QUEUED:
        queue = plan.queue
        why = queue.frozen or queue.holder if queue is not None else ""
        place = f", in place {queue.place}" if queue is not None else ""
        session.note(printable(f"Plan {plan.id} is {plan.state}{place}{f': {why}' if why else ''}."))
    plan = after(ensemble, plan, _is_under_way, wait_lock or float("inf"))
    if not _is_under_way(plan):
        discard_plan(ensemble, plan.id)
        hint = "wait longer (--wait-lock), or leave it out: a server waits as long as it takes"
        raise ServerError(Failure("locked", f"the turn of plan {plan.id} has not come; it was discarded", hint))
    return plan


def _is_under_way(plan: AskedPlan) -> bool:
    return plan.job is not None or plan.state not in ON_THE_WAY


def _follow(ensemble: RemoteEnsemble, plan: AskedPlan, conversation: RemoteConversation) -> None:
    """Render the events of a plan's job until it has ended."""
    job = str(plan.job)

    def is_over() -> bool:
        return plan_named(ensemble, plan.id).state != RUNNING

    follow_job(ensemble, job, conversation, is_over)


def follow_job(
    ensemble: RemoteEnsemble,
    job: str,
    conversation: CliConversation,
    is_over: Callable[[], bool],
) -> JobReport | None:
    """Render the events of a job until its end, which is reported; None where ``is_over`` says that nobody tells of it
    any more. An interrupt cancels the job, the third one lets it go. Raises ``ServerError`` and
    ``KeyboardInterrupt``."""
    of = f"{ensemble.project}/{ensemble.name}/{job}"
    topics = [f"job:{of}", *([f"log:{of}"] if conversation.wants_inputs else [])]
    tell, cancelling = conversation.listener(), _Cancelling(ensemble, job, conversation)
    ensemble.connection.absence.tell = conversation.say
    with _going_on(job), cancelling, conversation.cancelling(cancelling.ask):
        was_over, failures = False, list[StepFailed]()
        for event in follow(ensemble.connection, *topics):
            if event is None:
                # What was written last may come a moment after the job is known to have ended.
                if was_over:
                    return None
                was_over = is_over()
                continue
            found = event_in(_as_log(event.line, job) if event.type == "step.log" else event.line)
            if found is not None:
                with cancelling.lock:
                    tell(found)
                    if isinstance(found, JobCancelling) and not cancelling.was_asked:
                        conversation.cancel_asked(2 if found.now else 1, asked_by(found))
            if isinstance(found, StepFailed):
                failures.append(found)
            if isinstance(found, JobFinished):
                return _told(ensemble, found, failures)
    return None


@contextmanager
def _going_on(job: str) -> Iterator[None]:
    """Where the server cannot be asked any more, as where a sign-in has ended: name the job, which goes on without this
    command, and how it is followed."""
    try:
        yield
    except ServerError as error:
        message = f"{error.failure.message}; job {job} goes on at the server without this command"
        way = NextStep("follow the job, once that is mended", ("jobs", "events", job, "--follow"))
        failure = msgspec.structs.replace(error.failure, message=message, next=(*error.failure.next, way))
        raise ServerError(failure, error.diagnostics, error.status) from error


def _told(ensemble: RemoteEnsemble, end: JobFinished, failures: Sequence[StepFailed]) -> JobReport:
    """The report of a job, from its last event and how the ensemble is now: of jobs that carry out no plan nothing else
    is kept."""
    now = ensemble.ask(STATUS, StatusAsked(), patience=LONG_PATIENCE)
    left = sum(one.counts for one in now.instances.values())
    return JobReport(
        end.job,
        end.workflow,
        end.status,
        end.seconds,
        Counts(end.succeeded, end.failed, end.skipped, end.no_op),
        tuple(failures),
        rollback=RollbackReport(end.rollback, end.remains, end.again),
        after=AfterReport(now.outputs, left),
        causes=CausesReport(handled=end.handled),
    )


class _Printed(msgspec.Struct):
    step: str
    text: str


def _as_log(line: bytes, job: str) -> bytes:
    """What a step printed, as an event of its job."""
    found = msgspec.json.decode(line, type=_Printed)
    return msgspec.json.encode(
        {"type": "step.log", "job": job, "step": found.step, "text": found.text.removesuffix("\n")}
    )


class _Cancelling:
    """Asks the server to cancel a job, once for each interrupt, in a thread of its own: a signal may come in the middle
    of whatever is done."""

    def __init__(self, ensemble: RemoteEnsemble, job: str, conversation: CliConversation) -> None:
        self._ensemble = ensemble
        self._job = job
        self._conversation = conversation
        self._asked = threading.Semaphore(0)
        self._is_over = False
        self._thread = threading.Thread(target=self._work, daemon=True)
        self.was_asked = False
        """Whether it is this user who cancels."""

        self.lock = threading.Lock()
        """Held while something is shown."""

    def ask(self) -> None:
        """The user has asked for it, once more."""
        self.was_asked = True
        self._asked.release()

    def __enter__(self) -> _Cancelling:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._is_over = True
        self._asked.release()

    def _work(self) -> None:
        own = msgspec.structs.replace(self._ensemble, connection=self._ensemble.connection.another())
        for times in (1, 2):
            self._asked.acquire()
            if self._is_over:
                return
            try:
                cancel_job(own, self._job, now=times > 1)
            except ServerError as error:
                said = f"the job was not told to end: {error.failure.message}"
                with self.lock:
                    self._conversation.warn(said)
            else:
                with self.lock:
                    self._conversation.cancel_asked(times, "")


def _leave(session: Session, ensemble: RemoteEnsemble, plan: AskedPlan) -> None:
    """The user has let go: what has not begun is discarded, what has goes on."""
    session.fail("interrupted", "interrupted by the user")
    try:
        now = plan_named(ensemble, plan.id, patience=2.0)
        if now.state not in (STARTING, RUNNING):
            discard_plan(ensemble, plan.id)
            session.note(f"Plan {plan.id} was discarded.")
            return
    except ServerError:
        now = plan
    command = session.settings.command
    job = now.job
    words = ("jobs", "events", job, "--follow") if job else ("plans", "show", plan.id)
    session.next(NextCommand(command(*words), "it goes on at the server: follow it"))


def _nothing_to_do(
    session: Session, ensemble: RemoteEnsemble, workflow: str, shown: object, finish: Finish
) -> ExitCode:
    """Say that there is nothing to do, as it is said here."""
    plan = shown if isinstance(shown, PlanData) else None
    kept = plan.kept if plan is not None else ()
    if not workflow_of(workflow).describes:
        return finish(WorkflowResult(None, Status(), None, tuple(kept)), CliConversation(session), session)
    from ordito.cli.job_view import write_outputs
    from ordito.cli.plan_view import write_kept, write_left_out

    what = f"the named part of {plan.service}" if plan is not None and plan.part else plan.service if plan else ""
    nothing = f"Nothing to {'change' if workflow == 'upgrade' else 'do'}: according to the records"
    session.note(f"{nothing} {what} is as described. No operation was run, no file was changed.")
    if plan is not None and plan.part:
        write_left_out(plan, session.err)
    write_kept(kept, session.err)
    for warning in plan.warnings if plan is not None else ():
        session.note(warning)  # It says itself that it is a warning.
    outputs = ensemble.ask(STATUS, StatusAsked()).outputs
    found = NoJobData(workflow=workflow, outputs=outputs, changed_inputs=())
    session.show(found, lambda one, channel: write_outputs(one.outputs or {}, channel))
    return ExitCode.DONE
