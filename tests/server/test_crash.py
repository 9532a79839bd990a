"""The server killed at any moment: what it has confirmed is there, nothing is half done, the audit log is whole."""

from __future__ import annotations

import itertools
import random
import signal
import sqlite3
import threading
from pathlib import Path

import urllib3

from ordito.server.operating.inspecting import verify
from tests.cli.program import until
from tests.support.serving import Client, Served
from tests.support.thorough import examples


def change(client: Client, worker: int, confirmed: list[str], enough: threading.Event) -> None:
    """Make projects with an account and a token each, as long as there is an answer; those confirmed are noted."""
    for number in itertools.count():
        name = f"p{worker}-{number}"
        try:
            for path, body in (
                ("projects", {"name": name}),
                (f"projects/{name}/accounts", {"name": "robot"}),
                (f"projects/{name}/accounts/robot/tokens", {"name": "t"}),
            ):
                answer = client.ask("POST", path, body, {"Idempotency-Key": f"{name} {path}"})
                if answer.status != 201:
                    assert answer.status == 503, answer
                    return
                confirmed.append(f"{path} {name}")
        except urllib3.exceptions.HTTPError:
            return
        if enough.is_set():
            return


def test_what_was_confirmed_survives_being_killed(tmp_path: Path) -> None:
    chance, token, before = random.Random(7), "", 0
    for turn in range(examples(4)):
        with Served(tmp_path / "home") as server:
            client = server.admin() if not token else Client(server.url, token)
            token = client.token
            confirmed: list[str] = []
            enough = threading.Event()
            workers = [
                threading.Thread(target=change, args=(Client(server.url, token), 10 * turn + one, confirmed, enough))
                for one in range(3)
            ]
            for worker in workers:
                worker.start()
            wanted = chance.randint(1, 60)
            until(lambda: len(confirmed) >= wanted)  # noqa: B023
            server.stop(signal.SIGKILL)
            for worker in workers:
                worker.join()
        with Served(tmp_path / "home") as again:
            client = Client(again.url, token)
            names = {one["name"] for one in client.get("projects")["items"]}
            assert {line.split()[1] for line in confirmed if line.startswith("projects ")} <= names
            head = client.get("audit/head")
            assert not verify(tmp_path / "home", head["head"]).broken
            # Each change has its row: not more, and not fewer.
            with sqlite3.connect(tmp_path / "home" / "server.db") as db:
                made = sum(
                    db.execute(f"SELECT count(*) FROM {table}").fetchone()[0] for table in ("project", "account")
                )
                tokens = db.execute("SELECT count(*) FROM token WHERE project != ''").fetchone()[0]
                rows = (
                    "SELECT count(*) FROM audit WHERE action IN ('project.make', 'account.make', 'account.token.make')"
                )
                assert made + tokens == db.execute(rows).fetchone()[0]
            assert head["rows"] >= before + len(confirmed)
            before = head["rows"]


def test_a_request_whose_answer_was_lost_is_repeated_with_its_key(tmp_path: Path) -> None:
    with Served(tmp_path / "home") as server:
        client = server.admin()
        key = {"Idempotency-Key": "once"}
        first = client.ask("POST", "projects", {"name": "mine"}, key)
        server.stop(signal.SIGKILL)
    with Served(tmp_path / "home") as again:
        repeated = Client(again.url, client.token).ask("POST", "projects", {"name": "mine"}, key)
        assert (repeated.status, repeated.body) == (201, first.body)
        other = Client(again.url, client.token).ask("POST", "projects", {"name": "mine"}, {"Idempotency-Key": "twice"})
        assert (other.status, other.data["code"]) == (409, "exists")
