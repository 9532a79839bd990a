"""What can be taken along of a job as a file: its events, and what its operations printed."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from itertools import islice
from pathlib import Path

from starlette.responses import StreamingResponse

from ordito.ensemble.events_file import lines_from
from ordito.ensemble.layout import Layout
from ordito.ensemble.logs import Frame, log_part
from ordito.server.call import ApiCall
from ordito.server.live.topics import told_without_printed
from ordito.server.permissions import Permission
from ordito.server.problems import ApiProblem
from ordito.server.route import ENSEMBLE, Reply, Route
from ordito.server.routes.ensembles import UNKNOWN, reads_for
from ordito.server.routes.job_pages import UNKNOWN_JOB, kept_log, whole_id
from ordito.source.reach import within

NDJSON = "application/x-ndjson"
TEXT = "text/plain; charset=utf-8"

AT_ONCE = 1 << 20
"""So many bytes of a log are read at once, and likewise so many lines of events as have about as many."""

LINES_AT_ONCE = 2_000


async def _events(call: ApiCall) -> Reply:
    reads = await reads_for(call)
    job = await whole_id(call, reads)
    path = Layout(Path(reads[0])).events(job)
    if not path.exists():
        raise ApiProblem("forgotten", f"the events of job {job} are not kept any more", "its record says what it did")
    logs = call.may(Permission.LOGS, call.project, call.ensemble)

    async def parts() -> AsyncIterator[bytes]:
        # In parts, so that nothing is held for as long as a slow client takes what it asked for.
        at = 0
        while lines := await asyncio.to_thread(_lines, path, at):
            at += sum(map(len, lines))
            yield b"".join(lines if logs else map(told_without_printed, lines))

    return _file(parts(), f"{job}.events.ndjson", NDJSON)


def _lines(path: Path, at: int) -> list[bytes]:
    with within(path.parents[2]):
        return list(islice(lines_from(path, at), LINES_AT_ONCE))


async def _log(call: ApiCall) -> Reply:
    path = await kept_log(call, is_first=True)

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


def _file(parts: AsyncIterator[bytes], name: str, media: str) -> Reply:
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return Reply(StreamingResponse(parts, headers=headers, media_type=media))


_JOB = ENSEMBLE + "/jobs/{job}"

TABLE = (
    Route(method="GET", path=_JOB + "/events.ndjson", access=Permission.READ, handler=_events, media=NDJSON,
          summary="All events of a job so far, one JSON object a line.", verb="jobs events",
          problems=(*UNKNOWN, *UNKNOWN_JOB, "forgotten")),
    Route(method="GET", path=_JOB + "/log.txt", access=Permission.LOGS, handler=_log, media=TEXT,
          summary="All that the operations of a job have printed so far, each line with its step.", verb="jobs logs",
          problems=(*UNKNOWN, *UNKNOWN_JOB, "forgotten")),
)  # fmt: skip
