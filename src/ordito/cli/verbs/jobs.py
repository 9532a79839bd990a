"""`ordito jobs`: the recorded jobs, and how to continue one that has failed."""

from __future__ import annotations

import sys
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING

import click
import msgspec
from msgspec import UNSET

from ordito.app.errors import Declined, NobodyToAsk
from ordito.app.requests import RetryRequest
from ordito.base.text import listed
from ordito.cli.channel import Channel, write_columns
from ordito.cli.delivery import deliver, out_option
from ordito.cli.durations import brief
from ordito.cli.exit_codes import ExitCode
from ordito.cli.grammar import JOBS_VERBS, VerbGroup
from ordito.cli.job_verb import carry_out, workflow_request
from ordito.cli.job_view import UNLESS, as_text, write_kept
from ordito.cli.progress.ledger import OWN, called
from ordito.cli.progress.lines import plural
from ordito.cli.progress.report import NextCommand
from ordito.cli.request_options import AS_BEGUN, ON_FAILURE_MAKING, commit_option, job_options, single, wait_lock_option
from ordito.cli.session import Session
from ordito.cli.settings import Format
from ordito.cli.text_width import printable
from ordito.cli.verb import verb
from ordito.work.events import JobFinished
from ordito.work.options import JobOptions
from ordito.work.plan import HOOK, UNDO

if TYPE_CHECKING:
    from ordito.app.follow import JobEventLines
    from ordito.app.job.jobs import JobOutput
    from ordito.app.workflow_run import WorkflowResult
    from ordito.cli.conversation import CliConversation
    from ordito.ensemble.job_format import ConfigChange
    from ordito.results.by_hand import HeldLockData, UnlockAsked
    from ordito.results.jobs import JobListData, RecordedJobData, ReplayData, UnlockedData


jobs_command = VerbGroup("jobs", JOBS_VERBS, {}, "List, show, cancel, resume and retry jobs, and read their logs.")


@verb("list", named="jobs list")
def list_command(session: Session) -> ExitCode:
    """List all jobs of the ensemble, the latest first: what each did, how it ended, when it began, how long it took.

    A job that is still running, or was interrupted, is shown by `ordito status` until it has ended. Completed
    deployments, upgrades and removals are also revisions, which `ordito revisions` lists."""
    from ordito.results.answer import Asked
    from ordito.results.jobs import JOBS

    found = session.ask(JOBS, Asked())
    session.show(found, _list)
    for problem in found.problems:
        session.warn(printable(problem))
    if found.problems:
        purpose = "write jobs.tsv again from the records in jobs/"
        session.next(NextCommand(session.settings.command("jobs", "replay", "--write"), purpose))
    return ExitCode.DONE


def _list(found: JobListData, channel: Channel) -> None:
    rows = [(job.id, job.workflow, job.outcome, job.start, as_text(job.seconds), job.summary) for job in found.jobs]
    write_columns(("JOB", "WORKFLOW", "OUTCOME", "BEGAN", "SECONDS", "SUMMARY"), rows, channel)


MOST_ROWS = 1_000
OF_STEPS = (f"{HOOK}.", f"{UNDO}.")
"""The prefixes of the names of lifecycle steps that are carried out, and undone."""

HEADER = (
    *("workflow", "cause", "environment", "status", "revision", "rollback"),
    *("began", "ended", "by", "approved_by", "user", "machine", "summary"),
)


@verb("show", named="jobs show")
@click.argument("job", required=False)
def show_command(session: Session, job: str | None) -> ExitCode:
    """Show a job: what it did, task by task.

    JOB is its id or the beginning of it; without it, the latest is shown. For each task it shows what it worked on, how
    it ended and how long it took; for the job also which steps were not run and why, and what remains after a rollback.
    For a job that has not ended it shows the progress. `ordito jobs logs` shows what operations printed."""
    from ordito.app.job.jobs import INTERRUPTED
    from ordito.cli.status_view import open_job_line
    from ordito.results.jobs import JOB, JobAsked
    from ordito.results.status import UnfinishedJobData

    # People do not read very many tasks.
    found = session.ask(JOB, JobAsked(job or "", MOST_ROWS if session.writes_text else None))
    if isinstance(found, UnfinishedJobData):
        session.show(found, lambda job, channel: channel.line(f"Job {open_job_line(job)}"))
        if found.outcome == INTERRUPTED:
            session.next(NextCommand(session.settings.command("jobs", "resume"), "continue it where it stopped"))
    else:
        session.show(found, _closed)
    return ExitCode.DONE


def _closed(found: RecordedJobData, channel: Channel) -> None:
    head = found.job
    channel.line(channel.paint("strong", f"Job {head.change_id}"))
    for name in HEADER:
        value = getattr(head, name)
        if name == "status" and head.handled:
            value = f"{value}, and handled by the workflow"
        if name == "approved_by":
            value = ", ".join(head.approved_by)
        if value:
            channel.line(f"  {name.replace('_', ' '):<11} {printable(str(value))}")
    for remaining in islice(head.remains, MOST_ROWS):
        channel.line(f"  {'remains':<11} {printable(remaining)}")
    if head.again:
        named = printable(listed(head.again, MOST_ROWS))
        channel.line(f"  {'made again':<11} {named}: the data there is lost, {UNLESS}")
    rows = [_row(task, head.change_id) for task in found.changes if task.outcome]
    if rows:
        write_columns(("TASK", "TARGET", "OPERATION", "OUTCOME", "SECONDS", ""), rows, channel)
    if head.changes > MOST_ROWS:
        channel.line(f"... and {plural(head.changes - MOST_ROWS, 'more task')}; all of them with: -o json")
    for step, because in islice(found.skipped.items(), MOST_ROWS):
        channel.line(f"not run: {called(step)}, because of {called(because)}")


def _row(task: ConfigChange, job: str) -> tuple[str, ...]:
    code = f" (exit {task.exit_code})" if task.exit_code is not None else ""
    seconds = "" if task.seconds is None else as_text(task.seconds)
    is_of_module = task.target == job and task.operation.startswith(OF_STEPS)
    target = "module" if is_of_module else task.target
    operation = OWN.get(task.operation, task.operation)
    from ordito.work.probes import PROBES

    # What an operation that only looks has found is all that it has done.
    became = task.changes.get(task.target) if task.operation.rpartition(".")[2] in PROBES else None
    status = f"now {became.local}" if became is not None and became.local else ""
    said = "; ".join(filter(None, (status, task.summary, *(f"warning: {warning}" for warning in task.warnings))))
    return (task.change_id or "-", target, operation, f"{task.outcome}{code}", seconds, said)


@verb("logs", named="jobs logs")
@click.argument("job", required=False)
@click.option("--step", metavar="STEP", default="", help="Show only what this step printed.")
def logs_command(session: Session, job: str | None, step: str) -> ExitCode:
    """Read what the operations of a job printed, in the order in which it came.

    JOB is its id or the beginning of it; without it, that of the latest job is read. Each line begins with the step
    that printed it, as in web_1.Standard.create; with --step, only the output of that step is shown, unchanged."""
    from ordito.app.job.jobs import JobRequest, job_log

    if session.settings.wanted_server:
        found = _log_there(session, job or "", step)
    else:
        found = job_log(JobRequest(session.settings.directory, job or "", step))
    if not found.is_kept:
        session.warn(f"what job {found.job} printed is not kept here: only that of the newest jobs is, where they ran")
    if not session.writes_text:
        from ordito.results.jobs import job_log_data

        session.show(job_log_data(found.job, found.pieces))
        return ExitCode.DONE
    silent = True
    for name, data in found.pieces:
        silent = False
        bar = session.out.paint("faint", f"{name} {session.out.symbols.bar}")
        for line in data.decode("utf-8", "replace").removesuffix("\n").split("\n"):
            session.out.line(printable(line) if step else f"{bar} {printable(line)}")
    if silent and found.is_kept:
        session.note(f"Job {found.job} printed nothing{f' in step {step}' if step else ''}.")
    return ExitCode.DONE


def _log_there(session: Session, job: str, step: str) -> JobOutput:
    """What the operations of a job printed, at the server."""
    from ordito.app.job.jobs import JobOutput
    from ordito.cli.remote import ensemble_of
    from ordito.client.errors import ServerError
    from ordito.client.jobs import job_named, log_pieces
    from ordito.ensemble.logs import by_lines

    ensemble = ensemble_of(session.settings)
    name = job_named(ensemble, job).id
    try:
        return JobOutput(name, by_lines(list(log_pieces(ensemble, name, step))), True)
    except ServerError as error:
        if error.failure.code != "forgotten":
            raise
        return JobOutput(name, iter(()), False)


@verb("events", named="jobs events")
@click.argument("job", required=False)
@click.option("--follow", "-f", is_flag=True, help="Go on while the job runs, until it has ended.")
def events_command(session: Session, job: str | None, *, follow: bool) -> ExitCode:
    """Read the events of a job: what began, ended, failed and was skipped, and each change of an instance.

    JOB is its id or the beginning of it; without it, the latest is read. With --follow new events are shown as they
    happen, also of a job that another command runs; Ctrl-C ends only the view. With --json the events are those that
    the command itself would have written. `ordito jobs logs` shows what operations printed."""
    from ordito.app.follow import EventsRequest, job_events
    from ordito.app.job.jobs import INTERRUPTED

    if follow and session.settings.output is not Format.TEXT:
        raise click.UsageError("-o writes one result, when all is known: with --follow use --json")
    if session.settings.wanted_server:
        found = _events_there(session, job or "", follow=follow)
    else:
        found = job_events(EventsRequest(session.settings.directory, job or "", follow))
    try:
        _tell(found, session)
    except KeyboardInterrupt:
        # It is the usual end of following, not an interruption of the job.
        session.note("What runs goes on.")
        return ExitCode.DONE
    if found.open is not None and found.open.outcome == INTERRUPTED:
        session.next(NextCommand(session.settings.command("jobs", "resume"), "continue it where it was interrupted"))
    return ExitCode.DONE


@verb("report", named="jobs report", formats=(Format.TEXT,))
@click.argument("job", required=False)
@out_option
def report_command(session: Session, job: str | None, out: str) -> ExitCode:
    """Make a page about a job, to be kept, sent or printed: what failed, the topology, the timeline, what was done and
    why, and the end of what operations printed.

    JOB is its id or the beginning of it; without it, the page is about the latest, also while that runs. It is one file
    of HTML that needs neither a network nor scripts. Sensitive values are not in it."""
    if session.settings.wanted_server:
        from ordito.cli.remote import ensemble_of
        from ordito.client.connection import in_path
        from ordito.client.looks import LATEST

        ensemble = ensemble_of(session.settings)
        path = f"{ensemble.path}/jobs/{in_path(job or LATEST)}/report.html"
        document = ensemble.connection.ask("GET", path, headers={"Accept": "text/html"}).body
    else:
        from ordito.results.report.report import JOB_REPORT, ReportAsked

        document = session.ask(JOB_REPORT, ReportAsked(job or "")).json
    return deliver(session, document, out)


def _events_there(session: Session, job: str, *, follow: bool) -> JobEventLines:
    """The events of a job at the server."""
    from ordito.app.follow import JobEventLines
    from ordito.app.job.jobs import OpenJob
    from ordito.cli.remote import ensemble_of
    from ordito.client.jobs import event_lines, following_lines, is_interrupted, job_named

    ensemble = ensemble_of(session.settings)
    found = job_named(ensemble, job)
    is_over = partial(is_interrupted, ensemble, found.id)
    is_followed = follow and found.open is not None
    lines = following_lines(ensemble, found.id, is_over) if is_followed else event_lines(ensemble, found.id)
    known = msgspec.convert(found.open, OpenJob, from_attributes=True) if found.open is not None else None
    return JobEventLines(found.id, lines, known)


def _tell(found: JobEventLines, session: Session) -> None:
    from ordito.cli.progress.lines import LineProgress
    from ordito.cli.progress.ndjson import event_in
    from ordito.results.jobs import JobEventsData

    lines = iter(found.lines)
    next(lines, None)  # It names the format.
    if session.stream is not None:
        for line in lines:
            session.stream.repeat(line)
        return
    if not session.writes_text:
        session.show(JobEventsData(found.job, tuple(map(msgspec.json.decode, lines))))
        return
    progress = LineProgress(session.out, tells_cancelling=True)
    for line in lines:
        event = event_in(line)
        if event is None:
            continue
        progress(event)
        if isinstance(event, JobFinished):
            progress.close()
            session.out.line(f"Job {event.job} ({event.workflow}) {_ended(event)}")
    progress.close()


def _ended(event: JobFinished) -> str:
    counts = {"succeeded": event.succeeded, "failed": event.failed, "skipped": event.skipped}
    said = ", ".join(f"{count} {how}" for how, count in counts.items() if count)
    rolled_back = f", rolled back ({event.rollback})" if event.rollback else ""
    return f"{event.status}{rolled_back}: {said or 'no steps'}, after {brief(event.seconds)}"


@verb("cancel", named="jobs cancel")
@click.argument("job", required=False)
@click.option("--now", is_flag=True, help="Also end the running steps.")
@wait_lock_option
@commit_option(AS_BEGUN)
def cancel_command(session: Session, job: str | None, *, now: bool, wait_lock: float, commit: str) -> ExitCode:
    """End a running job, also one in another terminal, or close one that was interrupted.

    JOB is its id or the beginning of it; without it, the unfinished job is meant. Running steps finish and no others
    start; with --now the running steps are ended too. A job whose process is gone is closed: what has not begun is left
    out, what was running is ended if it still runs, and the report says what is in doubt."""
    if session.settings.wanted_server:
        from ordito.cli.remote_edits import refuse_commit

        refuse_commit(commit)
        return _cancel_there(session, job or "", now=now)
    from ordito.app.job.cancel import CancelRequest, cancel
    from ordito.cli.conversation import CliConversation
    from ordito.cli.job_view import write_report
    from ordito.results.jobs import NoJobData, job_end_data

    conversation = CliConversation(session)
    request = CancelRequest(session.settings.directory, job or "", now, wait_lock, commit)
    result = cancel(request, conversation)
    if result.report is not None:
        write_report(result.report, conversation.ledger, session)
        session.show(job_end_data(result.report))
        if result.report.status == "cancelled":
            retry = session.settings.command("jobs", "retry")
            session.next(NextCommand(retry, "do what it has left undone, as a new job"))
        return ExitCode.DONE
    if not result.job:
        session.note("Nothing to cancel: no job is running, and none was interrupted.")
        session.show(NoJobData())
        return ExitCode.DONE
    return _told_to_end(session, result.job, now=now)


def _told_to_end(session: Session, job: str, *, now: bool) -> ExitCode:
    from ordito.results.jobs import CancellingData

    what = "its running steps are being ended" if now else "running steps finish, no others start"
    session.note(f"Job {job} was told to end: {what}.")
    session.show(CancellingData(job, "cancelling"))
    session.next(NextCommand(session.settings.command("jobs", "show", job), "see how it ended"))
    return ExitCode.DONE


def _cancel_there(session: Session, job: str, *, now: bool) -> ExitCode:
    from ordito.cli.remote import ensemble_of
    from ordito.client.jobs import job_named
    from ordito.client.plans import cancel_job
    from ordito.results.jobs import NoJobData

    ensemble = ensemble_of(session.settings)
    found = job_named(ensemble, job)
    if not job and found.open is None:
        session.note("Nothing to cancel: no job is running, and none was interrupted.")
        session.show(NoJobData())
        return ExitCode.DONE
    name, _ = cancel_job(ensemble, found.id, now=now)
    return _told_to_end(session, name, now=now)


@verb("resume", named="jobs resume")
@wait_lock_option
@commit_option(AS_BEGUN)
def resume_command(session: Session, wait_lock: float, commit: str) -> ExitCode:
    """Continue a job that was interrupted, under the same id.

    What is completed does not run again. An operation that was running when the program died is ended if it still runs.
    Then the check of its instance says whether it is done; without an answer it runs again.

    Afterwards, or if no job was interrupted, the notices that arrived meanwhile (`ordito notify`) are handled."""
    if session.settings.wanted_server:
        from ordito.cli.remote_edits import refuse_commit

        refuse_commit(commit)
        return _resume_there(session)
    from ordito.app.job.run import ResumeRequest, resume
    from ordito.cli.conversation import CliConversation
    from ordito.cli.job_view import end_job

    conversation = CliConversation(session)
    report = resume(ResumeRequest(session.settings.directory, wait_lock, commit), conversation).report
    return end_job(report, conversation.ledger, session, nothing="Nothing to resume: no job was interrupted.")


def _resume_there(session: Session) -> ExitCode:
    """The same at a server: the job goes on there, and is followed."""
    from ordito.cli.conversation import CliConversation
    from ordito.cli.job_view import end_job
    from ordito.cli.remote import ensemble_of
    from ordito.cli.remote_jobs import follow_job
    from ordito.client.jobs import is_interrupted, job_named
    from ordito.client.plans import resume_job
    from ordito.results.jobs import NoJobData

    ensemble = ensemble_of(session.settings)
    found = job_named(ensemble, "")
    if found.open is None:
        session.note("Nothing to resume: no job was interrupted.")
        session.show(NoJobData())
        return ExitCode.DONE
    job = resume_job(ensemble, found.id)
    conversation = CliConversation(session)
    ended = follow_job(ensemble, job, conversation, partial(is_interrupted, ensemble, job))
    if ended is None:
        session.next(NextCommand(session.settings.command("jobs", "show", job), "see how it ended"))
        return ExitCode.JOB_FAILED
    return end_job(ended, conversation.ledger, session, nothing="")


@verb("retry", named="jobs retry")
@click.argument("job", required=False)
@single(RetryRequest, "may_lose")
@job_options(ON_FAILURE_MAKING)
def retry_command(
    session: Session, job: str | None, may_lose: tuple[str, ...], options: JobOptions, wait_lock: float
) -> ExitCode:
    """Do what a failed or cancelled job has not done, as a new job.

    JOB is its id or the beginning of it; without it, the latest deployment, removal, scaling or workflow of the
    template is meant. The service and the inputs are those of that job. Other jobs (heal, stop, start, restart, run) do
    not continue where they stopped: give their command again."""
    return retry(session, RetryRequest(job or "", may_lose=may_lose), options, wait_lock)


@verb("skip", named="jobs skip")
@click.argument("words", nargs=-1, required=True, metavar="[JOB] STEP")
@single(RetryRequest, "may_lose")
@job_options(ON_FAILURE_MAKING)
def skip_command(
    session: Session, words: tuple[str, ...], may_lose: tuple[str, ...], options: JobOptions, wait_lock: float
) -> ExitCode:
    """Do what a failed or cancelled job has not done, with one of its steps counted as done by hand.

    JOB is its id or the beginning of it; without it, the latest deployment, removal, scaling or workflow of the
    template is meant. STEP is the id of the step, as in web_1.Standard.create. The record says that the step was
    skipped by hand, and later deployments do not run it again."""
    if len(words) > 2:
        raise click.UsageError("give one step; if the job is not the latest, give it before the step")
    job, step = words if len(words) == 2 else ("", words[0])
    return retry(session, RetryRequest(job, step, may_lose), options, wait_lock)


MOST_SHOWN = 200


@verb("replay", named="jobs replay")
@click.option("--until", metavar="CHANGE", default="", help="Write what existed after this job or task.")
@click.option("--first", type=click.IntRange(min=0), metavar="N", help="Write what existed after N jobs.")
@click.option("--write", is_flag=True, help="Write ensemble.yaml and jobs.tsv from the records.")
@wait_lock_option
@commit_option()
def replay_command(
    session: Session, until: str, first: int | None, write: bool, wait_lock: float, commit: str
) -> ExitCode:
    """Rebuild what exists from the records of all jobs, and compare it with ensemble.yaml.

    It shows where the two differ, and which record is missing, if one is. With --until or --first, it writes what
    existed then. With --write, the records replace what ensemble.yaml and jobs.tsv say, as is needed after a merge of
    two clones; what you wrote above the marker line stays."""
    if write and (until or first is not None):
        raise click.UsageError("--write takes all jobs: leave out --until and --first")
    if until and first is not None:
        raise click.UsageError("--until and --first exclude each other")
    if session.settings.wanted_server:
        from ordito.cli.remote import ensemble_of
        from ordito.cli.remote_edits import refuse_commit
        from ordito.client.changes import do
        from ordito.results.by_hand import REPLAY, ReplayAsked

        refuse_commit(commit)
        ensemble = ensemble_of(session.settings, session.verb)
        found = do(ensemble, REPLAY, ReplayAsked(write, until, first), wait_lock=wait_lock)
    else:
        from ordito.app.job.replay import ReplayRequest, replay
        from ordito.results.jobs import replay_data

        found = replay_data(replay(ReplayRequest(session.settings.directory, until, first, write, wait_lock, commit)))
    session.show(found, _text)
    write_kept(found, session)
    _suggest(found, session)
    return ExitCode.DONE if found.agrees else ExitCode.REFUSED


def _text(result: ReplayData, channel: Channel) -> None:
    for problem in result.problems:
        channel.line(f"{channel.paint('error', problem.code)}: {printable(problem.message)}")
    if result.state is not UNSET:
        if not result.problems:
            _state(result, channel)
        return
    for fork in result.forks:
        after = f"after job {fork.after}" if fork.after else "from the beginning"
        channel.line(f"fork: jobs {', '.join(fork.jobs)} were run by different clones {after}")
    for clash in result.clashes:
        channel.line(f"changed on both sides: {printable(clash.target)}, by jobs {clash.jobs[0]} and {clash.jobs[1]}")
    if result.unreadable:
        channel.line(f"{channel.paint('error', 'cannot be compared')}: {printable(result.unreadable)}")
    for differing in result.differs[:MOST_SHOWN]:
        recorded, found = _shown(differing.recorded), _shown(differing.found)
        channel.line(printable(f"{differing.path}: recorded {recorded}, found {found}"))
    more = result.more + max(0, len(result.differs) - MOST_SHOWN)
    if more:
        channel.line(f"... and {plural(more, 'more difference')}")
    _summary(result, channel)


def _summary(result: ReplayData, channel: Channel) -> None:
    jobs = plural(result.jobs, "job")
    if result.caveat:
        channel.line(f"effective statuses are not compared: {printable(result.caveat)}")
    if result.joined:
        channel.line(f"Job {result.joined} joins what the clones did.")
    if result.written:
        channel.line(f"ensemble.yaml and jobs.tsv are written from the records of {jobs}.")
    elif result.agrees:
        channel.line(f"The records of {jobs} give exactly what ensemble.yaml says.")


def _state(result: ReplayData, channel: Channel) -> None:
    from ordito.ensemble.yaml_writer import block

    channel.write("".join(block({"status": result.state})))


def _shown(value: object) -> str:
    return "nothing" if value is None else as_text(value)


def _suggest(result: ReplayData, session: Session) -> None:
    if result.agrees:
        return
    if result.problems:
        session.note("Records are restored from git: `git log -- jobs` shows which commit had them.")
        return
    session.next(
        NextCommand(session.settings.command("jobs", "replay", "--write"), "replace the file by what the records say"),
        NextCommand(session.settings.command("status"), "see what the file says exists"),
    )


@verb("unlock", named="jobs unlock")
@click.option("--remote", is_flag=True, help="The lock in the repository that the clones share (`lock: git`).")
def unlock_command(session: Session, remote: bool) -> ExitCode:
    """Remove the lock that the clones of an ensemble share, if the process that held it was killed.

    It shows who holds the lock, and asks. A job that was interrupted in another clone is not lost: resume it there."""
    from ordito.results.by_hand import HeldLockData, UnlockAsked

    if not remote:
        raise click.UsageError(
            "give --remote: a lock of this directory ends with its process, only a lock that clones share can remain"
        )
    held = _unlock(session, UnlockAsked())
    if not isinstance(held, HeldLockData):
        session.note("Nothing to unlock: nobody holds the lock.")
        session.show(held)
        return ExitCode.DONE
    owner = held.owner
    session.err.line(f"{held.repository} is locked by {held.holder}")
    if owner.job:
        session.warn(f"job {owner.job} may be unfinished: resume it in {owner.place} on {owner.machine}")
    if not session.settings.yes:
        if not session.can_ask:
            raise NobodyToAsk("unlock")
        session.err.write("Remove the lock? [yes/no] ")
        if sys.stdin.readline().strip().lower() not in {"yes", "y"}:
            raise Declined
    done = _unlock(session, UnlockAsked(held.digest))
    session.note("The lock is removed.")
    session.show(done)
    return ExitCode.DONE


def _unlock(session: Session, asked: UnlockAsked) -> HeldLockData | UnlockedData:
    from ordito.results.by_hand import UNLOCK

    if session.settings.wanted_server:
        from ordito.cli.remote import ensemble_of
        from ordito.client.changes import do

        return do(ensemble_of(session.settings, session.verb), UNLOCK, asked)
    return UNLOCK.answer(session.settings.directory, asked)


# What `jobs retry` and `jobs skip` have in common.


def retry(session: Session, request: RetryRequest, options: JobOptions, wait_lock: float) -> ExitCode:
    """Carry out the rest of a job."""
    return carry_out(session, workflow_request(session, request, options, wait_lock), _finish_retry)


def _finish_retry(result: WorkflowResult, conversation: CliConversation, session: Session) -> ExitCode:
    from ordito.cli.job_view import end_job

    return end_job(result.report, conversation.ledger, session, nothing="Nothing is left to do.")
