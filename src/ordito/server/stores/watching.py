"""What administrators see of a store: its workers, what waits for them, and how often one was taken over."""

from __future__ import annotations

from collections import Counter

from ordito.cluster.operating import QueueLook, WorkerLook, last_hour, queues, stuck, workers
from ordito.cluster.store import Store
from ordito.results.workers import StoreStateData, queues_data, workers_data
from ordito.server.metrics import StoreFigures

LIVE = ("ready", "draining")


def state_of(store: Store) -> StoreStateData:
    """How a store is. Raises ``EnsembleError``."""
    known, waiting = workers(store), queues(store)
    items = tuple(item for item, _, _ in stuck(store))
    problems = tuple(_problems(known, waiting))
    rows = workers_data(known), queues_data(waiting)
    return StoreStateData(str(store), *rows, items, last_hour(store)[0], problems)


def _problems(known: list[WorkerLook], waiting: list[QueueLook]) -> list[str]:
    found = [f"worker {one.name} has been silent for {-one.lease:.0f} s" for one in known if one.state == "silent"]
    for one in waiting:
        if not one.has_workers and one.waiting + one.queued:
            found.append(f"{one.waiting + one.queued} items wait for the pool {one.pool}, which has no worker")
        if one.attention:
            found.append(f"{one.attention} items of the pool {one.pool} do not get on: `ordito queue list` names them")
        if one.is_held:
            found.append(f"the pool {one.pool} is held: `ordito queue release {one.pool}` lets it go on")
    return found


def figures_of(store: Store) -> StoreFigures:
    """The same as figures. Raises ``EnsembleError``."""
    known, waiting = workers(store), queues(store)
    live = [one for one in known if one.state in LIVE]
    pools = {one.pool for one in live}
    slots = {
        pool: (sum(w.slots for w in live if w.pool == pool), sum(w.busy for w in live if w.pool == pool))
        for pool in pools
    }
    return StoreFigures(
        items={
            (q.pool, q.klass, state): getattr(q, state)
            for q in waiting
            for state in ("waiting", "queued", "running", "attention")
        },
        oldest={(q.pool, q.klass): q.oldest for q in waiting},
        workers=Counter((one.pool, one.state) for one in known),
        slots=slots,
        takeovers=last_hour(store)[0],
    )
