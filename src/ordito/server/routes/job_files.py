"""What can be taken along of a job as a file: its events, and what its operations printed."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Annotated

import msgspec
from starlette.responses import StreamingResponse

from ordito.ensemble.errors import explained
from ordito.ensemble.events_file import lines_from
from ordito.ensemble.job_mark import marked
from ordito.ensemble.layout import Layout
from ordito.ensemble.logs import Frame, log_part
from ordito.server.call import ApiCall
from ordito.server.live.ensemble import whole_end
from ordito.server.live.topics import cursor_text, told_without_printed
from ordito.server.permissions import Permission
from ordito.server.problems import ApiProblem
from ordito.server.route import ENSEMBLE, FARTHEST, Fields, Reply, Route
from ordito.server.routes.by_process import reads_of_call
from ordito.server.routes.ensembles import UNKNOWN
from ordito.server.routes.job_pages import UNKNOWN_JOB, kept_log, whole_id
from ordito.source.new_files import open_regular
from ordito.source.reach import within

NDJSON = "application/x-ndjson"
TEXT = "text/plain; charset=utf-8"

AT_ONCE = 1 << 20
"""So many bytes of a log are read at once, and likewise so many lines of events as have about as many."""

LINES_AT_ONCE = 2_000
NO_HEADERS: Mapping[str, str] = {}


class EventsFields(Fields, frozen=True):
    """Which events of a job are wanted."""

    after: Annotated[int, msgspec.Meta(ge=0, le=FARTHEST)] = 0
    """The place at which they begin: 0, or one that was given as ``Ordito-Next``."""


async def _events(call: ApiCall) -> Reply:
    fields: EventsFields = call.query
    reads = await reads_of_call(call)
    job = await whole_id(call, reads)
    layout = Layout(Path(reads[0]))
    path, at = layout.events(job), fields.after
    # A job that has just begun has no events yet.
    if not path.exists() and await asyncio.to_thread(marked, layout.journal) != job:
        raise ApiProblem("forgotten", f"the events of job {job} are not kept any more", "its record says what it did")
    logs = call.may(Permission.LOGS, call.project, call.ensemble)
    end = await asyncio.to_thread(whole_end, reads[0], job)
    if not await asyncio.to_thread(_begins_line, path, at):
        hint = "begin at 0, or at a place that was given as Ordito-Next"
        raise ApiProblem("bad-cursor", f"no event of job {job} begins at {at}", hint)

    async def parts() -> AsyncIterator[bytes]:
        # In parts, so that nothing is held for as long as a slow client takes what it asked for.
        begin = at
        while begin < end and (lines := await asyncio.to_thread(_lines, path, begin, end)):
            begin += sum(map(len, lines))
            yield b"".join(lines if logs else map(told_without_printed, lines))

    cursor = cursor_text({f"job:{call.project}/{call.ensemble}/{job}": end})
    return _file(parts(), f"{job}.events.ndjson", NDJSON, {"Ordito-Next": str(end), "Ordito-Cursor": cursor})


def _begins_line(path: Path, at: int) -> bool:
    """Whether a line begins at a place, or will begin there once it is written."""
    if not at:
        return True
    with within(path.parents[2]), explained("read", path):
        if not path.exists():
            return False
        with open_regular(path) as file:
            file.seek(at - 1)
            return file.read(1) == b"\n"


def _lines(path: Path, at: int, end: int) -> list[bytes]:
    """The lines behind a place, none that begins at the end or behind it."""
    found = []
    with within(path.parents[2]):
        for line in islice(lines_from(path, at), LINES_AT_ONCE):
            if at >= end:
                break
            at += len(line)
            found.append(line)
    return found


async def _log(call: ApiCall) -> Reply:
    path = await kept_log(call)

    async def parts() -> AsyncIterator[bytes]:
        at, writer = 0, _Writer()
        while frames := await asyncio.to_thread(_frames, path, at):
            at = frames[-1].end
            yield b"".join(map(writer.text, frames))

    return _file(parts(), f"{path.stem}.log.txt", TEXT)


def _frames(path: Path, at: int) -> tuple[Frame, ...]:
    with within(path.parents[2]):
        return log_part(path, at, AT_ONCE).frames


class _Writer:
    """Writes in front of each line which step has printed it."""

    def __init__(self) -> None:
        self._step = ""
        self._is_open = False
        """Whether the last line goes on."""

    def text(self, frame: Frame) -> bytes:
        head = f"{frame.step}: ".encode()
        goes_on = self._is_open and frame.step == self._step
        before = b"" if goes_on else b"\n" + head if self._is_open else head
        self._step, self._is_open = frame.step, not frame.content.endswith(b"\n")
        content = frame.content if self._is_open else frame.content[:-1]
        return before + content.replace(b"\n", b"\n" + head) + (b"" if self._is_open else b"\n")


def _file(parts: AsyncIterator[bytes], name: str, media: str, more: Mapping[str, str] = NO_HEADERS) -> Reply:
    headers = {"Content-Disposition": f'attachment; filename="{name}"', **more}
    return Reply(StreamingResponse(parts, headers=headers, media_type=media))


_JOB = ENSEMBLE + "/jobs/{job}"

TABLE = (
    Route(method="GET", path=_JOB + "/events.ndjson", access=Permission.READ, handler=_events, media=NDJSON,
          summary="All events of a job so far, one JSON object a line; `Ordito-Next` is where further ones begin.",
          query=EventsFields, verb="jobs events", problems=(*UNKNOWN, *UNKNOWN_JOB, "forgotten", "bad-cursor")),
    Route(method="GET", path=_JOB + "/log.txt", access=Permission.LOGS, handler=_log, media=TEXT,
          summary="All that the operations of a job have printed so far, each line with its step.", verb="jobs logs",
          problems=(*UNKNOWN, *UNKNOWN_JOB, "forgotten")),
)  # fmt: skip
