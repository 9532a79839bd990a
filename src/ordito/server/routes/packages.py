"""Routes about packages: archives of services that somebody has sent, and what is in them."""

from __future__ import annotations

import asyncio
import base64
import binascii
from collections.abc import AsyncIterator, Mapping
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import msgspec
from sqlalchemy import Connection, Row, delete, func, insert, select, update
from starlette.responses import StreamingResponse

from ordito.ensemble.job_format import moment
from ordito.results.packaged import PackageData, PackageFile, PackageLine, PackageSummary
from ordito.results.packages import (
    PACKAGE,
    PACKAGE_FILE,
    PACKAGE_GRAPH,
    PACKAGE_TOPOLOGY,
    PACKAGE_TYPE,
    PACKAGE_VALIDATE,
    PackageAsked,
    PackageFileAsked,
    PackageGraphAsked,
    PackageTopologyAsked,
    PackageTypeAsked,
    PackageValidateAsked,
)
from ordito.results.picture.topology import TopologyData
from ordito.results.services import ValidatedData
from ordito.results.topology import GraphData
from ordito.server.call import ApiCall, cursor_of, key_in
from ordito.server.database.tables import ENSEMBLES, LABELS, PACKAGES
from ordito.server.packages import (
    BLOCK,
    LABEL,
    MOVABLE,
    NewArchive,
    labels_of,
    package_named,
    package_path,
    too_large,
    users_of,
)
from ordito.server.permissions import Permission
from ordito.server.problems import ApiProblem
from ordito.server.route import PROJECT, Fields, ListPart, PageFields, Reply, Route, TopologyQuery

ZIP = "application/zip"
SHA_256 = "sha-256"


class PackagesQuery(PageFields, frozen=True):
    """Which packages are wanted."""

    q: Annotated[str, msgspec.Meta(max_length=200)] = ""
    """A text in a label, a name or a digest."""


class NewPackage(Fields, frozen=True):
    """How the package is to be called."""

    label: Annotated[str, msgspec.Meta(pattern=f"^({LABEL})?$")] = ""
    """``name:version``, "" for its digest alone. A label stays where it is, unless its version ends in ``-dev``."""


class PackageInputs(Fields, frozen=True):
    """Values to check against the inputs of a service."""

    inputs: Mapping[str, object] = {}


class GraphQuery(Fields, frozen=True):
    """How much of the graph is wanted."""

    boxes: Annotated[int, msgspec.Meta(ge=0, le=10_000)] = 0
    """At most so many nodes, 0 for all."""


_SUMMARY = msgspec.json.Decoder(PackageSummary)


def _data(connection: Connection, row: Row[Any]) -> PackageData:
    summary = _SUMMARY.decode(row.summary)
    labels, made = labels_of(connection, row.project, row.digest), moment(row.created)
    about = (row.digest, labels, summary.name, summary.version, row.size, len(summary.nodes), row.who, made)
    return PackageData(*about, summary)


def _line(data: PackageData) -> PackageLine:
    return PackageLine(*(getattr(data, name) for name in PackageLine.__struct_fields__))


def _row(connection: Connection, project: str, digest: str) -> Row[Any] | None:
    mine = (PACKAGES.c.project == project) & (PACKAGES.c.digest == digest)
    return connection.execute(select(PACKAGES).where(mine)).one_or_none()


KEY: msgspec.json.Decoder[tuple[float, str]] = msgspec.json.Decoder(tuple[float, str])


async def _list(call: ApiCall) -> Reply:
    fields: PackagesQuery = call.query
    after, text = key_in(fields.after, KEY), fields.q.lower()
    asked = select(PACKAGES).where(PACKAGES.c.project == call.project)
    asked = asked.order_by(PACKAGES.c.created.desc(), PACKAGES.c.digest)
    if after is not None:
        is_behind = (PACKAGES.c.created == after[0]) & (PACKAGES.c.digest > after[1])
        asked = asked.where((PACKAGES.c.created < after[0]) | is_behind)

    def read(connection: Connection) -> Reply:
        found: list[PackageLine] = []
        visible = _visible(call, connection)
        for row in connection.execute(asked):
            if visible is not None and row.digest not in visible:
                continue
            if len(found) == fields.limit:
                last = found[-1].digest
                at = connection.execute(
                    select(PACKAGES.c.created).where(PACKAGES.c.project == call.project, PACKAGES.c.digest == last)
                ).scalar_one()
                return Reply(ListPart(tuple(found), cursor_of((at, last))))
            line = _line(_data(connection, row))
            if any(text in one.lower() for one in (*line.labels, line.name, line.digest)):
                found.append(line)
        return Reply(ListPart(tuple(found), None))

    return await call.services.database.read(read)


def _visible(call: ApiCall, connection: Connection) -> frozenset[str] | None:
    """The digests of the packages of a project that who asks may see: of who may not see all of the project, those of
    which the ensembles are made that they may see. None for all."""
    if call.may(Permission.READ, call.project):
        return None
    rows = connection.execute(select(ENSEMBLES.c.name, ENSEMBLES.c.package).where(ENSEMBLES.c.project == call.project))
    return frozenset(row.package for row in rows if call.may(Permission.READ, call.project, row.name))


async def _named(call: ApiCall) -> str:
    """The digest of the package that the path names."""
    wanted = call.path["digest"]

    def named(connection: Connection) -> str:
        visible = _visible(call, connection)
        try:
            digest = package_named(connection, call.project, wanted)
        except ApiProblem:
            if visible is None:
                raise
            digest = ""
        if visible is not None and (not digest or digest not in visible):
            hint = "you see those of which your ensembles are made; ask the owners of the project for more"
            raise ApiProblem("unknown-package", f'there is no package "{wanted[:200]}", or you may not see it', hint)
        return digest

    return await call.services.database.read(named)


async def _show(call: ApiCall) -> Reply:
    digest = await _named(call)

    def read(connection: Connection) -> PackageData:
        row = _row(connection, call.project, digest)
        if row is None:
            raise ApiProblem("unknown-package", f"there is no package {digest} any more", "send it again")
        return _data(connection, row)

    return Reply(await call.services.database.read(read), headers={"Content-Digest": _digest_text(digest)})


# ------------------------------------------------------------------------------------------------- sending, removing


async def _push(call: ApiCall) -> Reply:
    wanted, label = _wanted_digest(call), call.query.label
    services, most = call.services, call.services.settings.limits.package
    length = call.headers.get("content-length", "")
    if length.isdecimal() and int(length) > most:
        raise too_large(most)
    assert call.stream is not None
    archive = await services.packages.take(call.stream, most)
    try:
        if wanted and bytes.fromhex(archive.digest) != wanted:
            hint = "something was lost or changed on the way: send it again"
            raise ApiProblem("digest", "what has come is not what Content-Digest says", hint)
        call.raw = f"{archive.digest} {label}".encode()
        await services.database.read(lambda connection: _check_label(connection, call.project, label, archive.digest))
        known = await services.database.read(lambda connection: _row(connection, call.project, archive.digest))
        summary = known.summary if known is not None else (await _looked_at(call, archive)).decode()
        async with services.packages.lock:
            await asyncio.to_thread(services.packages.place, archive)
            try:
                return await call.change(
                    "package.add",
                    lambda connection: _add(call, connection, archive, summary),
                    about=archive.digest,
                    detail=label,
                )
            except ApiProblem:
                await services.database.read(lambda c: services.packages.forget(c, archive.digest))
                raise
    finally:
        services.packages.drop(archive)


async def _looked_at(call: ApiCall, archive: NewArchive) -> bytes:
    """The JSON of what is in an archive. Raises ``ApiProblem`` with all its findings if it cannot be used."""
    asked = msgspec.json.encode(PackageAsked(archive.path.name))
    path = archive.path
    return await call.services.queries.ask(PACKAGE.name, str(path.parent), asked, (str(path),))


def _add(call: ApiCall, connection: Connection, archive: NewArchive, summary: str) -> Reply:
    project, digest, label = call.project, archive.digest, call.query.label
    if _row(connection, project, digest) is None:
        total = select(func.coalesce(func.sum(PACKAGES.c.size), 0)).where(PACKAGES.c.project == project)
        most = call.services.settings.limits.project_packages
        if connection.execute(total).scalar_one() + archive.size > most:
            hint = "remove packages that nothing needs any more"
            raise ApiProblem("too-large", f"the packages of a project have at most {most:,} bytes together", hint)
        row = {"project": project, "digest": digest, "size": archive.size, "summary": summary}
        connection.execute(insert(PACKAGES).values(**row, who=call.principal.id, created=call.now))
    _put_label(call, connection, digest, label)
    row_now = _row(connection, project, digest)
    assert row_now is not None
    return Reply(_data(connection, row_now))


def _check_label(connection: Connection, project: str, label: str, digest: str) -> None:
    """Refuse to move a label. Raises ``ApiProblem``."""
    name, _, version = label.partition(":")
    mine = (LABELS.c.project == project) & (LABELS.c.name == name) & (LABELS.c.version == version)
    found = connection.execute(select(LABELS.c.digest).where(mine)).scalar()
    if found is not None and found != digest and not version.endswith(MOVABLE):
        hint = f"take another version; only one that ends in {MOVABLE} may be given to another package"
        raise ApiProblem("label-taken", f"{label} is the package {found} already", hint)


def _put_label(call: ApiCall, connection: Connection, digest: str, label: str) -> None:
    if not label:
        return
    _check_label(connection, call.project, label, digest)
    name, _, version = label.partition(":")
    mine = (LABELS.c.project == call.project) & (LABELS.c.name == name) & (LABELS.c.version == version)
    if connection.execute(select(LABELS.c.digest).where(mine)).first() is not None:
        connection.execute(update(LABELS).where(mine).values(digest=digest, created=call.now))
    else:
        row = {"project": call.project, "name": name, "version": version, "digest": digest}
        connection.execute(insert(LABELS).values(**row, created=call.now))


async def _label(call: ApiCall) -> Reply:
    label = call.path["label"]
    try:
        msgspec.convert({"label": label}, NewPackage)
    except msgspec.ValidationError:
        hint = "write name:version, the name in small letters, as in shop:2.4"
        raise ApiProblem("malformed", f'"{label[:200]}" is no label', hint) from None
    digest = await _named(call)

    def put(connection: Connection) -> Reply:
        _put_label(call, connection, package_named(connection, call.project, digest), label)
        return Reply()

    return await call.change("package.label", put, about=digest, detail=label)


async def _remove(call: ApiCall) -> Reply:
    digest, services = await _named(call), call.services

    def remove(connection: Connection) -> Reply:
        package_named(connection, call.project, digest)
        users = list(users_of(connection, services.sealer, call.project, digest))
        if users:
            more = f" and {len(users) - 3} more" if len(users) > 3 else ""
            hint = "remove that first, or give it another package"
            raise ApiProblem("in-use", f"the package is needed by {', '.join(users[:3])}{more}", hint)
        mine = (PACKAGES.c.project == call.project) & (PACKAGES.c.digest == digest)
        connection.execute(delete(PACKAGES).where(mine))
        return Reply()

    async with services.packages.lock:
        reply = await call.change("package.remove", remove, about=digest)
        await services.database.read(lambda connection: services.packages.forget(connection, digest))
    return reply


def _wanted_digest(call: ApiCall) -> bytes:
    """The SHA-256 that a request promises (RFC 9530), empty for none. Raises ``ApiProblem``."""
    for part in call.headers.get("content-digest", "").split(","):
        name, _, value = part.strip().partition("=")
        if name.lower() == SHA_256:
            try:
                found = base64.b64decode(value.strip().removeprefix(":").removesuffix(":"), validate=True)
            except (binascii.Error, ValueError):
                found = b""
            if len(found) != 32 or not value.strip().startswith(":"):
                hint = "write it as in Content-Digest: sha-256=:BASE64:"
                raise ApiProblem("malformed", "the header Content-Digest has no SHA-256", hint)
            return found
    return b""


def _digest_text(digest: str) -> str:
    return f"{SHA_256}=:{base64.b64encode(bytes.fromhex(digest)).decode()}:"


# ------------------------------------------------------------------------------------------------------ what is in it


async def _content(call: ApiCall) -> Reply:
    digest = await _named(call)
    path = package_path(call.services.home, digest)
    size = (await asyncio.to_thread(path.stat)).st_size
    headers = {
        "Content-Length": str(size),
        "Content-Digest": _digest_text(digest),
        "Content-Disposition": f'attachment; filename="{digest}.csar"',
        "ETag": f'"{digest}"',
    }
    return Reply(StreamingResponse(_pieces(path), headers=headers, media_type=ZIP))


async def _pieces(path: Path) -> AsyncIterator[bytes]:
    file = await asyncio.to_thread(path.open, "rb")
    try:
        while piece := await asyncio.to_thread(file.read, BLOCK):
            yield piece
    finally:
        file.close()


async def _asked(call: ApiCall, look: str, make: Any) -> Reply:
    """What a look finds in the package that the path names; ``make`` gives its parameters for the archive's name."""
    digest = await _named(call)
    path = package_path(call.services.home, digest)
    asked = make(path.name)
    tag = f'"{digest[:20]}-{binascii.crc32(msgspec.json.encode(asked)):08x}"'
    body = await call.services.queries.ask(look, str(path.parent), msgspec.json.encode(asked), (str(path),))
    return Reply(body, headers={"ETag": tag})


async def _file(call: ApiCall) -> Reply:
    return await _asked(call, PACKAGE_FILE.name, lambda name: PackageFileAsked(name, call.path["path"]))


async def _graph(call: ApiCall) -> Reply:
    return await _asked(call, PACKAGE_GRAPH.name, lambda name: PackageGraphAsked(name, call.query.boxes))


async def _topology(call: ApiCall) -> Reply:
    fields: TopologyQuery = call.query
    made = partial(PackageTopologyAsked, boxes=fields.boxes, open=fields.open)
    return await _asked(call, PACKAGE_TOPOLOGY.name, lambda name: made(archive=name))


async def _type(call: ApiCall) -> Reply:
    return await _asked(call, PACKAGE_TYPE.name, lambda name: PackageTypeAsked(name, call.path["name"]))


async def _validate(call: ApiCall) -> Reply:
    digest = await _named(call)
    path = package_path(call.services.home, digest)
    parameters = msgspec.json.encode(PackageValidateAsked(path.name, call.body.inputs))
    return Reply(await call.services.queries.ask(PACKAGE_VALIDATE.name, str(path.parent), parameters, (str(path),)))


PACKAGES_PATH = PROJECT + "/packages"
PACKAGE_PATH = PACKAGES_PATH + "/{digest}"
_UNKNOWN = ("unknown-project", "unknown-package")


def _route(method: str, path: str, access: Permission, summary: str, handler: Any, **more: Any) -> Route:
    problems = (*_UNKNOWN, *more.pop("problems", ()))
    more |= {"of_part": access is Permission.READ}
    return Route(method=method, path=path, access=access, summary=summary, handler=handler, problems=problems, **more)


TABLE = (
    _route("GET", PACKAGES_PATH, Permission.READ, "The packages of a project, the latest first.", _list,
           query=PackagesQuery, answers=(ListPart[PackageLine],), problems=("bad-cursor",)),
    _route("POST", PACKAGES_PATH, Permission.DEPLOY, "Send an archive of a service.", _push, query=NewPackage,
           stream=ZIP, answers=(PackageData,), status=201, keyed=True,
           problems=("invalid", "digest", "label-taken", "too-costly")),
    _route("GET", PACKAGE_PATH, Permission.READ, "A package, by its digest or a label, and what is in it.", _show,
           answers=(PackageData,)),
    _route("DELETE", PACKAGE_PATH, Permission.DEPLOY, "Remove a package that nothing needs.", _remove, status=204,
           problems=("in-use",)),
    _route("PUT", PACKAGE_PATH + "/labels/{label}", Permission.DEPLOY, "Let a label, `name:version`, point to it.",
           _label, status=204, problems=("label-taken",)),
    _route("GET", PACKAGE_PATH + "/content", Permission.READ, "The archive.", _content, media=ZIP),
    _route("POST", PACKAGE_PATH + "/validate", Permission.PLAN, "Whether it can be deployed with some inputs.",
           _validate, body=PackageInputs, answers=(ValidatedData,), verb="validate",
           problems=("invalid", "too-costly")),
    _route("GET", PACKAGE_PATH + "/files/{path:path}", Permission.READ, "A file in it, with its text.", _file,
           answers=(PackageFile,), problems=("unknown-file", "invalid", "too-costly")),
    _route("GET", PACKAGE_PATH + "/types/{name}", Permission.READ, "A type that it can use, or a part of one.", _type,
           answers=PACKAGE_TYPE.results, verb="explain",
           problems=("unknown-type", "unknown-member", "invalid", "too-costly")),
    _route("GET", PACKAGE_PATH + "/graph", Permission.READ, "Its nodes, and how they are connected.", _graph,
           query=GraphQuery, answers=(GraphData,), verb="graph", problems=("invalid", "too-costly")),
    _route("GET", PACKAGE_PATH + "/topology", Permission.READ, "The same as a picture: boxes and lines.", _topology,
           query=TopologyQuery, answers=(TopologyData,), verb="graph", problems=("invalid", "too-costly")),
)  # fmt: skip
