"""What the server and its fork server say to each other, one message a datagram, and what runners write down.

The parameters of a query and its answer may be large, so they go by descriptors that are handed over with the message:
a file in memory to read from, and a pipe to write to. A runner gets a file in memory with its work item, and a file in
which it writes what becomes of it; as long as it lives it holds the lock of that file.
"""

from __future__ import annotations

import msgspec

from ordito.app.surroundings import Surroundings
from ordito.app.work_items import WorkItem
from ordito.ensemble.logs import Retention
from ordito.results.failure import Trouble

LONGEST = 1 << 16
"""The longest message, in bytes."""


class StoredAt(msgspec.Struct, frozen=True):
    """Where in a store an ensemble is."""

    address: str
    """Of the store, which may hold a password."""

    shown: str
    """How messages call it."""

    project: str
    name: str
    key: str
    """The file with the key of the workers, "" for none."""


class Query(msgspec.Struct, frozen=True, tag="query"):
    """Ask a look (``looks.py``) of the ensemble in a directory. Two descriptors come with it: the parameters as JSON,
    and where the answer goes."""

    number: int
    look: str
    directory: str
    seconds: float
    """How long it may take."""

    memory: int
    """Its address space, in bytes."""

    surroundings: Surroundings
    """What it may reach."""

    stored: StoredAt | None = None
    """Where the ensemble is, None where it is the directory."""


class Run(msgspec.Struct, frozen=True, tag="run"):
    """Carry out a work item. Two descriptors come with it: the item as JSON, and where its news go."""

    number: int
    directory: str
    """The directory of its ensemble."""


class ForkedTask(msgspec.Struct, frozen=True):
    """What a runner is given: a work item, and what it may reach."""

    item: WorkItem
    surroundings: Surroundings
    retention: Retention = Retention()
    """How much of the logs and events of its ensemble is kept afterwards."""


class Kill(msgspec.Struct, frozen=True, tag="kill"):
    """End a query whose answer nobody wants any more."""

    number: int


Request = Query | Run | Kill


class ChildEnded(msgspec.Struct, frozen=True, tag="ended"):
    """A child has ended: with an exit code, or by a signal, then negative."""

    number: int
    status: int


RESULT, REFUSAL, FAULT = b"r", b"t", b"f"
"""The first byte of an answer: a result follows, or a ``Trouble``, or the text of a fault of this program."""

# ---------------------------------------------------------------------------------------------- the news of a runner


class Began(msgspec.Struct, frozen=True, tag="began"):
    """A job has begun, or goes on."""

    job: str


class Finished(msgspec.Struct, frozen=True, tag="finished"):
    """The job has ended, well or not; its files are written."""

    job: str
    status: str
    report: msgspec.Raw
    """The report of the job (``app.job.report.JobReport``)."""


class NothingToDo(msgspec.Struct, frozen=True, tag="nothing"):
    """There was nothing to do."""


class Already(msgspec.Struct, frozen=True, tag="already"):
    """The plan has a job already."""

    job: str


class Suspended(msgspec.Struct, frozen=True, tag="suspended"):
    """The job was left unfinished, as was asked."""


class NotDone(msgspec.Struct, frozen=True, tag="refused"):
    """Nothing was done, or a job could not be closed."""

    trouble: Trouble


class Faulty(msgspec.Struct, frozen=True, tag="fault"):
    """A fault of this program; the log of the server has its details."""


News = Began | Finished | NothingToDo | Already | Suspended | NotDone | Faulty
NEWS: msgspec.json.Decoder[News] = msgspec.json.Decoder(News)


class StoredTask(msgspec.Struct, frozen=True, tag="task"):
    """A work item that a server lets the workers of a store carry out. Nothing in it names a place of the server."""

    item: WorkItem
    variables: tuple[str, ...] = ()
    hosts: tuple[str, ...] = ()
    """As in ``Surroundings``."""

    retention: Retention = Retention()
    packages: tuple[str, ...] = ()
    """The digests of the packages that it may read, which are in the store under them."""
