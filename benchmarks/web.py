"""The server: how soon it is ready, how soon it answers, and how soon 200 who follow an ensemble hear of a change.

Times of answers stand beside those of a bare socket that echoes as many bytes in the same run, since machines differ.
"""

from __future__ import annotations

import json
import os
import re
import socket
import statistics
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

from benchmarks.measure import ordito, python, run, verdict

FOLLOWING = 200
ACCOUNTS = 25
ASKED = 300
API = "/api/v1"
LOOK = f"{API}/projects/default/ensembles/bench/status"

READY, ANSWER, LOOKED = 1.0, 10.0, 60.0
FIRST_HEARD, LAST_HEARD = 350.0, 400.0
MEMORY, MEMORY_FOLLOWED = 130.0, 200.0
"""Seconds, milliseconds and MiB. What follows an ensemble is looked at four times a second."""


class _Server:
    def __init__(self, home: Path, ensemble: Path) -> None:
        began = time.perf_counter()
        command = ordito("serve", str(home), "--add", str(ensemble), "--listen", "127.0.0.1:0")
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        assert self.process.stdout is not None
        found = re.match(r"Ordito serves http://(\S+):(\d+)", self.process.stdout.readline())
        assert found is not None
        self.seconds = time.perf_counter() - began
        self.place = found[1], int(found[2])
        self.link = self.process.stdout.readline().rpartition("#")[2].strip()

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

    def following(self) -> socket.socket:
        """A socket with the events of the ensemble, once all that was is told."""
        found = socket.create_connection(self.place)
        head = "".join(f"{name}: {value}\r\n" for name, value in self.headers.items())
        where = f"{API}/events?topic=ensemble:default/bench"
        host = f"{self.place[0]}:{self.place[1]}"
        found.sendall(f"GET {where} HTTP/1.1\r\nHost: {host}\r\nAccept: text/event-stream\r\n{head}\r\n".encode())
        told = b""
        while b"stream.live" not in told:
            told += found.recv(4_096)
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
    kept = _milliseconds(lambda: admin.ask("GET", LOOK), ASKED)

    def look_anew() -> None:
        os.utime(ensemble / "ensemble.yaml")
        admin.ask("GET", LOOK)

    new = _milliseconds(look_anew, ASKED // 6)
    bare = _milliseconds(_echo(), ASKED)
    heard, memory = _heard(server, admin, ensemble)
    print("the server (median of many)")
    print(f"  ready after                    {server.seconds:7.2f} s    {verdict('ready', server.seconds, READY, 's')}")
    print(f"  a bare socket echoes           {bare:7.2f} ms")
    print(f"  a kept answer                  {kept:7.2f} ms   {verdict('kept', kept, ANSWER, 'ms')}")
    print(f"  an answer by a process         {new:7.2f} ms   {verdict('looked', new, LOOKED, 'ms')}")
    print(f"  a change is heard, median      {heard[0]:7.1f} ms   {verdict('heard', heard[0], FIRST_HEARD, 'ms')}")
    print(f"  by the last of {FOLLOWING}             {heard[1]:7.1f} ms   "
          f"{verdict('heard-by-all', heard[1], LAST_HEARD, 'ms')}")  # fmt: skip
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


def _heard(server: _Server, admin: _Client, ensemble: Path) -> tuple[tuple[float, float], float]:
    """After how many milliseconds a change is heard by half and by all of those who follow, and the memory then."""
    followers: list[socket.socket] = []
    bindings = [{"kind": "user", "who": admin.ask("GET", f"{API}/me")["name"], "role": "owner"}]
    project = f"{API}/projects/default"
    for number in range(ACCOUNTS):
        name = f"follower-{number}"
        admin.ask("POST", f"{project}/accounts", {"name": name})
        bindings.append({"kind": "account", "who": name, "role": "viewer"})
    admin.ask("PUT", f"{project}/bindings", {"bindings": bindings}, **{"If-Match": "*"})
    for number in range(ACCOUNTS):
        where = f"{project}/accounts/follower-{number}/tokens"
        client = _Client(server.place, admin.ask("POST", where, {"name": "bench"})["token"])
        followers += [client.following() for _ in range(FOLLOWING // ACCOUNTS)]
    memory, heard = server.memory(), []
    lock = threading.Lock()

    def listen(one: socket.socket) -> None:
        one.recv(4_096)
        with lock:
            heard.append(time.perf_counter())

    threads = [threading.Thread(target=listen, args=(one,)) for one in followers]
    for thread in threads:
        thread.start()
    began = time.perf_counter()
    os.utime(ensemble / "ensemble.yaml")
    for thread in threads:
        thread.join()
    for one in followers:
        one.close()
    found = [(moment - began) * 1_000 for moment in heard]
    return (statistics.median(found), max(found)), memory
