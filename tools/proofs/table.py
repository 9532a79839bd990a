"""The table of promises, for people and programs; and the page that says what is promised and how it is proven."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import groupby

import msgspec

from tools.proofs.promises import Part, Promise
from tools.proofs.verdicts import HELD, Verdict

Row = tuple[Part, Promise, Verdict]
COLUMNS = ("promise", "bar", "measured", "verdict")
WIDTH = 150
HEAD = """\
# What is promised, and what proves it

This page says what you may rely on, and which test or measurement shows it. `./run proofs` runs all of it and prints
this table with what was measured: `./run proofs PART`, `./run proofs PROMISE` or `./run proofs RUN` a part of it,
`./run proofs --table` what is known already. It takes some hours on two cores; interrupt it at any time, it goes on
where it was. What it finds is kept in `.cache/proofs` and counts until the files that it depends on change.

Written by `python -m tools.proofs --page` from `tools/proofs/promises/`.
"""


def said(verdict: Verdict, here: str) -> str:
    """The verdict as people read it, with the reason where it is not held, and the commits if they are others."""
    words = verdict.verdict + (f": {verdict.why}" if verdict.why and verdict.verdict != HELD else "")
    others = [c for c in verdict.commits if c != here]
    return words + (f" (at {', '.join(others)})" if others else "")


def summary(rows: Sequence[Row]) -> str:
    """How many promises have which verdict."""
    counts = Counter(v.verdict for _, _, v in rows)
    return f"{len(rows)} promises: " + ", ".join(f"{count} {verdict}" for verdict, count in counts.most_common())


def show(rows: Sequence[Row], here: str) -> None:
    """Print the table for people."""
    from rich.console import Console
    from rich.table import Table

    console = Console(width=None if sys.stdout.isatty() else WIDTH, soft_wrap=False, highlight=False)
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="bold")
    for column, ratio in zip(COLUMNS, (6, 2, 3, 3), strict=True):
        table.add_column(column, ratio=ratio, overflow="fold")
    for title, its in groupby(rows, lambda row: f"{row[0].name}: {row[0].title}"):
        table.add_row(f"[bold]{title}[/bold]")
        for _, promise, verdict in its:
            style = "green" if verdict.verdict == HELD else "red"
            words = (f"{promise.name}: {promise.promise}", promise.bar, verdict.measured, said(verdict, here))
            table.add_row(*(_plain(w) for w in words[:3]), f"[{style}]{_plain(words[3])}[/{style}]")
    console.print(table)
    console.print(summary(rows))


def _plain(text: str) -> str:
    return text.replace("[", r"\[")


def markdown(rows: Sequence[Row], here: str) -> str:
    """The table in Markdown."""
    lines = [f"| {' | '.join(COLUMNS)} |", "|---|---|---|---|"]
    for _, promise, verdict in rows:
        lines.append(_line(promise.promise, promise.bar, verdict.measured, said(verdict, here)))
    return "\n".join([*lines, "", summary(rows), ""])


def as_json(rows: Sequence[Row], here: str) -> str:
    """The table as JSON."""
    data = [
        {"part": part.name, **msgspec.to_builtins(promise), **msgspec.to_builtins(verdict)}
        for part, promise, verdict in rows
    ]
    return msgspec.json.format(msgspec.json.encode({"commit": here, "promises": data})).decode() + "\n"


def page(parts: Iterable[Part]) -> str:
    """The page of the documentation: promises, bars and proofs, without figures, which are those of one machine."""
    lines = [HEAD]
    for part in parts:
        lines += [f"## {part.title}", "", "| promise | bar | proof |", "|---|---|---|"]
        lines += [_line(m.promise, m.bar, ", ".join(f"`{p}`" for p in proofs(m))) for m in part.promises]
        lines.append("")
    lines.append("Next: [the requirements of the specification](conformance.md).\n")
    return "\n".join(lines)


def proofs(promise: Promise) -> list[str]:
    """What proves a promise, as people are told."""
    thorough = [f"{t} (thorough)" for t in promise.thorough]
    seconds = [f"{run} within {most:g} s" for run, most in promise.seconds.items()]
    return [*promise.tests, *thorough, *promise.figures, *promise.runs, *seconds]


def _line(*cells: str) -> str:
    return "| " + " | ".join(cell.replace("|", r"\|") for cell in cells) + " |"
