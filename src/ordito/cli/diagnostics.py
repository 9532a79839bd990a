"""Diagnostics for people and for programs.

error[unknown-node]: no node template named "sever"
  --> service.yaml:13:17
   |
12 |     requirements:
   |     ------------ declared here
13 |         - host: sever
   |                 ^^^^^
   = help: did you mean "server"?
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

import msgspec

from ordito.base.diagnostics import Diagnostic, without_passwords
from ordito.base.span import HIDDEN, Span
from ordito.base.text_width import width
from ordito.cli.channel import Channel
from ordito.cli.text_width import columns, printable
from ordito.results.findings import finding_data, total

MOST_SHOWN = 100
"""How many diagnostics are printed in full; a document with one kind of error often has it in a thousand places."""

LEAST_EXCERPT = 30
MARGIN = 8
"""How many columns stay visible before a caret when the beginning of a line is cut."""


def render(found: Sequence[Diagnostic], channel: Channel) -> None:
    """Print diagnostics with their places, an empty line after each, and their number if there are several."""
    for diagnostic in found[:MOST_SHOWN]:
        for line in lines(diagnostic, channel):
            channel.line(line)
        channel.line()
    if len(found) > MOST_SHOWN:
        channel.line(f"... and {len(found) - MOST_SHOWN} more; all of them with: -o json")
    if len(found) > 1:
        channel.line(channel.paint("strong", total(found)))


def as_data(diagnostic: Diagnostic) -> dict[str, object]:
    """A diagnostic as plain data: ``{code, severity, message, file, line, column, end_line, end_column, hint,
    related: [{message, file, ...}]}``; the place is null where there is none."""
    plain: dict[str, object] = msgspec.to_builtins(finding_data(diagnostic))
    return plain


# ------------------------------------------------------------------------------------------------ for people


class _Label(msgspec.Struct, frozen=True):
    """A range to underline, with a text beside it."""

    span: Span
    mark: str
    style: str
    text: str = ""


def lines(diagnostic: Diagnostic, channel: Channel) -> Iterator[str]:
    """The lines that show one diagnostic."""
    style = str(diagnostic.severity)
    head = channel.paint(style, f"{diagnostic.severity}[{diagnostic.code}]")
    yield f"{head}: {channel.paint('strong', printable(diagnostic.message))}"
    labels = [_Label(r.span, "-", "note", printable(r.message)) for r in diagnostic.related]
    if diagnostic.span is not None:
        labels.insert(0, _Label(diagnostic.span, "^", style))
    gutter = max((len(str(label.span.line)) for label in labels), default=1)
    for arrow, (_, group) in zip(_arrows(), groupby(labels, key=lambda label: id(label.span.source)), strict=False):
        yield from _excerpt(list(group), gutter, arrow, channel)
    if diagnostic.hint:
        yield f"{' ' * gutter} {channel.paint('place', '=')} help: {printable(diagnostic.hint)}"


def _arrows() -> Iterator[str]:
    """The arrows before the files of a diagnostic: the first file is its place, the others only explain it."""
    yield "-->"
    while True:
        yield ":::"


def _excerpt(labels: list[_Label], gutter: int, arrow: str, channel: Channel) -> Iterator[str]:
    """The lines of one file that have labels, from top to bottom."""
    place = channel.paint("place", arrow)
    yield f"{' ' * gutter}{place} {labels[0].span}"
    shown = [label for label in labels if _has_text(label.span)]
    if not shown:
        # Nothing to excerpt: what the related places say must not get lost.
        yield from (f"{' ' * gutter} {label.text} ({label.span})" for label in labels if label.text)
        return
    bar = channel.paint("place", channel.symbols.bar)
    yield f"{' ' * gutter} {bar}"
    shown.sort(key=lambda label: (label.span.line, label.span.column))
    before = 0
    for number, group in groupby(shown, key=lambda label: label.span.line):
        if before and number > before + 1:
            yield channel.paint("place", "...")
        before = number
        source = shown[0].span.source
        yield from _line(source.line_for_people(number), number, list(group), gutter, channel)


def _has_text(span: Span) -> bool:
    """Whether any part of the line of a span is visible: a line that is hidden as a whole has none."""
    seen = span.source.line_for_people(span.line)
    return bool(seen.strip(" " if seen == span.source.line(span.line) else f" {HIDDEN}"))


def _line(text: str, number: int, labels: list[_Label], gutter: int, channel: Channel) -> Iterator[str]:
    """One line of the source, and under it a line for each of its labels, the rightmost first."""
    bar = channel.paint("place", channel.symbols.bar)
    cells = columns(without_passwords(text))
    room = max(channel.width - gutter - 3, LEAST_EXCERPT)
    first = labels[0].span.column - 1
    window = _window(cells, first, room, channel.symbols.ellipsis)
    yield f"{channel.paint('place', str(number).rjust(gutter))} {bar} {window.text}"
    for label in reversed(labels):
        begin = label.span.column - 1
        end = label.span.end_column - 1 if label.span.end_line == label.span.line else len(text.rstrip())
        at, long = window.place(begin, max(end, begin + 1))
        said = f" {label.text}" if label.text else ""
        yield f"{' ' * gutter} {bar} {' ' * at}{channel.paint(label.style, label.mark * long + said)}"


class _Window:
    """The part of a line that is shown: cells ``begin`` to ``end``, with marks at cut ends."""

    def __init__(self, cells: list[str], begin: int, end: int, ellipsis: str) -> None:
        self._cells = cells
        self._begin = begin
        self._end = end
        self._left = ellipsis if begin else ""
        right = ellipsis if end < len(cells) else ""
        self.text = f"{self._left}{''.join(cells[begin:end])}{right}"

    def place(self, begin: int, end: int) -> tuple[int, int]:
        """The column, from 0, and the width of a range of characters; parts outside of the window are moved to its
        edge."""
        first = min(max(begin, self._begin), self._end)
        last = min(max(end, first), self._end)
        at = width(self._left) + width("".join(self._cells[self._begin : first]))
        if begin < self._begin:
            at = 0
        # A range behind the end of the line, such as that of a missing bracket, still deserves a caret.
        return at, max(width("".join(self._cells[first:last])), 1)


def _window(cells: list[str], focus: int, room: int, ellipsis: str) -> _Window:
    """The largest part of a line that fits and contains the character at ``focus``."""
    widths = [width(cell) for cell in cells]
    if sum(widths) <= room:
        return _Window(cells, 0, len(cells), ellipsis)
    room -= 2 * width(ellipsis)
    begin = 0
    if sum(widths[: focus + MARGIN]) > room:
        begin = max(min(focus, len(cells)) - MARGIN, 0)
    end, used = begin, 0
    while end < len(cells) and used + widths[end] <= room:
        used += widths[end]
        end += 1
    return _Window(cells, begin, end, ellipsis)


def as_json(found: Iterable[Diagnostic]) -> list[dict[str, object]]:
    """Diagnostics as plain data."""
    return [as_data(diagnostic) for diagnostic in found]
