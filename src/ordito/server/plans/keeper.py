"""The keeper: brings plans from state to state, as far as nobody has to say anything.

It is woken by requests and by the end of runners, and looks by itself now and then. All that it knows is in the
database, in the files of runners, and in ensembles, so that another server goes on where one was killed.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

from cryptography.fernet import InvalidToken
from sqlalchemy import Row

from ordito.app.work_items import PlanItem
from ordito.ensemble.errors import EnsembleError
from ordito.ensemble.job_mark import marked
from ordito.ensemble.layout import Layout
from ordito.ensemble.lock import holder
from ordito.results.failure import Failure
from ordito.server.plans.asked import AUTO, EXACT
from ordito.server.plans.found_jobs import ended_as, job_of
from ordito.server.plans.going_on import MOST_ATTEMPTS, approvers, hold_back, keep_package, may_go_on, problem_text
from ordito.server.plans.maker import PlanMaker
from ordito.server.plans.parts import PlanParts
from ordito.server.plans.resuming import Resuming
from ordito.server.plans.rules import are_there_rules
from ordito.server.plans.states import PlanState
from ordito.server.plans.store import Author, about, active_plans, expired_plans, move, old_plans, stored_request
from ordito.server.problems import ApiProblem
from ordito.server.processes.calls import Already, Faulty, Finished, NotDone, NothingToDo, Suspended
from ordito.source.reach import within
from ordito.work.records import AskedBy

_LOG = logging.getLogger(__name__)

SOON, NOW_AND_THEN, SELDOM = 0.05, 1.0, 10.0
"""Seconds until it looks again: while a runner begins, while something runs or waits, and else."""

PRUNES_EVERY = 3600.0
"""Seconds after which the files of old plans are removed again."""

WAITS = frozenset({"locked", "unfinished-job"})
"""The codes of refusals after which a plan waits for its turn again."""


class PlanKeeper:
    """Keeps the plans of a server going."""

    def __init__(self, parts: PlanParts) -> None:
        self._parts = parts
        self._database = parts.database
        self._runners = parts.runners
        self._awake = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._maker = PlanMaker(parts, self.wake)
        self._resuming = Resuming(parts)
        self._next_prune = 0.0

    def start(self) -> None:
        """Begin."""
        self._task = asyncio.create_task(self._loop())
        self._parts.supervisor.add(self._forget)
        self._parts.supervisor.add(self._resuming.round)

    async def stop(self) -> None:
        """End; runners go on, and plans that are being made are made again by the next server."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
        await self._maker.stop()

    def wake(self) -> None:
        """Something is to be done."""
        self._awake.set()

    async def _loop(self) -> None:
        while True:
            self._awake.clear()
            self._runners.changed.clear()
            try:
                pause = await self._round()
            except Exception:  # noqa: BLE001  a fault of one round must not end the keeping of all plans
                _LOG.exception("a fault while plans were kept going")
                pause = SELDOM
            waiting = [asyncio.create_task(one.wait()) for one in (self._awake, self._runners.changed)]
            try:
                await asyncio.wait(waiting, timeout=pause, return_when=asyncio.FIRST_COMPLETED)
            finally:
                for task in waiting:
                    task.cancel()

    async def _round(self) -> float:
        """Do what can be done now; returns the seconds until it is to be looked again."""
        if not self._parts.leads():
            return SELDOM
        rows = await self._database.read(active_plans)
        by_state = {state: [row for row in rows if row.state == state] for state in PlanState}
        self._maker.begin(by_state[PlanState.PLANNING])
        begun = [*by_state[PlanState.STARTING], *by_state[PlanState.RUNNING]]
        for row in begun:
            try:
                await self._follow(row)
            except (EnsembleError, OSError, ApiProblem) as error:
                # What cannot be read now is looked at again.
                _LOG.warning("cannot see what becomes of plan %s: %s", row.id, error)
        started = await self._advance(by_state[PlanState.QUEUED], begun)
        if started or by_state[PlanState.STARTING]:
            return SOON
        return NOW_AND_THEN if by_state[PlanState.RUNNING] or by_state[PlanState.QUEUED] else SELDOM

    # ------------------------------------------------------------------------------------------------------- queue

    async def _advance(self, queued: Sequence[Row[Any]], begun: Sequence[Row[Any]]) -> bool:
        """Start the runners of plans whose turn it is; returns whether there is one."""
        busy, room = {(row.project, row.ensemble) for row in begun}, self._parts.settings.now.jobs.parallel - len(begun)
        started = False
        for row in queued:
            of = (row.project, row.ensemble)
            if of in busy:
                continue
            # The first one of an ensemble waits, and all others behind it.
            busy.add(of)
            try:
                if room <= 0 or not await self._may_begin(row):
                    continue
                room -= 1
                started = True
                await self._start(row)
            except (EnsembleError, OSError, ApiProblem, InvalidToken) as error:
                # Others go on; this one is looked at again.
                _LOG.warning("cannot begin plan %s: %s", row.id, error)
        return started

    async def _may_begin(self, row: Row[Any]) -> bool:
        if not self._parts.may_start() or await self._parts.is_frozen(row.project, row.ensemble):
            return False
        layout = Layout(Path(await self._parts.directory(row)))
        await self._parts.places.fresh(str(layout.root))

        def is_free() -> bool:
            with within(layout.root):
                return not layout.exists or (holder(layout) is None and not marked(layout.journal))

        if not await asyncio.to_thread(is_free):
            return False
        if await self._database.read(partial(may_go_on, row=row)):
            return True
        await self._database.write(partial(hold_back, row=row))
        return False

    async def _start(self, row: Row[Any]) -> None:
        request = stored_request(row, self._parts.sealer)
        reads = await self._parts.reads(row.project, row.ensemble, request.package)
        approved = await self._database.read(partial(approvers, row=row))
        by = AskedBy(Author(row.kind, row.who).shown, row.id, approved)
        exact = about(row).exact if row.bind == EXACT else None
        has_rules = await self._database.read(partial(are_there_rules, project=row.project, ensemble=row.ensemble))
        item = PlanItem(
            reads[0],
            self._parts.asked(request, reads[0]),
            by,
            request.options,
            exact,
            # What is planned anew nobody has seen.
            was_seen=row.apply != AUTO and exact is not None,
            most_risks=about(row).risks if exact is None and has_rules else None,
        )
        now, attempts = time.time(), row.attempts + 1
        if await self._database.write(
            lambda connection: move(connection, row.id, PlanState.STARTING, now, attempts=attempts, problem="")
        ):
            # Where no runner comes of it, the plan is started again.
            await self._runners.start(row.id, self._parts.task(item, reads))

    # ------------------------------------------------------------------------------------------------------ runners

    async def _follow(self, row: Row[Any]) -> None:
        look = await asyncio.to_thread(self._runners.look, row.id)
        state, now = PlanState(row.state), time.time()
        if look.job and state is PlanState.STARTING:
            await self._move(row, PlanState.RUNNING, now, job=look.job)
        if look.is_alive and not isinstance(look.end, Finished):
            return
        if isinstance(look.end, Finished):
            report = look.end.report
            await asyncio.to_thread(self._parts.files.keep_report, row.id, bytes(report))
            await self._ended(row, look.end.job, look.end.status)
        elif isinstance(look.end, NothingToDo) and not look.job:
            await self._move(row, PlanState.EMPTY, now)
        elif isinstance(look.end, NotDone) and not look.job:
            await self._not_done(row, look.end)
        else:
            await self._find_job(row)
        if not isinstance(look.end, Suspended | Already | Faulty | None):
            await asyncio.to_thread(self._runners.forget, row.id)

    async def _not_done(self, row: Row[Any], end: NotDone) -> None:
        failure = end.trouble.failure
        problem = problem_text(failure, end.trouble.diagnostics)
        if failure.code in WAITS:
            await self._move(row, PlanState.QUEUED, time.time(), problem=problem, attempts=row.attempts - 1)
            return
        to = PlanState.STALE if failure.code == "stale-plan" else PlanState.REFUSED
        await self._move(row, to, time.time(), problem=problem)

    async def _find_job(self, row: Row[Any]) -> None:
        """Find out by the ensemble itself what became of a plan whose runner has gone without telling."""
        directory = await self._parts.directory(row)
        await self._parts.places.fresh(directory)
        found = await asyncio.to_thread(job_of, directory, row.id)
        now = time.time()
        if found is None and row.state == PlanState.RUNNING:
            # Its journal is another one than it was: the records of jobs may know of it.
            ended = await asyncio.to_thread(ended_as, directory, row.job)
            if ended:
                await self._ended(row, row.job, ended)
            else:
                failure = Failure("faulty-plan", f"the ensemble knows nothing of job {row.job} any more")
                await self._move(row, PlanState.FAULTY, now, problem=problem_text(failure))
        elif found is None:
            if row.attempts < MOST_ATTEMPTS:
                await self._move(row, PlanState.QUEUED, now)
            else:
                failure = Failure("faulty-plan", f"its process has ended {MOST_ATTEMPTS} times before its job began")
                await self._move(row, PlanState.FAULTY, now, problem=problem_text(failure))
        elif found.status:
            await self._ended(row, found.job, found.status)
        else:
            await self._move(row, PlanState.RUNNING, now, job=found.job)
            if self._resuming.may_resume:
                await self._resuming.resume(row.project, row.ensemble, directory)

    async def _ended(self, row: Row[Any], job: str, status: str) -> None:
        if package := self._parts.package_of(row):
            # Whatever its end, from now on the ensemble is what this package says.
            await self._database.write(partial(keep_package, row=row, package=package))
        await self._move(row, PlanState.APPLIED, time.time(), job=job, job_status=status)
        self._parts.metrics.jobs.labels(row.workflow, status).inc()
        await self._parts.notices.handle(row.project, row.ensemble)
        self._parts.metrics.job_seconds.labels(row.workflow).observe(max(0.0, time.time() - row.changed))

    async def _move(self, row: Row[Any], to: PlanState, now: float, **values: object) -> None:
        await self._database.write(lambda connection: move(connection, row.id, to, now, **values))

    async def _forget(self) -> None:
        """Discard plans that have waited for too long, and remove the files of old ones."""
        if not self._parts.leads():
            return
        now = time.time()
        for plan in await self._database.read(partial(expired_plans, now=now)):
            await self._database.write(partial(move, plan=plan, to=PlanState.DISCARDED, now=now))
        if time.monotonic() >= self._next_prune:
            self._next_prune = time.monotonic() + PRUNES_EVERY
            for plan in await self._database.read(partial(old_plans, now=now)):
                await asyncio.to_thread(self._parts.files.forget, plan)
                await asyncio.to_thread(self._runners.forget, plan)
