"""`ordito unpackage`."""

from __future__ import annotations

import click

from ordito.cli.channel import Channel
from ordito.cli.exit_codes import ExitCode
from ordito.cli.progress.lines import plural
from ordito.cli.session import Session
from ordito.cli.verb import verb

HELP = """Unpack ARCHIVE (a CSAR) into a folder of its own.

Nothing is overwritten, and an archive that holds what could do harm is refused as a whole."""


@verb("unpackage", HELP)
@click.argument("archive")
@click.option("--out", metavar="DIR", default="", help="The folder to make (default: the archive's name).")
def command(session: Session, archive: str, out: str) -> ExitCode:
    """Unpack an archive."""
    from ordito.app.unpackage import UnpackageRequest, unpackage

    made = unpackage(UnpackageRequest(archive, out))

    def text(channel: Channel) -> None:
        channel.line(f"unpacked {plural(len(made.files), 'file')} into {made.directory}")

    session.result({"directory": made.directory, "files": list(made.files)}, text)
    return ExitCode.DONE
