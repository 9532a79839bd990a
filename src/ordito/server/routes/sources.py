"""Routes about sources: the repository that an ensemble follows, and the hook by which it hears of pushes."""

from __future__ import annotations

import hmac
import re
import secrets
from collections.abc import Mapping
from typing import Annotated, Any, Literal

import msgspec
from sqlalchemy import Connection, Row, delete, insert, select, update

from ordito.base.git_places import REF
from ordito.base.paths import leaves_root
from ordito.ensemble.job_format import moment
from ordito.results.sources import SourceData
from ordito.server.call import ApiCall, tag_of
from ordito.server.database.tables import ANSWERS, SOURCES
from ordito.server.identity.tokens import new_secret
from ordito.server.outgoing.sources import check_repository
from ordito.server.permissions import Access, Permission
from ordito.server.problems import ApiProblem
from ordito.server.route import BASE, ENSEMBLE, JSON, Fields, Reply, route
from ordito.server.settings import base_url
from ordito.server.signatures import SIGNATURE, TOLERANCE, is_mac, is_signed

LEAST_EVERY, MOST_EVERY = 60.0, 7 * 24 * 3600.0
MOST_BYTES = 1 << 20
"""Of the body of a push."""

HOOK = BASE + "/hooks/git/{id}"


class SourceFields(Fields, frozen=True):
    """A repository that is to be followed."""

    repository: Annotated[str, msgspec.Meta(min_length=1, max_length=2_000)]
    """Its URL, by https, http or ssh; the host must be in `egress` of the server's settings."""

    branch: Annotated[str, msgspec.Meta(min_length=1, max_length=200)]
    path: Annotated[str, msgspec.Meta(max_length=1_000)] = ""
    """The folder in it that is packed, "" for all of it. Submodules are left out."""

    apply: Literal["ask", "auto"] = "ask"
    """``ask`` to plan each new commit only, ``auto`` to carry it out as far as the rules allow it."""

    every: Annotated[float, msgspec.Meta(ge=0, le=MOST_EVERY)] = 0
    """Seconds between two looks without a push, at least 60, 0 for none."""


class HookTaken(msgspec.Struct, frozen=True):
    """What comes of a push."""

    looks: bool
    """Whether the repository is looked at: not for a push to another branch."""


class _Push(msgspec.Struct):
    ref: str = ""


def _data(call: ApiCall, row: Row[Any], secret: str | None = None) -> SourceData:
    hook = base_url(call.services.settings, call.services.port) + HOOK.format(id=row.id)
    return SourceData(
        repository=row.repository,
        branch=row.branch,
        path=row.path,
        apply=row.apply,
        every=row.every,
        hook=hook,
        secret=secret,
        revision=row.revision,
        looked=moment(row.looked) if row.looked else None,
        problem=row.problem,
        by=row.who,
        created=moment(row.created),
    )


def _settings(row: Row[Any]) -> SourceFields:
    return SourceFields(row.repository, row.branch, row.path, row.apply, row.every)


def _row(connection: Connection, call: ApiCall) -> Row[Any] | None:
    mine = (SOURCES.c.project == call.project) & (SOURCES.c.ensemble == call.ensemble)
    return connection.execute(select(SOURCES).where(mine)).one_or_none()


def _known(connection: Connection, call: ApiCall) -> Row[Any]:
    row = _row(connection, call)
    if row is None:
        hint = "set one by PUT"
        raise ApiProblem("unknown-source", f"{call.project}/{call.ensemble} follows no repository", hint)
    return row


async def _show(call: ApiCall) -> Reply:
    row = await call.services.database.read(lambda connection: _known(connection, call))
    return Reply(_data(call, row), headers={"ETag": tag_of(_settings(row))})


async def _check(call: ApiCall, given: SourceFields) -> None:
    check_repository(given.repository, call.services.settings.egress)
    if not REF.fullmatch(given.branch) or given.branch.startswith(("-", "/")) or ".." in given.branch:
        raise ApiProblem("malformed", "this is no name of a branch", "write it as in main or release/2.4")
    if leaves_root(given.path) or given.path.startswith("/") or re.search(r"[\x00-\x1f:]", given.path):
        raise ApiProblem(
            "malformed", "the path leads out of the repository", "name a folder of it, as in services/shop"
        )
    if 0 < given.every < LEAST_EVERY:
        raise ApiProblem("malformed", f"every: at least {LEAST_EVERY:g} s", "let a hook tell of pushes at once")
    if not call.may(Permission.DEPLOY, call.project, call.ensemble):
        await call.denied(f"needs {Permission.DEPLOY}")
        hint = f'ask the owners of the project "{call.project}" for a role that has it'
        raise ApiProblem("forbidden", f'a source needs the permission "{Permission.DEPLOY}"', hint)


async def _set(call: ApiCall) -> Reply:
    given: SourceFields = call.body
    await _check(call, given)
    path = given.path.strip("/")
    made = new_secret()

    def change(connection: Connection) -> Reply:
        row = _row(connection, call)
        values: dict[str, object] = {"repository": given.repository, "branch": given.branch, "path": path}
        values |= {
            "apply": given.apply,
            "every": given.every,
            "who": call.principal.id,
            "made_by": call.principal.made_by,
            "asked": call.now,
        }
        if row is None:
            values |= {"project": call.project, "ensemble": call.ensemble, "id": f"gs_{secrets.token_hex(16)}"}
            values |= {"secret": call.services.sealer.encrypt(made.encode()), "created": call.now, "looked": 0.0}
            connection.execute(insert(SOURCES).values(**values, revision="", problem=""))
        else:
            call.must_match(_settings(row))
            if (row.repository, row.branch, row.path) != (given.repository, given.branch, path):
                values |= {"revision": "", "problem": ""}
            connection.execute(update(SOURCES).where(SOURCES.c.id == row.id).values(**values))
        now = _known(connection, call)
        data = _data(call, now, made if row is None else None)
        return Reply(data, headers={"ETag": tag_of(_settings(now))})

    detail = f"{given.repository} {given.branch} {path} apply={given.apply}".strip()
    reply = await call.change("source.set", change, about=call.ensemble, detail=detail)
    await call.services.sources.round()
    return reply


async def _remove(call: ApiCall) -> Reply:
    def remove(connection: Connection) -> Reply:
        connection.execute(delete(SOURCES).where(SOURCES.c.id == _known(connection, call).id))
        return Reply()

    return await call.change("source.remove", remove, about=call.ensemble)


async def _look(call: ApiCall) -> Reply:
    def look(connection: Connection) -> Reply:
        row = _known(connection, call)
        connection.execute(update(SOURCES).where(SOURCES.c.id == row.id).values(asked=call.now))
        return Reply(_data(call, row))

    reply = await call.change("source.look", look, about=call.ensemble)
    await call.services.sources.round()
    return reply


# -------------------------------------------------------------------------------------------------------------- pushes


async def _hook(call: ApiCall) -> Reply:
    body = await _body(call)
    row = await call.services.database.read(
        lambda connection: connection.execute(select(SOURCES).where(SOURCES.c.id == call.path["id"])).one_or_none()
    )
    if row is None:
        hint = "the source of the ensemble says where its hook is"
        raise ApiProblem("unknown-hook", "there is no such hook, or not any more", hint)
    secret = call.services.sealer.decrypt(row.secret)
    if not _is_good(secret, body, call.headers, call.now):
        by = f"git {row.project}/{row.ensemble}"
        await call.denied("a push without a good signature", by=by)
        hint = "give the hook the secret that was shown when the source was made, and let it send JSON"
        raise ApiProblem("bad-signature", "the push is not signed with the secret of this hook", hint)
    if not _is_about(body, row.branch):
        return Reply(HookTaken(looks=False))
    signed = call.headers.get(SIGNATURE.lower(), "")
    await call.services.database.write(lambda connection: _heard(connection, row.id, signed, call.now))
    await call.services.sources.round()
    return Reply(HookTaken(looks=True))


async def _body(call: ApiCall) -> bytes:
    assert call.stream is not None
    found = bytearray()
    async for piece in call.stream:
        found += piece
        if len(found) > MOST_BYTES:
            raise ApiProblem("too-large", f"the body has more than {MOST_BYTES} bytes", "let the hook send pushes only")
    return bytes(found)


def _is_good(secret: bytes, body: bytes, headers: Mapping[str, str], now: float) -> bool:
    """Whether a push is signed, in one of the ways in which hosts of repositories do it."""
    if given := headers.get(SIGNATURE.lower(), ""):
        return is_signed(secret, body, given, now)
    if given := headers.get("x-hub-signature-256", ""):
        return given.startswith("sha256=") and is_mac(secret, body, given.removeprefix("sha256="))
    for name in ("x-gitea-signature", "x-forgejo-signature"):
        if given := headers.get(name, ""):
            return is_mac(secret, body, given)
    # GitLab signs nothing: it sends the secret itself.
    return hmac.compare_digest(headers.get("x-gitlab-token", "").encode(), secret)


def _is_about(body: bytes, branch: str) -> bool:
    """Whether a push may be about a branch: what says nothing of it may."""
    try:
        ref = msgspec.json.decode(body, type=_Push).ref
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return True
    return not ref or ref == f"refs/heads/{branch}"


def _heard(connection: Connection, source: str, signed: str, now: float) -> None:
    """Write that somebody has pushed. Raises ``ApiProblem`` for a push that was heard already."""
    if signed:
        kept = (ANSWERS.c.principal == f"hook:{source}") & (ANSWERS.c.key == signed)
        if connection.execute(select(ANSWERS.c.key).where(kept)).first() is not None:
            raise ApiProblem("replayed", "this very push was heard already", "sign each push with its own time")
        expires = now + 2 * TOLERANCE
        row = {"principal": f"hook:{source}", "key": signed, "digest": b"", "answer": b"", "expires": expires}
        connection.execute(delete(ANSWERS).where(ANSWERS.c.expires < now))
        connection.execute(insert(ANSWERS).values(**row))
    connection.execute(update(SOURCES).where(SOURCES.c.id == source).values(asked=now))


_SOURCE = ENSEMBLE + "/source"
_HERE = ("unknown-project", "unknown-ensemble")
_CONFIGURE = Permission.CONFIGURE

TABLE = (
    route("GET", _SOURCE, _CONFIGURE, "The repository that an ensemble follows.", _show, answers=(SourceData,),
          problems=(*_HERE, "unknown-source")),
    route("PUT", _SOURCE, _CONFIGURE, "Let an ensemble follow a branch: each new commit is planned.", _set,
          body=SourceFields, answers=(SourceData,),
          problems=(*_HERE, "egress", "forbidden", "match-required", "changed")),
    route("DELETE", _SOURCE, _CONFIGURE, "Let an ensemble follow no repository any more.", _remove, status=204,
          problems=(*_HERE, "unknown-source")),
    route("POST", _SOURCE + "/look", _CONFIGURE, "Look at the repository now.", _look, answers=(SourceData,),
          status=202, keyed=True, problems=(*_HERE, "unknown-source")),
    route("POST", HOOK, Access.ANYBODY, "Hear of a push, signed with the secret of the hook.", _hook, stream=JSON,
          answers=(HookTaken,), status=202, problems=("unknown-hook", "bad-signature", "replayed")),
)  # fmt: skip
