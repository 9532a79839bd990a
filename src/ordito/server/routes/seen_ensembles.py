"""What the server knows of its ensembles: rows, what is on the disk, and what a look says of each."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import msgspec
from sqlalchemy import Connection, Row, func, select

from ordito.base.change_ids import time_of
from ordito.ensemble.errors import EnsembleError
from ordito.ensemble.job_format import moment
from ordito.ensemble.layout import Layout
from ordito.ensemble.lock import holder
from ordito.results.ensembles import SUMMARY, EnsembleSummary
from ordito.server.answers import KeptAnswer
from ordito.server.call import ApiCall
from ordito.server.database.tables import ENSEMBLES, LABELS, PLANS, SOURCES
from ordito.server.places import reads_of_row, unknown_ensemble
from ordito.server.plans.states import OPEN
from ordito.server.plans.store import Author
from ordito.server.problems import ApiProblem
from ordito.server.schedules.drifts import RememberedDrift, all_drifts
from ordito.source.reach import within

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


_SUMMARY = msgspec.json.Decoder(EnsembleSummary)


class SeenEnsemble(msgspec.Struct, frozen=True):
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


def labels_of(row: Row[Any]) -> dict[str, str]:
    return msgspec.json.decode(row.labels, type=dict[str, str])


def ensemble_data(call: ApiCall, seen: SeenEnsemble) -> EnsembleData:
    row = seen.row
    allowed = tuple(sorted(call.principal.permissions(row.project, row.name)))
    return EnsembleData(
        project=row.project,
        name=row.name,
        created=moment(row.created),
        exists=seen.exists,
        holder=seen.worker,
        allowed=allowed,
        labels=labels_of(row),
        package=row.package or None,
        package_labels=seen.package_labels,
        summary=seen.summary,
        problem=seen.problem,
        drift=seen.drift,
        last_job=_last_job(seen),
        plans=seen.plans,
        follows=seen.follows,
    )


def _last_job(seen: SeenEnsemble) -> EnsembleJob | None:
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


def on_disk(row: Row[Any], labels: Mapping[tuple[str, str], tuple[str, ...]]) -> SeenEnsemble:
    layout, named = Layout(Path(row.directory)), labels.get((row.project, row.package), ())
    if not layout.exists:
        return SeenEnsemble(row, named, exists=False, worker=None)
    try:
        with within(layout.root):
            owner = holder(layout)
    except EnsembleError as error:
        return SeenEnsemble(
            row, named, exists=True, worker=None, problem=ApiProblem.of_error(error, row.directory).detail
        )
    return SeenEnsemble(row, named, exists=True, worker=str(owner) if owner is not None else None)


def package_labels(connection: Connection) -> dict[tuple[str, str], tuple[str, ...]]:
    found: dict[tuple[str, str], tuple[str, ...]] = {}
    for row in connection.execute(select(LABELS).order_by(LABELS.c.created)):
        key = row.project, row.digest
        found[key] = (*found.get(key, ()), f"{row.name}:{row.version}")
    return found


async def seen_ensembles(call: ApiCall, rows: Sequence[Row[Any]], seconds: float) -> list[SeenEnsemble]:
    """What is known of ensembles now; what a look has not said after some ``seconds`` is left open."""
    services = call.services
    labels, drifts, plans, followers = await services.database.read(
        lambda connection: (
            package_labels(connection),
            all_drifts(connection),
            _open_plans(connection),
            _followers(connection),
        )
    )
    # Each is looked at on the disk.
    found = await asyncio.to_thread(lambda: [on_disk(row, labels) for row in rows])
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


def ensemble_row(connection: Connection, project: str, name: str) -> Row[Any]:
    mine = (ENSEMBLES.c.project == project) & (ENSEMBLES.c.name == name)
    found = connection.execute(select(ENSEMBLES).where(mine)).one_or_none()
    if found is None:
        raise unknown_ensemble(project, name)
    return found
