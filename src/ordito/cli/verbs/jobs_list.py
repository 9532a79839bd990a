"""`ordito jobs list`."""

from __future__ import annotations

import msgspec

from ordito.cli.channel import Channel
from ordito.cli.columns import write_columns
from ordito.cli.exit_codes import ExitCode
from ordito.cli.job_view import as_text
from ordito.cli.progress.report import NextCommand
from ordito.cli.session import Session
from ordito.cli.text_width import printable
from ordito.cli.verb import verb

HELP = """List all jobs of the ensemble, the latest first: what each did, how it ended, when it began, how long it took.

A job that still runs, or was interrupted, is shown by `ordito status` until it has ended. Deployments, upgrades and
removals that were completed are revisions as well, which `ordito revisions` lists."""


@verb("list", HELP, named="jobs list")
def command(session: Session) -> ExitCode:
    """List jobs."""
    from ordito.app.jobs import JobsRequest, list_jobs

    found = list_jobs(JobsRequest(session.settings.directory))

    def text(channel: Channel) -> None:
        rows = [(job.id, job.workflow, job.outcome, job.start, as_text(job.seconds), job.summary) for job in found.jobs]
        write_columns(("JOB", "WORKFLOW", "OUTCOME", "BEGAN", "SECONDS", "SUMMARY"), rows, channel)

    session.result(msgspec.to_builtins(found), text)
    for problem in found.problems:
        session.warn(printable(problem))
    if found.problems:
        purpose = "write jobs.tsv anew from the records in jobs/"
        session.next(NextCommand(session.settings.command("jobs", "replay", "--write"), purpose))
    return ExitCode.DONE
