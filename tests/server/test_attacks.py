"""What a stranger, a hostile ensemble or a broken disk may do to a server, and what it says then."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.server.conftest import deployed
from tests.support.serving import MANY_REQUESTS, Served

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


def test_the_log_names_the_place(attacked: Attacked) -> None:
    (attacked.shop / ".ordito" / "lock").unlink(missing_ok=True)
    (attacked.shop / ".ordito" / "lock").mkdir()
    found = attacked.client.ask("GET", f"{SHOP}/status")
    assert found.data["code"] == "ensemble"
    assert "cannot look at .ordito/lock" in found.data["detail"]
    assert str(attacked.shop / ".ordito" / "lock") in attacked.server.log.read_text()
