"""`ordito jobs show`."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING

import click
import msgspec

from ordito.base.listing import listed
from ordito.base.sensitive import encode_hook
from ordito.cli.channel import Channel
from ordito.cli.columns import write_columns
from ordito.cli.exit_codes import ExitCode
from ordito.cli.job_view import UNLESS, as_text
from ordito.cli.progress.ledger import OWN, called
from ordito.cli.progress.lines import plural
from ordito.cli.progress.report import NextCommand
from ordito.cli.session import Session
from ordito.cli.text_width import printable
from ordito.cli.verb import verb
from ordito.work.plan import HOOK, UNDO

if TYPE_CHECKING:
    from ordito.ensemble.job_format import ConfigChange
    from ordito.ensemble.job_history import RecordedJob

MOST_ROWS = 1_000
OF_STEPS = (f"{HOOK}.", f"{UNDO}.")
"""What stands before the names of lifecycle steps that are carried out, and undone."""

HEADER = (
    *("workflow", "cause", "environment", "status", "revision", "rollback"),
    *("began", "ended", "user", "machine", "summary"),
)

HELP = """Show a job: what it did, task by task.

JOB is its id or the beginning of it; without it, the latest is shown. Of each task it says what it was about, how it
ended and how long it took; of the job also which steps were not run and why, and what a rollback has left. Of a job
that has not ended it says how far it is. What operations printed is shown by `ordito jobs logs`."""


@verb("show", HELP, named="jobs show")
@click.argument("job", required=False)
def command(session: Session, job: str | None) -> ExitCode:
    """Show a job."""
    from ordito.app.jobs import INTERRUPTED, JobRequest, OpenJob, show_job
    from ordito.cli.status_view import open_job_line

    found = show_job(JobRequest(session.settings.directory, job or ""))
    if isinstance(found, OpenJob):
        data = {**msgspec.to_builtins(found), "outcome": found.outcome}
        session.result(data, lambda channel: channel.line(f"Job {open_job_line(found)}"))
        if found.outcome == INTERRUPTED:
            session.next(NextCommand(session.settings.command("jobs", "resume"), "continue it where it stopped"))
    elif session.writes_text:
        _closed(found, session.out)
    else:
        data = msgspec.to_builtins(found.file, enc_hook=encode_hook)
        data["changes"] = [msgspec.to_builtins(change, enc_hook=encode_hook) for change in found.changes()]
        session.result(data, lambda _: None)
    return ExitCode.DONE


def _closed(job: RecordedJob, channel: Channel) -> None:
    head = job.head
    channel.line(channel.paint("strong", f"Job {head.change_id}"))
    for name in HEADER:
        value = getattr(head, name)
        if name == "status" and head.handled:
            value = f"{value}, and handled by what the workflow has for it"
        if value:
            channel.line(f"  {name:<11} {printable(str(value))}")
    for remaining in islice(head.remains, MOST_ROWS):
        channel.line(f"  {'remains':<11} {printable(remaining)}")
    if head.again:
        named = printable(listed(head.again, MOST_ROWS))
        channel.line(f"  {'made again':<11} {named}: what was held there is not back, {UNLESS}")
    rows = [_row(task, head.change_id) for task in islice(_tasks(job), MOST_ROWS)]
    if rows:
        write_columns(("TASK", "TARGET", "OPERATION", "OUTCOME", "SECONDS", ""), rows, channel)
    if head.changes > MOST_ROWS:
        channel.line(f"... and {plural(head.changes - MOST_ROWS, 'more task')}; all of them with: -o json")
    for step, because in islice(job.file.skipped.items(), MOST_ROWS):
        channel.line(f"not run: {called(step)}, because of {called(because)}")


def _tasks(job: RecordedJob) -> Iterator[ConfigChange]:
    """The steps; what the job has changed besides has no outcome."""
    return (change for change in job.changes() if change.outcome)


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
