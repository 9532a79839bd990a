"""Real servers for tests: processes of their own on loopback, each stopped by its process id."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Generator, Mapping
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import urlencode

import msgspec
import urllib3

from tests.support import forked
from tests.support.forked import Running

API = "/api/v1"
SECONDS = 60

ANY_PORT = "127.0.0.1:0"
MANY_REQUESTS = "limits: { requests: 100000, unknown: 100000 }\n"


class Answer(msgspec.Struct, frozen=True):
    """What a server answered."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def data(self) -> Any:
        """Its JSON."""
        return json.loads(self.body) if self.body else None


DATABASES: dict[Path, str] = {}
"""The PostgreSQL of a home, for servers that are not to have a database of their own: what its folder is below."""

Events = Generator[dict[str, Any], None, None]


class Client:
    """Asks a server, with a token or without."""

    def __init__(self, url: str, token: str = "") -> None:
        self.url = url
        self.token = token
        self._pool = urllib3.PoolManager(retries=False, timeout=urllib3.Timeout(SECONDS))

    def with_token(self, token: str) -> Client:
        """Another one, with another token."""
        return Client(self.url, token)

    def ask(
        self, method: str, path: str, body: object = None, headers: Mapping[str, str] | None = None, **query: Any
    ) -> Answer:
        """Ask, and read the whole answer. A path that does not begin with / is one of the API."""
        more = {"Authorization": f"Bearer {self.token}"} if self.token else {}
        text = None
        if body is not None:
            text, more["Content-Type"] = json.dumps(body).encode(), "application/json"
        where = self.url + (path if path.startswith("/") else f"{API}/{path}")
        where += f"?{_query(query)}" if query else ""
        found = self._pool.request(method, where, body=text, headers={**more, **(headers or {})})
        return Answer(found.status, found.headers, found.data)

    def get(self, path: str, **query: Any) -> Any:
        """The data at a path."""
        found = self.ask("GET", path, **query)
        assert found.status == 200, found
        return found.data

    def do(self, method: str, path: str, body: object = None, headers: Mapping[str, str] | None = None) -> Any:
        """The data after a change that succeeds."""
        found = self.ask(method, path, body, headers)
        assert found.status in (200, 201, 202, 204), found
        return found.data

    def stream(self, *topics: str, after: str = "", accept: str = "application/x-ndjson") -> Events:
        """The events of topics, as long as they are taken."""
        headers = {"Accept": accept, "Authorization": f"Bearer {self.token}"}
        where = f"{self.url}{API}/events?{_query({'topic': topics, **({'after': after} if after else {})})}"
        found = self._pool.request("GET", where, headers=headers, preload_content=False)
        assert found.status == 200, found.data
        try:
            rest = b""
            for piece in found.read_chunked():
                *lines, rest = (rest + piece).split(b"\n")
                yield from (json.loads(line) for line in lines if line)
        finally:
            found.close()


def _query(query: Mapping[str, Any]) -> str:
    return urlencode(query, doseq=True)


SERVER = ("ordito.server",)


class Served:
    """A server that runs. Unless it has an environment or a program of its own, or is to begin ``apart``, as those of
    users do, it is forked from a process that has imported what it needs."""

    def __init__(
        self,
        home: Path,
        *ensembles: Path,
        settings: str = MANY_REQUESTS,
        listen: str = "127.0.0.1:0",
        program: tuple[str, ...] = SERVER,
        environment: Mapping[str, str] | None = None,
        words: tuple[str, ...] = (),
        apart: bool = False,
    ) -> None:
        home.mkdir(parents=True, exist_ok=True)
        if settings:
            settings += "".join(
                f"database: {found}\n" for place, found in DATABASES.items() if home.is_relative_to(place)
            )
            (home / "server.yaml").write_text(settings)
        self.home = home
        served = [word for path in ensembles for word in ("--ensemble", str(path))]
        arguments = [str(home), "--listen", listen, *served, *words]
        command = [sys.executable, "-m", *program, *arguments]
        self.log = home / "server.log"
        self.process: Running | subprocess.Popen[str]
        with self.log.open("ab") as log:
            if apart or program != SERVER or environment is not None:
                self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log, text=True, env=environment)
            else:
                self.process = forked.serve(log, arguments)
        assert self.process.stdout is not None
        first = self.process.stdout.readline()
        found = re.match(r"Ordito serves (\S+)", first)
        assert found, first + self.log.read_text()
        self.url = found[1]
        self._link = ""

    @property
    def link(self) -> str:
        """The secret of the link that it has printed."""
        assert self.process.stdout is not None
        self._link = self._link or self.process.stdout.readline().rpartition("#")[2].strip()
        return self._link

    def admin(self) -> Client:
        """Its first user, with a token."""
        pool = urllib3.PoolManager(retries=False, timeout=urllib3.Timeout(SECONDS))
        headers = {"Content-Type": "application/json", "Origin": self.url}
        body = json.dumps({"link": self.link}).encode()
        signed_in = pool.request("POST", f"{self.url}{API}/sessions", body=body, headers=headers)
        assert signed_in.status == 201, signed_in.data
        headers["Cookie"] = signed_in.headers["Set-Cookie"].partition(";")[0]
        made = pool.request("POST", f"{self.url}{API}/me/tokens", body=b'{"name": "test"}', headers=headers)
        assert made.status == 201, made.data
        return Client(self.url, json.loads(made.data)["token"])

    def stop(self, sign: int = signal.SIGTERM) -> int:
        """Stop it, and give its exit code."""
        self.process.send_signal(sign)
        return self.process.wait(SECONDS)

    def __enter__(self) -> Served:
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.stop()
        assert self.process.stdout is not None
        self.process.stdout.close()


T = TypeVar("T")


def until(ask: Callable[[], T], fits: Callable[[T], bool]) -> T:
    """The first answer that fits; asks again and again, as a client would, for a minute at most."""
    end = time.monotonic() + SECONDS
    while not fits(found := ask()):
        assert time.monotonic() < end, found
    return found


def children_of(process: int) -> list[int]:
    """The processes that a process has started and that still run."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            try:
                text = (entry / "stat").read_bytes()
            except OSError:
                continue
            state, parent = text.rpartition(b")")[2].split()[:2]
            if int(parent) == process and state != b"Z":
                found.append(int(entry.name))
    return found


def is_gone(process: int) -> bool:
    """Whether a process has ended."""
    try:
        return Path(f"/proc/{process}/stat").read_bytes().rpartition(b")")[2].split()[0] == b"Z"
    except OSError:
        return True


def environment_of(process: int) -> dict[str, str]:
    """The environment variables with which a process was started."""
    lines = Path(f"/proc/{process}/environ").read_bytes().split(b"\0")
    return dict(line.decode().split("=", 1) for line in lines if line)
