"""Sources: repositories in git that ensembles follow. Each new commit of a branch becomes a package, and a plan."""

from __future__ import annotations

import asyncio
import hashlib
import logging
import os
import shutil
import tempfile
import time
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
from cryptography.fernet import Fernet
from sqlalchemy import Connection, Row, func, insert, or_, select, update

from ordito.ensemble.errors import EnsembleError
from ordito.ensemble.layout import Layout
from ordito.results.packages import PACKAGE, PackageAsked
from ordito.results.status import STATUS, StatusAsked
from ordito.server.answers import Answers
from ordito.server.database.audit import DONE, FAILED, Deed, write_down
from ordito.server.database.database import Database
from ordito.server.database.outbox import ServerEvent, tell
from ordito.server.database.tables import PACKAGES, PLANS, SOURCES
from ordito.server.identity.principal import principal_of
from ordito.server.outgoing.egress import check_listed, permitted_addresses, port_of, split_url
from ordito.server.outgoing.packing import ARCHIVE, NotPacked, PackAsked, PackedCommit, Unchanged, packed
from ordito.server.packages import NewArchive, PackageStore
from ordito.server.permissions import Permission
from ordito.server.places import reads_of
from ordito.server.plans.asked import ASKED, AUTO
from ordito.server.plans.states import OPEN, UNBEGUN, PlanState
from ordito.server.plans.store import Author, PlanWanted, ask_plan, move
from ordito.server.problems import ApiProblem
from ordito.server.processes.link import bare_environment
from ordito.server.processes.queries import Queries
from ordito.server.settings import CurrentSettings, Limits

_LOG = logging.getLogger(__name__)

KIND = "git"
"""The kind of principal that acts; its id is the ensemble, as in ``shop/prod``."""

SCHEMES = ("https", "http", "ssh", "file")
SECONDS = 120.0
"""How long git may take for one command."""

AT_ONCE = 2
"""How many repositories are fetched at a time."""

FOLDER = "sources"
MOST_TEXT = 2_000


def check_repository(url: str, egress: tuple[str, ...]) -> None:
    """Refuse a repository that the server must not reach, or cannot. Raises ``ApiProblem``."""
    if url.startswith("file://"):
        if url not in egress:
            hint = f"an administrator can permit exactly this one: `egress: [ {url} ]` in server.yaml"
            raise ApiProblem("egress", "a repository on the server's own machine must be listed", hint)
        return
    parts = split_url(url, SCHEMES)
    if parts.fragment or parts.query:
        hint = "leave out what follows ? and #, and say `branch` and `path`"
        raise ApiProblem("malformed", "the URL cannot be used: branch and path are fields of their own", hint)
    check_listed(parts.hostname or "", port_of(parts), egress)


def _addresses(url: str, egress: tuple[str, ...]) -> tuple[str, ...]:
    """The addresses that git may connect to. Raises ``ApiProblem``."""
    check_repository(url, egress)
    if url.startswith("file://"):
        return ()
    parts = split_url(url, SCHEMES)
    return permitted_addresses(parts.hostname or "", port_of(parts), egress)


class SourceParts(msgspec.Struct, frozen=True):
    """What sources are followed with."""

    home: Path
    database: Database
    answers: Answers
    queries: Queries
    packages: PackageStore
    sealer: Fernet
    settings: CurrentSettings


class GitSources:
    """Follows the sources of ensembles."""

    def __init__(self, parts: SourceParts, wake: Any, clock: Any = time.time) -> None:
        """``wake`` tells the keeper of plans that there is something to do."""
        self._parts = parts
        self._database = parts.database
        self._wake = wake
        self._clock = clock
        self._busy: dict[str, asyncio.Task[None]] = {}
        self._places = asyncio.Semaphore(AT_ONCE)
        self._tried: dict[str, tuple[str, str]] = {}
        """By source, a commit that could not be packed, and the problem with it: what is the same is not tried again
        before somebody pushes."""

        self.fetches = 0
        """How often a repository was asked."""

    def start(self) -> None:
        """Remove what a server that was killed has left."""
        shutil.rmtree(self._parts.home / FOLDER, ignore_errors=True)

    def stop(self) -> None:
        """End what is under way: it is done again after the next start."""
        for task in [*self._busy.values()]:
            task.cancel()

    async def settled(self) -> None:
        """Wait until nothing is under way."""
        while self._busy:
            await asyncio.wait(self._busy.values())

    async def round(self) -> None:
        """Begin to look at the repositories whose time has come; it does not wait for them."""
        now = self._clock()
        for row in await self._database.read(lambda connection: _due(connection, now)):
            if row.id not in self._busy:
                self._busy[row.id] = task = asyncio.create_task(self._follow(row))
                task.add_done_callback(partial(self._leave, row.id))

    def _leave(self, source: str, task: asyncio.Task[None]) -> None:
        self._busy.pop(source, None)
        if not task.cancelled() and task.exception() is not None:
            _LOG.error("a fault while a repository was followed", exc_info=task.exception())

    async def _follow(self, row: Row[Any]) -> None:
        """Look at a repository, and once more if somebody has pushed meanwhile."""
        following: Row[Any] | None = row
        while following is not None:
            async with self._places:
                began = self._clock()
                await self._look(following, began)
            now = self._clock()
            found = await self._database.read(lambda connection, now=now: _due(connection, now))  # type: ignore[misc]
            following = next((one for one in found if one.id == row.id and one.asked >= began), None)

    async def _look(self, row: Row[Any], began: float) -> None:
        is_pushed = row.asked > row.looked
        tried = self._tried.get(row.id, ("", ""))
        folder = await asyncio.to_thread(self._new_folder)
        try:
            addresses = await asyncio.to_thread(_addresses, row.repository, self._parts.settings.now.egress)
            limits = self._parts.settings.now.limits
            asked = PackAsked(
                folder=folder,
                repository=row.repository,
                branch=row.branch,
                path=row.path,
                known=row.revision if is_pushed or not tried[0] else tried[0],
                addresses=addresses,
                most_bytes=limits.package,
                seconds=SECONDS,
                memory=limits.query_memory,
            )
            self.fetches += 1
            found = await packed(asked, bare_environment(os.environ))
            if isinstance(found, PackedCommit):
                await self._take(row, began, found, Path(folder, ARCHIVE))
                self._tried.pop(row.id, None)
            elif isinstance(found, Unchanged):
                await self._written(row, began, tried[1] if found.revision == tried[0] else "")
            else:
                problem = _text_of(found)
                if found.revision:
                    self._tried[row.id] = found.revision, problem
                await self._written(row, began, problem)
        except ApiProblem as problem:
            await self._written(row, began, problem.detail)
        except (EnsembleError, OSError, RuntimeError) as error:
            _LOG.warning("source of %s/%s: %s", row.project, row.ensemble, error)
            is_fault = isinstance(error, RuntimeError)
            said = str(error) if is_fault else ApiProblem.of_error(error, str(self._parts.home)).detail
            await self._written(row, began, f"the server cannot keep it: {said}"[:MOST_TEXT])
        finally:
            await asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True)

    def _new_folder(self) -> str:
        parent = self._parts.home / FOLDER
        parent.mkdir(mode=0o700, exist_ok=True)
        return tempfile.mkdtemp(dir=parent)

    async def _written(self, row: Row[Any], began: float, problem: str) -> None:
        await self._database.write(lambda connection: _looked(connection, row, began, problem, self._clock()))

    async def _take(self, row: Row[Any], began: float, found: PackedCommit, path: Path) -> None:
        """Keep a package, and ask for its plan. Raises ``ApiProblem``."""
        parts, of = self._parts, (row.project, row.ensemble)
        # Who has packed it has read what others wrote, so its word is not taken.
        archive = await asyncio.to_thread(_archive_at, path)
        parameters = msgspec.json.encode(PackageAsked(path.name))
        summary = await parts.queries.ask(PACKAGE.name, str(path.parent), parameters, (str(path),))
        workflow = "upgrade" if await self._is_deployed(of) else "deploy"
        async with parts.packages.lock:
            await asyncio.to_thread(parts.packages.place, archive)
            await self._database.write(
                lambda connection: _planned(
                    connection, parts, row, began, _Commit(found, archive, summary.decode(), workflow)
                )
            )
            await self._database.read(lambda connection: parts.packages.forget(connection, archive.digest))
        self._wake()

    async def _is_deployed(self, of: tuple[str, str]) -> bool:
        reads = await self._database.read(lambda connection: reads_of(connection, self._parts.home, *of))
        if not await asyncio.to_thread(lambda: Layout(Path(reads[0])).exists):
            return False
        found = await self._parts.answers.ask(STATUS.name, reads[0], StatusAsked(outputs=False), reads=reads)
        return bool(msgspec.json.decode(found.body, type=_Status).service)


class _Status(msgspec.Struct):
    service: str = ""


class _Commit(msgspec.Struct, frozen=True):
    found: PackedCommit
    archive: NewArchive
    summary: str
    workflow: str


def _archive_at(path: Path) -> NewArchive:
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
        os.fsync(file.fileno())
    return NewArchive(path, digest, path.stat().st_size)


def _text_of(failed: NotPacked) -> str:
    """A problem in one text: what is wrong, with the first findings and their places."""
    failure = failed.trouble.failure
    lines = [f"{failure.message}; {failure.hint}" if failure.hint else failure.message]
    for one in failed.trouble.diagnostics[:5]:
        at = f" ({one.file}:{one.line})" if one.file else ""
        lines.append(f"{one.code}: {one.message}{at}")
    return "\n".join(lines)[:MOST_TEXT]


def _due(connection: Connection, now: float) -> list[Row[Any]]:
    """The sources that somebody has pushed to, and those whose interval is over."""
    is_over = (SOURCES.c.every > 0) & (SOURCES.c.looked + SOURCES.c.every <= now)
    asked = select(SOURCES).where(or_(SOURCES.c.asked > SOURCES.c.looked, is_over)).order_by(SOURCES.c.asked)
    return list(connection.execute(asked).all())


def _mine(row: Row[Any]) -> Any:
    """The source as it was looked at: not one that has been given another repository meanwhile."""
    same = (SOURCES.c.id == row.id) & (SOURCES.c.repository == row.repository)
    return same & (SOURCES.c.branch == row.branch) & (SOURCES.c.path == row.path)


def _looked(connection: Connection, row: Row[Any], began: float, problem: str, now: float) -> None:
    """Write that a repository was looked at, and why that has led to nothing."""
    connection.execute(update(SOURCES).where(_mine(row)).values(looked=began, problem=problem))
    if problem != row.problem:
        _tell(connection, row, "", problem, now)
        if problem:
            _deed(connection, row, FAILED, problem.partition("\n")[0], now)


def _planned(connection: Connection, parts: SourceParts, row: Row[Any], began: float, commit: _Commit) -> None:
    """Write a package down and ask for its plan, as the source. What cannot be asked for is a problem of the source."""
    now, revision, digest = time.time(), commit.found.revision, commit.archive.digest
    is_mine = connection.execute(select(SOURCES.c.id).where(_mine(row))).first() is not None
    if not is_mine:
        return
    # Where it comes to nothing, earlier plans stay as they are.
    kept = connection.begin_nested()
    try:
        _check_author(connection, row)
        _keep(connection, parts.settings.now.limits, row, commit, now)
        for name in (
            connection.execute(select(PLANS.c.id).where(_of_source(row), PLANS.c.state.in_(UNBEGUN))).scalars().all()
        ):
            move(connection, name, PlanState.DISCARDED, now)
        request = msgspec.convert({"workflow": commit.workflow, "package": digest}, ASKED)
        comment = f"{row.branch} at {revision[:12]}"
        wanted = PlanWanted(request=request, apply=row.apply, comment=comment)
        author = Author(KIND, f"{row.project}/{row.ensemble}", row.made_by or row.who)
        plan = ask_plan(connection, parts.sealer, author, (row.project, row.ensemble), wanted, now)
        if row.apply == AUTO:
            connection.execute(update(PLANS).where(PLANS.c.id == plan).values(applied=author.shown))
    except ApiProblem as problem:
        kept.rollback()
        _looked(connection, row, began, f"{problem.detail}; {problem.hint}" if problem.hint else problem.detail, now)
        return
    kept.commit()
    left_out = commit.found.left_out
    said = f"submodules are left out: {', '.join(left_out[:5])}" if left_out else ""
    connection.execute(update(SOURCES).where(_mine(row)).values(looked=began, problem=said, revision=revision))
    _tell(connection, row, plan, said, now, revision)
    _deed(connection, row, DONE, f"{revision[:12]} {digest} {plan}", now)


def _check_author(connection: Connection, row: Row[Any]) -> None:
    """Refuse to act for somebody who may not do that any more. Raises ``ApiProblem``."""
    needed = Permission.DEPLOY
    who = principal_of(connection, row.who)
    if who is None or needed not in who.permissions(row.project, row.ensemble):
        hint = "let somebody who has it set the source again"
        raise ApiProblem("forbidden", f'{row.who}, who set it, has no longer the permission "{needed}"', hint)


def _keep(connection: Connection, limits: Limits, row: Row[Any], commit: _Commit, now: float) -> None:
    """Write a package down, if the project does not have it. Raises ``ApiProblem``."""
    archive, mine = commit.archive, PACKAGES.c.project == row.project
    if (
        connection.execute(select(PACKAGES.c.digest).where(mine, PACKAGES.c.digest == archive.digest)).first()
        is not None
    ):
        return
    total = connection.execute(select(func.coalesce(func.sum(PACKAGES.c.size), 0)).where(mine)).scalar_one()
    if total + archive.size > limits.project_packages:
        hint = "remove packages that nothing needs any more"
        most = limits.project_packages
        raise ApiProblem("too-large", f"the packages of a project have at most {most:,} bytes together", hint)
    values: Mapping[str, object] = {"project": row.project, "digest": archive.digest, "size": archive.size}
    by = f"{KIND} {row.project}/{row.ensemble}"
    connection.execute(insert(PACKAGES).values(**values, summary=commit.summary, who=by, created=now))


def _of_source(row: Row[Any]) -> Any:
    mine = (PLANS.c.kind == KIND) & (PLANS.c.who == f"{row.project}/{row.ensemble}")
    return mine & PLANS.c.state.in_(OPEN)


def _tell(connection: Connection, row: Row[Any], plan: str, problem: str, now: float, revision: str = "") -> None:
    fields = {"plan": plan or None, "revision": revision or None, "problem": problem}
    at = f"ensemble:{row.project}/{row.ensemble}"
    tell(connection, ServerEvent(at, "source.changed", row.project, row.ensemble, fields), now)


def _deed(connection: Connection, row: Row[Any], outcome: str, detail: str, now: float) -> None:
    name = f"{row.project}/{row.ensemble}"
    deed = Deed(name, KIND, "", "", "source.follow", row.project, row.ensemble, row.id, outcome, detail[:1_000])
    write_down(connection, deed, now)
