"""Jobs at a server: which one is meant, what its operations printed, and its events."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import msgspec

from ordito.client.connection import LONG_PATIENCE
from ordito.client.errors import ServerError
from ordito.client.events import follow
from ordito.client.looks import RemoteEnsemble
from ordito.results.jobs import JOB, JobAsked, RecordedJobData
from ordito.results.status import UnfinishedJobData

FINISHED = "job.finished"


class _Piece(msgspec.Struct):
    step: str
    text: str


class _Part(msgspec.Struct):
    pieces: tuple[_Piece, ...]
    next: int
    complete: bool


class FoundJob(msgspec.Struct, frozen=True):
    """A job that was meant: its whole id, and what is known of it if it has not ended."""

    id: str
    open: UnfinishedJobData | None


def job_named(ensemble: RemoteEnsemble, name: str) -> FoundJob:
    """The job with this id or beginning of it, the latest for "". Raises ``ServerError``."""
    found = ensemble.ask(JOB, JobAsked(name, 0), patience=LONG_PATIENCE)
    if isinstance(found, RecordedJobData):
        return FoundJob(found.job.change_id, None)
    assert isinstance(found, UnfinishedJobData)
    return FoundJob(found.job, found)


def log_pieces(ensemble: RemoteEnsemble, job: str, step: str) -> Iterator[tuple[str, bytes]]:
    """What the operations of a job printed, in order: the step, and the text. Raises ``ServerError``."""
    at = 0
    while True:
        query: dict[str, object] = {"after": at, "step": step or None}
        path = f"{ensemble.path}/jobs/{job}/log"
        part = ensemble.connection.get(path, _Part, query, patience=LONG_PATIENCE)
        yield from ((piece.step, piece.text.encode("utf-8", "surrogateescape")) for piece in part.pieces)
        if part.complete:
            return
        at = part.next


def event_lines(ensemble: RemoteEnsemble, job: str) -> Iterator[bytes]:
    """The events of a job that are told now, one JSON object each, as they were written. Raises ``ServerError``."""
    for event in follow(ensemble.connection, _topic(ensemble, job)):
        if event is None:
            return
        yield event.line
        if event.type == FINISHED:
            return


def following_lines(ensemble: RemoteEnsemble, job: str, is_over: Callable[[], bool]) -> Iterator[bytes]:
    """The same, and further ones until the job has ended, or until ``is_over`` says that nobody tells of it any more.
    Raises ``ServerError``."""
    for event in follow(ensemble.connection, _topic(ensemble, job)):
        if event is None:
            if is_over():
                return
            continue
        yield event.line
        if event.type == FINISHED:
            return


def is_interrupted(ensemble: RemoteEnsemble, job: str) -> bool:
    """Whether nobody works on a job any more. Raises ``ServerError``."""
    try:
        found = job_named(ensemble, job).open
    except ServerError as error:
        if error.failure.code == "no-record":
            return False
        raise
    return found is None or not found.holder


def _topic(ensemble: RemoteEnsemble, job: str) -> str:
    return f"job:{ensemble.project}/{ensemble.name}/{job}"
