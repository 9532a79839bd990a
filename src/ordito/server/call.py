"""One request: who asks what, and what is needed to answer."""

from __future__ import annotations

import base64
import hashlib
import time
from collections.abc import AsyncIterator, Callable, Mapping
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import msgspec
from sqlalchemy import Connection, delete, insert, select

from ordito.results.failure import NextStep
from ordito.server.compression import plain_tag
from ordito.server.database.audit import DENIED, Deed, write_down
from ordito.server.database.tables import ANSWERS
from ordito.server.identity.principal import Principal
from ordito.server.identity.signing_in import Credentials
from ordito.server.limits import group_of
from ordito.server.permissions import Permission
from ordito.server.problems import ApiProblem
from ordito.server.route import FARTHEST, Reply, Route

if TYPE_CHECKING:
    from ordito.server.services import Services

K = TypeVar("K")

KEPT_FOR = 24 * 3600.0
"""Seconds for which answers are given again."""

PENDING_FOR = 300.0
"""Seconds for which a request that was begun is not begun again."""

LONGEST_KEY = 200

READ_AGAIN_AFTER = 3600.0
"""Seconds after which it is written down once more that somebody reads the same."""

MOST_READINGS = 10_000
"""How many readers of something are remembered."""


class _Answer(msgspec.Struct):
    status: int
    headers: dict[str, str]
    media: str
    body: bytes


class ApiCall:
    """A request that may be asked: its parts, and who asks."""

    def __init__(
        self,
        services: Services,
        route: Route,
        path: Mapping[str, str],
        request_id: str,
        address: str,
        headers: Mapping[str, str],
    ) -> None:
        self.services = services
        self.route = route
        self.path = path
        self.id = request_id
        self.address = address
        self.headers = headers
        self.now = time.time()
        self.credentials = Credentials()
        """With what it says who asks."""

        self.who: Principal | None = None
        self.query: Any = None
        self.body: Any = None
        self.raw = b""
        """The whole body, or of a stream what it is known by."""

        self._has_begun = False
        """Whether this very request has said that it begins."""

        self.stream: AsyncIterator[bytes] | None = None
        """The body, piece by piece, of a route that takes it so."""

    @property
    def principal(self) -> Principal:
        """Who asks, where that is known."""
        assert self.who is not None
        return self.who

    @property
    def project(self) -> str:
        """The project that the path names, "" for none."""
        return self.path.get("project", "")

    @property
    def ensemble(self) -> str:
        """The ensemble that the path names, "" for none."""
        return self.path.get("ensemble", "")

    def may(self, permission: Permission, project: str, ensemble: str = "") -> bool:
        """Whether who asks has a permission."""
        return self.who is not None and permission in self.who.permissions(project, ensemble)

    async def change(
        self, action: str, do: Callable[[Connection], Reply], *, about: str = "", detail: str = "", by: str = ""
    ) -> Reply:
        """Carry out a change in one transaction with its row in the audit log and, where there is a key, its answer.
        ``by`` is who acts, where that was not known before."""

        def carry_out(connection: Connection) -> Reply:
            kept = self.kept(connection)
            if kept is not None:
                return kept
            reply = do(connection)
            write_down(connection, self.deed(action, about=about, detail=detail, by=by), self.now)
            return self._keep(connection, reply)

        return await self.services.database.write(carry_out)

    def deed(self, action: str, *, about: str = "", outcome: str = "done", detail: str = "", by: str = "") -> Deed:
        """A row of the audit log about this request."""
        who = self.who
        return Deed(
            principal=by or (who.id if who else ""),
            by=who.by if who else "",
            address=self.address,
            request=self.id,
            action=action,
            project=self.project,
            ensemble=self.ensemble,
            object=about,
            outcome=outcome,
            detail=detail,
        )

    def must_match(self, present: object) -> None:
        """Refuse to replace what is not as who asks has seen it. Raises ``ApiProblem``."""
        given = self.headers.get("if-match", "")
        reading = NextStep("read it with its ETag", method="GET", path=self.route.address(self.path))
        if not given:
            hint = "read it first, and send its ETag in If-Match"
            said = "this replaces something, so it must say what it has seen"
            raise ApiProblem("match-required", said, hint, following=(reading,))
        if plain_tag(given) not in ("*", tag_of(present)):
            hint = "read it again, and change that"
            raise ApiProblem("changed", "it was changed since it was read", hint, following=(reading,))

    async def read(self, action: str, about: str) -> None:
        """Write down that somebody reads what was printed or given out: once in a while, in however many parts."""
        deed, readings = self.deed(action, about=about), self.services.readings
        what = (deed.principal, deed.by, action, deed.project, deed.ensemble, about)
        if self.now - readings.get(what, 0.0) < READ_AGAIN_AFTER:
            return
        await self.services.database.write(lambda connection: write_down(connection, deed, self.now))
        readings.pop(what, None)
        readings[what] = self.now
        if len(readings) > MOST_READINGS:
            # Whoever is forgotten is written down once more.
            del readings[next(iter(readings))]

    async def denied(self, detail: str, *, by: str = "") -> None:
        """Write down that this was refused to who asks: of each and of each kind so many a minute."""
        name = by or (f"{self.principal.kind} {self.principal.id}" if self.who is not None else "")
        who = f"{name} {group_of(self.address)}" if self.who is None else name
        more = self.services.denied.take(who, self.route.name)
        if more is None:
            return
        deed = self.deed(self.route.name, outcome=DENIED, detail=detail + more, by=by)
        await self.services.database.write(lambda connection: write_down(connection, deed, self.now))

    @property
    def _key(self) -> str:
        return self.headers.get("idempotency-key", "") if self.route.keyed else ""

    @property
    def _digest(self) -> bytes:
        parts = (self.route.method, *(f"{name}={self.path[name]}" for name in sorted(self.path)))
        return hashlib.sha256("\n".join((*parts, self.route.path)).encode() + b"\n" + self.raw).digest()

    def kept(self, connection: Connection) -> Reply | None:
        """The answer that was given to this very request before, by its key. Raises ``ApiProblem`` if the key was given
        with another request."""
        key = self._key
        if not key:
            return None
        if len(key) > LONGEST_KEY:
            raise ApiProblem(
                "malformed", f"the Idempotency-Key has more than {LONGEST_KEY} characters", "make a shorter one"
            )
        mine = (ANSWERS.c.principal == self._principal) & (ANSWERS.c.key == key)
        row = connection.execute(select(ANSWERS).where(mine)).one_or_none()
        if row is not None and row.expires < self.now:
            connection.execute(delete(ANSWERS).where(mine))
            return None
        if row is None:
            return None
        if row.digest != self._digest:
            raise ApiProblem(
                "key-reused", f'the Idempotency-Key "{key}" was given with another request', "make a new key"
            )
        if not row.answer:
            if self._has_begun:
                return None
            raise ApiProblem("in-progress", "the same request is being carried out", "ask again in a while", again_in=2)
        kept = msgspec.msgpack.decode(self.services.sealer.decrypt(row.answer), type=_Answer)
        headers = {**kept.headers, "Idempotency-Replayed": "true"}
        return Reply(kept.body, kept.status, headers, kept.media)

    def _keep(self, connection: Connection, reply: Reply) -> Reply:
        if not self._key:
            return reply
        body = reply.data if isinstance(reply.data, bytes) else encoded(reply.data)
        status = reply.status or self.route.status
        answer = msgspec.msgpack.encode(_Answer(status, dict(reply.headers), reply.media, body))
        row = {"principal": self._principal, "key": self._key, "digest": self._digest}
        sealed = self.services.sealer.encrypt(answer)
        self._let_go(connection)
        connection.execute(insert(ANSWERS).values(**row, answer=sealed, expires=self.now + KEPT_FOR))
        return msgspec.structs.replace(reply, data=body)

    async def begin(self) -> Reply | None:
        """Before something is done outside of the database: the answer that was given to the same request, or None.
        Then the same request is refused until ``change`` has kept an answer, or ``let_go`` was called."""

        def begin(connection: Connection) -> Reply | None:
            found = self.kept(connection)
            if found is None and self._key:
                row = {"principal": self._principal, "key": self._key, "digest": self._digest, "answer": b""}
                connection.execute(insert(ANSWERS).values(**row, expires=self.now + PENDING_FOR))
            return found

        found = await self.services.database.write(begin)
        self._has_begun = found is None
        return found

    async def let_go(self) -> None:
        """Nothing was done: the same request may be asked again."""
        await self.services.database.write(self._let_go)

    def _let_go(self, connection: Connection) -> None:
        mine = (ANSWERS.c.principal == self._principal) & (ANSWERS.c.key == self._key) & (ANSWERS.c.answer == b"")
        connection.execute(delete(ANSWERS).where(mine))

    @property
    def _principal(self) -> str:
        return f"{self.principal.kind}:{self.principal.id}" if self.who is not None else ""


def encoded(data: object) -> bytes:
    """The JSON of an answer, empty for none."""
    return msgspec.json.encode(data) if data is not None else b""


def tag_of(data: object) -> str:
    """The entity tag of an answer."""
    return f'"{hashlib.sha256(encoded(data)).hexdigest()[:20]}"'


def tagged(data: object) -> Reply:
    """An answer with its entity tag, as those need it who replace it."""
    return Reply(data, headers={"ETag": tag_of(data)})


def cursor_of(key: str | int | tuple[float, str]) -> str:
    """A place in a list: behind the item with this key."""
    return base64.urlsafe_b64encode(msgspec.json.encode(key)).decode().rstrip("=")


TEXT = msgspec.json.Decoder(str)
NUMBER: msgspec.json.Decoder[int] = msgspec.json.Decoder(Annotated[int, msgspec.Meta(ge=0, le=FARTHEST)])
"""The kinds of keys that lists have."""


def key_in(cursor: str, kind: msgspec.json.Decoder[K]) -> K | None:
    """The key in a cursor, None for an empty one. Raises ``ApiProblem``."""
    if not cursor:
        return None
    try:
        return kind.decode(base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
    except (msgspec.DecodeError, ValueError):
        hint = "leave `after` out to begin at its first item"
        raise ApiProblem("bad-cursor", "this is no cursor of such a list", hint) from None
