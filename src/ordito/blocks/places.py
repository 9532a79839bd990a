"""Where a part of a text stands in the file in which that text is written."""

from __future__ import annotations

from ordito.base.span import Span

MOST_LINES = 1_000


def span_of_part(whole: Span, text: str, offset: int, end: int) -> Span:
    """The place of the characters ``offset`` to ``end`` of a text that is written at ``whole``, as far as they are in
    one line. Where the text is not written as it is read (escapes, folded lines), it is the place of the whole."""
    start = text.rfind("\n", 0, offset) + 1
    stop = text.find("\n", offset)
    wanted = text[start : stop if stop >= 0 else len(text)]
    length = max(1, min(end, start + len(wanted)) - offset)
    found = _line_of(whole, wanted, text.count("\n", 0, start))
    if found is None:
        return whole
    line, column = found
    begin = column + offset - start
    return Span(whole.source, line, begin, line, begin + length)


def _line_of(whole: Span, wanted: str, number: int) -> tuple[int, int] | None:
    """The line and column at which a line of a text is written, being the line ``number`` of it (from 0)."""
    if not wanted:
        return None
    last = min(whole.end_line, whole.line + MOST_LINES)
    candidates = []
    for line in range(whole.line, last + 1):
        at = whole.source.line(line).find(wanted, whole.column - 1 if line == whole.line else 0)
        if at >= 0:
            candidates.append((line, at + 1))
    # A block of lines begins in the line after its mark.
    likely = [c for c in candidates if c[0] - whole.line in {number, number + 1}]
    return next(iter(likely or candidates), None)
