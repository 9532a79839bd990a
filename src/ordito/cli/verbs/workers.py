"""`ordito worker` and `workers`: who carries out the items of a store."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ordito.cli.channel import Channel, write_columns
from ordito.cli.exit_codes import ExitCode
from ordito.cli.grammar import WORKERS_VERBS, VerbGroup
from ordito.cli.request_options import Duration
from ordito.cli.session import Session
from ordito.cli.verb import verb
from ordito.results.workers import OperatedData, WorkersData, workers_data

if TYPE_CHECKING:
    from ordito.cluster.store import Store

RUNNER = "ordito.server.processes.stored_item:run"
"""What carries out items, in processes of their own."""

workers_command = VerbGroup("workers", WORKERS_VERBS, {}, "The workers of a store.")


def store_of(session: Session) -> Store:
    """The store that a command names. Raises ``Refused`` where it names none, or two, or where what a store needs is
    not installed; and ``EnsembleError`` where it cannot be used."""
    from ordito.cli.in_store import store_request

    request = store_request(session.settings)
    from ordito.cluster.address import store_at

    found = store_at(request.address, request.file)
    found.check()
    return found


@verb("worker")
@click.option("--home", metavar="DIR", required=True, help="Its directory, which no other worker has.")
@click.option("--pool", default="default", show_default=True, help="The pool whose items it takes.")
@click.option("--name", default="", help="Its name, instead of that of the machine.")
@click.option("--reaches", metavar="SITE,...", default="", help="The sites that it reaches.")
@click.option("--slots", type=click.IntRange(1, 1_000), default=4, show_default=True, help="Items at one time.")
@click.option(
    "--lease", type=Duration(), default=30.0, show_default="30s", help="Silent for so long, it is taken over."
)
@click.option("--finish", type=Duration(), default=None, help="How long jobs may go on, once it drains.")
@click.option("--guard", is_flag=True, help="End what it has at work where it is gone, or cut off from the store.")
@click.option("--poll", type=Duration(), default=1.0, show_default="1s", help="How often it looks into its queues.")
def worker_command(session: Session, home: str, **given: Any) -> ExitCode:
    """Carry out the items of a pool of a store, until SIGTERM or `ordito workers drain`.

    Each item is carried out by a process of its own, which goes on with a job where another worker has left it. Whoever
    is silent for longer than its lease is taken over by the others, and writes nothing more. What had begun on its
    machine goes on, unless it runs with --guard, and is asked for there once a worker is in its directory again."""
    key = session.settings.key
    words = {
        "address": store_of(session).address,
        "home": str(Path(home).absolute()),
        "entry": RUNNER,
        "pool": given["pool"],
        "name": given["name"],
        "reaches": [one for one in given["reaches"].split(",") if one],
        "slots": given["slots"],
        "key": str(Path(key).absolute()) if key else "",
        "lease": given["lease"],
        "finish": given["finish"] or 0.0,
    }
    module = "ordito.cluster.worker_guard" if given["guard"] else "ordito.cluster.worker"
    import msgspec

    # The address may hold a password, and everybody on a machine sees the words of a command.
    handle = os.memfd_create("settings", 0)
    os.write(handle, msgspec.json.encode(words))
    sys.stdout.flush()
    sys.stderr.flush()
    os.execv(sys.executable, [sys.executable, "-m", module, str(handle), str(given["poll"])])


@verb("list", named="workers list")
def list_command(session: Session) -> ExitCode:
    """List the workers of a store: what they do, and for how long their lease goes on."""
    found = store_of(session)
    from ordito.cluster.operating import workers

    session.show(WorkersData(workers_data(workers(found))), _write_workers)
    return ExitCode.DONE


def _write_workers(found: WorkersData, channel: Channel) -> None:
    rows = [
        (one.name, one.pool, one.state, f"{one.busy}/{one.slots}", f"{one.lease:.0f}s", one.version, one.id)
        for one in found.workers
    ]
    write_columns(("WORKER", "POOL", "STATE", "BUSY", "LEASE", "VERSION", "ID"), rows, channel)


@verb("drain", named="workers drain")
@click.argument("name")
def drain_command(session: Session, name: str) -> ExitCode:
    """Let a worker take no more items, hand over the jobs that it carries out, and end."""
    found = store_of(session)
    from ordito.cluster.operating import drain

    drain(found, name)
    return done(session, "draining", name)


@verb("lost", named="workers lost")
@click.argument("name")
def lost_command(session: Session, name: str) -> ExitCode:
    """Say that the machine of a worker is off, so that nothing of it runs any more.

    Others go on with its jobs at once. Only say so when it is certain: local operations that still run would run a
    second time."""
    found = store_of(session)
    from ordito.cluster.operating import lose

    lose(found, name)
    return done(session, "lost", name)


@verb("forget", named="workers forget")
@click.argument("name")
def forget_command(session: Session, name: str) -> ExitCode:
    """Remove a worker from the list that has ended, or was lost and is taken over."""
    found = store_of(session)
    from ordito.cluster.operating import forget

    forget(found, name)
    return done(session, "forgotten", name)


def done(session: Session, what: str, name: str) -> ExitCode:
    """Say that something was asked of a worker or a pool."""
    session.show(OperatedData(what, name), lambda one, channel: channel.line(f"{one.done}: {one.name}"))
    return ExitCode.DONE
