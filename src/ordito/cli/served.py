"""What verbs about the things of a server have in common."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ordito.cli.channel import Channel, write_columns
from ordito.cli.exit_codes import ExitCode
from ordito.cli.remote import connection_of
from ordito.cli.session import Session
from ordito.cli.text_width import printable
from ordito.results.served import DoneData, TokenData

if TYPE_CHECKING:
    from ordito.client.connection import Connection


def done(session: Session, what: str, name: str) -> ExitCode:
    """Say that a change was carried out."""
    session.note(printable(f"{what}: {name}"))
    session.show(DoneData(what, name))
    return ExitCode.DONE


def server_of(session: Session) -> Connection:
    """The server that the command names. Raises ``Refused``."""
    return connection_of(session.settings, session.verb)


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
