"""Webhooks: each event of a project is posted to those who want it, at least once and in order.

Every event of the outbox that a webhook wants becomes a delivery. The oldest delivery of a webhook that waits is tried,
and the next one only after the receiver has taken it. One that was not taken for a day pauses the webhook.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import msgspec
from cryptography.fernet import Fernet
from sqlalchemy import Connection, Row, and_, delete, func, insert, select, update

from ordito.ensemble.job_format import moment
from ordito.server.database.audit import FAILED, Deed, write_down
from ordito.server.database.database import Database
from ordito.server.database.outbox import KEPT_FOR, ServerEvent, tell
from ordito.server.database.tables import DELIVERIES, EVENTS, WEBHOOKS
from ordito.server.outgoing.posting import PostFailed, post
from ordito.server.problems import ApiProblem
from ordito.server.route import ENSEMBLE
from ordito.server.signatures import DELIVERY, SIGNATURE, signature

_LOG = logging.getLogger(__name__)

TEST, PAUSED = "webhook.test", "webhook.paused"
TYPES = (
    "plan.waiting", "plan.rejected", "plan.stale", "job.began", "job.ended", "job.attention", "ensemble.drift",
    "freeze.changed", TEST,
)  # fmt: skip
"""The types of events that webhooks can ask for."""

WAITING, DONE = "waiting", "done"

MINUTE = 60.0
PAUSES: tuple[float, ...] = (MINUTE, 5 * MINUTE, 30 * MINUTE, *[60 * MINUTE] * 23)
"""Seconds between the attempts of a delivery: a day in all."""

AT_ONCE = 500
"""How many events become deliveries in one transaction."""

MOST_WAITING = 10_000
"""How many deliveries of a webhook may wait: what comes then stays in the outbox, as long as it is kept."""

PARALLEL = 4
PRUNED_EVERY = 3600.0

TOLD = ("plan", "job", "workflow", "state", "status", "by", "webhook")
"""The fields of events that receivers get: names and states. What else there is to see, they read at the links."""


def make_deliveries(connection: Connection, base: str, now: float) -> None:
    """Make deliveries of the events that webhooks have not seen yet. ``base`` is the URL of the server."""
    newest = connection.execute(select(func.max(EVENTS.c.number))).scalar() or 0
    for hook in connection.execute(select(WEBHOOKS).where(~WEBHOOKS.c.paused, WEBHOOKS.c.seen < newest)).all():
        _deliveries_of(connection, hook, newest, base, now)


def _deliveries_of(connection: Connection, hook: Row[Any], newest: int, base: str, now: float) -> None:
    wanted = set(msgspec.json.decode(hook.events, type=list[str])) or set(TYPES) - {TEST}
    ensembles = msgspec.json.decode(hook.ensembles, type=list[str])
    mine = and_(DELIVERIES.c.webhook == hook.id, DELIVERIES.c.state == WAITING)
    waiting = connection.execute(select(func.count()).select_from(DELIVERIES).where(mine)).scalar() or 0
    room = min(AT_ONCE, MOST_WAITING - waiting)
    if room <= 0:
        return
    asked = select(EVENTS).where(EVENTS.c.number > hook.seen, EVENTS.c.project == hook.project)
    asked = asked.where(EVENTS.c.type.in_(sorted({*wanted, TEST})))
    if ensembles:
        asked = asked.where(EVENTS.c.ensemble.in_(["", *ensembles]))
    found = connection.execute(asked.order_by(EVENTS.c.number).limit(room)).all()
    for event in found:
        fields = msgspec.json.decode(event.body, type=dict[str, object])
        if event.type == TEST and TEST not in wanted and fields.get("webhook") != hook.id:
            continue
        row = {"id": f"dl_{secrets.token_hex(12)}", "webhook": hook.id, "event": event.number, "type": event.type}
        row |= {"body": _body(event, fields, base), "state": WAITING, "outcome": ""}
        connection.execute(insert(DELIVERIES).values(**row, attempts=0, next=now, created=now))
    seen = found[-1].number if len(found) == room else newest
    connection.execute(update(WEBHOOKS).where(WEBHOOKS.c.id == hook.id).values(seen=seen))


def _body(event: Row[Any], fields: Mapping[str, object], base: str) -> str:
    """The JSON of one event: names and states, and links to what there is to see."""
    told = {name: fields[name] for name in TOLD if isinstance(fields.get(name), str)}
    links = {}
    if event.ensemble:
        at = base + ENSEMBLE.format(project=event.project, ensemble=event.ensemble)
        links["ensemble"] = at
        links |= {name: f"{at}/{name}s/{told[name]}" for name in ("plan", "job") if told.get(name)}
    head = {"type": event.type, "event": event.number, "time": moment(event.created)}
    body = {**head, "project": event.project, "ensemble": event.ensemble, **told, "links": links}
    return msgspec.json.encode(body).decode()


class _Due(msgspec.Struct, frozen=True):
    """A delivery to be tried, with its webhook."""

    id: str
    webhook: str
    project: str
    url: str
    secret: bytes
    body: bytes
    attempts: int
    next: float
    """When it was to be tried: another time, where somebody has asked for it again meanwhile."""


def _due(connection: Connection, now: float, webhook: str = "") -> list[_Due]:
    """The oldest waiting delivery of each webhook, or of one, where its time has come."""
    waiting = DELIVERIES.c.state == WAITING
    if webhook:
        waiting &= DELIVERIES.c.webhook == webhook
    oldest = select(DELIVERIES.c.webhook, func.min(DELIVERIES.c.event).label("event")).where(waiting)
    first = oldest.group_by(DELIVERIES.c.webhook).subquery()
    same = and_(DELIVERIES.c.webhook == first.c.webhook, DELIVERIES.c.event == first.c.event)
    asked = select(DELIVERIES, WEBHOOKS.c.project, WEBHOOKS.c.url, WEBHOOKS.c.secret).join(first, same)
    asked = asked.join(WEBHOOKS, WEBHOOKS.c.id == DELIVERIES.c.webhook)
    rows = connection.execute(asked.where(waiting, ~WEBHOOKS.c.paused, DELIVERIES.c.next <= now)).all()
    return [_Due(r.id, r.webhook, r.project, r.url, r.secret, r.body.encode(), r.attempts, r.next) for r in rows]


def forget_deliveries(connection: Connection, now: float) -> None:
    """Forget deliveries that are as old as events become."""
    connection.execute(delete(DELIVERIES).where(DELIVERIES.c.created < now - KEPT_FOR))


def begin_again(connection: Connection, webhook: str, now: float) -> None:
    """Let the deliveries of a webhook that wait be tried at once, with all their attempts."""
    mine = and_(DELIVERIES.c.webhook == webhook, DELIVERIES.c.state == WAITING)
    connection.execute(update(DELIVERIES).where(mine).values(attempts=0, next=now))


class Webhooks:
    """Delivers events to webhooks: in threads, one delivery of each webhook at a time."""

    def __init__(
        self,
        database: Database,
        sealer: Fernet,
        base: Callable[[], str],
        egress: Callable[[], Sequence[str]],
        clock: Callable[[], float] = time.time,
    ) -> None:
        """``base`` gives the URL of the server, ``egress`` what it may reach."""
        self._database = database
        self._sealer = sealer
        self._base = base
        self._egress = egress
        self._clock = clock
        self._threads = ThreadPoolExecutor(PARALLEL, "webhook")
        self._busy: dict[str, asyncio.Task[None]] = {}
        self._pruned = 0.0

    async def round(self) -> None:
        """Make deliveries of new events, and begin with those whose time has come; it does not wait for receivers."""
        now = self._clock()
        if now - self._pruned > PRUNED_EVERY:
            self._pruned = now
            await self._database.write(lambda connection: forget_deliveries(connection, now))
        if await self._database.read(_is_new):
            await self._database.write(lambda connection: make_deliveries(connection, self._base(), now))
        for due in await self._database.read(lambda connection: _due(connection, now)):
            if due.webhook not in self._busy:
                task = asyncio.create_task(self._deliver(due))
                self._busy[due.webhook] = task
                task.add_done_callback(partial(self._leave, due.webhook))

    def _leave(self, webhook: str, task: asyncio.Task[None]) -> None:
        self._busy.pop(webhook, None)
        if not task.cancelled() and task.exception() is not None:
            _LOG.error("a fault while events were delivered", exc_info=task.exception())

    async def settled(self) -> None:
        """Wait until nothing is being delivered."""
        while self._busy:
            await asyncio.wait(self._busy.values())

    def stop(self) -> None:
        """Let no delivery begin any more. One that is not over is made again after the next start."""
        for task in [*self._busy.values()]:
            task.cancel()
        self._threads.shutdown(wait=False, cancel_futures=True)

    async def _deliver(self, due: _Due) -> None:
        """Try a delivery, and those after it as long as they are taken."""
        following: _Due | None = due
        while following is not None and await self._is_taken(following):
            following = await self._following(due.webhook)

    async def _is_taken(self, due: _Due) -> bool:
        outcome = await asyncio.get_running_loop().run_in_executor(self._threads, self._outcome, due)
        await self._database.write(lambda connection: _ended(connection, due, outcome, self._clock()))
        return outcome.state == DONE

    async def _following(self, webhook: str) -> _Due | None:
        now = self._clock()
        return next(iter(await self._database.read(lambda connection: _due(connection, now, webhook))), None)

    def _outcome(self, due: _Due) -> _PostOutcome:
        secret = self._sealer.decrypt(due.secret)
        headers = {
            "Content-Type": "application/json",
            DELIVERY: due.id,
            SIGNATURE: signature(secret, due.body, self._clock()),
        }
        try:
            status = post(due.url, due.body, headers, tuple(self._egress()))
        except PostFailed as failed:
            return _PostOutcome(WAITING, failed.message)
        except ApiProblem as problem:
            return _PostOutcome(WAITING, problem.detail)
        is_taken = 200 <= status < 300
        return _PostOutcome(DONE if is_taken else WAITING, f"answered {status}")


class _PostOutcome(msgspec.Struct, frozen=True):
    state: str
    text: str


def _is_new(connection: Connection) -> bool:
    newest = connection.execute(select(func.max(EVENTS.c.number))).scalar() or 0
    behind = select(WEBHOOKS.c.id).where(~WEBHOOKS.c.paused, WEBHOOKS.c.seen < newest).limit(1)
    return connection.execute(behind).first() is not None


def _ended(connection: Connection, due: _Due, outcome: _PostOutcome, now: float) -> None:
    """Write down how an attempt ended; after the last one the webhook is paused, and that is told."""
    mine = and_(DELIVERIES.c.id == due.id, DELIVERIES.c.next == due.next)
    values = {"attempts": due.attempts + 1, "outcome": outcome.text, "next": now, "state": outcome.state}
    is_over = outcome.state != DONE and due.attempts >= len(PAUSES)
    if outcome.state != DONE and not is_over:
        values["next"] = now + PAUSES[due.attempts]
    is_told = connection.execute(update(DELIVERIES).where(mine).values(**values)).rowcount
    if not is_over or not is_told:
        return
    is_paused = connection.execute(update(WEBHOOKS).where(WEBHOOKS.c.id == due.webhook).values(paused=True)).rowcount
    if not is_paused:
        return
    tell(connection, ServerEvent(f"project:{due.project}", PAUSED, due.project, fields={"webhook": due.webhook}), now)
    deed = Deed("", "server", "", "", PAUSED, due.project, object=due.webhook, outcome=FAILED, detail=outcome.text)
    write_down(connection, deed, now)
    _LOG.warning("the webhook %s of the project %s is paused: %s", due.webhook, due.project, outcome.text)
