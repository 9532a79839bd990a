"""`ordito jobs show`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import click
import msgspec

from ordito.app.jobs import INTERRUPTED, JobRequest, OpenJob, show_job
from ordito.cli.channel import Channel
from ordito.cli.columns import write_columns
from ordito.cli.exit_codes import ExitCode
from ordito.cli.job_view import as_text
from ordito.cli.progress.lines import plural
from ordito.cli.progress.report import NextCommand
from ordito.cli.session import Session
from ordito.cli.text_width import printable
from ordito.cli.verb import verb

MOST_ROWS = 1_000

HEADER = ("workflow", "status", "began", "ended", "user", "machine", "summary")

HELP = """Show a job: what it did, task by task.

JOB is its id or the beginning of it; without it, the latest is shown."""


@verb("show", HELP)
@click.argument("job", required=False)
def command(session: Session, job: str | None) -> ExitCode:
    """Show a job."""
    found = show_job(JobRequest(session.settings.directory, job or ""))
    if isinstance(found, OpenJob):
        data = {**msgspec.to_builtins(found), "outcome": found.outcome}
        session.result(data, lambda channel: _open(found, channel))
        if found.outcome == INTERRUPTED:
            session.next(NextCommand(session.settings.command("jobs", "resume"), "continue it where it stopped"))
    else:
        session.result(found, lambda channel: _closed(found, channel))
    return ExitCode.DONE


def _open(job: OpenJob, channel: Channel) -> None:
    said = f"is being run by {job.holder}" if job.holder else "was interrupted"
    channel.line(f"Job {job.job} ({job.workflow}) {said}: {job.done} of {plural(job.steps, 'step')} done")


def _closed(record: Mapping[str, Any], channel: Channel) -> None:
    header = record["job"]
    channel.line(channel.paint("strong", f"Job {header['changeId']}"))
    for name in HEADER:
        if name in header:
            channel.line(f"  {name:<9} {printable(as_text(header[name]))}")
    tasks = record["changes"]
    rows = [_row(task) for task in tasks[:MOST_ROWS]]
    if rows:
        write_columns(("TASK", "TARGET", "OPERATION", "OUTCOME", "SECONDS", ""), rows, channel)
    if len(tasks) > MOST_ROWS:
        channel.line(f"... and {plural(len(tasks) - MOST_ROWS, 'more task')}; all of them with: -o json")
    skipped = record.get("skipped") or {}
    for step, because in list(skipped.items())[:MOST_ROWS]:
        channel.line(f"not run: {step}, because of {because}")


def _row(task: Mapping[str, Any]) -> tuple[str, ...]:
    code = f" (exit {task['exitCode']})" if "exitCode" in task else ""
    return (
        task.get("changeId", "-"),
        task["target"],
        task["operation"],
        f"{task['outcome']}{code}",
        as_text(task.get("seconds", "")),
        as_text(task.get("summary", "")),
    )
