"""Blocks that wait until something answers."""

from __future__ import annotations

import socket
from pathlib import Path

from tests.support.answering import Answering
from tests.support.blocks import Block

HTTP = "ordito.dev/lifecycle/health@v1#WaitForHttp"
TCP = "ordito.dev/lifecycle/health@v1#WaitForTcp"


def free_port() -> int:
    """A port at which nothing listens."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


def test_waits_until_all_answer(tmp_path: Path) -> None:
    """It asks each address until that answered as expected, and then no more."""
    with Answering(lambda path, number: (200 if path == "/a" or number > 3 else 503, "")) as server:
        ran = Block(HTTP, tmp_path).execute(
            {"urls": [f"{server.url}/a", f"{server.url}/b"], "interval": "10 ms", "headers": {"X-Key": "geheim"}}
        )
    assert (ran.status, ran.err) == (0, "")
    assert [request.path for request in server.asked] == ["/a", "/b", "/b", "/b"]
    assert {request.headers["X-Key"] for request in server.asked} == {"geheim"}
    assert ran.outputs["attempts"] == 3
    assert "geheim" not in ran.out


def test_says_what_did_not_answer(tmp_path: Path) -> None:
    """What was wrong with each address is said when the time is over, without what is secret in it."""
    port = free_port()
    with Answering(lambda _, __: (302, "")) as server:
        urls = [f"{server.url.replace('//', '//me:geheim@')}/a?token=geheim", f"http://127.0.0.1:{port}"]
        ran = Block(HTTP, tmp_path).execute({"urls": urls, "interval": "50 ms", "within": "100 ms"})
    assert ran.status == 1
    assert "within 0.1 s there was no answer with status 2xx" in ran.err
    assert f"{server.url}/a: it answers with status 302" in ran.err
    assert f"http://127.0.0.1:{port}: connection refused" in ran.err
    assert "geheim" not in ran.err + ran.out
    assert {request.path for request in server.asked} == {"/a?token=geheim"}


def test_one_that_never_answers(tmp_path: Path) -> None:
    """A server that takes the connection and says nothing costs no more than the time of one request."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}"
        ran = Block(HTTP, tmp_path).execute({"urls": [url], "within": "100 ms", "each": "50 ms"})
    assert ran.status == 1
    assert "it did not answer in time" in ran.err


def test_statuses_that_are_expected(tmp_path: Path) -> None:
    """Numbers and classes; others are refused as config."""
    with Answering(lambda _, __: (404, "")) as server:
        assert Block(HTTP, tmp_path).execute({"urls": [server.url], "statuses": ["200", "4xx"]}).status == 0
        wrong = Block(HTTP, tmp_path).execute({"urls": [server.url], "statuses": ["fine"]})
    assert wrong.status == 2
    assert "config, statuses: fine is no status" in wrong.err


def test_a_port(tmp_path: Path) -> None:
    """It goes on when something begins to listen."""
    port = free_port()
    process = Block(TCP, tmp_path).start({"host": "127.0.0.1", "port": port, "interval": "10 ms"})
    with socket.create_server(("127.0.0.1", port)):
        assert process.wait(60) == 0
    ran = Block(TCP, tmp_path).execute({"host": "127.0.0.1", "port": port, "within": "20 ms", "interval": "20 ms"})
    assert ran.status == 1
    assert f"nothing accepted a connection at 127.0.0.1, port {port}: connection refused" in ran.err


def test_waiting_is_undone_by_nothing(tmp_path: Path) -> None:
    """A block that only looks can be undone: there is nothing to do."""
    ran = Block(HTTP, tmp_path).undo({"urls": ["http://127.0.0.1:1"]}, {"waited": 1, "attempts": 1})
    assert (ran.status, ran.err, ran.outputs) == (0, "", {"ordito.changed": False})
