"""`ordito worker` and `workers`: who carries out the items of a store."""

from __future__ import annotations

import importlib.util
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import urlsplit

import click

from ordito.cli.channel import Channel, write_columns
from ordito.cli.exit_codes import ExitCode
from ordito.cli.grammar import WORKERS_VERBS, VerbGroup
from ordito.cli.request_options import Duration
from ordito.cli.session import Session
from ordito.cli.verb import verb
from ordito.results.workers import OperatedData, WorkerData, WorkersData

if TYPE_CHECKING:
    from ordito.cluster.store import Store

F = TypeVar("F", bound=Callable[..., Any])

NEEDED = ("dbos", "psycopg", "sqlalchemy", "alembic")

workers_command = VerbGroup("workers", WORKERS_VERBS, {}, "The workers of a store.")


def _without_password(_: click.Context, __: click.Parameter, value: str) -> str:
    if "://" in value and urlsplit(value).password is not None:
        raise click.BadParameter(
            "a password in the command line is seen by everybody on this machine; write it into a file that the"
            " variable PGPASSFILE names, as HOST:PORT:DATABASE:USER:PASSWORD"
        )
    return value


def store_option(function: F) -> F:
    """The option that names a store."""
    return click.option(
        "--store",
        metavar="URL",
        required=True,
        callback=_without_password,
        help="The PostgreSQL of the store; its password comes from PGPASSFILE.",
    )(function)


def store_at(address: str) -> Store:
    """The store at an address. Raises ``Refused`` where the extra `cluster` is not installed."""
    from ordito.app.errors import Refused

    missing = [name for name in NEEDED if importlib.util.find_spec(name) is None]
    if missing:
        raise Refused("needs-extra", f"a store needs {missing[0]}", "install it: pip install 'ordito[cluster]'")
    from ordito.cluster.store import Store

    found = Store(address)
    found.check()
    return found


@verb("worker")
@store_option
@click.option("--home", metavar="DIR", required=True, help="Its directory, which no other worker has.")
@click.option("--runs", metavar="MODULE:FUNCTION", required=True, help="What carries out items.")
@click.option("--pool", default="default", show_default=True, help="The pool whose items it takes.")
@click.option("--name", default="", help="Its name, instead of that of the machine.")
@click.option("--reaches", metavar="SITE,...", default="", help="The sites that it reaches.")
@click.option("--slots", type=click.IntRange(1, 1_000), default=4, show_default=True, help="Items at one time.")
@click.option("--key", metavar="FILE", default="", help="The file with the key of its pool.")
@click.option(
    "--lease", type=Duration(), default=30.0, show_default="30s", help="Silent for so long, it is taken over."
)
@click.option("--finish", type=Duration(), default=None, help="How long jobs may go on, once it drains.")
@click.option("--poll", type=Duration(), default=1.0, show_default="1s", help="How often it looks into its queues.")
def worker_command(_: Session, store: str, home: str, runs: str, **given: Any) -> ExitCode:
    """Carry out the items of a pool of a store, until SIGTERM or `ordito workers drain`.

    Each item is carried out by a process of its own, which goes on with a job where another worker has left it. Whoever
    is silent for longer than its lease is taken over by the others, and writes nothing more."""
    store_at(store)
    words = {
        "address": store,
        "home": str(Path(home).absolute()),
        "entry": runs,
        "pool": given["pool"],
        "name": given["name"],
        "reaches": [one for one in given["reaches"].split(",") if one],
        "slots": given["slots"],
        "key": str(Path(given["key"]).absolute()) if given["key"] else "",
        "lease": given["lease"],
        "finish": given["finish"] or 0.0,
    }
    import msgspec

    sys.stdout.flush()
    sys.stderr.flush()
    text = msgspec.json.encode(words).decode()
    os.execv(sys.executable, [sys.executable, "-m", "ordito.cluster.worker", text, str(given["poll"])])


@verb("list", named="workers list")
@store_option
def list_command(session: Session, store: str) -> ExitCode:
    """List the workers of a store: what they do, and for how long their lease goes on."""
    found = store_at(store)
    from ordito.cluster.operating import workers

    rows = tuple(
        WorkerData(one.id, one.name, one.pool, one.state, one.slots, one.busy, one.version, round(one.lease, 1))
        for one in workers(found)
    )
    session.show(WorkersData(rows), _write_workers)
    return ExitCode.DONE


def _write_workers(found: WorkersData, channel: Channel) -> None:
    rows = [
        (one.name, one.pool, one.state, f"{one.busy}/{one.slots}", f"{one.lease:.0f}s", one.version, one.id)
        for one in found.workers
    ]
    write_columns(("WORKER", "POOL", "STATE", "BUSY", "LEASE", "VERSION", "ID"), rows, channel)


@verb("drain", named="workers drain")
@click.argument("name")
@store_option
def drain_command(session: Session, store: str, name: str) -> ExitCode:
    """Let a worker take no more items, hand over the jobs that it carries out, and end."""
    found = store_at(store)
    from ordito.cluster.operating import drain

    drain(found, name)
    return done(session, "draining", name)


@verb("lost", named="workers lost")
@click.argument("name")
@store_option
def lost_command(session: Session, store: str, name: str) -> ExitCode:
    """Say that the machine of a worker is off, so that nothing of it runs any more.

    Others go on with its jobs at once. Only say so when it is certain: local operations that still run would run a
    second time."""
    found = store_at(store)
    from ordito.cluster.operating import lose

    lose(found, name)
    return done(session, "lost", name)


@verb("forget", named="workers forget")
@click.argument("name")
@store_option
def forget_command(session: Session, store: str, name: str) -> ExitCode:
    """Remove a worker from the list that has ended, or was lost and is taken over."""
    found = store_at(store)
    from ordito.cluster.operating import forget

    forget(found, name)
    return done(session, "forgotten", name)


def done(session: Session, what: str, name: str) -> ExitCode:
    """Say that something was asked of a worker or a pool."""
    session.show(OperatedData(what, name), lambda one, channel: channel.line(f"{one.done}: {one.name}"))
    return ExitCode.DONE
