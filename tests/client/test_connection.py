"""What the command says of a server that it does not reach, and how it asks again."""

from __future__ import annotations

import json
import shutil
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from ordito.cli.main import run
from ordito.client.connection import ServerConnection
from ordito.client.errors import ServerError
from tests.support.serving import Client


class Door(BaseHTTPRequestHandler):
    """Answers what the test has put down, in order; ``None`` closes the connection without an answer."""

    answers: list[tuple[int, dict[str, str], bytes] | None]
    seen: list[dict[str, Any]]

    def answer(self) -> None:
        length = int(self.headers.get("Content-Length", 0))
        line = {"method": self.command, "path": self.path, "body": self.rfile.read(length), **dict(self.headers)}
        self.seen.append(line)
        found = self.answers.pop(0)
        if found is None:
            self.connection.shutdown(socket.SHUT_RDWR)
            return
        status, headers, body = found
        self.send_response(status)
        for name, value in {"Content-Length": str(len(body)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    do_GET = do_POST = do_DELETE = answer  # noqa: N815

    def log_message(self, *args: Any) -> None:
        """Say nothing."""


@pytest.fixture
def door() -> Iterator[tuple[str, type[Door]]]:
    kind = type("OneDoor", (Door,), {"answers": [], "seen": []})
    server = ThreadingHTTPServer(("127.0.0.1", 0), kind)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}", kind
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


JSON = {"Content-Type": "application/json"}
PROBLEM = {"Content-Type": "application/problem+json"}


def test_a_lost_answer_is_asked_for_again_with_the_same_key(door: tuple[str, type[Door]]) -> None:
    url, there = door
    busy = json.dumps({"code": "busy", "detail": "no", "hint": ""}).encode()
    there.answers += [None, (503, {**PROBLEM, "Retry-After": "0"}, busy), (201, JSON, b'{"id": 1}')]
    assert ServerConnection(url, "secret").do("POST", "/things", dict[str, int], {"name": "x"}) == {"id": 1}
    keys = {line["Idempotency-Key"] for line in there.seen}
    assert (len(there.seen), len(keys)) == (3, 1)
    assert {line["Authorization"] for line in there.seen} == {"Bearer secret"}


def test_what_is_gone_after_a_lost_answer_was_removed(door: tuple[str, type[Door]]) -> None:
    url, there = door
    gone = json.dumps({"code": "unknown-token", "detail": "no", "hint": ""}).encode()
    there.answers += [None, (404, PROBLEM, gone), (404, PROBLEM, gone)]
    assert ServerConnection(url).ask("DELETE", "/things/1").status == 204
    with pytest.raises(ServerError) as refused:
        ServerConnection(url).ask("DELETE", "/things/1")
    assert refused.value.failure.code == "unknown-token"


def test_a_token_is_not_sent_elsewhere(door: tuple[str, type[Door]]) -> None:
    url, there = door
    there.answers += [(302, {"Location": "http://127.0.0.1:1/"}, b"")]
    with pytest.raises(ServerError) as refused:
        ServerConnection(url, "secret").ask("GET", "/me")
    assert refused.value.failure.code == "unreachable-server"
    assert len(there.seen) == 1


@pytest.mark.parametrize("body", [b"<html>hello</html>", b"{}", b'{"name": 1}'])
def test_another_server_is_no_server_of_ordito(
    door: tuple[str, type[Door]], body: bytes, capsys: pytest.CaptureFixture[str]
) -> None:
    url, there = door
    there.answers += [(200, {"Content-Type": "text/html"}, body)] * 2
    assert run(["--server", url, "-e", "shop", "status"]) == 10
    said = capsys.readouterr().err
    assert "unreachable-server" in said
    assert "Traceback" not in said


def test_a_server_that_does_not_run(capsys: pytest.CaptureFixture[str]) -> None:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{one.getsockname()[1]}"
        assert run(["--server", url, "-e", "shop", "-o", "json", "status"]) == 10
    error = json.loads(capsys.readouterr().out)["error"]
    assert error["code"] == "unreachable-server"
    assert error["message"] == f"the server {url} is not reached: Connection refused"


@pytest.mark.parametrize(
    "url", ["http://example.org", "https://u:p@example.org", "ftp://example.org", "https://", "http://[", "nowhere"]
)
def test_servers_that_are_not_named_as_they_must_be(url: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["--server", url, "-o", "json", "status"]) == 3
    error = json.loads(capsys.readouterr().out)["error"]
    assert error["code"] == "bad-server"
    assert error["hint"]
    assert ":p@" not in error["message"]


def test_who_is_not_signed_in(
    admin: Client, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert run(["--server", admin.url, "-e", "shop", "-o", "json", "status"]) == 10
    assert json.loads(capsys.readouterr().out)["error"]["code"] == "signed-out"
    monkeypatch.setenv("ORDITO_TOKEN", "ordito_u_wrong")
    assert run(["--server", admin.url, "-e", "shop", "-o", "json", "status"]) == 10
    assert json.loads(capsys.readouterr().out)["error"]["code"] == "expired"


def test_who_names_no_server_does_not_pay_for_it(shop: Path) -> None:
    code = (
        "import sys; from ordito.cli.main import run; assert run(['-q', 'status']) == 0;"
        "assert run(['-q', 'stop', 'web', '-y', '--no-input']) == 0;"
        "sys.exit(sum(name.split('.')[0] == 'urllib3' or name == 'ordito.client.connection' for name in sys.modules))"
    )
    directory = shop.parent.parent / "unpaid"
    shutil.copytree(shop.parent, directory)
    done = subprocess.run([sys.executable, "-c", code], cwd=directory / "shop", capture_output=True, check=False)
    assert done.returncode == 0, done
