"""What verbs about the things of a server have in common."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import click

from ordito.cli.channel import Channel, write_columns
from ordito.cli.exit_codes import ExitCode
from ordito.cli.remote import connection_of
from ordito.cli.session import Session
from ordito.cli.text_width import printable
from ordito.results.served import DoneData, TokenData

if TYPE_CHECKING:
    from ordito.client.connection import ServerConnection


def done(session: Session, what: str, name: str) -> ExitCode:
    """Say that a change was carried out."""
    session.note(printable(f"{what}: {name}"))
    session.show(DoneData(what, name))
    return ExitCode.DONE


def server_of(session: Session) -> ServerConnection:
    """The server that the command names. Raises ``Refused``."""
    return connection_of(session.settings, session.verb)


def write_facts(title: str, facts: Iterable[tuple[str, str]], channel: Channel) -> None:
    """Write what is known of one thing, below its name; what is empty is left out."""
    channel.line(channel.paint("strong", printable(title)))
    known = [(name, text) for name, text in facts if text]
    longest = max((len(name) for name, _ in known), default=0)
    for name, text in known:
        channel.line(printable(f"  {name:<{longest}}  {text}"))


def given_text(file: str, what: str) -> str:
    """The text in a file, or with ``-`` that of standard input; ``what`` is how messages call it. Raises
    ``click.UsageError`` and ``EnsembleError``."""
    from ordito.app.secrets import read_value

    if file != "-":
        content = read_value(file)
    elif sys.stdin is None or sys.stdin.isatty():
        raise click.UsageError(f"{what} is to come from standard input, and nothing is given there")
    else:
        content = sys.stdin.buffer.read()
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError:
        raise click.UsageError(f"{what} is no text in UTF-8") from None


def in_path(*names: str) -> str:
    """Names as parts of a path of the API."""
    from ordito.client.connection import in_path as one_in_path

    return "/".join(map(one_in_path, names))


def write_tokens(
    tokens: Sequence[tuple[TokenData, tuple[str, ...]]], titles: tuple[str, ...], channel: Channel
) -> None:
    """Write tokens in rows, each with the cells that stand before it, below further titles."""
    rows = [
        (*before, one.id, one.expires, one.used or "never", ", ".join((one.role or "all", *one.projects)), one.name)
        for one, before in tokens
    ]
    write_columns((*titles, "TOKEN", "UNTIL", "USED", "FOR", "NAME"), rows, channel)
