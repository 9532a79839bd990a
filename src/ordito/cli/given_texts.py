"""What is given to an ensemble as one text, `spec` and inventory: shown as it is written, and replaced as a whole."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import msgspec

from ordito.cli.channel import Channel
from ordito.cli.exit_codes import ExitCode
from ordito.cli.served import given_text
from ordito.cli.session import Session
from ordito.cli.text_width import printable
from ordito.results.answer import Asked, UseCase
from ordito.results.findings import diagnostic_of

if TYPE_CHECKING:
    from ordito.results.given import CheckedText, GivenText, TextAsked


def show_text(session: Session, look: UseCase[Asked, GivenText]) -> ExitCode:
    """Show the text that an ensemble has."""
    session.show(session.ask(look, Asked()), lambda found, channel: write_text(found.text, channel))
    return ExitCode.DONE


def write_text(text: str, channel: Channel) -> None:
    """Write the text of a file as it is; on a terminal without what could lead it astray."""
    if sys.stdout.isatty():
        channel.lines(map(printable, text.splitlines()))
    else:
        channel.write(text)


def replace_text(
    session: Session, look: UseCase[Asked, GivenText], change: UseCase[TextAsked, CheckedText], file: str, what: str
) -> ExitCode:
    """Replace the text that an ensemble has by that in a file, once it is checked; with errors nothing is written.
    Raises ``InvalidDocument``, ``Refused`` and ``ServerError``."""
    from ordito.results.given import CheckedText, TextAsked

    text = given_text(file, what)
    if session.settings.wanted_server:
        from ordito.cli.remote import ensemble_of
        from ordito.client.edits import edited
        from ordito.client.looks import PATHS

        ensemble = ensemble_of(session.settings, session.verb)
        path = ensemble.path + PATHS[look.name][0]
        answer = edited(ensemble.connection, "PUT", path, lambda _: {"text": text})
        found = msgspec.json.decode(answer.body, type=CheckedText)
    else:
        from ordito.app.given_files import ANY

        found = change.answer(session.settings.directory, TextAsked(text, ANY))
    session.diagnostics([diagnostic_of(one) for one in found.diagnostics])
    session.note(f"{what} is set")
    session.show(found)
    return ExitCode.DONE
