"""The route that searches in everything that one may see: ensembles, their instances and jobs, packages."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Annotated, Any, TypeVar

import msgspec
from sqlalchemy import Connection, Row, select

from ordito.results.ensembles import NAMES, EnsembleNames
from ordito.server.answers import KeptAnswer
from ordito.server.call import ApiCall
from ordito.server.database.tables import ENSEMBLES, LABELS, PACKAGES
from ordito.server.packages import package_path
from ordito.server.permissions import Access, Permission
from ordito.server.route import BASE, Fields, Reply, Route

MOST = 20
PATIENCE = 2.0
"""Seconds to wait for ensembles that have not been searched yet."""

T = TypeVar("T")


class SearchFields(Fields, frozen=True):
    """What is searched for."""

    q: Annotated[str, msgspec.Meta(min_length=1, max_length=200)]
    """A text in a name, or the beginning of an id."""


class FoundEnsemble(msgspec.Struct, frozen=True):
    """An ensemble that was found."""

    project: str
    name: str


class FoundInstance(msgspec.Struct, frozen=True):
    """An instance that was found."""

    project: str
    ensemble: str
    instance: str
    node: str
    type: str


class SearchedJob(msgspec.Struct, frozen=True):
    """A job that was found."""

    project: str
    ensemble: str
    job: str
    workflow: str
    outcome: str
    start: str


class FoundPackage(msgspec.Struct, frozen=True):
    """A package that was found."""

    project: str
    digest: str
    labels: tuple[str, ...]


class SearchResult(msgspec.Struct, frozen=True):
    """What was found, at most 20 of each kind."""

    ensembles: tuple[FoundEnsemble, ...]
    instances: tuple[FoundInstance, ...]
    jobs: tuple[SearchedJob, ...]
    packages: tuple[FoundPackage, ...]
    complete: bool
    """Whether all ensembles could be searched within two seconds; ask again for the rest."""


_NAMES = msgspec.json.Decoder(EnsembleNames)


async def _search(call: ApiCall) -> Reply:
    text, services = call.query.q.lower(), call.services
    rows = await services.database.read(lambda connection: connection.execute(_ENSEMBLES).all())
    mine = [row for row in rows if call.may(Permission.READ, row.project, row.name)]
    answers = await services.answers.of_many(NAMES.name, [_reads(services.home, row) for row in mine], PATIENCE)
    known = [
        (row, _NAMES.decode(answer.body))
        for row, answer in zip(mine, answers, strict=True)
        if isinstance(answer, KeptAnswer)
    ]
    packages = await services.database.read(lambda connection: _first(_packages(connection, call, text)))
    return Reply(
        SearchResult(
            ensembles=_first(FoundEnsemble(row.project, row.name) for row in mine if text in _shown(row)),
            instances=_first(_instances(known, text)),
            jobs=_first(_jobs(known, text)),
            packages=packages,
            complete=None not in answers,
        )
    )


_ENSEMBLES = select(ENSEMBLES).order_by(ENSEMBLES.c.project, ENSEMBLES.c.name)


def _first(found: Iterable[T]) -> tuple[T, ...]:
    return tuple(islice(found, MOST))


def _shown(row: Row[Any]) -> str:
    return f"{row.project}/{row.name} {row.labels}".lower()


def _reads(home: Path, row: Row[Any]) -> tuple[str, ...]:
    return (row.directory, str(package_path(home, row.package))) if row.package else (row.directory,)


_Known = Sequence[tuple[Row[Any], EnsembleNames]]


def _instances(known: _Known, text: str) -> Iterator[FoundInstance]:
    for row, names in known:
        for one in names.instances:
            if text in one.id.lower() or text in one.node.lower() or text in one.type.lower():
                yield FoundInstance(row.project, row.name, one.id, one.node, one.type)


def _jobs(known: _Known, text: str) -> Iterator[SearchedJob]:
    for row, names in known:
        for job in names.jobs:
            if job.id.lower().startswith(text) or text in job.workflow.lower():
                yield SearchedJob(row.project, row.name, job.id, job.workflow, job.outcome, job.start)


def _packages(connection: Connection, call: ApiCall, text: str) -> Iterator[FoundPackage]:
    labels: dict[tuple[str, str], tuple[str, ...]] = {}
    for row in connection.execute(select(LABELS).order_by(LABELS.c.created)):
        key = row.project, row.digest
        labels[key] = (*labels.get(key, ()), f"{row.name}:{row.version}")
    asked = select(PACKAGES.c.project, PACKAGES.c.digest).order_by(PACKAGES.c.created.desc(), PACKAGES.c.digest)
    for row in connection.execute(asked):
        named = labels.get((row.project, row.digest), ())
        is_meant = row.digest.startswith(text) or any(text in label.lower() for label in named)
        if is_meant and call.may(Permission.READ, row.project):
            yield FoundPackage(row.project, row.digest, named)


TABLE = (
    Route(
        method="GET",
        path=BASE + "/search",
        access=Access.ME,
        summary="Search in ensembles, instances, jobs and packages that I may see.",
        handler=_search,
        query=SearchFields,
        answers=(SearchResult,),
    ),
)
