"""Isolation: a fork server for each project, inside of bubblewrap, in which nothing of other projects is to be seen.

What is visible there is listed, all else does not exist: the system and Ordito, to be read; the ensembles of the
project, to be written; its packages and SSH keys. It has processes and a folder for temporary files of its own, and no
capabilities. The fork server is its first process, so everything in it ends with it.
"""

from __future__ import annotations

import asyncio
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import msgspec
from sqlalchemy import Connection, select

import ordito
from ordito.server.database.database import Database
from ordito.server.database.tables import ENSEMBLES, PACKAGES
from ordito.server.processes.calls import Kill, Request
from ordito.server.processes.link import ForkLink, GivenToChildren
from ordito.server.refused import ServerRefused

NONE, BUBBLEWRAP = "none", "bubblewrap"
PROGRAM = "bwrap"

SYSTEM = (
    *("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/etc", "/nix/store"),
    # Where the addresses of name servers are, on systems that make them anew.
    "/run/systemd/resolve",
)
OWN_HOME = "/tmp/home"
MOST = 16
"""How many fork servers are kept without having anything to do."""

PATIENCE = 20.0


class Visible(msgspec.Struct, frozen=True):
    """What can be seen in a sandbox besides the system; ``name`` is that of its project."""

    name: str
    writable: tuple[str, ...] = ()
    readable: tuple[str, ...] = ()
    hidden: tuple[str, ...] = ()
    """Folders that lie in visible ones, and are empty in the sandbox."""


def program_paths(home: Path) -> list[str]:
    """The folders from which this program runs. None of them holds the home of the server."""
    found = {sys.prefix, sys.base_prefix, *(str(Path(place).parent) for place in ordito.__path__)}
    found.update(path for path in sys.path if path and Path(path).exists())
    return sorted(path for path in found if not home.is_relative_to(path))


def words(visible: Visible, home: Path) -> tuple[str, ...]:
    """The beginning of a command that runs in a sandbox."""

    def parts() -> Iterator[str]:
        yield from (PROGRAM, "--unshare-pid", "--unshare-ipc", "--as-pid-1", "--cap-drop", "ALL")
        for path in SYSTEM:
            yield from ("--ro-bind-try", path, path)
        yield from ("--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp", "--dir", OWN_HOME, "--dir", "/var/tmp")
        for path in program_paths(home):
            yield from ("--ro-bind-try", path, path)
        seen = [("--ro-bind-try", path, path) for path in visible.readable]
        seen += [("--bind-try", path, path) for path in visible.writable]
        inside = [bind for bind in seen if Path(bind[1]).is_relative_to(home)]
        for bind in (bind for bind in seen if bind not in inside):
            yield from bind
        roots = [*SYSTEM, *program_paths(home), *(bind[1] for bind in seen if bind not in inside)]
        for path in (str(home), *visible.hidden):
            if any(Path(path).resolve().is_relative_to(Path(root).resolve()) for root in roots):
                yield from ("--tmpfs", path)
        for bind in inside:
            yield from bind
        yield from ("--chdir", "/", "--")

    return tuple(parts())


def refuse_without_sandbox(home: Path) -> None:
    """Raise ``ServerRefused`` where there is no bubblewrap, or this machine does not let it work."""
    if shutil.which(PROGRAM) is None:
        hint = "install the package bubblewrap, or write `isolation: none`"
        raise ServerRefused(f"isolation: bubblewrap: there is no program {PROGRAM} on the path", hint)
    command = [*words(Visible("try"), home), "/bin/sh", "-c", "exit 0"]
    try:
        tried = subprocess.run(command, capture_output=True, timeout=PATIENCE, check=False, stdin=subprocess.DEVNULL)
        said = tried.stderr.decode("utf-8", "replace").strip().splitlines()[-1:] if tried.returncode else []
        failed = bool(tried.returncode)
    except (OSError, subprocess.TimeoutExpired) as error:
        failed, said = True, [str(error)]
    if failed:
        hint = "the kernel has to let this user make name spaces (user namespaces); or write `isolation: none`"
        raise ServerRefused(f"isolation: bubblewrap cannot be used here: {' '.join(said)}", hint)


def visible_for(connection: Connection, directory: str, home: Path) -> Visible:
    """What a process may see that works for an ensemble, or looks at a package."""
    project = connection.execute(select(ENSEMBLES.c.project).where(ENSEMBLES.c.directory == directory)).scalar()
    packages, projects = home / "packages", home / "projects"
    if project is None and Path(directory).is_relative_to(projects) and directory != str(projects):
        # One that is being made.
        project = Path(directory).relative_to(projects).parts[0]
    if project is None:
        if Path(directory).is_relative_to(packages):
            # Looks at archives run nothing.
            return Visible("(packages)", readable=(str(packages),))
        return Visible(directory, writable=(directory,))
    own = projects / project
    known = connection.execute(select(ENSEMBLES.c.directory, ENSEMBLES.c.reads).where(ENSEMBLES.c.project == project))
    places = known.all()
    elsewhere = sorted(row.directory for row in places if not Path(row.directory).is_relative_to(own))
    services = sorted({row.reads for row in places if row.reads})
    digests = connection.execute(select(PACKAGES.c.digest).where(PACKAGES.c.project == project)).scalars()
    archives = sorted(str(packages / digest[:2] / f"{digest}.csar") for digest in digests)
    keys = str(home / "keys" / project)
    others = connection.execute(select(ENSEMBLES.c.directory).where(ENSEMBLES.c.project != project)).scalars()
    hidden = sorted(place for place in others if not Path(place).is_relative_to(home))
    return Visible(project, (str(own), *elsewhere), (*services, *archives, keys), tuple(hidden))


class SandboxedLinks(ForkLink):
    """Connections to the fork servers of all projects, used as if they were one. Each is started when it is needed, and
    once more when its project can see something else."""

    def __init__(self, inherited: GivenToChildren, home: Path, look: Callable[[str], Visible]) -> None:
        """``look`` says what may be seen by those who work for an ensemble in a directory."""
        kept = {name: value for name, value in inherited.variables.items() if name != "TMPDIR"}
        super().__init__(inherited._replace(variables={**kept, "HOME": OWN_HOME}))
        self._home = home
        self._look = look
        self._links: dict[Visible, ForkLink] = {}
        self._of: dict[int, ForkLink] = {}
        """The links of children that have not ended, by their numbers."""

        self._old: list[ForkLink] = []

    @property
    def is_alive(self) -> bool:
        """Whether it can be asked: a fork server that has died is started anew when it is needed."""
        return True

    def start(self) -> None:
        """Start nothing yet."""

    async def stop(self, patience: float, *, leaves: bool) -> None:
        """Let no child begin any more, and end all fork servers."""
        links = [*self._links.values(), *self._old]
        await asyncio.gather(*(link.stop(patience, leaves=leaves) for link in links))

    def ask(self, request: Request, handles: tuple[int, ...]) -> asyncio.Future[int]:
        """Ask the fork server of a project for a child."""
        if isinstance(request, Kill):
            raise ValueError(f"{request} asks for no child")
        link = self._link_for(request.directory)
        ended = link.ask(request, handles)
        self._of[request.number] = link
        ended.add_done_callback(lambda _: self._of.pop(request.number, None))
        return ended

    def kill(self, number: int) -> None:
        """End a child that answers a query."""
        if number in self._of:
            self._of[number].kill(number)

    def forget(self, number: int) -> None:
        """Nobody waits for a child any more."""
        link = self._of.pop(number, None)
        if link is not None:
            link.forget(number)

    def _link_for(self, directory: str) -> ForkLink:
        visible = self._look(directory)
        link = self._links.pop(visible, None)
        if link is None:
            if visible.name not in ("(packages)", directory):
                (self._home / "projects" / visible.name).mkdir(mode=0o700, parents=True, exist_ok=True)
            link = ForkLink(self._inherited, words(visible, self._home))
            for known in [known for known in self._links if known.name == visible.name]:
                self._old.append(self._links.pop(known))
        # The one that was used last is the last one.
        self._links[visible] = link
        self._retire()
        return link

    def _retire(self) -> None:
        """Close connections that are not needed: their fork servers end after their last child."""
        busy = set(self._of.values())
        idle = [known for known, link in self._links.items() if link not in busy]
        for known in idle[: max(0, len(self._links) - MOST)]:
            self._old.append(self._links.pop(known))
        for link in self._old:
            if link not in busy:
                link.close()
        self._old = [link for link in self._old if link in busy or link.is_alive]


def sandboxed(
    database: Database, home: Path, inherited: GivenToChildren, reads: tuple[str, ...] = ()
) -> SandboxedLinks:
    """The fork servers of a server whose projects are isolated from each other; all of them may read the folders
    ``reads``. Raises ``ServerRefused``."""
    refuse_without_sandbox(home)

    kept: dict[str, Visible] = {}
    made_of = database.versions(ENSEMBLES, PACKAGES)

    def look(directory: str) -> Visible:
        # Each question has a process, and all that is asked waits here: nothing is read while nothing changes.
        nonlocal made_of
        if (now := database.versions(ENSEMBLES, PACKAGES)) != made_of:
            kept.clear()
            made_of = now
        if directory not in kept:
            found = database.read_now(partial(visible_for, directory=directory, home=home))
            kept[directory] = msgspec.structs.replace(found, readable=(*found.readable, *reads))
        return kept[directory]

    return SandboxedLinks(inherited, home, look)
