"""Drift that is remembered: what the last check or discovery, or the last plan that a schedule made, has found."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec
from cryptography.fernet import Fernet
from sqlalchemy import Connection, Row, and_, delete, insert, or_, select

from ordito.ensemble.errors import EnsembleError
from ordito.ensemble.job_format import moment
from ordito.planning.preview import Totals
from ordito.results.status import STATUS, StatusAsked
from ordito.server.answers import Answers
from ordito.server.database.database import Database
from ordito.server.database.outbox import ServerEvent, tell
from ordito.server.database.tables import DRIFTS, PLANS
from ordito.server.places import reads_of
from ordito.server.plans.states import PlanState
from ordito.server.plans.store import about, stored_request
from ordito.server.problems import ApiProblem
from ordito.server.schedules.turns import KIND, broken, drifted

MOST = 100
"""How many instances are named."""


class DriftFound(msgspec.Struct, frozen=True):
    """What was found of an ensemble the last time that somebody looked for drift."""

    workflow: str
    """``check`` or ``discover``: what exists differs from the records; ``deploy``: the plan of a schedule that carries
    nothing out is not empty."""

    plan: str
    """The plan by which it was found."""

    job: str | None
    """The job that has looked, null for a plan."""

    drift: bool
    """Whether anything was found."""

    differs: tuple[str, ...] = ()
    """Instances that differ from how they were left, at most 100."""

    unwell: tuple[str, ...] = ()
    """Instances that are not ok, at most 100."""

    totals: Totals | None = None
    """What the plan would change."""


class RememberedDrift(DriftFound, frozen=True, kw_only=True):
    """The same, with the moment."""

    at: str
    """When it was found."""


def drift_of(connection: Connection, project: str, ensemble: str) -> RememberedDrift | None:
    """What is remembered of an ensemble."""
    mine = and_(DRIFTS.c.project == project, DRIFTS.c.ensemble == ensemble)
    row = connection.execute(select(DRIFTS).where(mine)).one_or_none()
    return _remembered(row) if row is not None else None


def all_drifts(connection: Connection) -> Mapping[tuple[str, str], RememberedDrift]:
    """What is remembered, by project and ensemble."""
    return {(row.project, row.ensemble): _remembered(row) for row in connection.execute(select(DRIFTS)).all()}


def _remembered(row: Row[Any]) -> RememberedDrift:
    found = msgspec.json.decode(row.found, type=DriftFound)
    return RememberedDrift(
        **{name: getattr(found, name) for name in DriftFound.__struct_fields__}, at=moment(row.created)
    )


class Drifts:
    """Remembers drift as plans end."""

    def __init__(self, home: Path, database: Database, answers: Answers, sealer: Fernet) -> None:
        self._home = home
        self._database = database
        self._answers = answers
        self._sealer = sealer
        self._since = 0.0

    async def round(self) -> None:
        """Look at the plans that have ended since the last round."""
        rows = await self._database.read(lambda connection: _looked(connection, self._since))
        latest = {(row.project, row.ensemble): row for row in rows}
        for row in latest.values():
            found = await self._found(row)
            if found is not None:
                await self._database.write(lambda c, row=row, found=found: _remember(c, row, found))  # type: ignore[misc]
        self._since = max((row.changed for row in rows), default=self._since)

    async def _found(self, row: Row[Any]) -> DriftFound | None:
        if row.state != PlanState.APPLIED:
            if stored_request(row, self._sealer).package:
                # A new version is no drift.
                return None
            totals = about(row).totals
            return DriftFound(row.workflow, row.id, None, drift=row.state != PlanState.EMPTY, totals=totals)
        try:
            reads = await self._database.read(lambda c: reads_of(c, self._home, row.project, row.ensemble))
            status = (await self._answers.ask(STATUS.name, reads[0], StatusAsked(outputs=False), reads=reads)).body
        except (ApiProblem, EnsembleError):
            # The next look finds it.
            return None
        differs, unwell = drifted(status), broken(status)
        is_found = bool(differs or unwell)
        return DriftFound(row.workflow, row.id, row.job, is_found, tuple(differs[:MOST]), tuple(unwell[:MOST]))


def _looked(connection: Connection, since: float) -> list[Row[Any]]:
    """The plans that have looked for drift and ended after a moment, the latest last, and that are not remembered."""
    checks = and_(PLANS.c.workflow.in_(("check", "discover")), PLANS.c.state == PlanState.APPLIED)
    planned = and_(
        PLANS.c.workflow == "deploy",
        PLANS.c.kind == KIND,
        PLANS.c.state.in_((PlanState.EMPTY, PlanState.READY, PlanState.WAITING)),
    )
    same = and_(DRIFTS.c.project == PLANS.c.project, DRIFTS.c.ensemble == PLANS.c.ensemble)
    asked = select(PLANS).outerjoin(DRIFTS, same).where(or_(checks, planned), PLANS.c.changed > since)
    asked = asked.where(or_(DRIFTS.c.created.is_(None), DRIFTS.c.created < PLANS.c.changed))
    return list(connection.execute(asked.order_by(PLANS.c.changed)).all())


def _remember(connection: Connection, row: Row[Any], found: DriftFound) -> None:
    before = drift_of(connection, row.project, row.ensemble)
    mine = and_(DRIFTS.c.project == row.project, DRIFTS.c.ensemble == row.ensemble)
    connection.execute(delete(DRIFTS).where(mine))
    text = msgspec.json.encode(found).decode()
    connection.execute(
        insert(DRIFTS).values(project=row.project, ensemble=row.ensemble, found=text, created=row.changed)
    )
    at = f"ensemble:{row.project}/{row.ensemble}"
    fields = {"plan": found.plan, "job": found.job, "workflow": found.workflow, "drift": found.drift}
    # Who is told of the same drift every hour does not look any more.
    kind = "ensemble.drift" if found.drift and not _is_same(before, found) else "drift.changed"
    tell(connection, ServerEvent(at, kind, row.project, row.ensemble, fields), row.changed)


def _is_same(before: DriftFound | None, found: DriftFound) -> bool:
    names = ("workflow", "drift", "differs", "unwell", "totals")
    return before is not None and all(getattr(before, name) == getattr(found, name) for name in names)
