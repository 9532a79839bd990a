"""What commands and a server say of the workers and the queues of a store."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import msgspec

from ordito.results.answer import ResultData

if TYPE_CHECKING:
    from ordito.cluster.operating import QueueLook, WorkerLook


class WorkerData(msgspec.Struct, frozen=True):
    """A worker."""

    id: str
    """Another one at each start."""

    name: str
    pool: str
    state: str
    """``ready``, ``draining``, ``ended``, ``lost``, or ``silent`` where its lease has run out."""

    slots: int
    """How many items it carries out at one time."""

    busy: int
    """How many it carries out now."""

    version: str
    """The version of Ordito."""

    lease: float
    """The seconds for which its lease goes on; negative for those since when it has ended."""


def workers_data(found: Iterable[WorkerLook]) -> tuple[WorkerData, ...]:
    """Workers as they are shown."""
    return tuple(
        WorkerData(w.id, w.name, w.pool, w.state, w.slots, w.busy, w.version, round(w.lease, 1)) for w in found
    )


class WorkersData(ResultData, frozen=True, tag="ordito.workers/1"):
    """The workers of a store."""

    workers: tuple[WorkerData, ...]


class PoolQueueData(msgspec.Struct, frozen=True, rename={"klass": "class"}):
    """The items of one class of a pool that are not done."""

    pool: str
    klass: str
    """``urgent``, ``normal`` or ``background``."""

    waiting: int
    """Not let into the queues yet."""

    queued: int
    """In the queues, and not claimed by a worker."""

    running: int
    attention: int
    """Taken over again and again without getting on: not delivered any more."""

    oldest: float
    """For how many seconds the oldest one waits that no worker has claimed."""

    held: bool
    """Whether nothing of the pool is let in."""

    workers: bool
    """Whether a worker of the pool has lived within the last minute."""


def queues_data(found: Iterable[QueueLook]) -> tuple[PoolQueueData, ...]:
    """Queues as they are shown."""
    return tuple(
        PoolQueueData(
            *(one.pool, one.klass, one.waiting, one.queued, one.running, one.attention),
            *(round(one.oldest, 1), one.is_held, one.has_workers),
        )
        for one in found
    )


class StuckData(msgspec.Struct, frozen=True):
    """An item that needs attention."""

    item: str
    ensemble: str
    pool: str


class QueuesData(ResultData, frozen=True, tag="ordito.queues/1"):
    """The queues of a store."""

    queues: tuple[PoolQueueData, ...]
    stuck: tuple[StuckData, ...]
    """The first hundred items that need attention."""


class StoreStateData(msgspec.Struct, frozen=True):
    """The store over which a server serves."""

    store: str
    """Its address, without a password."""

    workers: tuple[WorkerData, ...]
    queues: tuple[PoolQueueData, ...]
    stuck: tuple[str, ...]
    """The first items that need attention."""

    takeovers: int
    """Ensembles that were taken over within the last hour, because a worker was gone."""

    problems: tuple[str, ...]
    """What somebody should look at."""


class ItemData(ResultData, frozen=True, tag="ordito.item/1"):
    """An item that waits for the workers of a store, or has ended."""

    item: str
    state: str
    """``waiting``, ``queued``, ``attention`` or ``done``."""

    job: str = ""
    status: str = ""
    """As ``item_outcome.ItemOutcome`` has it, once it is done."""


class OperatedData(ResultData, frozen=True, tag="ordito.operated/1"):
    """Something was asked of a worker, a pool or an item."""

    done: str
    """``draining``, ``lost``, ``forgotten``, ``held``, ``released`` or ``cancelling``."""

    name: str
