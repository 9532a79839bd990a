"""Routes about the ensembles that the server knows: the list, making and adding one, its labels."""

from __future__ import annotations

import asyncio
import os
import secrets
import shutil
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec
from sqlalchemy import Connection, Row, func, insert, select, update

from ordito.base.change_ids import time_of
from ordito.ensemble.errors import EnsembleError
from ordito.ensemble.job_format import moment
from ordito.ensemble.layout import Layout
from ordito.ensemble.lock import holder
from ordito.instances.status import ABSENT, DEGRADED, ERROR, OK, PENDING, UNKNOWN
from ordito.results.ensembles import CREATE, SUMMARY, EnsembleCreateAsked, EnsembleSummary
from ordito.server.answers import KeptAnswer
from ordito.server.call import TEXT, ApiCall, cursor_of, key_in
from ordito.server.database.tables import ENSEMBLES, LABELS, PLANS, SOURCES
from ordito.server.live.ensemble import present_place
from ordito.server.live.topics import cursor_text, overall_cursor
from ordito.server.names import Name, check_value
from ordito.server.packages import package_named, package_path
from ordito.server.permissions import Permission
from ordito.server.places import keep_reads, reads_of_row, service_place, unknown_ensemble
from ordito.server.plans.states import OPEN
from ordito.server.plans.store import Author
from ordito.server.problems import ApiProblem
from ordito.server.route import BASE, ENSEMBLE, PROJECT, Fields, ListPart, Reply, Route, Wanted
from ordito.server.schedules.drifts import RememberedDrift, all_drifts
from ordito.source.reach import within

PROJECTS_FOLDER, REMOVED_FOLDER = "projects", "removed"
PATIENCE = 2.0
"""Seconds that a list waits for summaries that are not known yet."""

LabelName = Annotated[str, msgspec.Meta(pattern=r"^[A-Za-z0-9][A-Za-z0-9._/-]{0,62}$")]
LabelValue = Annotated[str, msgspec.Meta(max_length=200)]
MOST_LABELS = 64


class EnsembleData(msgspec.Struct, frozen=True):
    """An ensemble that the server knows."""

    project: str
    name: str
    created: str
    exists: bool
    """Whether its directory holds an ensemble now."""

    holder: str | None
    """Who works on it now, null for nobody."""

    allowed: tuple[str, ...]
    """What who asks may do with it."""

    labels: Mapping[str, str]
    package: str | None
    """The digest of the package that it is made of, null for none."""

    package_labels: tuple[str, ...]
    """The labels of that package, as in ``shop:2.4``."""

    summary: EnsembleSummary | None
    """In short how it is; null where that is not known yet, or cannot be found out."""

    problem: str
    """Why that cannot be found out, "" where it can."""

    drift: RememberedDrift | None
    """What the last look for drift has found, null where nobody has looked."""

    last_job: EnsembleJob | None
    """The job that ran last, null for none, and where that is not known yet."""

    plans: Mapping[str, int]
    """How many plans have not ended, by their state: those that are ``waiting`` need approvals."""

    follows: bool
    """Whether it follows a repository in git."""


class EnsembleJob(msgspec.Struct, frozen=True):
    """The job of an ensemble that ran last."""

    id: str
    workflow: str
    status: str
    start: str
    """When it began, in UTC."""

    by: str
    """Who has asked for it, "" where it was not begun by a plan of this server."""


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


class EnsembleChange(Fields, frozen=True):
    """What is to be different."""

    labels: Annotated[dict[LabelName, LabelValue | None], msgspec.Meta(max_length=MOST_LABELS)]
    """The labels to set; null removes one. Others stay as they are."""


class EnsemblesQuery(Fields, frozen=True):
    """Which ensembles are wanted."""

    label: tuple[Annotated[str, msgspec.Meta(max_length=300)], ...] = ()
    """Labels that it has: ``NAME`` or ``NAME=VALUE``; may be repeated."""

    q: Annotated[str, msgspec.Meta(max_length=200)] = ""
    """A text in its name, its service or its labels."""

    status: str = ""
    """The status of its service."""

    attention: bool = False
    """Only those at which somebody should look."""

    limit: Annotated[int, msgspec.Meta(ge=1, le=500)] = 500
    after: str = ""
    """The cursor with which the part before it ended, "" for the first part."""

    sort: Literal["name", "attention", "status"] = "name"
    """In which order: those at which somebody should look come first, or the worst status does. But for ``name``, all
    of them are looked at first."""

    fields: Wanted = ""
    """The fields of each item that are wanted, with commas between their names; "" for all."""


_SUMMARY = msgspec.json.Decoder(EnsembleSummary)


class _Seen(msgspec.Struct, frozen=True):
    """A row, what is found on the disk, and what a look says."""

    row: Row[Any]
    package_labels: tuple[str, ...]
    exists: bool
    worker: str | None
    summary: EnsembleSummary | None = None
    problem: str = ""
    drift: RememberedDrift | None = None
    plans: Mapping[str, int] = {}
    last_by: str = ""
    """Who has asked for the last job."""

    follows: bool = False


def _labels(row: Row[Any]) -> dict[str, str]:
    return msgspec.json.decode(row.labels, type=dict[str, str])


def _data(call: ApiCall, seen: _Seen) -> EnsembleData:
    row = seen.row
    allowed = tuple(sorted(call.principal.permissions(row.project, row.name)))
    return EnsembleData(
        project=row.project,
        name=row.name,
        created=moment(row.created),
        exists=seen.exists,
        holder=seen.worker,
        allowed=allowed,
        labels=_labels(row),
        package=row.package or None,
        package_labels=seen.package_labels,
        summary=seen.summary,
        problem=seen.problem,
        drift=seen.drift,
        last_job=_last_job(seen),
        plans=seen.plans,
        follows=seen.follows,
    )


def _last_job(seen: _Seen) -> EnsembleJob | None:
    last = seen.summary.last_job if seen.summary is not None else None
    if last is None:
        return None
    return EnsembleJob(last.id, last.workflow, last.status, time_of(last.id), seen.last_by)


def _open_plans(connection: Connection) -> dict[tuple[str, str], dict[str, int]]:
    """How many plans of each ensemble have not ended, by state."""
    columns = PLANS.c.project, PLANS.c.ensemble, PLANS.c.state
    rows = connection.execute(select(*columns, func.count()).where(PLANS.c.state.in_(OPEN)).group_by(*columns))
    found: dict[tuple[str, str], dict[str, int]] = {}
    for project, ensemble, state, count in rows:
        found.setdefault((project, ensemble), {})[state] = count
    return found


def _followers(connection: Connection) -> set[tuple[str, str]]:
    """The ensembles that follow repositories."""
    return {(row.project, row.ensemble) for row in connection.execute(select(SOURCES.c.project, SOURCES.c.ensemble))}


def _authors(connection: Connection, jobs: Sequence[str]) -> dict[str, str]:
    """Who has asked for some jobs, by their ids."""
    rows = connection.execute(select(PLANS.c.job, PLANS.c.kind, PLANS.c.who).where(PLANS.c.job.in_(jobs)))
    return {row.job: Author(row.kind, row.who).shown for row in rows}


def _on_disk(row: Row[Any], labels: Mapping[tuple[str, str], tuple[str, ...]]) -> _Seen:
    layout, named = Layout(Path(row.directory)), labels.get((row.project, row.package), ())
    if not layout.exists:
        return _Seen(row, named, exists=False, worker=None)
    try:
        with within(layout.root):
            owner = holder(layout)
    except EnsembleError as error:
        return _Seen(row, named, exists=True, worker=None, problem=ApiProblem.of_error(error, row.directory).detail)
    return _Seen(row, named, exists=True, worker=str(owner) if owner is not None else None)


def _package_labels(connection: Connection) -> dict[tuple[str, str], tuple[str, ...]]:
    found: dict[tuple[str, str], tuple[str, ...]] = {}
    for row in connection.execute(select(LABELS).order_by(LABELS.c.created)):
        key = row.project, row.digest
        found[key] = (*found.get(key, ()), f"{row.name}:{row.version}")
    return found


async def _seen(call: ApiCall, rows: Sequence[Row[Any]], seconds: float) -> list[_Seen]:
    """What is known of ensembles now; what a look has not said after some ``seconds`` is left open."""
    services = call.services
    labels, drifts, plans, followers = await services.database.read(
        lambda connection: (
            _package_labels(connection),
            all_drifts(connection),
            _open_plans(connection),
            _followers(connection),
        )
    )
    # Each is looked at on the disk.
    found = await asyncio.to_thread(lambda: [_on_disk(row, labels) for row in rows])
    places = [place for place, one in enumerate(found) if one.exists and not one.problem]
    reads = [reads_of_row(found[place].row, services.home) for place in places]
    answers = await services.answers.of_many(SUMMARY.name, reads, seconds)
    for place, answer in zip(places, answers, strict=True):
        if isinstance(answer, KeptAnswer):
            summary = _SUMMARY.decode(answer.body)
            found[place] = msgspec.structs.replace(found[place], summary=summary)
        elif answer is not None:
            found[place] = msgspec.structs.replace(found[place], problem=answer.detail)
    lasts = [one.summary.last_job for one in found if one.summary is not None]
    jobs = [last.id for last in lasts if last is not None]
    authors = await services.database.read(lambda connection: _authors(connection, jobs))
    return [
        msgspec.structs.replace(
            one,
            drift=drifts.get((one.row.project, one.row.name)),
            plans=plans.get((one.row.project, one.row.name), {}),
            follows=(one.row.project, one.row.name) in followers,
            last_by=authors.get(last.id, "") if one.summary and (last := one.summary.last_job) else "",
        )
        for one in found
    ]


async def _list(call: ApiCall) -> Reply:
    fields: EnsemblesQuery = call.query
    check_value("status", fields.status, WORST)
    # Before anything is read: who follows from here on may be told a thing twice, and misses nothing.
    cursor = overall_cursor(call.services.outbox.newest)
    asked = select(ENSEMBLES).order_by(ENSEMBLES.c.project, ENSEMBLES.c.name)
    if call.project:
        asked = asked.where(ENSEMBLES.c.project == call.project)
    rows = await call.services.database.read(lambda connection: connection.execute(asked).all())
    after = key_in(fields.after, TEXT)
    mine = [
        row
        for row in rows
        if call.may(Permission.READ, row.project, row.name)
        and (after is None or fields.sort != "name" or _key(row) > after)
        and all(_has_label(_labels(row), wanted) for wanted in fields.label)
    ]
    needs_look = bool(fields.q or fields.status or fields.attention or fields.sort != "name")
    seen = await _seen(call, mine if needs_look else mine[: fields.limit], PATIENCE)
    if needs_look:
        seen = [one for one in seen if _fits(one, fields)]
    if fields.sort != "name":
        seen.sort(key=lambda one: _place(one, fields.sort))
        seen = [one for one in seen if after is None or _place(one, fields.sort) > after]
    more = len(seen) > fields.limit or (not needs_look and len(mine) > fields.limit)
    part = seen[: fields.limit]
    following = cursor_of(_place(part[-1], fields.sort)) if more else None
    found = ListPart(tuple(_data(call, one) for one in part), following)
    return Reply(found, headers={"Ordito-Cursor": cursor})


def _key(row: Row[Any]) -> str:
    # As the database sorts: a slash would sort behind a hyphen.
    return f"{row.project}\0{row.name}"


def _place(seen: _Seen, sort: str) -> str:
    """What an ensemble sorts by."""
    if sort == "attention":
        return f"{int(not _needs_attention(seen))}{_key(seen.row)}"
    if sort == "status":
        status = seen.summary.status if seen.summary is not None else ""
        return f"{WORST.index(status) if status in WORST else len(WORST)}{_key(seen.row)}"
    return _key(seen.row)


WORST = (ERROR, DEGRADED, UNKNOWN, PENDING, OK, ABSENT)
"""The statuses, as they are sorted."""


def _needs_attention(seen: _Seen) -> bool:
    return bool(seen.problem or not seen.exists or (seen.summary is not None and seen.summary.attention))


def _has_label(labels: Mapping[str, str], wanted: str) -> bool:
    name, equals, value = wanted.partition("=")
    return name in labels and (not equals or labels[name] == value)


def _fits(seen: _Seen, fields: EnsemblesQuery) -> bool:
    summary, row = seen.summary, seen.row
    texts = [f"{row.project}/{row.name}", *seen.package_labels, *_labels(row), *_labels(row).values()]
    texts += [summary.service] if summary is not None else []
    if not any(fields.q.lower() in text.lower() for text in texts):
        return False
    if fields.status and (summary is None or summary.status != fields.status):
        return False
    return not fields.attention or _needs_attention(seen)


def _row(connection: Connection, project: str, name: str) -> Row[Any]:
    mine = (ENSEMBLES.c.project == project) & (ENSEMBLES.c.name == name)
    found = connection.execute(select(ENSEMBLES).where(mine)).one_or_none()
    if found is None:
        raise unknown_ensemble(project, name)
    return found


async def _show(call: ApiCall) -> Reply:
    row = await call.services.database.read(lambda connection: _row(connection, *_named(call)))
    place = await asyncio.to_thread(present_place, row.directory, call.services.outbox.newest)
    [seen] = await _seen(call, [row], PATIENCE * 5)
    cursor = cursor_text({f"ensemble:{call.project}/{call.ensemble}": place.text})
    return Reply(_data(call, seen), headers={"Ordito-Cursor": cursor})


# ------------------------------------------------------------------------------------------------- making and adding


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
    seen = _on_disk(_row(connection, call.project, given.name), _package_labels(connection))
    return Reply(_data(call, seen))


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


async def _label(call: ApiCall) -> Reply:
    wanted: EnsembleChange = call.body

    def change(connection: Connection) -> Reply:
        row = _row(connection, call.project, call.ensemble)
        merged = {**_labels(row), **wanted.labels}
        labels = {name: value for name, value in sorted(merged.items()) if value is not None}
        if len(labels) > MOST_LABELS:
            raise ApiProblem("too-large", f"an ensemble has at most {MOST_LABELS} labels", "remove some of them")
        mine = (ENSEMBLES.c.project == call.project) & (ENSEMBLES.c.name == call.ensemble)
        connection.execute(update(ENSEMBLES).where(mine).values(labels=msgspec.json.encode(labels).decode()))
        return Reply(_data(call, _on_disk(_row(connection, *_named(call)), _package_labels(connection))))

    return await call.change("ensemble.label", change, about=call.ensemble, detail=", ".join(sorted(wanted.labels)))


def _named(call: ApiCall) -> tuple[str, str]:
    return call.project, call.ensemble


def _route(method: str, path: str, access: Permission, summary: str, handler: Any, **more: Any) -> Route:
    return Route(method=method, path=path, access=access, summary=summary, handler=handler, **more)


_READ, _CONFIGURE = Permission.READ, Permission.CONFIGURE
_UNKNOWN = ("unknown-project", "unknown-ensemble")

TABLE = (
    _route("GET", BASE + "/ensembles", _READ, "The ensembles that I see, each with a summary.", _list,
           query=EnsemblesQuery, answers=(ListPart[EnsembleData],), problems=("bad-cursor",)),
    _route("GET", PROJECT + "/ensembles", _READ, "The ensembles of a project that I may see.", _list,
           query=EnsemblesQuery, answers=(ListPart[EnsembleData],), of_part=True,
           problems=("unknown-project", "bad-cursor")),
    _route("POST", PROJECT + "/ensembles", _CONFIGURE, "Make an ensemble of a package, or add one that exists.", _add,
           body=NewEnsemble, answers=(EnsembleData,), status=201, keyed=True,
           problems=("unknown-project", "unknown-package", "forbidden", "no-ensemble", "exists", "limit-reached")),
    _route("GET", ENSEMBLE, _READ, "An ensemble, with a summary.", _show, answers=(EnsembleData,), problems=_UNKNOWN),
    _route("PATCH", ENSEMBLE, _CONFIGURE, "Set and remove labels.", _label, body=EnsembleChange,
           answers=(EnsembleData,), problems=_UNKNOWN),
)  # fmt: skip
