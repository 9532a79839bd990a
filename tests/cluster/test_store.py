"""The tables of a store: made once, brought up to date, and refused where they are of another version."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from ordito.cluster.store import MIGRATIONS, NEWEST, Store
from ordito.ensemble.errors import EnsembleError
from tests.support.real.stores import StoreServer


def test_tables_are_made_once(store_server: StoreServer) -> None:
    """Also where several begin at one time."""
    empty = store_server.empty()
    with pytest.raises(EnsembleError, match="has no tables") as error:
        empty.check()
    assert "ordito store init" in error.value.hint
    assert "open-sesame" not in error.value.message
    with ThreadPoolExecutor(3) as threads:
        list(threads.map(lambda _: empty.upgrade(), range(3)))
    empty.check()
    with empty.connection() as db:
        assert db.execute("SELECT version_num FROM ordito.alembic_version").fetchall() == [(NEWEST,)]


def test_the_newest_version_is_that_of_the_last_migration() -> None:
    versions = sorted(path.stem.removeprefix("v") for path in (MIGRATIONS / "versions").glob("v*.py"))
    assert versions[-1] == NEWEST


@pytest.mark.parametrize(("found", "said"), [("9999", "newer version"), ("0000", "older version")])
def test_tables_of_another_version_are_refused(store: Store, found: str, said: str) -> None:
    with store.connection() as db:
        db.execute("UPDATE ordito.alembic_version SET version_num = %s", (found,))
    with pytest.raises(EnsembleError, match=said) as error:
        store.check()
    assert error.value.hint
    if found > NEWEST:
        with pytest.raises(EnsembleError, match=said):
            store.upgrade()


def test_an_ensemble_has_one_name_in_its_project(store: Store) -> None:
    store.add_ensemble("e1", "shops", "shop")
    store.add_ensemble("e2", "others", "shop")
    with pytest.raises(EnsembleError, match="there is an ensemble shops/shop"):
        store.add_ensemble("e3", "shops", "shop")
    assert [store.ensemble_id(project, "shop") for project in ("shops", "others", "none")] == ["e1", "e2", ""]


def test_logs_of_a_day_have_a_table_of_their_own(store: Store) -> None:
    with store.connection() as db:
        for _ in range(2):
            db.execute("SELECT ordito.make_log_day(current_date)")
        db.execute("INSERT INTO ordito.log_chunk (ensemble, job, number, body) VALUES ('e1', 'A', 0, 'x')")
        (name,) = db.execute("SELECT 'ordito.log_chunk_' || to_char(current_date, 'YYYYMMDD')").fetchone() or ("",)
        db.execute(f"DROP TABLE {name}".encode())
        assert db.execute("SELECT count(*) FROM ordito.log_chunk").fetchone() == (0,)
