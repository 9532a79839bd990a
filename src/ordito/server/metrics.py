"""Figures about the server, for Prometheus."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

from ordito.server.live.topics import Topics
from ordito.server.processes.queries import Queries

LONG = (1, 5, 15, 60, 300, 900, 3_600, 4 * 3_600)
"""Seconds of jobs, which may take hours."""


class CountedRows(msgspec.Struct, frozen=True):
    """What is counted in the database when figures are asked for."""

    plans: Mapping[str, int]
    """By state, for every state."""

    longest_queue: int
    """The plans that wait for their turn in the ensemble with the most of them."""

    oldest_wait: float
    """When the plan was queued that waits longest, 0 for none."""

    deliveries: Mapping[str, int]
    """By state, for every state."""

    event_lag: int
    """How many events the slowest webhook has not seen yet."""


class StoreFigures(msgspec.Struct, frozen=True):
    """What is counted in the store over which a server serves, when figures are asked for."""

    items: Mapping[tuple[str, str, str], int]
    """By pool, class, and ``waiting``, ``queued``, ``running`` or ``attention``."""

    oldest: Mapping[tuple[str, str], float]
    """Seconds for which the oldest item of a pool and class waits."""

    workers: Mapping[tuple[str, str], int]
    """By pool and state."""

    slots: Mapping[str, tuple[int, int]]
    """By pool, the slots of workers that take items, and those that are taken."""

    takeovers: int
    """Ensembles that were taken over within the last hour."""


class Metrics:
    """The figures of one server."""

    def __init__(self, queries: Queries, topics: Topics) -> None:
        self._registry = registry = CollectorRegistry()
        labels = ("route", "status")
        self.requests = Counter("ordito_requests", "Requests by route and status", labels, registry=registry)
        self.seconds = Histogram(
            "ordito_request_seconds", "Seconds until a request was answered", ("route",), registry=registry
        )
        self.sign_ins = Counter("ordito_sign_ins", "Sign-ins by their end", ("outcome",), registry=registry)
        self.jobs = Counter("ordito_jobs", "Jobs of plans that have ended", ("workflow", "status"), registry=registry)
        self.job_seconds = Histogram(
            "ordito_job_seconds", "Seconds that jobs of plans took", ("workflow",), buckets=LONG, registry=registry
        )
        self.query_seconds = Histogram(
            "ordito_query_seconds", "Seconds of processes that look or plan", ("look",), registry=registry
        )
        busy = Gauge("ordito_queries_busy", "Query processes that run", registry=registry)
        busy.set_function(lambda: queries.busy)
        streams = Gauge("ordito_streams", "Open streams", registry=registry)
        streams.set_function(lambda: topics.streams)
        self._plans = Gauge("ordito_plans", "Plans by state", ("state",), registry=registry)
        self._longest = Gauge("ordito_queue_longest", "Plans in the longest queue of an ensemble", registry=registry)
        self._wait = Gauge("ordito_queue_seconds", "Seconds for which the first of all queues waits", registry=registry)
        self._deliveries = Gauge("ordito_deliveries", "Deliveries of webhooks by state", ("state",), registry=registry)
        self._lag = Gauge("ordito_event_lag", "Events that the slowest webhook has not seen", registry=registry)
        of_class = ("pool", "class")
        self._items = Gauge(
            "ordito_store_items", "Items of the store that are not done", (*of_class, "state"), registry=registry
        )
        self._oldest = Gauge(
            "ordito_store_item_seconds", "Seconds for which the oldest item waits", of_class, registry=registry
        )
        self._workers = Gauge("ordito_store_workers", "Workers by state", ("pool", "state"), registry=registry)
        self._slots = Gauge("ordito_store_slots", "Slots of workers that live", ("pool", "use"), registry=registry)
        self._takeovers = Gauge(
            "ordito_store_takeovers", "Ensembles taken over within the last hour", registry=registry
        )

    def text(self, found: CountedRows, now: float, store: StoreFigures | None = None) -> str:
        """All figures, in the format of Prometheus; ``store`` are those of the store, where there is one."""
        if store is not None:
            self._set_store(store)
        for gauge, counts in ((self._plans, found.plans), (self._deliveries, found.deliveries)):
            for state, count in counts.items():
                gauge.labels(state).set(count)
        self._longest.set(found.longest_queue)
        self._wait.set(max(0.0, now - found.oldest_wait) if found.oldest_wait else 0.0)
        self._lag.set(found.event_lag)
        return generate_latest(self._registry).decode()

    def _set_store(self, found: StoreFigures) -> None:
        for gauge in (self._items, self._oldest, self._workers, self._slots):
            # What is not there any more has no figure.
            gauge.clear()
        for labels, count in found.items.items():
            self._items.labels(*labels).set(count)
        for of_class, seconds in found.oldest.items():
            self._oldest.labels(*of_class).set(seconds)
        for of_state, count in found.workers.items():
            self._workers.labels(*of_state).set(count)
        for pool, (there, taken) in found.slots.items():
            self._slots.labels(pool, "free").set(max(0, there - taken))
            self._slots.labels(pool, "taken").set(taken)
        self._takeovers.set(found.takeovers)
