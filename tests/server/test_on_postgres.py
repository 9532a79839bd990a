"""Servers whose database is a PostgreSQL: what a server does with its own it does there, and several share one."""

from __future__ import annotations

import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import select

from ordito.cluster.store import Store
from ordito.server.database.database import Database
from ordito.server.database.postgres import Postgres
from ordito.server.database.tables import LEADERS, METADATA
from ordito.server.operating.backup import back_up
from ordito.server.operating.inspecting import look, verify
from ordito.server.refused import ServerRefused

# The same tests as of a server with a database of its own.
from tests.server.test_common_rules import test_settings_are_changed_while_it_runs_and_kept  # noqa: F401
from tests.server.test_plans import (  # noqa: F401
    Shop,
    server,
    shop,
    test_a_job_goes_on_while_the_server_is_away,
    test_a_plan_is_asked_for_looked_at_and_applied,
    test_a_rule_asks_for_the_look_of_somebody_else,
    test_the_same_key_asks_once,
)
from tests.server.test_signing_in import (  # noqa: F401
    test_a_list_is_replaced_only_by_who_has_seen_it,
    test_the_first_user_signs_in_with_a_link_once,
    test_the_same_request_with_a_key_is_done_once,
    test_who_is_disabled_is_out_at_once,
)
from tests.support.real.stores import StoreServer
from tests.support.serving import ANY_PORT, DATABASES, MANY_REQUESTS, Client, Served, until


@pytest.fixture(autouse=True)
def database(store_server: StoreServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """A database that all servers of a test use."""
    found = store_server.empty()
    place = tmp_path_factory.getbasetemp()
    DATABASES[place] = found.address
    yield found
    del DATABASES[place]


class Two:
    """Two servers of one database, each with a home of its own."""

    def __init__(self, place: Path) -> None:
        self.first = Served(place / "a", settings=MANY_REQUESTS)
        (place / "b").mkdir()
        shutil.copy(place / "a" / "key", place / "b" / "key")
        self.second = Served(place / "b", settings=MANY_REQUESTS)
        self.admin = self.first.admin()
        self.other = Client(self.second.url, self.admin.token)

    def stop(self) -> None:
        for one in (self.first, self.second):
            one.__exit__()


@pytest.fixture
def two(tmp_path: Path) -> Iterator[Two]:
    made = Two(tmp_path)
    yield made
    made.stop()


def test_the_migrations_make_the_tables_there_too(database: Store) -> None:
    """As they are made in a file, with texts that are compared byte by byte; also where several begin at one time."""
    with ThreadPoolExecutor(4) as pool:
        for opened in pool.map(lambda _: Database(database), range(4)):
            opened.close()
    kind = Postgres(database, 1)
    with kind.engine.connect() as connection:
        assert compare_metadata(MigrationContext.configure(connection), METADATA) == []
        query = "SELECT count(*) FROM information_schema.columns WHERE table_schema = 'ordito_server'"
        plain = "AND data_type = 'text' AND collation_name IS DISTINCT FROM 'C' AND table_name <> 'alembic_version'"
        assert connection.exec_driver_sql(f"{query} {plain}").scalar() == 0
    kind.engine.dispose()


def test_what_one_server_does_the_other_knows(two: Two) -> None:
    """Tokens, sessions, answers to keys, settings and events; and the audit log is one chain."""
    two.admin.do("POST", "projects", {"name": "shop"})
    assert two.other.get("projects/shop")["name"] == "shop"
    key = {"Idempotency-Key": "once"}
    made = two.admin.do("POST", "me/tokens", {"name": "ci"}, key)
    again = two.other.ask("POST", "me/tokens", {"name": "ci"}, key)
    assert (again.data["id"], again.headers["Idempotency-Replayed"]) == (made["id"], "true")
    stream = two.other.stream("audit")
    assert next(stream)["type"] == "stream.live"
    two.admin.do("POST", "users", {"name": "ann"})
    said = next(event for event in stream if event.get("action") == "user.make")
    stream.close()
    assert said["object"] == "ann"
    settings = two.admin.ask("GET", "settings")
    changed = {"banner": "on Sunday", "jobs": None, "limits": None, "egress": None}
    two.admin.do("PUT", "settings", changed, {"If-Match": settings.headers["ETag"]})
    until(lambda: two.other.get("/api/v1")["banner"], lambda banner: banner == "on Sunday")


def test_both_write_at_one_time_and_nothing_is_lost(two: Two, tmp_path: Path) -> None:
    """Of what is asked of both with one name one is made; the rows of the audit log follow each other."""

    def make(number: int) -> int:
        client = two.admin if number % 2 else two.other
        return client.ask("POST", "projects", {"name": f"p{number // 4}"}).status

    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(make, range(80)))
    assert (found.count(201), found.count(409)) == (20, 60)
    assert len(two.other.get("projects")["items"]) == 20
    chain = verify(tmp_path / "a", "")
    assert chain.broken == 0
    assert chain.rows >= 20


def test_one_leads_and_the_other_goes_on_when_it_is_gone(two: Two, database: Store) -> None:
    """Whoever stops lets the other lead at once; of one that was killed the time runs out."""
    opened = Database(database)

    def leader() -> str:
        return opened.read_now(lambda connection: connection.execute(select(LEADERS.c.holder)).scalar()) or ""

    try:
        first = leader()
        assert first
        two.first.stop()
        second = until(leader, lambda holder: holder not in ("", first))
        with Served(two.first.home) as third:
            two.second.stop(signal.SIGKILL)
            until(leader, lambda holder: holder not in ("", first, second))
            assert Client(third.url, two.admin.token).get("/readyz")["well"]
    finally:
        opened.close()


def test_a_server_with_another_key_does_not_start(two: Two, tmp_path: Path) -> None:
    """It could not open what the others have sealed."""
    (tmp_path / "c").mkdir()
    shutil.copy(tmp_path / "a" / "server.yaml", tmp_path / "c")
    words = [sys.executable, "-m", "ordito.server", str(tmp_path / "c"), "--listen", ANY_PORT]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (3, "")
    assert "another key" in done.stderr
    assert "copy the file `key`" in done.stderr
    assert two.admin.get("/readyz")["well"]


def test_backups_are_those_of_postgresql(two: Two, tmp_path: Path) -> None:
    with pytest.raises(ServerRefused, match="PostgreSQL") as refused:
        back_up(tmp_path / "a", tmp_path / "copy", with_keys=False)
    assert "pg_dump" in refused.value.hint
    assert not (tmp_path / "copy").exists()
    found = look(tmp_path / "a")
    assert (found.users, found.problems) == (1, ())
    assert two.admin.get("about")["database"].startswith("postgresql")


def test_a_database_that_restarts_is_waited_for(two: Two, store_server: StoreServer) -> None:
    """Connections that it has ended are made anew."""
    two.admin.do("POST", "projects", {"name": "before"})
    store_server.ask("postgres", "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname LIKE 'db%'")
    until(lambda: two.admin.ask("POST", "projects", {"name": "after"}).status, lambda status: status in (201, 409))
    until(lambda: two.other.ask("GET", "projects/after").status, lambda status: status == 200)
    stream = two.other.stream("audit")
    assert next(stream)["type"] == "stream.live"
    until(lambda: two.admin.ask("POST", "users", {"name": "ben"}).status, lambda status: status in (201, 409))
    assert next(event for event in stream if event.get("object") == "ben")
    stream.close()


def test_texts_that_no_database_keeps_are_refused(two: Two) -> None:
    found = two.admin.ask("POST", "projects", {"name": "odd", "description": "a\0b"})
    assert (found.status, found.data["code"]) == (400, "malformed")
