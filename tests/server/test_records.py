"""Records that are changed by hand at a server: seen first, made once, and whole whatever is killed."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import urllib3

from tests.server.conftest import deployed
from tests.support.serving import MANY_REQUESTS, Client, Served, children_of, until

ENSEMBLE = "projects/default/ensembles/shop"


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Served]:
    deployed(tmp_path)
    with Served(tmp_path / "home", tmp_path / "shop", settings=MANY_REQUESTS) as server:
        yield server


def seen(client: Client, change: str, **body: Any) -> dict[str, Any]:
    """What a change would do."""
    found: dict[str, Any] = client.do("POST", f"{ENSEMBLE}/state/{change}?dry=true", body)
    return found


def test_a_change_is_made_as_it_was_seen_or_not_at_all(server: Served) -> None:
    client, where = server.admin(), f"{ENSEMBLE}/state/rm"
    before = client.get(f"{ENSEMBLE}/state")
    looked = seen(client, "rm", names=["web"])
    assert looked["asks"]
    assert [line.split()[0] for line in looked["lines"]] == ["web_1"]
    assert client.get(f"{ENSEMBLE}/state") == before
    blind = client.ask("POST", where, {"names": ["web"]})
    assert (blind.status, blind.data["code"]) == (428, "match-required")
    other = client.ask("POST", where, {"names": ["web"], "digest": seen(client, "rm", names=["db", "web"])["digest"]})
    assert (other.status, other.data["code"]) == (412, "changed")
    assert client.get(f"{ENSEMBLE}/state") == before
    key = {"Idempotency-Key": "once"}
    done = client.do("POST", where, {"names": ["web"], "digest": looked["digest"]}, key)
    assert done["forgotten"] == ["web_1"]
    assert client.do("POST", where, {"names": ["web"], "digest": looked["digest"]}, key) == done
    assert set(client.get(f"{ENSEMBLE}/state")["instances"]) == {"db_1"}
    head = client.get(f"{ENSEMBLE}/jobs/{done['job']}")["job"]
    assert (head["workflow"], head["by"]) == ("state rm", client.get("me")["name"])
    assert b"records.rm" in client.ask("GET", "audit/export").body
    # What nobody has to agree to is seen first all the same.
    assert client.do("POST", f"{ENSEMBLE}/state/forget", {"digest": "x"})["job"] is None


def test_a_change_is_whole_if_its_process_is_killed(server: Served) -> None:
    client = server.admin()
    [fork_server] = children_of(server.process.pid)
    made = set()
    for patience in (0, 1, 4, 16, 64):
        is_there = _has_db(client)
        change, body = ("rm", {"names": ["db"]}) if is_there else ("adopt", {"node": "db"})
        body["digest"] = seen(client, change, **body)["digest"]
        before = {*children_of(fork_server)}
        asking = threading.Thread(target=_ask, args=(client, change, body))
        asking.start()
        left = patience
        while asking.is_alive():
            victims = {*children_of(fork_server)} - before
            left -= bool(victims)
            if victims and left < 0:
                for victim in victims:
                    _kill(victim)
        asking.join()
        until(lambda: client.get(f"{ENSEMBLE}/status")["job"], lambda job: job is None)
        made.add(_has_db(client) != is_there)
        assert client.do("POST", f"{ENSEMBLE}/replay")["agrees"]
    assert made
    newest = client.get("audit", limit=1)["items"][0]
    assert client.get("audit/head") == {"rows": newest["number"], "head": newest["hash"]}


def _has_db(client: Client) -> bool:
    # The numbers of instances that are forgotten are not used again.
    return any(name.startswith("db_") for name in client.get(f"{ENSEMBLE}/state")["instances"])


def _ask(client: Client, change: str, body: dict[str, Any]) -> None:
    try:
        client.with_token(client.token).ask("POST", f"{ENSEMBLE}/state/{change}", body)
    except urllib3.exceptions.HTTPError:
        return


def _kill(process: int) -> None:
    try:
        os.kill(process, signal.SIGKILL)
    except ProcessLookupError:
        return
