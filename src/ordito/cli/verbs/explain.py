"""`ordito explain`."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from typing import TYPE_CHECKING

import click

from ordito.app.errors import Refused
from ordito.cli.channel import Channel
from ordito.cli.exit_codes import ExitCode
from ordito.cli.session import Session
from ordito.cli.verb import verb

if TYPE_CHECKING:
    from ordito.cli.pages import Page

HELP = """Explain WORD: the code of a finding, such as bad-value.

What it means, a document that gives it, and how to mend that."""


@verb("explain", HELP)
@click.argument("word")
def command(session: Session, word: str) -> ExitCode:
    """Explain a word."""
    from ordito.base.diagnostics import suggestion
    from ordito.cli.pages import page_codes, read_page

    page = read_page(word)
    if page is None:
        raise Refused("unknown-word", f'there is nothing to explain about "{word}"', suggestion(word, page_codes()))
    session.result(_data(page), lambda channel: _text(page, channel))
    return ExitCode.DONE


def _data(page: Page) -> dict[str, object]:
    return {
        "code": page.code,
        "severity": page.severity,
        "title": page.title,
        "text": page.text.strip(),
        "mend": page.mend.strip(),
        "sections": list(page.sections),
        "example": dict(page.example),
        "mended": dict(page.mended),
    }


def _text(page: Page, channel: Channel) -> None:
    from ordito.cli.pages import explanation

    channel.line(f"{channel.paint(page.severity, f'{page.severity}[{page.code}]')}: {page.title}")
    channel.line()
    _paragraph(explanation(page), channel)
    _documents("For example", page.example, channel)
    channel.line()
    _paragraph(page.mend.strip(), channel)
    _documents("Mended", page.mended, channel)


def _paragraph(text: str, channel: Channel) -> None:
    for line in textwrap.wrap(text, min(channel.width, 100), break_long_words=False, break_on_hyphens=False):
        channel.line(line)


def _documents(title: str, documents: Mapping[str, str], channel: Channel) -> None:
    for name, text in documents.items():
        channel.line()
        channel.line(channel.paint("faint", f"{title}:" if len(documents) == 1 else f"{title}, {name}:"))
        channel.line()
        for line in text.rstrip("\n").split("\n"):
            channel.line(f"    {line}")
