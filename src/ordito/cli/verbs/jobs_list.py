"""`ordito jobs list`."""

from __future__ import annotations

import msgspec

from ordito.app.jobs import JobsRequest, list_jobs
from ordito.cli.channel import Channel
from ordito.cli.columns import write_columns
from ordito.cli.exit_codes import ExitCode
from ordito.cli.job_view import as_text
from ordito.cli.session import Session
from ordito.cli.verb import verb

HELP = """List all jobs of the ensemble, the latest first."""


@verb("list", HELP)
def command(session: Session) -> ExitCode:
    """List jobs."""
    found = list_jobs(JobsRequest(session.settings.directory))

    def text(channel: Channel) -> None:
        rows = [(job.id, job.workflow, job.outcome, job.start, as_text(job.seconds), job.summary) for job in found]
        write_columns(("JOB", "WORKFLOW", "OUTCOME", "BEGAN", "SECONDS", "SUMMARY"), rows, channel)

    session.result({"jobs": [msgspec.to_builtins(job) for job in found]}, text)
    return ExitCode.DONE
