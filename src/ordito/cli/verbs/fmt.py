"""`ordito fmt`."""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from ordito.cli.channel import Channel
from ordito.cli.diagnostics import as_json
from ordito.cli.exit_codes import ExitCode
from ordito.cli.options import fetch_option
from ordito.cli.progress.lines import plural
from ordito.cli.session import Session
from ordito.cli.verb import verb

if TYPE_CHECKING:
    from ordito.app.format.files import Formatted, FormattedFile

HELP = """Format service templates in place: each PATH is a file, or a folder with files (default: the current one).

Indentation and empty lines become the usual ones; every line keeps its text and its place, comments go with what they
speak of, and the meaning never changes. Line ends become those of Unix: CRLF becomes LF. A file with errors is left
alone, and so is one that has several names (hard links) or that somebody else writes to meanwhile."""


@verb("fmt", HELP)
@click.argument("paths", metavar="[PATH]...", nargs=-1)
@click.option("--check", is_flag=True, help="Write nothing; end with 3 if a file is not formatted.")
@click.option("--diff", is_flag=True, help="Write nothing; show what would change.")
@fetch_option
def command(session: Session, paths: tuple[str, ...], *, check: bool, diff: bool, fetch: bool) -> ExitCode:
    """Format files."""
    from ordito.app.format.files import FormatRequest, format_files

    write = not (check or diff)
    made = format_files(FormatRequest(paths or (".",), write, fetch))
    session.diagnostics(made.diagnostics)
    for file in made.files:
        if file.reason:
            session.warn(f"{file.path} is left as it is: {file.reason}")
    session.result(_data(made, written=write), lambda channel: _text(made, channel, check=check, diff=diff))
    refused = made.diagnostics or (check and any(file.changed for file in made.files))
    return ExitCode.REFUSED if refused else ExitCode.DONE


def _data(made: Formatted, *, written: bool) -> dict[str, object]:
    return {
        "written": written,
        "files": [{"file": f.path, "changed": f.changed, "left": f.reason or None} for f in made.files],
        "diagnostics": as_json(made.diagnostics),
    }


def _text(made: Formatted, channel: Channel, *, check: bool, diff: bool) -> None:
    changed = [file for file in made.files if file.changed]
    if diff:
        for file in changed:
            for line in _difference(file):
                channel.line(_painted(line, channel))
        return
    for file in changed:
        channel.line(f"{'would be formatted' if check else 'formatted'}: {file.path}")
    if not changed:
        left = sum(bool(file.reason) for file in made.files)
        seen = f"nothing to format in {plural(len(made.files) - left, 'file')}"
        channel.line(f"{seen}; {plural(left, 'file')} left as {'they are' if left > 1 else 'it is'}" if left else seen)


def _difference(file: FormattedFile) -> Iterator[str]:
    before, after = file.before.splitlines(), file.after.splitlines()
    return difflib.unified_diff(before, after, file.path, f"{file.path} (formatted)", lineterm="")


def _painted(line: str, channel: Channel) -> str:
    from ordito.cli.text_width import printable

    style = {"+": "good", "-": "bad", "@": "faint"}.get(line[:1])
    return channel.paint(style, printable(line)) if style else printable(line)
