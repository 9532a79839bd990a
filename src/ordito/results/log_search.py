"""Finding something in what the operations of a job printed, and what there is to find."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Annotated

import msgspec

from ordito.app.course import CourseRequest, job_course
from ordito.base.collector import paused_collector
from ordito.ensemble.layout import Layout
from ordito.ensemble.logs import log_part, places_of
from ordito.results.answer import Asked, ResultData, UseCase

LONGEST = 400
"""How many characters of a line are given, around what was found."""

AT_ONCE = 1 << 20
MOST_SEARCHED = 256 << 20
"""So many bytes are searched at once."""


class FoundLine(msgspec.Struct, frozen=True):
    """A line in which the text was found."""

    step: str
    offset: int
    """Where the piece of the log begins in which it is: the log is read from there on."""

    line: int
    """The number of the line in that piece, from 0."""

    text: str
    """The line; of a very long one the part around what was found."""


class LogFoundData(ResultData, frozen=True, tag="ordito.jobs-log-found/1"):
    """Lines of a log in which a text was found."""

    items: tuple[FoundLine, ...]
    next: int | None
    """The offset at which the search goes on, null where everything was searched."""


class LogSearchAsked(Asked, frozen=True):
    """What is looked for."""

    q: Annotated[str, msgspec.Meta(min_length=1, max_length=200)]
    """A text; capital letters and small ones are the same."""

    job: str = ""
    """The id of the job."""

    step: str = ""
    instance: str = ""
    operation: str = ""
    after: Annotated[int, msgspec.Meta(ge=0, le=(1 << 62) - 1)] = 0
    """The offset at which the search begins."""

    limit: Annotated[int, msgspec.Meta(ge=1, le=500)] = 100
    """About how many lines."""


MOST_OF_PIECE = 500


def is_of(name: str, step: str, instance: str, operation: str) -> bool:
    """Whether a step is the one that is wanted, or belongs to an instance and an operation; "" for any."""
    return (
        (not step or name == step)
        and (not instance or name.startswith(f"{instance}."))
        and (not operation or name.endswith(f".{operation}"))
    )


def _search(directory: str, asked: LogSearchAsked) -> LogFoundData:
    wanted = re.compile(re.escape(asked.q.encode("utf-8", "replace")), re.IGNORECASE)
    found: list[FoundLine] = []
    path, at = Layout(Path(directory)).log(asked.job), asked.after
    until = at + MOST_SEARCHED
    while at < until:
        part = log_part(path, at, AT_ONCE, lambda name: is_of(name, asked.step, asked.instance, asked.operation))
        for frame in part.frames:
            if len(found) >= asked.limit:
                return LogFoundData(tuple(found), frame.begin)
            # A piece is told at once, so that the search goes on behind it; very many lines of one are cut off.
            found += islice(_lines(frame.step, frame.begin, frame.content, wanted), MOST_OF_PIECE)
        if part.end == at:
            return LogFoundData(tuple(found), None)
        at = part.end
    return LogFoundData(tuple(found), at)


def _lines(step: str, offset: int, content: bytes, wanted: re.Pattern[bytes]) -> Iterator[FoundLine]:
    last = -1
    for one in wanted.finditer(content):
        begin = content.rfind(b"\n", 0, one.start()) + 1
        if begin == last:
            continue
        last = begin
        end = content.find(b"\n", one.end())
        text = content[begin : end if end >= 0 else len(content)]
        if len(text) > LONGEST:
            middle = one.start() - begin
            text = text[max(0, middle - LONGEST // 2) : middle + LONGEST // 2]
        yield FoundLine(step, offset, content.count(b"\n", 0, begin), text.decode("utf-8", "replace"))


# What there is in a log, by step, instance and operation.


class Facet(msgspec.Struct, frozen=True):
    """How much was printed by a step, on an instance, or by an operation."""

    name: str
    bytes: int
    pieces: int
    first: int
    """The offset of the first piece."""


class LogFacetsData(ResultData, frozen=True, kw_only=True, tag="ordito.jobs-log-facets/1"):
    """By what a log can be narrowed, those first that printed most."""

    size: int
    """The size of the log in bytes."""

    steps: tuple[Facet, ...]
    instances: tuple[Facet, ...]
    operations: tuple[Facet, ...]
    more: int
    """How many steps, instances and operations are not listed."""


class LogFacetsAsked(Asked, frozen=True):
    """About the log of a job."""

    job: str = ""
    """The id of the job."""

    q: Annotated[str, msgspec.Meta(max_length=200)] = ""
    """A text in the name."""

    limit: Annotated[int, msgspec.Meta(ge=1, le=500)] = 100


def _facets(directory: str, asked: LogFacetsAsked) -> LogFacetsData:
    path = Layout(Path(directory)).log(asked.job)
    counts: tuple[dict[str, list[int]], ...] = {}, {}, {}
    with paused_collector():
        steps = job_course(CourseRequest(directory, asked.job)).steps if path.exists() else {}
        for name, at, size in places_of(path) if path.exists() else ():
            known = steps.get(name)
            names = (name, known.instance, known.operation) if known is not None else (name,)
            for one, of in zip(names, counts, strict=False):
                count = of.setdefault(one, [0, 0, at - len(f"={size} {name}\n".encode())])
                count[0] += size
                count[1] += 1
    found = [_most(of, asked) for of in counts]
    return LogFacetsData(
        size=path.stat().st_size if path.exists() else 0,
        steps=found[0][0],
        instances=found[1][0],
        operations=found[2][0],
        more=sum(more for _, more in found),
    )


def _most(counts: dict[str, list[int]], asked: LogFacetsAsked) -> tuple[tuple[Facet, ...], int]:
    text = asked.q.casefold()
    there = [(name, count) for name, count in counts.items() if text in name.casefold()]
    there.sort(key=lambda one: (-one[1][0], one[0]))
    return tuple(Facet(name, *count) for name, count in there[: asked.limit]), max(0, len(there) - asked.limit)


LOG_SEARCH = UseCase("jobs log search", LogSearchAsked, (LogFoundData,), _search)
LOG_FACETS = UseCase("jobs log facets", LogFacetsAsked, (LogFacetsData,), _facets)
