"""`ordito queue`: what waits for the workers of a store."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import click
import msgspec

from ordito.cli.channel import Channel, write_columns
from ordito.cli.exit_codes import ExitCode
from ordito.cli.grammar import QUEUE_VERBS, VerbGroup
from ordito.cli.session import Session
from ordito.cli.verb import verb
from ordito.cli.verbs.workers import done, store_of
from ordito.results.workers import ItemData, QueuesData, StuckData, queues_data

if TYPE_CHECKING:
    from ordito.results.item_outcome import ItemOutcome

PAUSE = 0.5
"""Seconds between two looks at an item."""

queue_command = VerbGroup("queue", QUEUE_VERBS, {}, "What waits for the workers of a store.")


@verb("list", named="queue list")
def list_command(session: Session) -> ExitCode:
    """List what waits for workers, by pool and class, and what needs attention."""
    found = store_of(session)
    from ordito.cluster.operating import queues, stuck

    items = tuple(StuckData(item, ensemble, pool) for item, ensemble, pool in stuck(found))
    session.show(QueuesData(queues_data(queues(found)), items), _write_queues)
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


@verb("follow", named="queue follow")
@click.argument("item")
def follow_command(session: Session, item: str) -> ExitCode:
    """Wait until workers have carried an item out, and report the end of its job, with the exit code of its verb.

    Interrupting this leaves the item as it is: `ordito queue cancel` ends its job."""
    found = store_of(session)
    from ordito.cluster.connecting import StoreConnection
    from ordito.cluster.items import end_of
    from ordito.results.item_outcome import ItemOutcome

    link = StoreConnection(found.address)
    while (end := end_of(link, item))[0] not in ("done", "attention"):
        time.sleep(PAUSE)
    link.close()
    state, outcome = end
    if state == "attention":
        session.warn(f"item {item} needs attention: it does not get on, and is not tried any more")
        session.show(ItemData(item, state))
        return ExitCode.JOB_FAILED
    return _report(session, item, msgspec.json.decode(outcome, type=ItemOutcome))


def _report(session: Session, item: str, outcome: ItemOutcome) -> ExitCode:
    """Report how an item has ended."""
    from ordito.app.job.report import JobReport
    from ordito.cli.job_view import end_job
    from ordito.cli.progress.ledger import Ledger
    from ordito.cli.text_width import printable
    from ordito.results.findings import diagnostic_of

    if outcome.trouble is not None:
        failure = outcome.trouble.failure
        session.diagnostics([diagnostic_of(one) for one in outcome.trouble.diagnostics])
        session.show(ItemData(item, "done", outcome.job, outcome.status))
        why = f"{failure.message}; {failure.hint}" if failure.hint else failure.message
        session.note(printable(f"Item {item} was not carried out: {why}"))
        return ExitCode.INTERRUPTED if outcome.status == "cancelled" else ExitCode.REFUSED
    report = msgspec.json.decode(outcome.report, type=JobReport | None)
    if outcome.job and report is None:
        session.note(f"Job {outcome.job} has ended ({outcome.status}); `ordito jobs show {outcome.job}` shows how.")
        session.show(ItemData(item, "done", outcome.job, outcome.status))
        if outcome.status == "cancelled":
            return ExitCode.INTERRUPTED
        return ExitCode.DONE if outcome.status in ("ok", "degraded") else ExitCode.JOB_FAILED
    return end_job(report, Ledger(), session, nothing="Nothing to do.")


@verb("cancel", named="queue cancel")
@click.argument("item")
@click.option("--now", is_flag=True, help="End what runs, instead of waiting for it.")
def cancel_command(session: Session, item: str, *, now: bool) -> ExitCode:
    """Let the job of an item be ended; if it has not begun, it never does."""
    found = store_of(session)
    from ordito.cluster.items import cancel_item
    from ordito.ensemble.owner import CANCEL, NOW

    with found.connection() as db:
        cancel_item(db, item, NOW if now else CANCEL)
    return done(session, "cancelling", item)
