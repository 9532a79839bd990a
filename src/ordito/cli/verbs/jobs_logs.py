"""`ordito jobs logs`."""

from __future__ import annotations

import click

from ordito.cli.exit_codes import ExitCode
from ordito.cli.session import Session
from ordito.cli.text_width import printable
from ordito.cli.verb import verb

HELP = """Read what the operations of a job printed, in the order in which it came.

JOB is its id or the beginning of it; without it, that of the latest job is read. Each line begins with the step that
printed it, as in web_1.Standard.create; with --step, only what that one printed is shown, as it is."""


@verb("logs", HELP, named="jobs logs")
@click.argument("job", required=False)
@click.option("--step", metavar="STEP", default="", help="Show only what this step printed.")
def command(session: Session, job: str | None, step: str) -> ExitCode:
    """Read a log."""
    from ordito.app.jobs import JobRequest, job_log

    found, pieces = job_log(JobRequest(session.settings.directory, job or "", step))
    if not session.writes_text:
        lines = [{"step": name, "text": data.decode("utf-8", "replace")} for name, data in pieces]
        session.result({"job": found, "output": lines}, lambda _: None)
        return ExitCode.DONE
    silent = True
    for name, data in pieces:
        silent = False
        bar = session.out.paint("faint", f"{name} {session.out.symbols.bar}")
        for line in data.decode("utf-8", "replace").removesuffix("\n").split("\n"):
            session.out.line(printable(line) if step else f"{bar} {printable(line)}")
    if silent:
        session.note(f"Job {found} printed nothing{f' in step {step}' if step else ''}.")
    return ExitCode.DONE
