"""The block that looks at endpoints; databases are looked at in `test_postgres.py`."""

from __future__ import annotations

import socket
from pathlib import Path

from tests.support.answering import Answering
from tests.support.blocks import Block

FQN = "ordito.dev/lifecycle/test@v1#SmokeTest"


def answer(path: str, _number: int) -> tuple[int, str]:
    """Pages of a shop."""
    return {"/ok": (200, "größer"), "/away": (302, ""), "/slow": (503, "")}.get(path, (404, "no"))


def test_all_as_expected(tmp_path: Path) -> None:
    """Statuses, bodies, ports, and headers that stay secret."""
    with Answering(answer) as server, socket.create_server(("127.0.0.1", 0)) as port:
        endpoints = [
            {"url": f"{server.url}/ok", "body": "größ.r$", "headers": {"Authorization": "geheim"}},
            {"url": f"{server.url}/away", "statuses": ["302"]},
            {"url": f"{server.url}/none?geheim", "statuses": ["2xx", "404"]},
            {"url": f"tcp://127.0.0.1:{port.getsockname()[1]}"},
        ]
        ran = Block(FQN, tmp_path).execute({"endpoints": endpoints})
    assert (ran.status, ran.err, ran.outputs) == (0, "", {"checked": 4})
    assert server.asked[0].headers["Authorization"] == "geheim"
    assert "geheim" not in ran.out


def test_every_failure_is_told(tmp_path: Path) -> None:
    """Not only the first one; and those that fail are looked at again as often as the config says."""
    with Answering(answer) as server:
        endpoints = [
            {"url": f"{server.url}/ok", "body": "kleiner"},
            {"url": f"{server.url}/slow"},
            {"url": f"{server.url}/ok"},
            {"url": "tcp://127.0.0.1:1"},
            {"url": "http://127.0.0.1:1/x"},
        ]
        ran = Block(FQN, tmp_path).execute({"endpoints": endpoints, "attempts": 2, "interval": "1 ms"})
    assert ran.status == 1
    assert ran.err.splitlines() == [
        f"{server.url}/ok: nothing in its body is as kleiner",
        f"{server.url}/slow: it answers with status 503, not 2xx",
        "tcp://127.0.0.1:1: connection refused: nothing listens there",
        "http://127.0.0.1:1/x: connection refused: nothing listens there",
        "SmokeTest: 4 of 5 endpoints do not answer as they should",
    ]
    assert [request.path for request in server.asked] == ["/ok", "/slow", "/ok", "/ok", "/slow"]


def test_endpoints_that_are_refused(tmp_path: Path) -> None:
    """What cannot be looked at is told before anything is."""
    for endpoint, said in (
        ({"url": "ftp://x"}, "endpoints[0]: url is no address that can be looked at"),
        ({"url": "tcp://x"}, "endpoints[0]: url names no port"),
        ({"url": "http://x", "body": "("}, "endpoints[0]: body is no pattern"),
        ({"url": "tcp://x:1", "body": "x"}, "endpoints[0]: body has no meaning for tcp://"),
        ({"url": "http://x", "statuses": ["ok"]}, "endpoints[0]: ok is no status"),
    ):
        ran = Block(FQN, tmp_path).execute({"endpoints": [endpoint]})
        assert ran.status == 2
        assert said in ran.err
