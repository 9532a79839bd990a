"""What a stranger, a hostile ensemble or a broken disk may do to a server, and what it says then."""

from __future__ import annotations

import os
import random
import resource
import socket
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.server.conftest import deployed
from tests.server.test_packages import send, shop
from tests.support.serving import MANY_REQUESTS, Client, Served, until

SHOP = "projects/default/ensembles/shop"


class Attacked:
    """A server with an ensemble."""

    def __init__(self, place: Path, server: Served) -> None:
        self.place = place
        self.shop = place / "shop"
        self.server = server
        self.client = server.admin()


@pytest.fixture
def attacked(tmp_path: Path) -> Iterator[Attacked]:
    deployed(tmp_path)
    with Served(tmp_path / "home", tmp_path / "shop", settings=f"{MANY_REQUESTS}reads: [ .. ]\n") as server:
        yield Attacked(tmp_path, server)


def _fifo(path: Path) -> None:
    os.mkfifo(path)


def _device(path: Path) -> None:
    path.symlink_to("/dev/zero")


def _folder(path: Path) -> None:
    path.mkdir()


def _link(path: Path) -> None:
    path.symlink_to("/etc/hostname")


def _noise(path: Path) -> None:
    path.write_bytes(b"\xff\xfe{{{")


@pytest.mark.parametrize("put", [_fifo, _device, _folder, _link, _noise])
@pytest.mark.parametrize("name", ["ensemble.yaml", ".ordito/lock", ".ordito/journal.db", "jobs.tsv"])
def test_what_is_no_file_of_an_ensemble_is_said_without_places(
    attacked: Attacked, name: str, put: Callable[[Path], None]
) -> None:
    """Nothing waits for ever, nothing is a fault, and who asks learns nothing of the server's machine."""
    client, path = attacked.client, attacked.shop / name
    path.unlink(missing_ok=True)
    put(path)
    for asked in (SHOP, f"{SHOP}/status", f"{SHOP}/jobs", f"{SHOP}/jobs/latest", f"{SHOP}/spec", "ensembles", "jobs"):
        found = client.ask("GET", asked)
        assert found.status < 500, (asked, found)
        assert str(attacked.place).encode() not in found.body, (asked, found)
    plan = client.do("POST", f"{SHOP}/plans", {"request": {"workflow": "restart", "all": True}}, {"Prefer": "wait=30"})
    assert str(attacked.place) not in str(plan)
    assert client.ask("GET", "/healthz").status == 200
    assert "Traceback" not in attacked.server.log.read_text()


def _raw(client: Client, data: bytes, seconds: float = 60.0) -> bytes:
    """What is answered to some bytes, until the server closes the connection."""
    host, _, port = client.url.removeprefix("http://").partition(":")
    with socket.create_connection((host, int(port)), timeout=seconds) as connection:
        connection.sendall(data)
        found = b""
        while piece := connection.recv(65_536):
            found += piece
        return found


def _head(client: Client, method: str, path: str, *more: str) -> bytes:
    host = client.url.removeprefix("http://")
    lines = (f"{method} {path} HTTP/1.1", f"Host: {host}", f"Authorization: Bearer {client.token}", *more, "", "")
    return "\r\n".join(lines).encode("latin-1")


def test_heads_have_bounds(served: Served, admin: Client) -> None:
    for path, header in (("/api/v1", "X-Long: " + "a" * 40_000), (f"/api/v1/me?{'a' * 9_000}", "X-Short: a")):
        found = _raw(admin, _head(admin, "GET", path, header, "Connection: close"))
        assert found.startswith((b"HTTP/1.1 413", b"HTTP/1.1 400")), found[:200]
    assert admin.get("me")


def test_who_sends_nothing_or_half_a_head_is_closed(served: Served, admin: Client) -> None:
    """Within half a minute, so that descriptors are not taken for ever; one that asks is answered meanwhile."""
    host, _, port = admin.url.removeprefix("http://").partition(":")
    begun = [socket.create_connection((host, int(port)), timeout=40) for _ in range(20)]
    for number, connection in enumerate(begun):
        connection.sendall((b"", b"GET /api/v1 HTTP/1.1\r\nHo", b"POST /x HTTP/1.1\r\nContent-Length: 9")[number % 3])
    assert admin.get("me")
    assert [connection.recv(1) for connection in begun] == [b""] * len(begun)
    for connection in begun:
        connection.close()


def test_half_an_upload_leaves_nothing(attacked: Attacked) -> None:
    client = attacked.client
    host, _, port = client.url.removeprefix("http://").partition(":")
    length = ("Content-Type: application/zip", "Content-Length: 5000000")
    packages = attacked.server.home / "packages"

    def half_uploads(count: int) -> None:
        for _ in range(count):
            with socket.create_connection((host, int(port)), timeout=60) as connection:
                connection.sendall(
                    _head(client, "POST", "/api/v1/projects/default/packages", *length) + b"PK" + b"x" * 90_000
                )
        until(lambda: [path for path in packages.rglob("*") if path.is_file()], lambda found: not found)

    # The first ones let the server open what it keeps open, as connections of its database.
    half_uploads(5)
    before = _descriptors(attacked.server)
    half_uploads(30)
    until(lambda: _descriptors(attacked.server), lambda count: count <= before + 5)


def _descriptors(server: Served) -> int:
    return len(list(Path(f"/proc/{server.process.pid}/fd").iterdir()))


def test_the_log_names_the_place(attacked: Attacked) -> None:
    (attacked.shop / ".ordito" / "lock").unlink(missing_ok=True)
    (attacked.shop / ".ordito" / "lock").mkdir()
    found = attacked.client.ask("GET", f"{SHOP}/status")
    assert found.data["code"] == "ensemble"
    assert "cannot look at .ordito/lock" in found.data["detail"]
    assert str(attacked.shop / ".ordito" / "lock") in attacked.server.log.read_text()


def test_a_full_disk_refuses_changes_and_not_looks(attacked: Attacked) -> None:
    """A process that may write no longer file has the same trouble as on a full disk."""
    client, process = attacked.client, attacked.server.process.pid
    before = resource.prlimit(process, resource.RLIMIT_FSIZE)
    resource.prlimit(process, resource.RLIMIT_FSIZE, (1, before[1]))
    try:
        # This token was not used before, which is to be written down.
        assert client.ask("GET", "me").status == 200
        assert client.ask("GET", "projects").status == 200
        refused = client.ask("POST", "projects", {"name": "large"})
        assert (refused.status, refused.data["code"]) == (503, "no-space"), refused
    finally:
        resource.prlimit(process, resource.RLIMIT_FSIZE, before)
    assert client.ask("POST", "projects", {"name": "large"}).status == 201


def test_a_disk_that_gets_full_in_an_upload_leaves_nothing(attacked: Attacked) -> None:
    client, process = attacked.client, attacked.server.process.pid
    packages = attacked.server.home / "packages"
    large = shop(**{"large.bin": random.Random(5).randbytes(900_000)})
    before = resource.prlimit(process, resource.RLIMIT_FSIZE)
    # The database is smaller, so that only the archive is too large.
    resource.prlimit(process, resource.RLIMIT_FSIZE, (850_000, before[1]))
    try:
        refused = send(client, large, "large:1")
        assert (refused.status, refused.data["code"]) == (503, "no-space"), refused
        assert "large" not in str(client.get("projects/default/packages"))
        assert [path for path in packages.rglob("*") if path.is_file()] == []
    finally:
        resource.prlimit(process, resource.RLIMIT_FSIZE, before)
    assert send(client, large, "large:1").status == 201


def test_an_ensemble_that_is_gone_and_comes_back(attacked: Attacked) -> None:
    client = attacked.client
    attacked.shop.rename(attacked.place / "gone")
    assert client.get(SHOP)["exists"] is False
    for asked in ("status", "jobs", "spec", "jobs/latest/log"):
        found = client.ask("GET", f"{SHOP}/{asked}")
        assert (found.status, found.data["code"]) == (404, "no-ensemble"), (asked, found)
    assert [one["exists"] for one in client.get("ensembles")["items"]] == [False]
    plan = client.do("POST", f"{SHOP}/plans", {"request": {"workflow": "restart", "all": True}}, {"Prefer": "wait=30"})
    assert (plan["state"], plan["problem"]["failure"]["code"]) == ("refused", "no-ensemble")
    assert not attacked.shop.exists()
    (attacked.place / "gone").rename(attacked.shop)
    assert client.ask("GET", f"{SHOP}/status").status == 200
