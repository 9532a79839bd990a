"""A store as administrators are shown it. Nothing here needs what a store needs."""

from __future__ import annotations

import msgspec


class StoreWorker(msgspec.Struct, frozen=True):
    """A worker of the store."""

    name: str
    pool: str
    state: str
    """``ready``, ``draining``, ``ended``, ``lost``, or ``silent`` where its lease has run out."""

    slots: int
    busy: int
    version: str
    lease: float
    """Seconds for which its lease goes on, negative for those since when it has ended."""


class StoreQueue(msgspec.Struct, frozen=True):
    """The items of one class of a pool that are not done."""

    pool: str
    urgency: str
    """``urgent``, ``normal`` or ``background``."""

    waiting: int
    queued: int
    running: int
    attention: int
    """Items that were taken over again and again without getting on."""

    oldest: float
    """Seconds for which the oldest one waits that nobody has taken."""

    held: bool
    """Whether nothing of the pool begins, because somebody has said so."""

    has_workers: bool
    """Whether a worker of the pool has lived within the last minute."""


class StoreStateData(msgspec.Struct, frozen=True):
    """The store over which the server serves."""

    store: str
    """Its address, without a password."""

    workers: tuple[StoreWorker, ...]
    queues: tuple[StoreQueue, ...]
    stuck: tuple[str, ...]
    """The first items that need attention."""

    takeovers: int
    """Ensembles that were taken over within the last hour, because a worker was gone."""

    problems: tuple[str, ...]
    """What somebody should look at."""
