"""A runner: a process that carries out one work item, and writes down what becomes of it. It outlives the server."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import traceback
from collections.abc import Iterator
from pathlib import Path
from types import FrameType

import msgspec

from ordito.app.job.report import JobReport
from ordito.app.surroundings import enter
from ordito.app.unattended import carry_out, handle_notices
from ordito.app.work_items import NoticesItem, WorkItem
from ordito.app.workflow_run import AlreadyBegun
from ordito.base.diagnostics import InvalidDocument
from ordito.base.sensitive import encode_hook
from ordito.engine.ports import JobSuspended
from ordito.ensemble.layout import Layout
from ordito.ensemble.logs import retain
from ordito.ensemble.owner import SUSPEND, ask
from ordito.planning.refused import PlanRefused
from ordito.results.failure import EXPECTED, Trouble, failure_of, seen_from
from ordito.results.findings import findings_data
from ordito.server.processes.calls import (
    Already,
    Began,
    Faulty,
    Finished,
    ForkedTask,
    News,
    NotDone,
    NothingToDo,
    Suspended,
)

_TASK: msgspec.json.Decoder[ForkedTask] = msgspec.json.Decoder(ForkedTask)


def run(given: int, out: int) -> None:
    """Carry out the work item that is read from one descriptor, and write its news to the other. Nothing else is done
    in this process."""
    os.setsid()
    with os.fdopen(given, "rb") as file:
        task = _TASK.decode(file.read())
    enter(task.surroundings)
    retain(task.retention)
    news = _NewsFile(out)
    news.tell(_outcome(task.item, news))


class _NewsFile:
    """Tells news, one JSON object a line; and lets SIGTERM suspend the job that runs."""

    def __init__(self, handle: int) -> None:
        self._handle = handle
        self._job = ""
        self._may_stop = False
        signal.signal(signal.SIGTERM, self._asked_to_end)

    def tell(self, news: News) -> None:
        os.write(self._handle, msgspec.json.encode(news) + b"\n")
        os.fsync(self._handle)

    def began(self, job: str) -> None:
        self._job = job
        self.tell(Began(job))

    def follows(self, job: str) -> None:
        """Another job runs now, of which nothing is told."""
        self._job = job

    @contextlib.contextmanager
    def working(self) -> Iterator[None]:
        """While something is done that may be left unfinished."""
        self._may_stop = True
        try:
            yield
        finally:
            self._may_stop = False

    def _asked_to_end(self, _: int, __: FrameType | None) -> None:
        is_asked = bool(self._job) and ask(Layout(Path()), self._job, SUSPEND)
        # Where no job runs there is nothing that could be lost; what has ended is told all the same.
        if not is_asked and self._may_stop:
            raise JobSuspended


def _outcome(item: WorkItem, news: _NewsFile) -> News:
    try:
        Path(item.directory).mkdir(parents=True, exist_ok=True)
        # Messages name the files of an ensemble as for somebody who works in it, and nothing of this machine.
        os.chdir(item.directory)
        with news.working():
            if isinstance(item, NoticesItem):
                # What becomes of these is no news of the item: the inbox keeps it.
                handle_notices(".", news.follows)
                return NothingToDo()
            report = carry_out(msgspec.structs.replace(item, directory="."), news.began)
    except JobSuspended:
        return Suspended()
    except AlreadyBegun as found:
        return Already(found.job)
    except EXPECTED as error:
        return NotDone(trouble_of(error, item.directory))
    except Exception:  # noqa: BLE001  the border of this process: the server says that there is a fault
        with contextlib.suppress(OSError):
            sys.stderr.write(traceback.format_exc())
        return Faulty()
    return NothingToDo() if report is None else Finished(report.job, report.status, plain(report))


def plain(report: JobReport) -> msgspec.Raw:
    """The report of a job as JSON, without sensitive values."""
    return msgspec.Raw(msgspec.json.encode(report, enc_hook=encode_hook))


def trouble_of(error: Exception, directory: str) -> Trouble:
    """Why a work item was not carried out, from one of ``EXPECTED``, for somebody who does not know the directory of
    its ensemble."""
    diagnostics = error.diagnostics if isinstance(error, InvalidDocument | PlanRefused) else ()
    return Trouble(seen_from(failure_of(error), directory), findings_data(diagnostics))
