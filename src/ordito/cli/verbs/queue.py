"""`ordito queue`: what waits for the workers of a store."""

from __future__ import annotations

import click

from ordito.cli.channel import Channel, write_columns
from ordito.cli.exit_codes import ExitCode
from ordito.cli.grammar import QUEUE_VERBS, VerbGroup
from ordito.cli.session import Session
from ordito.cli.verb import verb
from ordito.cli.verbs.workers import done, store_of
from ordito.results.workers import QueueData, QueuesData, StuckData

queue_command = VerbGroup("queue", QUEUE_VERBS, {}, "What waits for the workers of a store.")


@verb("list", named="queue list")
def list_command(session: Session) -> ExitCode:
    """List what waits for workers, by pool and class, and what needs attention."""
    found = store_of(session)
    from ordito.cluster.operating import queues, stuck

    rows = tuple(
        QueueData(
            *(one.pool, one.klass, one.waiting, one.queued, one.running, one.attention),
            *(round(one.oldest, 1), one.is_held, one.has_workers),
        )
        for one in queues(found)
    )
    items = tuple(StuckData(item, ensemble, pool) for item, ensemble, pool in stuck(found))
    session.show(QueuesData(rows, items), _write_queues)
    return ExitCode.DONE


def _write_queues(found: QueuesData, channel: Channel) -> None:
    rows = []
    for one in found.queues:
        said = ["held"] if one.held else []
        said += [] if one.workers else ["no worker"]
        counts = (one.waiting, one.queued, one.running, one.attention)
        rows.append((one.pool, one.klass, *map(str, counts), f"{one.oldest:.0f}s", ", ".join(said)))
    titles = ("POOL", "CLASS", "WAITING", "QUEUED", "RUNNING", "ATTENTION", "OLDEST", "")
    write_columns(titles, rows, channel)
    for item in found.stuck:
        channel.line(f"item {item.item} of ensemble {item.ensemble} needs attention: it does not get on")


@verb("hold", named="queue hold")
@click.argument("pool")
def hold_command(session: Session, pool: str) -> ExitCode:
    """Let no more items of a pool begin; those that workers have go on."""
    found = store_of(session)
    from ordito.cluster.operating import hold

    hold(found, pool, is_held=True)
    return done(session, "held", pool)


@verb("release", named="queue release")
@click.argument("pool")
def release_command(session: Session, pool: str) -> ExitCode:
    """Let items of a pool begin again."""
    found = store_of(session)
    from ordito.cluster.operating import hold

    hold(found, pool, is_held=False)
    return done(session, "released", pool)
