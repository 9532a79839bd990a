"""The keeper: brings plans from state to state, as far as nobody has to say anything.

It is woken by requests and by the end of runners, and looks by itself now and then. All that it knows is in the
database, in the files of runners, and in ensembles, so that another server goes on where one was killed.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
from cryptography.fernet import Fernet, InvalidToken
from sqlalchemy import Connection, Row, update

from ordito.app.surroundings import around
from ordito.app.work_items import AskedRequest, PlanItem, ResumeItem, WorkItem
from ordito.ensemble.backing import backing_of
from ordito.ensemble.errors import EnsembleError
from ordito.ensemble.job_history import job_lines
from ordito.ensemble.job_mark import marked, may_be_marked
from ordito.ensemble.layout import Layout
from ordito.ensemble.lock import holder
from ordito.results.failure import Failure, Trouble
from ordito.server.database.database import Database
from ordito.server.database.outbox import ServerEvent, tell
from ordito.server.database.tables import ENSEMBLES, PLANS
from ordito.server.identity.principal import principal_of
from ordito.server.metrics import Metrics
from ordito.server.packages import package_path, seen_from_ensemble
from ordito.server.permissions import Permission
from ordito.server.places import all_ensembles, directory_of, reads_of
from ordito.server.plans.asked import AUTO, EXACT, LATEST
from ordito.server.plans.files import PlanFiles
from ordito.server.plans.freshness import marks_of
from ordito.server.plans.rules import are_there_rules, is_as_strict, wanted_by
from ordito.server.plans.states import WORKFLOW_PERMISSIONS, PlanState
from ordito.server.plans.store import (
    Author,
    PlanAbout,
    StoredRequest,
    about,
    active_plans,
    answering,
    approvals,
    expired_plans,
    frozen_by,
    is_approved,
    move,
    old_plans,
    people_behind,
    plan_row,
    stored_request,
    wanted_before,
)
from ordito.server.plans.waiting_notices import WaitingNotices
from ordito.server.ports import Places, Runners
from ordito.server.problems import ApiProblem
from ordito.server.processes.calls import Already, Faulty, Finished, ForkedTask, NotDone, NothingToDo, Suspended
from ordito.server.processes.making import MAKE, MadePlanData, MakeAsked
from ordito.server.processes.queries import Queries
from ordito.server.settings import CurrentSettings
from ordito.server.supervisor import Supervisor
from ordito.source.reach import within
from ordito.work.records import AskedBy

_LOG = logging.getLogger(__name__)

AT_ONCE = 2
"""How many plans are made at a time."""

MOST_ATTEMPTS = 3
SOON, NOW_AND_THEN, SELDOM = 0.05, 1.0, 10.0
"""Seconds until it looks again: while a runner begins, while something runs or waits, and else."""

MOST_RESUMES, RESUMES_WITHIN = 3, 600.0
"""How often a job of an ensemble is resumed within so many seconds."""

PRUNES_EVERY = 3600.0
"""Seconds after which the files of old plans are removed again."""

WAITS = frozenset({"locked", "unfinished-job"})
"""The codes of refusals after which a plan waits for its turn again."""

ALWAYS, NEVER = "always", "never"


class KeeperParts(msgspec.Struct, frozen=True):
    """What the keeper works with."""

    home: Path
    """The home of the server."""

    settings: CurrentSettings

    database: Database
    sealer: Fernet
    queries: Queries
    """Makes plans."""

    runners: Runners
    places: Places
    files: PlanFiles
    supervisor: Supervisor
    metrics: Metrics
    draining: asyncio.Event
    """Set once the server is to stop."""

    may_start: Callable[[], bool]
    """Whether jobs may be begun and resumed: not once the server is to stop, and not yet where it was restored from a
    backup."""

    leads: Callable[[], bool]
    """Whether this server keeps the plans going, of several that might."""

    notices: WaitingNotices
    """Handles what arrived while a job ran."""


class PlanKeeper:
    """Keeps the plans of a server going."""

    def __init__(self, parts: KeeperParts) -> None:
        self._parts = parts
        self._database = parts.database
        self._runners = parts.runners
        self._awake = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._making: dict[str, asyncio.Task[None]] = {}
        self._places = asyncio.Semaphore(AT_ONCE)
        self._resumed: dict[str, list[float]] = {}
        self._given_up: set[str] = set()
        self._next_prune = 0.0

    def start(self) -> None:
        """Begin."""
        self._task = asyncio.create_task(self._loop())
        self._parts.supervisor.add(self._supervise)

    async def stop(self) -> None:
        """End; runners go on, and plans that are being made are made again by the next server."""
        tasks = [task for task in (self._task, *self._making.values()) if task is not None]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

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
        for row in by_state[PlanState.PLANNING]:
            if row.id not in self._making:
                self._making[row.id] = task = asyncio.create_task(self._make(row))
                task.add_done_callback(partial(self._made, row.id))
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

    def _made(self, plan: str, task: asyncio.Task[None]) -> None:
        del self._making[plan]
        if not task.cancelled() and (fault := task.exception()) is not None:
            # It is made again in a while: not at once, since the same may happen.
            _LOG.error("a fault while plan %s was made", plan, exc_info=fault)
            return
        self.wake()

    # ---------------------------------------------------------------------------------------------------- planning

    async def _make(self, row: Row[Any]) -> None:
        async with self._places:
            try:
                await self._make_now(row)
            except ApiProblem as problem:
                if not self._parts.draining.is_set():
                    await self._database.write(partial(_not_made, row=row, problem=problem))
            except (EnsembleError, OSError) as error:
                _LOG.warning("plan %s: %s", row.id, error)
                directory = await self._directory(row)
                said = ApiProblem.of_error(error, directory, str(self._parts.home))
                await self._database.write(partial(_not_made, row=row, problem=said))

    async def _make_now(self, row: Row[Any]) -> None:
        request = stored_request(row, self._parts.sealer)
        reads = await self._reads(row.project, row.ensemble, request.package)
        directory = reads[0]
        asked = MakeAsked(self._asked(request, directory), is_seen=row.apply != AUTO)
        marks = await asyncio.to_thread(marks_of, directory)
        found = await self._parts.queries.ask(MAKE.name, directory, msgspec.json.encode(asked), reads)
        made = msgspec.json.decode(found, type=MadePlanData)
        await asyncio.to_thread(self._parts.files.keep, row.id, made)
        exact = made.exact
        known = PlanAbout(
            totals=made.totals,
            risks=tuple(map(str, made.risks)),
            findings=made.findings,
            exact=exact,
            environment=exact.basis.environment if exact is not None else "",
            marks=marks,
            can_be_saved=bool(made.saved),
            workflow=made.workflow,
        )
        await self._database.write(partial(_is_made, row=row, empty=made.empty, known=known))

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
        if not self._parts.may_start() or await self._is_frozen(row.project, row.ensemble):
            return False
        layout = Layout(Path(await self._directory(row)))
        await self._parts.places.fresh(str(layout.root))

        def is_free() -> bool:
            with within(layout.root):
                return not layout.exists or (holder(layout) is None and not marked(layout.journal))

        if not await asyncio.to_thread(is_free):
            return False
        if await self._database.read(partial(_may_go_on, row=row)):
            return True
        await self._database.write(partial(_hold_back, row=row))
        return False

    async def _is_frozen(self, project: str, ensemble: str) -> bool:
        frozen = partial(frozen_by, project=project, ensemble=ensemble, now=time.time())
        return await self._database.read(frozen) is not None

    async def _start(self, row: Row[Any]) -> None:
        request = stored_request(row, self._parts.sealer)
        reads = await self._reads(row.project, row.ensemble, request.package)
        approved = await self._database.read(partial(_approvers, row=row))
        by = AskedBy(Author(row.kind, row.who).shown, row.id, approved)
        exact = about(row).exact if row.bind == EXACT else None
        has_rules = await self._database.read(partial(are_there_rules, project=row.project, ensemble=row.ensemble))
        item = PlanItem(
            reads[0],
            self._asked(request, reads[0]),
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
            await self._runners.start(row.id, self._task_of(item, reads))

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
        problem = _problem(failure, end.trouble.diagnostics)
        if failure.code in WAITS:
            await self._move(row, PlanState.QUEUED, time.time(), problem=problem, attempts=row.attempts - 1)
            return
        to = PlanState.STALE if failure.code == "stale-plan" else PlanState.REFUSED
        await self._move(row, to, time.time(), problem=problem)

    async def _find_job(self, row: Row[Any]) -> None:
        """Find out by the ensemble itself what became of a plan whose runner has gone without telling."""
        directory = await self._directory(row)
        await self._parts.places.fresh(directory)
        found = await asyncio.to_thread(_job_of, directory, row.id)
        now = time.time()
        if found is None and row.state == PlanState.RUNNING:
            # Its journal is another one than it was: the records of jobs may know of it.
            ended = await asyncio.to_thread(_ended_as, directory, row.job)
            if ended:
                await self._ended(row, row.job, ended)
            else:
                failure = Failure("faulty-plan", f"the ensemble knows nothing of job {row.job} any more")
                await self._move(row, PlanState.FAULTY, now, problem=_problem(failure))
        elif found is None:
            if row.attempts < MOST_ATTEMPTS:
                await self._move(row, PlanState.QUEUED, now)
            else:
                failure = Failure("faulty-plan", f"its process has ended {MOST_ATTEMPTS} times before its job began")
                await self._move(row, PlanState.FAULTY, now, problem=_problem(failure))
        elif found.status:
            await self._ended(row, found.job, found.status)
        else:
            await self._move(row, PlanState.RUNNING, now, job=found.job)
            if self._parts.settings.now.jobs.resume != NEVER and self._parts.may_start():
                await self._resume(row.project, row.ensemble, directory)

    async def _ended(self, row: Row[Any], job: str, status: str) -> None:
        if package := self._package_of(row):
            # Whatever its end, from now on the ensemble is what this package says.
            await self._database.write(partial(_made_of, row=row, package=package))
        await self._move(row, PlanState.APPLIED, time.time(), job=job, job_status=status)
        self._parts.metrics.jobs.labels(row.workflow, status).inc()
        await self._parts.notices.handle(row.project, row.ensemble)
        self._parts.metrics.job_seconds.labels(row.workflow).observe(max(0.0, time.time() - row.changed))

    def _package_of(self, row: Row[Any]) -> str:
        """The digest of the package that a plan deploys, "" if it deploys none, or if that cannot be known any more."""
        try:
            return stored_request(row, self._parts.sealer).package
        except InvalidToken:
            # The server was restored without its key while this job ran. The ensemble itself has what was deployed.
            _LOG.warning("plan %s: what was asked cannot be read without the key of before", row.id)
            return ""

    async def _move(self, row: Row[Any], to: PlanState, now: float, **values: object) -> None:
        await self._database.write(lambda connection: move(connection, row.id, to, now, **values))

    async def _reads(self, project: str, ensemble: str, package: str = "") -> tuple[str, ...]:
        """What a process may read that works for an ensemble, and deploys a package: first the directory."""
        reads = await self._database.read(partial(reads_of, home=self._parts.home, project=project, ensemble=ensemble))
        if package:
            await self._parts.places.bring(package)
        await self._parts.places.fresh(reads[0])
        return (*reads, str(package_path(self._parts.home, package))) if package else reads

    def _asked(self, request: StoredRequest, directory: str) -> AskedRequest:
        """A request, with the path of its package, seen from the ensemble's directory as messages name it."""
        if not request.package:
            return request.asked
        path = seen_from_ensemble(package_path(self._parts.home, request.package), directory)
        return msgspec.structs.replace(request.asked, fields={**request.asked.fields, "service": path})

    async def task_of(self, item: WorkItem, project: str, ensemble: str) -> ForkedTask:
        """A work item for an ensemble, with what its runner may reach."""
        return self._task_of(item, await self._reads(project, ensemble))

    def _task_of(self, item: WorkItem, reads: tuple[str, ...]) -> ForkedTask:
        settings = self._parts.settings
        return ForkedTask(item, around(settings.surroundings, reads), settings.now.jobs.retention)

    async def _directory(self, row: Row[Any]) -> str:
        return await self._database.read(partial(directory_of, project=row.project, ensemble=row.ensemble))

    # --------------------------------------------------------------------------------------------------- supervisor

    async def _supervise(self) -> None:
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
        policy = self._parts.settings.now.jobs.resume
        if policy == NEVER or not self._parts.may_start():
            return
        # Of a store the workers resume what was interrupted.
        stored = self._parts.places.stored
        known = [one for one in await self._database.read(all_ensembles) if stored(one[2]) is None]
        for project, ensemble, directory in await asyncio.to_thread(_interrupted, known, policy == ALWAYS):
            with contextlib.suppress(EnsembleError, OSError):
                await self._resume(project, ensemble, directory)

    async def _resume(self, project: str, ensemble: str, directory: str) -> None:
        """Resume the job of an ensemble that nobody carries out, unless it is frozen, or that was done too often."""
        if await self._is_frozen(project, ensemble):
            return
        now, name = time.monotonic(), f"{project}/{ensemble}"
        times = [at for at in self._resumed.get(name, ()) if now - at < RESUMES_WITHIN]
        self._resumed[name] = times
        runner = f"resume-{project}.{ensemble}"
        if (await asyncio.to_thread(self._runners.look, runner)).is_alive:
            return
        if len(times) >= MOST_RESUMES:
            if name not in self._given_up:
                self._given_up.add(name)
                event = ServerEvent(f"ensemble:{name}", "job.attention", project, ensemble)
                await self._database.write(lambda connection: tell(connection, event, time.time()))
            return
        self._given_up.discard(name)
        if await self._runners.start(runner, await self.task_of(ResumeItem(directory), project, ensemble)):
            times.append(now)


# ------------------------------------------------------------------------------------------- what is written at once

NEEDS_EXACT = Failure(
    "needs-exact",
    "a rule asks for approvals of such plans",
    "ask for it with bind: exact, so that what was approved is what is carried out",
)


def _made_of(connection: Connection, row: Row[Any], package: str) -> None:
    mine = (ENSEMBLES.c.project == row.project) & (ENSEMBLES.c.name == row.ensemble)
    connection.execute(update(ENSEMBLES).where(mine).values(package=package))


def _is_made(connection: Connection, row: Row[Any], empty: bool, known: PlanAbout) -> None:
    """Write that a plan was made, and go on with it as far as nobody has to say anything."""
    now = time.time()
    digest = known.exact.digest if known.exact is not None else ""
    values = {"digest": digest, "about": msgspec.json.encode(known).decode(), "attempts": 0}
    if empty:
        move(connection, row.id, PlanState.EMPTY, now, **values)
        return
    of = (row.project, row.ensemble)
    wanted = wanted_by(connection, *of, known.workflow or row.workflow, known.environment, known.risks)
    if wanted and row.bind == LATEST:
        move(connection, row.id, PlanState.REFUSED, now, **values, problem=_problem(NEEDS_EXACT))
        return
    values["wanted"] = msgspec.json.encode(wanted).decode()
    if move(connection, row.id, PlanState.READY, now, **values) and row.apply == AUTO:
        go_on(connection, row.id, PlanState.WAITING if wanted else PlanState.QUEUED, now)


def wanted_now(connection: Connection, row: Row[Any], changed_by: frozenset[str] = frozenset()) -> str:
    """The approvals that a plan needs by the rules of now, as they are kept with it. Those that it needed by earlier
    rules it needs still if these were changed by who is behind the plan; ``changed_by`` has the ids of whoever changes
    them right now."""
    known, of = about(row), (row.project, row.ensemble)
    found = wanted_by(connection, *of, known.workflow or row.workflow, known.environment, known.risks)
    behind = people_behind(connection, row)
    is_own = bool(changed_by) and (behind is None or not behind.isdisjoint(changed_by))
    before = wanted_before(row)
    if changed_by and not is_own:
        # Somebody else has looked at the rules since: these count.
        before = ()
    kept = tuple(
        msgspec.structs.replace(one, kept=True)
        for one in before
        if (one.kept or is_own) and not any(is_as_strict(new, one) for new in found)
    )
    return msgspec.json.encode((*found, *kept)).decode()


def _may_go_on(connection: Connection, row: Row[Any]) -> bool:
    """Whether a plan whose turn it is may begin: who has applied it may still do that, and the approvals that it needs
    by the rules of now are there, from people who still may approve."""
    return (
        may_apply(connection, row)
        and wanted_now(connection, row) == row.wanted
        and is_ready_to_go(connection, plan_row(connection, (row.project, row.ensemble), row.id))
    )


def _hold_back(connection: Connection, row: Row[Any]) -> None:
    """Let a plan that may not begin wait for what is missing, or refuse it."""
    now = time.time()
    if not may_apply(connection, row):
        failure = Failure("forbidden", f"{row.applied} may not carry this out any more", "let somebody else ask for it")
        move(connection, row.id, PlanState.REFUSED, now, problem=_problem(failure))
        return
    renew_wanted(connection, row, now)


def renew_wanted(connection: Connection, row: Row[Any], now: float, changed_by: frozenset[str] = frozenset()) -> None:
    """Hold a plan that has not begun against the rules of now: it goes on, or waits for approvals. ``changed_by`` has
    the ids of whoever changes the rules."""
    wanted = wanted_now(connection, row, changed_by)
    connection.execute(update(PLANS).where(PLANS.c.id == row.id).values(wanted=wanted))
    is_ready = is_ready_to_go(connection, plan_row(connection, (row.project, row.ensemble), row.id))
    state = PlanState(row.state)
    if is_ready and state is PlanState.WAITING:
        go_on(connection, row.id, PlanState.QUEUED, now)
    elif not is_ready and state is PlanState.QUEUED:
        if row.bind == LATEST:
            move(connection, row.id, PlanState.REFUSED, now, problem=_problem(NEEDS_EXACT))
        else:
            move(connection, row.id, PlanState.WAITING, now)


def may_apply(connection: Connection, row: Row[Any]) -> bool:
    """Whether who has applied a plan may still do that: as who answers for a schedule or a git source, where one of
    these has asked."""
    workflow = about(row).workflow or row.workflow
    is_own = row.applied == Author(row.kind, row.who).shown
    applied = answering(connection, row, row.who) if is_own else row.applied.removeprefix("account ")
    who = principal_of(connection, applied)
    permission = WORKFLOW_PERMISSIONS.get(workflow, Permission.OPERATE)
    return who is not None and permission in who.permissions(row.project, row.ensemble)


def go_on(connection: Connection, plan: str, to: PlanState, now: float, **values: object) -> bool:
    """Let a plan that is to be applied wait for approvals, or for its turn."""
    queued = {"queued": now} if to is PlanState.QUEUED else {}
    return move(connection, plan, to, now, **queued, **values)


def _not_made(connection: Connection, row: Row[Any], problem: ApiProblem) -> None:
    now = time.time()
    failure = Failure(problem.code, problem.detail, problem.hint, problem.next)
    is_faulty = problem.code in ("internal", "too-costly")
    if problem.code == "busy" or (problem.code == "internal" and row.attempts + 1 < MOST_ATTEMPTS):
        # It stays in its state, and is made again.
        connection.execute(update(PLANS).where(PLANS.c.id == row.id).values(attempts=row.attempts + 1))
        return
    to = PlanState.FAULTY if is_faulty else PlanState.REFUSED
    move(connection, row.id, to, now, problem=_problem(failure, problem.diagnostics), attempts=0)


def _problem(failure: Failure, diagnostics: Sequence[Any] = ()) -> str:
    return msgspec.json.encode(Trouble(failure, tuple(diagnostics))).decode()


def _approvers(connection: Connection, row: Row[Any]) -> tuple[str, ...]:
    return tuple(one.who for one in approvals(connection, row).given if one.decision == "approve")


def is_ready_to_go(connection: Connection, row: Row[Any]) -> bool:
    """Whether a plan needs no approval any more."""
    return is_approved(approvals(connection, row))


# --------------------------------------------------------------------------------------- what ensembles say of a job


class PlanJob(msgspec.Struct, frozen=True):
    """A job of a plan; ``status`` is how it ended, "" for not yet."""

    job: str
    status: str


def _job_of(directory: str, plan: str) -> PlanJob | None:
    """The job of a plan, by the ensemble's journal; None for none. Raises ``EnsembleError``."""
    with within(directory):
        layout = Layout(Path(directory))
        journal = backing_of(layout).read_journal(layout)
        if journal is None:
            return None
        with journal:
            job = journal.job_of(plan)
            if not job:
                return None
            if journal.holds_job(job):
                return PlanJob(job, "")
        return PlanJob(job, _ended_as(directory, job) or "failed")


def _ended_as(directory: str, job: str) -> str:
    """How a job ended, by the records of jobs; "" where these do not know it. Raises ``EnsembleError``."""
    with within(directory):
        found = next((line for line in job_lines(Layout(Path(directory))) if line.id == job), None)
        return found.outcome if found is not None else ""


def _interrupted(known: Sequence[tuple[str, str, str]], everybodys: bool) -> list[tuple[str, str, str]]:
    """Of ensembles, those with a job that is to be resumed; of one that cannot be read that is not known."""
    found = []
    for one in known:
        # Of hundreds of ensembles nearly none has a job, and this asks for one of them in some microseconds.
        if not may_be_marked(one[2]):
            continue
        with contextlib.suppress(EnsembleError, OSError):
            if _is_interrupted(one[2], everybodys):
                found.append(one)
    return found


def _is_interrupted(directory: str, everybodys: bool) -> bool:
    """Whether a job of an ensemble was interrupted and is to be resumed. Raises ``EnsembleError``."""
    with within(directory):
        layout = Layout(Path(directory))
        if not layout.exists or not marked(layout.journal) or holder(layout) is not None:
            return False
        journal = backing_of(layout).read_journal(layout)
        if journal is None:
            return False
        with journal:
            frame = journal.frame()
        return frame is not None and (everybodys or bool(frame[0].asked.by))
