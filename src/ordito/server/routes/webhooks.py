"""Routes about webhooks: who is told of the events of a project, and what came of it."""

from __future__ import annotations

import secrets
from collections.abc import Iterable
from typing import Annotated, Any, Literal

import msgspec
from sqlalchemy import Connection, Row, delete, desc, func, insert, select, update

from ordito.base.suggest import nearest
from ordito.ensemble.job_format import moment
from ordito.results.webhooks import DeliveryData, MadeWebhook, WebhookData
from ordito.server.call import NUMBER, ApiCall, cursor_of, key_in, tag_of
from ordito.server.database.outbox import ServerEvent, tell
from ordito.server.database.tables import DELIVERIES, ENSEMBLES, EVENTS, WEBHOOKS
from ordito.server.identity.tokens import new_secret
from ordito.server.names import Name
from ordito.server.outgoing.egress import check_listed, port_of, split_url
from ordito.server.outgoing.posting import SCHEMES
from ordito.server.outgoing.webhooks import TEST, TYPES, WAITING, begin_again, make_deliveries
from ordito.server.permissions import Permission
from ordito.server.problems import ApiProblem
from ordito.server.route import PROJECT, Fields, ListPart, PageFields, Reply, Route
from ordito.server.settings import base_url

MOST = 50
"""Webhooks of one project."""

Secret = Annotated[str, msgspec.Meta(min_length=16, max_length=200)]
Url = Annotated[str, msgspec.Meta(min_length=1, max_length=2_000)]
Types = Annotated[tuple[str, ...], msgspec.Meta(max_length=20)]
Names = Annotated[tuple[Name, ...], msgspec.Meta(max_length=500)]


class NewWebhook(Fields, frozen=True):
    """A webhook to be made."""

    url: Url
    """Where events are posted: the host must be in `egress` of the server's settings."""

    secret: Secret | None = None
    """With what they are signed, null to have one made."""

    events: Types = ()
    ensembles: Names = ()


class WebhookChange(Fields, frozen=True):
    """What is to be different; what is left out stays as it is."""

    url: Url | None = None
    secret: Secret | None = None
    events: Types | None = None
    ensembles: Names | None = None
    paused: bool | None = None
    """false lets it go on with the oldest event that was not taken."""


class DeliveryFields(PageFields, frozen=True):
    """Which deliveries are wanted."""

    state: Literal["", "waiting", "done"] = ""


def _webhook(row: Row[Any]) -> WebhookData:
    return WebhookData(row.id, row.url, _list_in(row.events), _list_in(row.ensembles), row.paused, row.who,
                       moment(row.created))  # fmt: skip


def _list_in(text: str) -> tuple[str, ...]:
    return msgspec.json.decode(text, type=tuple[str, ...])


def _listed(names: Iterable[str]) -> str:
    return msgspec.json.encode(list(dict.fromkeys(names))).decode()


def _row(connection: Connection, call: ApiCall) -> Row[Any]:
    mine = (WEBHOOKS.c.project == call.project) & (WEBHOOKS.c.id == call.path["id"])
    row = connection.execute(select(WEBHOOKS).where(mine)).one_or_none()
    if row is None:
        hint = "the list of webhooks has them"
        raise ApiProblem("unknown-webhook", f'there is no webhook "{call.path["id"][:40]}" in this project', hint)
    return row


def _check_url(call: ApiCall, url: str) -> None:
    parts = split_url(url, SCHEMES)
    if parts.fragment:
        raise ApiProblem("malformed", "the URL cannot be used: a fragment is not sent", "leave out what follows the #")
    check_listed(parts.hostname or "", port_of(parts), call.services.settings.egress)


def _check_types(types: Iterable[str]) -> None:
    for name in types:
        if name not in TYPES:
            near = nearest(name, TYPES)
            hint = f'did you mean "{near[0]}"?' if near else f"there are: {', '.join(TYPES)}"
            raise ApiProblem("unknown-event-type", f'there are no events of the type "{name[:80]}"', hint)


def _check_ensembles(connection: Connection, call: ApiCall, names: Iterable[str]) -> None:
    known = set(connection.execute(select(ENSEMBLES.c.name).where(ENSEMBLES.c.project == call.project)).scalars())
    for name in names:
        if name not in known:
            near = nearest(name, known)
            hint = f'did you mean "{near[0]}"?' if near else "make it first"
            raise ApiProblem("unknown-ensemble", f'there is no ensemble "{call.project}/{name}"', hint)


async def _list(call: ApiCall) -> Reply:
    asked = select(WEBHOOKS).where(WEBHOOKS.c.project == call.project).order_by(WEBHOOKS.c.created, WEBHOOKS.c.id)
    rows = await call.services.database.read(lambda connection: connection.execute(asked).all())
    return Reply(ListPart(tuple(map(_webhook, rows)), None))


async def _show(call: ApiCall) -> Reply:
    found = await call.services.database.read(lambda connection: _webhook(_row(connection, call)))
    return Reply(found, headers={"ETag": tag_of(found)})


async def _make(call: ApiCall) -> Reply:
    given: NewWebhook = call.body
    _check_url(call, given.url)
    _check_types(given.events)
    made = None if given.secret is not None else new_secret()

    def make(connection: Connection) -> Reply:
        _check_ensembles(connection, call, given.ensembles)
        count = select(func.count()).select_from(WEBHOOKS).where(WEBHOOKS.c.project == call.project)
        if (connection.execute(count).scalar() or 0) >= MOST:
            raise ApiProblem("limit-reached", f"a project has at most {MOST} webhooks", "remove one that is not needed")
        newest = connection.execute(select(func.max(EVENTS.c.number))).scalar() or 0
        sealed = call.services.sealer.encrypt((given.secret or made or "").encode())
        row: dict[str, object] = {
            "id": f"wh_{secrets.token_hex(8)}",
            "project": call.project,
            "url": given.url,
            "secret": sealed,
        }
        row |= {"events": _listed(given.events), "ensembles": _listed(given.ensembles), "paused": False}
        row |= {"seen": newest, "who": call.principal.id, "created": call.now}
        connection.execute(insert(WEBHOOKS).values(**row))
        asked = select(WEBHOOKS).where(WEBHOOKS.c.id == row["id"])
        found = _webhook(connection.execute(asked).one())
        return Reply(MadeWebhook(**msgspec.structs.asdict(found), secret=made))

    return await call.change("webhook.make", make, detail=_host(given.url))


def _host(url: str) -> str:
    """The host of a URL: what follows it may be as good as a secret."""
    return split_url(url, SCHEMES).netloc


async def _change(call: ApiCall) -> Reply:
    given: WebhookChange = call.body
    if given.url is not None:
        _check_url(call, given.url)
    _check_types(given.events or ())

    def change(connection: Connection) -> Reply:
        row = _row(connection, call)
        call.must_match(_webhook(row))
        _check_ensembles(connection, call, given.ensembles or ())
        values: dict[str, object] = {}
        if given.url is not None:
            values["url"] = given.url
        if given.secret is not None:
            values["secret"] = call.services.sealer.encrypt(given.secret.encode())
        if given.events is not None:
            values["events"] = _listed(given.events)
        if given.ensembles is not None:
            values["ensembles"] = _listed(given.ensembles)
        if given.paused is not None:
            values["paused"] = given.paused
        if values:
            connection.execute(update(WEBHOOKS).where(WEBHOOKS.c.id == row.id).values(**values))
        # Who mends what was wrong does not want to wait for the next attempt.
        begin_again(connection, row.id, call.now)
        found = _webhook(_row(connection, call))
        return Reply(found, headers={"ETag": tag_of(found)})

    told = [name for name in WebhookChange.__struct_fields__ if getattr(given, name) is not None]
    reply = await call.change("webhook.change", change, about=call.path["id"], detail=", ".join(told))
    await call.services.webhooks.round()
    return reply


async def _remove(call: ApiCall) -> Reply:
    def remove(connection: Connection) -> Reply:
        connection.execute(delete(WEBHOOKS).where(WEBHOOKS.c.id == _row(connection, call).id))
        return Reply()

    return await call.change("webhook.remove", remove, about=call.path["id"])


# ------------------------------------------------------------------------------------------------------- deliveries


def _delivery(row: Row[Any]) -> DeliveryData:
    next_one = moment(row.next) if row.state == WAITING else None
    return DeliveryData(
        row.id, row.event, row.type, row.state, row.attempts, next_one, row.outcome, moment(row.created)
    )


async def _deliveries(call: ApiCall) -> Reply:
    fields: DeliveryFields = call.query
    before = key_in(fields.after, NUMBER)

    def read(connection: Connection) -> ListPart[DeliveryData]:
        asked = select(DELIVERIES).where(DELIVERIES.c.webhook == _row(connection, call).id)
        asked = asked.where(DELIVERIES.c.state == fields.state) if fields.state else asked
        asked = asked.where(DELIVERIES.c.event < before) if before is not None else asked
        rows = connection.execute(asked.order_by(desc(DELIVERIES.c.event)).limit(fields.limit + 1)).all()
        is_more = len(rows) > fields.limit
        rows = rows[: fields.limit]
        return ListPart(tuple(map(_delivery, rows)), cursor_of(rows[-1].event) if is_more else None)

    return Reply(await call.services.database.read(read))


async def _again(call: ApiCall) -> Reply:
    wanted = call.path["delivery"]

    def again(connection: Connection) -> Reply:
        hook = _running(connection, call)
        mine = (DELIVERIES.c.webhook == hook.id) & (DELIVERIES.c.id == wanted)
        values = {"state": WAITING, "attempts": 0, "next": call.now}
        if not connection.execute(update(DELIVERIES).where(mine).values(**values)).rowcount:
            hint = "the list of its deliveries has them, for 7 days"
            raise ApiProblem("unknown-delivery", f'there is no delivery "{wanted[:40]}" of this webhook', hint)
        return Reply(_delivery(connection.execute(select(DELIVERIES).where(mine)).one()))

    reply = await call.change("webhook.again", again, about=call.path["id"], detail=wanted[:40])
    await call.services.webhooks.round()
    return reply


async def _test(call: ApiCall) -> Reply:
    base = base_url(call.services.settings, call.services.port)

    def test(connection: Connection) -> Reply:
        hook = _running(connection, call)
        event = ServerEvent(f"project:{call.project}", TEST, call.project, fields={"webhook": hook.id})
        number = tell(connection, event, call.now)
        make_deliveries(connection, base, call.now)
        mine = (DELIVERIES.c.webhook == hook.id) & (DELIVERIES.c.event == number)
        row = connection.execute(select(DELIVERIES).where(mine)).one_or_none()
        if row is None:
            raise ApiProblem("not-ready", "many events wait for this receiver", "look at its deliveries first")
        return Reply(_delivery(row))

    reply = await call.change("webhook.test", test, about=call.path["id"])
    await call.services.webhooks.round()
    return reply


def _running(connection: Connection, call: ApiCall) -> Row[Any]:
    row = _row(connection, call)
    if row.paused:
        hint = 'let it go on first: PATCH it with {"paused": false}'
        raise ApiProblem("not-ready", "this webhook is paused, so nothing is posted to it", hint)
    return row


def _route(method: str, path: str, summary: str, handler: Any, **more: Any) -> Route:
    return Route(method=method, path=path, access=Permission.CONFIGURE, summary=summary, handler=handler, **more)


_ALL = PROJECT + "/webhooks"
_ONE = _ALL + "/{id}"
_UNKNOWN = ("unknown-project", "unknown-webhook")
_WRONG = ("egress", "unknown-event-type", "unknown-ensemble")

TABLE = (
    _route("GET", _ALL, "The webhooks of a project.", _list, answers=(ListPart[WebhookData],),
           problems=("unknown-project",)),
    _route("POST", _ALL, "Make a webhook: events are posted to it, signed.", _make, body=NewWebhook,
           answers=(MadeWebhook,), status=201, keyed=True, problems=("unknown-project", *_WRONG, "limit-reached")),
    _route("GET", _ONE, "A webhook.", _show, answers=(WebhookData,), problems=_UNKNOWN),
    _route("PATCH", _ONE, "Change a webhook, pause it, or let it go on.", _change, body=WebhookChange,
           answers=(WebhookData,), problems=(*_UNKNOWN, *_WRONG, "match-required", "changed")),
    _route("DELETE", _ONE, "Remove a webhook with its deliveries.", _remove, status=204, problems=_UNKNOWN),
    _route("GET", _ONE + "/deliveries", "What was posted to a webhook, and what waits, the latest first.", _deliveries,
           query=DeliveryFields, answers=(ListPart[DeliveryData],), problems=(*_UNKNOWN, "bad-cursor")),
    _route("POST", _ONE + "/deliveries/{delivery}/again", "Post an event once more.", _again,
           answers=(DeliveryData,), status=202, keyed=True, problems=(*_UNKNOWN, "unknown-delivery", "not-ready")),
    _route("POST", _ONE + "/test", "Post an event that says nothing, to see whether it arrives.", _test,
           answers=(DeliveryData,), status=202, keyed=True, problems=(*_UNKNOWN, "not-ready")),
)  # fmt: skip
