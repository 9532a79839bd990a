"""The server: how soon it is ready, how soon it answers, how soon 200 who follow hear of what happens, and what it
costs while nothing does.

Times stand beside those of bare sockets of the same run, which echo as many bytes or tell as many clients, since
machines differ.
"""

from __future__ import annotations

import json
import os
import re
import selectors
import socket
import statistics
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable
from functools import partial
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

from benchmarks.measure import ordito, python, run, verdict
from tests.support.serving import children_of

FOLLOWING = 200
ACCOUNTS = 25
ASKED = 300
API = "/api/v1"
LOOK = f"{API}/projects/default/ensembles/bench/status"

READY, READY_CPU, ANSWER, LOOKED = 1.0, 0.7, 10.0, 60.0
FIRST_HEARD, LAST_HEARD = 350.0, 400.0
TOLD, TOLD_NEARLY_ALL = 60.0, 100.0
MEMORY, MEMORY_FOLLOWED, IDLE = 130.0, 200.0, 0.5
"""Seconds, milliseconds, MiB, and percent of a core. What follows an ensemble is looked at four times a second, the
events of a job twenty times."""

RATE, RATE_SECONDS, CLIENTS = 200, 3.0, 8
"""So many requests in a second, for so long, by so many clients."""

EVENTS = 30
QUIET = 10.0
"""Seconds for which the server has nothing to do while it is looked at."""


class _Server:
    def __init__(self, home: Path, ensemble: Path) -> None:
        began = time.perf_counter()
        command = ordito("serve", str(home), "--add", str(ensemble), "--listen", "127.0.0.1:0")
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        assert self.process.stdout is not None
        found = re.match(r"Ordito serves http://(\S+):(\d+)", self.process.stdout.readline())
        assert found is not None
        self.seconds, self.cpu = time.perf_counter() - began, self.spent()
        self.place = found[1], int(found[2])
        self.link = self.process.stdout.readline().rpartition("#")[2].strip()

    def spent(self) -> float:
        """The seconds of a processor that it and its processes have had."""
        found, tick = 0.0, os.sysconf("SC_CLK_TCK")
        for process in (self.process.pid, *children_of(self.process.pid)):
            fields = Path(f"/proc/{process}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
            found += sum(map(int, fields[11:15])) / tick
        return found

    def memory(self) -> float:
        """The memory that it has, in MiB."""
        status = Path(f"/proc/{self.process.pid}/status").read_text(encoding="ascii")
        found = re.search(r"VmRSS:\s+(\d+)", status)
        assert found is not None
        return int(found[1]) / 1024

    def stop(self) -> None:
        """Stop it."""
        self.process.terminate()
        self.process.wait()


class _Client:
    def __init__(self, place: tuple[str, int], token: str = "") -> None:
        self.place = place
        self.origin = f"http://{place[0]}:{place[1]}"
        self.headers = {"Authorization": f"Bearer {token}"} if token else {"Origin": self.origin}
        self._connection = HTTPConnection(*place)

    def ask(self, method: str, path: str, body: object = None, **headers: str) -> Any:
        text = json.dumps(body) if body is not None else None
        more = {"Content-Type": "application/json"} if text else {}
        self._connection.request(method, path, text, {**self.headers, **more, **headers})
        answer = self._connection.getresponse()
        data = answer.read()
        assert answer.status < 300, data
        if cookie := answer.headers.get("Set-Cookie"):
            self.headers["Cookie"] = cookie.partition(";")[0]
        return json.loads(data) if data else None

    def following(self, topic: str = "ensemble:default/bench") -> socket.socket:
        """A socket with the events of a topic, once all that was is told."""
        found = socket.create_connection(self.place)
        head = "".join(f"{name}: {value}\r\n" for name, value in self.headers.items())
        where = f"{API}/events?topic={topic}"
        host = f"{self.place[0]}:{self.place[1]}"
        found.sendall(f"GET {where} HTTP/1.1\r\nHost: {host}\r\nAccept: text/event-stream\r\n{head}\r\n".encode())
        told = b""
        while b"stream.live" not in told:
            told = told[-100:] + found.recv(65_536)
        return found


def main() -> None:
    """Print what the server needs."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        run([*ordito("init", str(place / "app"))])
        ensemble = place / "bench"
        run([*ordito("-e", str(ensemble), "deploy", str(place / "app"), "--yes")])
        (place / "home").mkdir()
        (place / "home" / "server.yaml").write_text("limits: { requests: 100000 }\n", encoding="ascii")
        _Server(place / "home", ensemble).stop()
        server = _Server(place / "home", ensemble)
        try:
            _measure(server, ensemble)
        finally:
            server.stop()


def _measure(server: _Server, ensemble: Path) -> None:
    client = _Client(server.place)
    client.ask("POST", f"{API}/sessions", {"link": server.link})
    token = client.ask("POST", f"{API}/me/tokens", {"name": "bench"})["token"]
    admin = _Client(server.place, token)
    idle = server.memory()
    paced = _paced([_Client(server.place, token) for _ in range(CLIENTS)])
    kept = _milliseconds(lambda: admin.ask("GET", LOOK), ASKED)

    def look_anew() -> None:
        os.utime(ensemble / "ensemble.yaml")
        admin.ask("GET", LOOK)

    new = _milliseconds(look_anew, ASKED // 6)
    bare = _milliseconds(_echo(), ASKED)
    resting = _resting(server)
    clients = _followers(server, admin)
    heard, memory = _heard(server, clients, ensemble)
    told = _told(clients, next((ensemble / ".ordito" / "events").glob("*.ndjson")))
    bare_told = _bare_told()
    print("the server (median of many)")
    print(f"  ready after                    {server.seconds:7.2f} s    {verdict('ready', server.seconds, READY, 's')}")
    print(f"  which has cost                 {server.cpu:7.2f} s    {verdict('ready-cpu', server.cpu, READY_CPU, 's')}")
    print(f"  a bare socket echoes           {bare:7.2f} ms")
    print(f"  a kept answer                  {kept:7.2f} ms   {verdict('kept', kept, ANSWER, 'ms')}")
    print(f"  at {RATE} requests a second       {paced:7.2f} ms   {verdict('paced', paced, ANSWER, 'ms')}")
    print(f"  an answer by a process         {new:7.2f} ms   {verdict('looked', new, LOOKED, 'ms')}")
    print(f"  a change is heard, median      {heard[0]:7.1f} ms   {verdict('heard', heard[0], FIRST_HEARD, 'ms')}")
    print(f"  by the last of {FOLLOWING}             {heard[1]:7.1f} ms   "
          f"{verdict('heard-by-all', heard[1], LAST_HEARD, 'ms')}")  # fmt: skip
    print(f"  a bare socket tells {FOLLOWING}        {bare_told[0]:7.1f} ms   {bare_told[1]:.1f} ms for 95 %")
    print(f"  an event of a job, median      {told[0]:7.1f} ms   {verdict('told', told[0], TOLD, 'ms')}")
    print(f"  95 % of them                   {told[1]:7.1f} ms   "
          f"{verdict('told-nearly-all', told[1], TOLD_NEARLY_ALL, 'ms')}")  # fmt: skip
    print(f"  of a core while nothing is     {resting:7.2f} %    {verdict('idle', resting, IDLE, '%')}")
    print(f"  memory                         {idle:7.1f} MiB  {verdict('memory', idle, MEMORY, 'MiB')}")
    print(f"  memory with {FOLLOWING} streams        {memory:7.1f} MiB  "
          f"{verdict('memory-followed', memory, MEMORY_FOLLOWED, 'MiB')}")  # fmt: skip


def _milliseconds(do: Callable[[], object], times: int) -> float:
    found = []
    for _ in range(times):
        began = time.perf_counter()
        do()
        found.append(time.perf_counter() - began)
    return statistics.median(found) * 1_000


def _echo() -> Callable[[], object]:
    """Asks a bare process for as many bytes as a small answer has."""
    serving = (
        "import socket; s = socket.create_server(('127.0.0.1', 0)); print(s.getsockname()[1], flush=True);"
        "c, _ = s.accept()\nwhile d := c.recv(4096): c.sendall(d)"
    )
    process = subprocess.Popen([python(), "-c", serving], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    asking = socket.create_connection(("127.0.0.1", int(process.stdout.readline())))

    def ask() -> bytes:
        asking.sendall(b"x" * 400)
        return asking.recv(4_096)

    return ask


def _resting(server: _Server) -> float:
    """How much of a core it takes while nothing happens, in percent."""
    before, began = server.spent(), time.perf_counter()
    time.sleep(QUIET)
    return 100 * (server.spent() - before) / (time.perf_counter() - began)


def _paced(clients: list[_Client]) -> float:
    """Milliseconds until a kept answer is there, while so many come each second."""
    found: list[float] = []
    begin, each = time.perf_counter(), len(clients) / RATE

    def ask(number: int) -> None:
        due = begin + number / RATE
        while due < begin + RATE_SECONDS:
            time.sleep(max(0.0, due - time.perf_counter()))
            # From when it was due: who comes late waits too.
            clients[number].ask("GET", LOOK)
            found.append(time.perf_counter() - due)
            due += each

    _at_once([partial(ask, number) for number in range(len(clients))])
    return statistics.median(found) * 1_000


def _at_once(does: list[Callable[[], None]]) -> None:
    threads = [threading.Thread(target=do) for do in does]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def _followers(server: _Server, admin: _Client) -> list[_Client]:
    """Clients of as many accounts as are needed for so many streams."""
    bindings = [{"kind": "user", "who": admin.ask("GET", f"{API}/me")["name"], "role": "owner"}]
    project = f"{API}/projects/default"
    for number in range(ACCOUNTS):
        name = f"follower-{number}"
        admin.ask("POST", f"{project}/accounts", {"name": name})
        bindings.append({"kind": "account", "who": name, "role": "viewer"})
    admin.ask("PUT", f"{project}/bindings", {"bindings": bindings}, **{"If-Match": "*"})
    return [
        _Client(server.place, admin.ask("POST", f"{project}/accounts/follower-{number}/tokens", {"name": "b"})["token"])
        for number in range(ACCOUNTS)
    ]


def _heard(server: _Server, clients: list[_Client], ensemble: Path) -> tuple[tuple[float, float], float]:
    """After how many milliseconds a change is heard by half and by all of those who follow, and the memory then."""
    followers = [client.following() for client in clients for _ in range(FOLLOWING // ACCOUNTS)]
    memory = server.memory()
    found = _latencies(followers, lambda: os.utime(ensemble / "ensemble.yaml"))
    for one in followers:
        one.close()
    return (statistics.median(found), max(found)), memory


def _told(clients: list[_Client], events: Path) -> tuple[float, float]:
    """Milliseconds until those who follow a job hear of an event that was written: the median, and for 95 %."""
    topic = f"job:default/bench/{events.stem}"
    followers = [client.following(topic) for client in clients for _ in range(FOLLOWING // ACCOUNTS)]
    line = json.dumps({"type": "instance.state", "job": events.stem, "instance": "none", "state": "started", "n": 99})
    found: list[float] = []
    with events.open("ab", buffering=0) as file:
        for number in range(EVENTS):
            # At any moment between two looks at the file.
            time.sleep(0.1 + number * 0.05 / EVENTS)
            found += _latencies(followers, lambda: file.write(line.encode() + b"\n"))
    for one in followers:
        one.close()
    return _half_and_most(found)


def _bare_told() -> tuple[float, float]:
    """The same of a bare process that writes as many bytes to as many sockets as soon as it hears of something."""
    serving = (
        "import socket, sys; s = socket.create_server(('127.0.0.1', 0), backlog=500)\n"
        "print(s.getsockname()[1], flush=True); all = [s.accept()[0] for _ in range(int(sys.argv[1]))]\n"
        "while sys.stdin.readline():\n for one in all: one.sendall(b'x' * 300)"
    )
    command = [python(), "-c", serving, str(FOLLOWING)]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdin is not None
    assert process.stdout is not None
    place = "127.0.0.1", int(process.stdout.readline())
    followers = [socket.create_connection(place) for _ in range(FOLLOWING)]
    found: list[float] = []

    def tell() -> None:
        assert process.stdin is not None
        process.stdin.write("\n")
        process.stdin.flush()

    for _ in range(EVENTS):
        found += _latencies(followers, tell)
    process.stdin.close()
    process.wait()
    for one in followers:
        one.close()
    return _half_and_most(found)


def _half_and_most(found: list[float]) -> tuple[float, float]:
    return statistics.median(found), sorted(found)[int(0.95 * len(found))]


def _latencies(followers: list[socket.socket], do: Callable[[], object]) -> list[float]:
    """Milliseconds until each of the followers has heard of something that is done."""
    found = []
    with selectors.DefaultSelector() as waiting:
        for one in followers:
            waiting.register(one, selectors.EVENT_READ)
        began = time.perf_counter()
        do()
        while waiting.get_map():
            for key, _ in waiting.select():
                heard = key.fileobj.recv(65_536)  # type: ignore[union-attr]
                # A comment says that there is nothing.
                if heard.strip(b": \n"):
                    found.append((time.perf_counter() - began) * 1_000)
                    waiting.unregister(key.fileobj)
    return found
