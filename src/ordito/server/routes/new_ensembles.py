"""Routes by which the server gets ensembles: made of packages, or added where they lie."""

from __future__ import annotations

import asyncio
import os
import secrets
import shutil
import time
from pathlib import Path
from typing import Annotated

import msgspec
from sqlalchemy import Connection, func, insert, select

from ordito.ensemble.layout import Layout
from ordito.results.ensembles import CREATE, EnsembleCreateAsked
from ordito.server.call import ApiCall
from ordito.server.database.tables import ENSEMBLES
from ordito.server.names import Name
from ordito.server.packages import package_named, package_path
from ordito.server.permissions import Permission
from ordito.server.places import keep_reads, service_place
from ordito.server.problems import ApiProblem
from ordito.server.route import PROJECT, Fields, Reply, route
from ordito.server.routes.seen_ensembles import (
    MOST_LABELS,
    EnsembleData,
    LabelName,
    LabelValue,
    ensemble_data,
    ensemble_row,
    on_disk,
    package_labels,
)

PROJECTS_FOLDER, REMOVED_FOLDER = "projects", "removed"


class NewEnsemble(Fields, frozen=True):
    """An ensemble: a new one of a package, or one that exists already on the machine of the server."""

    name: Name
    package: Annotated[str, msgspec.Meta(max_length=200)] = ""
    """The package of which it is made: its digest, or ``name:version``."""

    path: Annotated[str, msgspec.Meta(max_length=4_000)] = ""
    """The absolute path of the directory of one that exists."""

    labels: Annotated[dict[LabelName, LabelValue], msgspec.Meta(max_length=MOST_LABELS)] = msgspec.field(
        default_factory=dict
    )


async def _add(call: ApiCall) -> Reply:
    given: NewEnsemble = call.body
    if given.path and call.services.stores is not None:
        hint = "put it into the store, where this server finds it: `ordito store import`"
        raise ApiProblem("forbidden", "this server serves the ensembles of a store, and no directories", hint)
    if bool(given.package) == bool(given.path):
        hint = "give the package of which it is to be made, or the path of one that exists"
        raise ApiProblem("malformed", "an ensemble has either a package or a path", hint)
    return await (_make(call, given) if given.package else _take_over(call, given))


async def _take_over(call: ApiCall, given: NewEnsemble) -> Reply:
    """Add an ensemble that exists on the server's machine."""
    if Permission.ADMINISTER not in call.principal.on_server:
        await call.denied("a path of the server")
        hint = "ask an administrator of the server to add it"
        raise ApiProblem("forbidden", "a path of the server's machine is only for its administrators", hint)
    if not os.path.isabs(given.path) or not Layout(Path(given.path)).exists:  # noqa: PTH117
        hint = "name the directory that has its ensemble.yaml, from / on"
        raise ApiProblem("no-ensemble", f"{given.path} holds no ensemble", hint)
    path = str(Path(given.path))
    service = await service_place(call.services.queries, path)

    def add(connection: Connection) -> Reply:
        _check_free(call, connection, given.name)
        used = connection.execute(select(ENSEMBLES).where(ENSEMBLES.c.directory == path)).first()
        if used is not None:
            raise ApiProblem("exists", f"{path} is {used.project}/{used.name} already", "use that one")
        reply = _added(call, connection, given, path, "")
        keep_reads(connection, call.project, given.name, service)
        return reply

    return await call.change("ensemble.add", add, about=given.name, detail=given.path)


async def _make(call: ApiCall, given: NewEnsemble) -> Reply:
    """Make an ensemble of a package: at a place of its own first, so that it is there whole or not at all."""
    services = call.services
    kept = await services.database.read(call.kept)
    if kept is not None:
        return kept

    def look(connection: Connection) -> str:
        _check_free(call, connection, given.name)
        return package_named(connection, call.project, given.package)

    digest = await services.database.read(look)
    stores = services.stores
    own = services.home / PROJECTS_FOLDER / call.project / "ensembles"
    folder = stores.places.folder_of(call.project) if stores is not None else own
    await services.places.bring(digest)
    await asyncio.to_thread(lambda: folder.mkdir(mode=0o700, parents=True, exist_ok=True))
    new, place = folder / f".new-{secrets.token_hex(16)}", folder / given.name
    archive = package_path(services.home, digest)
    asked = msgspec.json.encode(EnsembleCreateAsked(new.name, str(archive)))
    try:
        await services.queries.ask(CREATE.name, str(folder), asked, (str(new), str(archive)))
        if stores is not None:
            await asyncio.to_thread(stores.places.take_in, call.project, given.name, new)
            await asyncio.to_thread(shutil.rmtree, new)
            await services.places.fresh(str(place))

        def add(connection: Connection) -> Reply:
            _check_free(call, connection, given.name)
            package_named(connection, call.project, digest)
            if stores is not None:
                return _added(call, connection, given, str(place), digest)
            if place.exists():
                # What a server has left that was killed at this very moment.
                put_aside(services.home, call.project, given.name, place)
            new.rename(place)
            return _added(call, connection, given, str(place), digest)

        return await call.change("ensemble.make", add, about=given.name, detail=digest)
    finally:
        if new.exists():
            await asyncio.to_thread(put_aside, services.home, call.project, given.name, new)


def _check_free(call: ApiCall, connection: Connection, name: str) -> None:
    """Refuse a name that is taken, and one ensemble too many. Raises ``ApiProblem``."""
    mine = ENSEMBLES.c.project == call.project
    if connection.execute(select(ENSEMBLES.c.name).where(mine & (ENSEMBLES.c.name == name))).first() is not None:
        raise ApiProblem("exists", f'there is an ensemble "{name}" already', "take another name")
    most = call.services.settings.limits.project_ensembles
    if (connection.execute(select(func.count()).select_from(ENSEMBLES).where(mine)).scalar() or 0) >= most:
        hint = "make another project, or have an administrator raise `limits: { project_ensembles: }` in server.yaml"
        raise ApiProblem("limit-reached", f"a project has at most {most:,} ensembles", hint)


def _added(call: ApiCall, connection: Connection, given: NewEnsemble, directory: str, package: str) -> Reply:
    row = {"project": call.project, "name": given.name, "directory": directory, "package": package}
    labels = msgspec.json.encode(given.labels).decode()
    connection.execute(insert(ENSEMBLES).values(**row, labels=labels, created=call.now))
    seen = on_disk(ensemble_row(connection, call.project, given.name), package_labels(connection))
    return Reply(ensemble_data(call, seen))


def put_aside(home: Path, project: str, name: str, place: Path | None) -> Path:
    """Move a directory to those that were removed: nothing is ever deleted. Where there is none to move, an empty one
    is made. Returns where it is."""
    folder = home / REMOVED_FOLDER
    folder.mkdir(mode=0o700, exist_ok=True)
    when = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime())
    aside = folder / f"{project}-{name}-{when}-{secrets.token_hex(4)}"
    if place is None:
        aside.mkdir(mode=0o700)
        return aside
    return place.rename(aside)


TABLE = (
    route("POST", PROJECT + "/ensembles", Permission.CONFIGURE,
          "Make an ensemble of a package, or add one that exists.", _add, body=NewEnsemble, answers=(EnsembleData,),
          status=201, keyed=True,
          problems=("unknown-package", "forbidden", "no-ensemble", "exists", "limit-reached")),
)  # fmt: skip
