"""`ordito secrets set`."""

from __future__ import annotations

import sys

import click

from ordito.app.secrets import read_value, set_secret
from ordito.cli.exit_codes import ExitCode
from ordito.cli.session import Session
from ordito.cli.verb import verb

HELP = """Keep a secret under NAME, sealed in secrets.yaml.

Its value is asked for without being shown, or read from standard input, or from a file. It is never given on the
command line, which other users of this machine can see. One line break at the end of standard input does not belong to
it."""


NOBODY = "nobody may be asked for the value: give it at standard input, or in a file with --file"

ON_COMMAND_LINE = (
    "give the name only; a value is asked for, or read from standard input or --file PATH"
    " (what was given here may stand in the history of the shell now)"
)


@verb("set", HELP, named="secrets set")
@click.argument("name")
@click.argument("more", nargs=-1, metavar="")
@click.option("--file", "path", metavar="PATH", help="Take the content of this file, byte for byte.")
def command(session: Session, name: str, more: tuple[str, ...], path: str | None) -> ExitCode:
    """Keep a secret."""
    if more or "=" in name:
        raise click.UsageError(ON_COMMAND_LINE)
    kept = set_secret(session.settings.directory, name, read_value(path) if path else _asked(session, name))
    if kept.is_short:
        session.warn("it is so short that it is not taken out of what operations print")
    session.note(f"{name} is kept" if kept.changed else f"{name} is what it was")
    session.note(f"in ensemble.yaml it is named {{ secret: {name} }}")
    session.result({"name": name, "changed": kept.changed}, lambda _: None)
    return ExitCode.DONE


def _asked(session: Session, name: str) -> bytes:
    """The value from standard input; where that is a terminal, nobody sees what is typed."""
    if sys.stdin is None:
        raise click.UsageError(NOBODY)
    if session.can_ask:
        typed: str = click.prompt(f"value of {name}", hide_input=True, confirmation_prompt=True, err=True)
        return typed.encode("utf-8", "surrogateescape")
    if sys.stdin.isatty():
        raise click.UsageError(NOBODY)
    value: bytes = sys.stdin.buffer.read()
    ending = b"\r\n" if value.endswith(b"\r\n") else b"\n"
    return value.removesuffix(ending)
