"""Figures about the server, for Prometheus."""

from __future__ import annotations

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

from ordito.server.live.topics import Topics
from ordito.server.processes.queries import Queries


class Metrics:
    """The figures of one server."""

    def __init__(self, queries: Queries, topics: Topics) -> None:
        self._registry = CollectorRegistry()
        labels = ("route", "status")
        self.requests = Counter("ordito_requests", "Requests by route and status", labels, registry=self._registry)
        self.seconds = Histogram(
            "ordito_request_seconds", "Seconds until a request was answered", ("route",), registry=self._registry
        )
        self.sign_ins = Counter("ordito_sign_ins", "Sign-ins by their end", ("outcome",), registry=self._registry)
        self.jobs = Counter(
            "ordito_jobs", "Jobs of plans that have ended", ("workflow", "status"), registry=self._registry
        )
        busy = Gauge("ordito_queries_busy", "Query processes that run", registry=self._registry)
        busy.set_function(lambda: queries.busy)
        streams = Gauge("ordito_streams", "Open streams", registry=self._registry)
        streams.set_function(lambda: topics.streams)

    def text(self) -> str:
        """All figures, in the format of Prometheus."""
        return generate_latest(self._registry).decode()
