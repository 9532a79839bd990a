"""The timeline of a report: a row for each instance, a bar for each attempt, and above how many steps ran at a time.

A job may have a hundred thousand steps; a page that draws all of them can be neither opened nor printed. So there are
rows for the instances that matter: those where something failed, those that decided how long it took, and then those
that took longest. Bars that would be drawn over each other are one.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import msgspec

from ordito.app.attempts import attempts_in, critical_path
from ordito.app.course import FAILED, CourseStep, JobCourse
from ordito.app.job.jobs import RUNNING
from ordito.results.report.text import clipped, counted, how_long, text

MOST_ROWS = 60
LABEL = 200.0
WIDE = 920.0
ROW = 18.0
BAR = 11.0
TOP = 24.0
LOAD = 54.0
"""The height of the curve that shows how many steps ran at a time."""

NARROWEST = 1.5
TICKS = 8


class Bar(msgspec.Struct):
    """One attempt, or several that would be drawn over each other."""

    begin: float
    """From the begin of the picture, in pixels."""

    end: float
    kind: str
    said: str
    count: int = 1
    is_critical: bool = False


class BarRow(msgspec.Struct):
    """An instance."""

    name: str
    began: float
    bars: list[Bar]
    busy: float = 0.0
    failed: bool = False
    critical: bool = False


def timeline(course: JobCourse, now: float) -> Iterator[str]:
    """The lines of the picture in SVG; none if nothing was run. ``now`` ends what has not ended."""
    end = max([course.ended or now, *(_end(step, now) for step in course.steps.values() if step.attempts)])
    seconds = max(end - course.began, 0.001)
    rows = _rows(course, now, WIDE / seconds)
    if not rows:
        return
    shown = _chosen(rows)
    top = TOP + (LOAD + 14 if len(rows) > 3 else 0.0)
    high, wide = top + ROW * len(shown) + 8, LABEL + WIDE + 16
    yield f'<svg class="timeline" viewBox="0 0 {wide:.0f} {high:.0f}" role="img" aria-label="Timeline">'
    yield from _axis(seconds, high)
    if len(rows) > 3:
        yield from _load(course, now, WIDE / seconds)
    for number, row in enumerate(shown):
        yield from _row(row, top + ROW * number)
    yield "</svg>"
    if len(shown) < len(rows):
        left = f"{counted(len(rows) - len(shown), 'instance')} more"
        yield (
            f'<p class="dim">Not drawn: {left}. Drawn are those where something failed, that decided how long the job '
            "took, and that took longest; the curve has all.</p>"
        )


def _end(step: CourseStep, now: float) -> float:
    last = step.attempts[-1].ended
    return now if last is None else last


def _rows(course: JobCourse, now: float, scale: float) -> list[BarRow]:
    decisive = frozenset(critical_path(attempts_in(course)))
    rows: dict[str, BarRow] = {}
    for step in course.steps.values():
        if not step.attempts:
            continue
        name = step.instance or step.id
        row = rows.setdefault(name, BarRow(name, step.began, []))
        row.began = min(row.began, step.began)
        is_critical = step.id in decisive
        row.critical |= is_critical
        for number, attempt in enumerate(step.attempts, 1):
            ended = now if attempt.ended is None else attempt.ended
            row.busy += ended - attempt.began
            row.failed |= attempt.state == FAILED and number == len(step.attempts)
            of = f" (attempt {number} of {len(step.attempts)})" if len(step.attempts) > 1 else ""
            said = f"{step.operation}{of}: {attempt.state}, {how_long(ended - attempt.began)}"
            begin = (attempt.began - course.began) * scale
            row.bars.append(Bar(begin, (ended - course.began) * scale, attempt.state, said, 1, is_critical))
    for row in rows.values():
        row.bars = _merged(row.bars)
    return list(rows.values())


def _merged(bars: list[Bar]) -> list[Bar]:
    found: list[Bar] = []
    for bar in sorted(bars, key=lambda one: (one.begin, one.end)):
        last = found[-1] if found else None
        is_small = last is not None and bar.end - last.begin < NARROWEST * 2
        if last is not None and is_small and (bar.kind, bar.is_critical) == (last.kind, last.is_critical):
            last.end, last.count = max(last.end, bar.end), last.count + 1
            last.said = counted(last.count, "attempt")
        else:
            found.append(bar)
    return found


def _chosen(rows: list[BarRow]) -> list[BarRow]:
    by_weight = sorted(rows, key=lambda row: (not row.failed, not row.critical, -row.busy, row.name))
    return sorted(by_weight[:MOST_ROWS], key=lambda row: (row.began, row.name))


def _axis(seconds: float, high: float) -> Iterator[str]:
    step = _nice(seconds / TICKS)
    for number in range(math.floor(seconds / step) + 1):
        x = LABEL + number * step / seconds * WIDE
        yield f'<line class="grid" x1="{x:.1f}" y1="{TOP - 6}" x2="{x:.1f}" y2="{high:.0f}"/>'
        if x < LABEL + WIDE - 20 or number == 0:
            said = f"{number * step:g} s" if step < 1 else how_long(number * step) if number else "0"
            yield f'<text class="tick" x="{x:.1f}" y="12" text-anchor="{"middle" if number else "start"}">{said}</text>'


def _nice(step: float) -> float:
    """The next round number of seconds."""
    for nice in (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200):
        if step <= nice:
            return nice
    return math.ceil(step / 14_400) * 14_400.0


def _load(course: JobCourse, now: float, scale: float) -> Iterator[str]:
    """How many steps ran at each moment."""
    columns = [0] * (int(WIDE) + 2)
    for step in course.steps.values():
        for attempt in step.attempts:
            ended = now if attempt.ended is None else attempt.ended
            first = max(0, min(int((attempt.began - course.began) * scale), int(WIDE)))
            columns[first] += 1
            columns[max(first + 1, min(int((ended - course.began) * scale), int(WIDE) + 1))] -= 1
    running, points = 0, []
    for column in columns[:-1]:
        running += column
        points.append(running)
    most = max(points)
    base = TOP + LOAD
    where = " ".join(f"L {LABEL + x} {base - LOAD * count / most:.1f}" for x, count in enumerate(points))
    yield f'<text class="label" x="0" y="{TOP + 12}">at a time</text>'
    yield f'<text class="tick" x="0" y="{TOP + 26}">at most {most:,}</text>'
    yield f'<path class="load" d="M {LABEL} {base} {where} L {LABEL + len(points) - 1} {base} z"/>'


KINDS = {"succeeded": "ok", FAILED: "bad", RUNNING: "run", "interrupted": "wait"}


def _row(row: BarRow, y: float) -> Iterator[str]:
    mark = ' class="label bad-text"' if row.failed else ' class="label"'
    name = f"{'✖ ' if row.failed else ''}{clipped(row.name, 26)}"
    yield f'<g><title>{text(row.name)}</title><text{mark} x="0" y="{y + BAR:.1f}">{text(name)}</text></g>'
    for bar in row.bars:
        kind = KINDS.get(bar.kind, "none")
        wide = max(bar.end - bar.begin, NARROWEST)
        x = LABEL + min(bar.begin, WIDE - NARROWEST)
        place = f'x="{x:.1f}" y="{y + 1:.1f}" width="{wide:.1f}" height="{BAR:.0f}"'
        yield f'<rect class="{kind}" {place} rx="1.5"><title>{text(bar.said)}</title></rect>'
        if bar.is_critical:
            yield f'<rect class="critical" x="{x:.1f}" y="{y + BAR + 2:.1f}" width="{wide:.1f}" height="2"/>'
