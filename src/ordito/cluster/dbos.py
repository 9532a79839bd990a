"""Dispatch by DBOS, which is durable in the same database: a delivery is a workflow without steps.

Nothing else of DBOS is used: it never recovers a workflow, since a worker has another executor id at each start, and it
says nothing about what has been done. This is the only file that knows it.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
from dbos import DBOS, DBOSClient, DBOSConfig, EnqueueOptions, Serializer
from dbos import error as errors
from psycopg.conninfo import conninfo_to_dict
from sqlalchemy import URL, Engine, create_engine
from sqlalchemy.exc import DBAPIError, SQLAlchemyError

from ordito.cluster.connecting import SETTINGS, explained
from ordito.cluster.dispatch import (
    CLASSES,
    CarryOut,
    Choose,
    Delivery,
    Dispatch,
    Queued,
    Serving,
    delivery_id,
    shares,
)
from ordito.ensemble.errors import EnsembleError

APPLICATION = "ordito"
VERSION = "ordito-1"
"""The form of what is enqueued, and not the version of Ordito: else what waits would wait for workers of that version
for ever."""

WORKFLOW = "carry_out"
OPEN = ("ENQUEUED", "DELAYED", "PENDING")
CONNECTIONS = 4
POLL = 1.0
"""Seconds after which a worker looks into its queues again."""

LEAVING = 24 * 3_600
"""So many seconds it is waited for deliveries that were taken, whose runners have been told to end."""


def make_tables(address: str) -> None:
    """Make the tables of DBOS, or bring them up to date. Raises ``EnsembleError``."""
    with _explained():
        DBOS.migrate(_url(address))


class DbosDispatch(Dispatch):
    """Delivers by way of DBOS. One of a process can serve."""

    def __init__(self, address: str, poll: float = POLL) -> None:
        """``address`` is that of the store; ``poll`` is in seconds. Raises ``EnsembleError``."""
        self._poll = poll
        self._engine = create_engine(
            "postgresql+psycopg://",
            creator=lambda: psycopg.connect(address, **SETTINGS),  # type: ignore[arg-type]
            pool_size=CONNECTIONS,
            max_overflow=CONNECTIONS,
            pool_pre_ping=True,
        )
        self._client = DBOSClient(
            system_database_engine=self._engine,
            serializer=_Ids(),
            application_name=APPLICATION,
            lazy=True,
            retry_connection_errors=False,
        )

    def submit(self, choose: Choose) -> list[Delivery]:
        """See ``Dispatch``."""
        with _explained(), self._engine.begin() as connection:
            db = connection.connection.driver_connection
            assert isinstance(db, psycopg.Connection)
            given = list(choose(db))
            for delivery in given:
                self._client.enqueue_in_transaction(connection, _options(delivery), delivery.item, delivery.number)
        return given

    def queued(self, pool: str) -> list[Queued]:
        """See ``Dispatch``."""
        names = {queue(pool, klass): klass for klass in CLASSES}
        with _explained():
            found = self._client.list_workflows(
                queue_name=list(names), status=list(OPEN), load_input=False, load_output=False
            )
        queued = []
        for one in found:
            item, _, number = one.workflow_id.rpartition(".")
            worker = one.executor_id or "" if one.status == "PENDING" else ""
            queued.append(Queued(item, int(number), names[one.queue_name or ""], worker))
        return queued

    def cancel(self, item: str, number: int) -> None:
        """See ``Dispatch``."""
        with _explained():
            self._client.cancel_workflow(delivery_id(item, number))

    def serve(self, pool: str, worker: str, slots: int, carry_out: CarryOut) -> Serving:
        """See ``Dispatch``; at most one of a process at a time."""
        with _explained():
            for klass, share in shares(slots).items():
                self._register(queue(pool, klass), share)
        return _DbosServing(self._engine, pool, worker, carry_out)

    def close(self) -> None:
        """Let go of the store."""
        self._client.destroy()
        self._engine.dispose()

    def _register(self, name: str, share: int) -> None:
        """Let a queue be known. What it says of concurrency holds for each worker of its pool, so for the largest one:
        a smaller one gives back what it has no slot for."""
        known = self._client.retrieve_queue(name)
        most = share if known is None else max(share, known.worker_concurrency or 0)
        self._client.register_queue(
            name, partition_concurrency=1, worker_concurrency=most, polling_interval_sec=self._poll
        )


class _DbosServing:
    def __init__(self, engine: Engine, pool: str, worker: str, carry_out: CarryOut) -> None:
        config: DBOSConfig = {
            "name": APPLICATION,
            "application_version": VERSION,
            "executor_id": worker,
            # Only asked whether it names a database.
            "system_database_url": "postgresql:///store",
            "system_database_engine": engine,
            "serializer": _Ids(),
            "run_migrations": False,
            "log_level": "ERROR",
        }

        # DBOS marks the function that it is given.
        def deliver(item: str, number: int) -> None:
            carry_out(item, number)

        with _explained():
            DBOS(config=config)
            DBOS.workflow(name=WORKFLOW, max_recovery_attempts=None)(deliver)
            DBOS.listen_queues([queue(pool, klass) for klass in CLASSES])
            DBOS.launch()
        logger = logging.getLogger("dbos")
        logger.setLevel(logging.ERROR)
        logger.addFilter(_is_no_cancelling)

    def stop(self) -> None:
        DBOS.destroy(destroy_registry=True, workflow_completion_timeout_sec=LEAVING)


def _is_no_cancelling(record: logging.LogRecord) -> bool:
    """Whether a record of the log tells of more than that a delivery was cancelled, as is done with each that is given
    back or taken over."""
    error = record.exc_info[1] if isinstance(record.exc_info, tuple) else None
    return not isinstance(error, errors.DBOSAwaitedWorkflowCancelledError | errors.DBOSWorkflowCancelledError)


class _Ids(Serializer):
    """Arguments are ids and numbers, so nothing that is read can be more than data."""

    def serialize(self, data: Any) -> str:
        return json.dumps(data, default=str)

    def deserialize(self, serialized_data: str) -> Any:
        return json.loads(serialized_data)

    def name(self) -> str:
        return "ordito_json"


def queue(pool: str, klass: str) -> str:
    """The name of a queue."""
    return f"items/{pool}/{klass}"


def _options(delivery: Delivery) -> EnqueueOptions:
    options: EnqueueOptions = {
        "workflow_name": WORKFLOW,
        "queue_name": queue(delivery.pool, delivery.klass),
        "workflow_id": delivery.id,
        "app_version": VERSION,
        "queue_partition_key": delivery.ensemble,
    }
    if delivery.delay:
        options["delay_seconds"] = delivery.delay
    return options


def _url(address: str) -> str:
    given = {name: str(value) for name, value in conninfo_to_dict(address).items() if value is not None}
    url = URL.create(
        "postgresql",
        username=given.pop("user", None),
        password=given.pop("password", None),
        host=given.pop("host", None),
        port=int(port) if (port := given.pop("port", "")) else None,
        database=given.pop("dbname", None),
        query=given,
    )
    return url.render_as_string(hide_password=False)


@contextmanager
def _explained() -> Iterator[None]:
    try:
        yield
    except DBAPIError as error:
        if isinstance(error.orig, psycopg.Error):
            raise explained("use", error.orig) from error
        raise
    except psycopg.Error as error:
        raise explained("use", error) from error
    except SQLAlchemyError as error:
        # As when no connection becomes free in time.
        raise EnsembleError(
            f"cannot use the store: {type(error).__name__}", "see whether PostgreSQL runs, then try again"
        ) from error
