"""`ordito revisions`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from ordito.cli.channel import Channel
from ordito.cli.columns import write_columns
from ordito.cli.exit_codes import ExitCode
from ordito.cli.job_view import as_text
from ordito.cli.progress.report import NextCommand
from ordito.cli.session import Session
from ordito.cli.text_width import printable, shorten
from ordito.cli.verb import verb

if TYPE_CHECKING:
    from ordito.app.revisions import RevisionLine

HELP = """List the revisions of the ensemble, the newest first.

Each deployment, upgrade, removal or rollback that was completed made one. What it deployed, its files, its inputs, is
kept with the ensemble, so that `ordito rollback REVISION` leads back to it."""

WIDEST_INPUTS = 60
SHORT = 12


@verb("revisions", HELP)
def command(session: Session) -> ExitCode:
    """List revisions."""
    from ordito.app.revisions import list_revisions

    found = list_revisions(session.settings.directory)

    def text(channel: Channel) -> None:
        rows = [_row(line, channel) for line in found.revisions]
        write_columns(("", "REVISION", "JOB", "WORKFLOW", "ENDED", "SERVICE", "INPUTS CHANGED"), rows, channel)

    session.result(msgspec.to_builtins(found), text)
    if found.is_partial:
        what = f"job {found.partial}" if found.partial else "a job"
        session.warn(f"{what} was begun after the current revision, and did not complete")
        if found.back:
            session.next(NextCommand(session.settings.command("rollback"), f"go back to revision {found.back}"))
    return ExitCode.DONE


def _row(line: RevisionLine, channel: Channel) -> tuple[str, ...]:
    inputs = ", ".join(f"{name}={as_text(value)}" for name, value in line.inputs.items())
    return (
        "*" if line.is_current else "",
        str(line.revision),
        line.job,
        line.workflow,
        line.ended,
        "-" if line.was_removed else line.service[:SHORT],
        shorten(printable(inputs), WIDEST_INPUTS, channel.symbols.ellipsis),
    )
