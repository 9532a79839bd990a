"""The tables of the server, however old the database is that a server opens."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import create_engine, delete, insert, select, update

from ordito.server.database.database import MIGRATIONS, NEWEST, Database
from ordito.server.database.tables import ENSEMBLES, METADATA, PROJECTS


def test_the_migrations_make_the_tables(tmp_path: Path) -> None:
    """What the newest migration leaves is what the tables say, and the version is its number."""
    Database(tmp_path / "server.db").close()
    engine = create_engine(f"sqlite:///{tmp_path / 'server.db'}")
    with engine.connect() as connection:
        assert compare_metadata(MigrationContext.configure(connection), METADATA) == []
    engine.dispose()
    assert max(path.stem for path in (MIGRATIONS / "versions").glob("v*.py")) == f"v{NEWEST}"


def test_an_older_database_is_copied_before_it_is_changed(tmp_path: Path) -> None:
    """A database of the first version goes on with all that was in it; a copy of it lies beside."""
    from alembic import command
    from alembic.config import Config

    path = tmp_path / "server.db"
    engine = create_engine(f"sqlite:///{path}")
    with engine.connect() as connection:
        config = Config(attributes={"connection": connection})
        config.set_main_option("script_location", str(MIGRATIONS))
        command.upgrade(config, "0001")
        connection.exec_driver_sql("INSERT INTO project VALUES ('shop', 'a shop', 1.0)")
        connection.exec_driver_sql("INSERT INTO ensemble VALUES ('shop', 'prod', '/somewhere', 1.0)")
        connection.commit()
    engine.dispose()
    Database(path).close()
    with closing(sqlite3.connect(path)) as found:
        assert found.execute("SELECT name, directory, labels FROM ensemble").fetchall() == [
            ("prod", "/somewhere", "{}")
        ]
    with closing(sqlite3.connect(tmp_path / "server.db.0001")) as copy:
        assert copy.execute("SELECT name, directory FROM ensemble").fetchall() == [("prod", "/somewhere")]


def test_what_was_made_of_a_table_is_made_anew_after_a_change(tmp_path: Path) -> None:
    """Of this table, once the change is there; also where another was refused meanwhile."""
    database = Database(tmp_path / "server.db")
    try:
        before = database.versions(PROJECTS, ENSEMBLES)
        row = {"name": "a", "description": "", "created": 1.0}
        database.write_now(lambda connection: connection.execute(insert(PROJECTS).values(**row)))
        made = database.versions(PROJECTS, ENSEMBLES)
        assert (made[0] == before[0], made[1] == before[1]) == (False, True)
        database.read_now(lambda connection: connection.execute(select(PROJECTS)).all())
        assert database.versions(PROJECTS, ENSEMBLES) == made
        database.write_now(lambda connection: connection.execute(update(PROJECTS).values(description="x")))
        changed = database.versions(PROJECTS)
        database.write_now(lambda connection: connection.execute(delete(PROJECTS)))
        assert len({made[0], *changed, *database.versions(PROJECTS)}) == 3
    finally:
        database.close()


def test_makers_of_tokens_are_taken_from_the_audit_log(tmp_path: Path) -> None:
    """Each token of an account has the user who made it, as far as exactly one row tells; a token that was made with
    another one has the same. Of any other the maker stays unknown."""
    from alembic import command
    from alembic.config import Config

    path = tmp_path / "server.db"
    tokens = {
        # by its id: the name, when it was made, and what was written down of it
        "t1": ("ci", 100.0, [("ada", "session s1", 100.0)]),
        "t2": ("by-ci", 200.0, [("shop/robot", "token t1", 200.0)]),
        "t3": ("lost", 300.0, []),
        "t4": ("twice", 400.0, [("ada", "session s1", 400.0), ("ben", "session s2", 400.5)]),
        "t5": ("by-lost", 500.0, [("shop/robot", "token t3", 500.0)]),
        "t6": ("ci", 600.0, [("ben", "session s2", 600.0)]),
    }
    engine = create_engine(f"sqlite:///{path}")
    with engine.connect() as connection:
        config = Config(attributes={"connection": connection})
        config.set_main_option("script_location", str(MIGRATIONS))
        command.upgrade(config, "0003")
        number = 0
        for name, (called, created, deeds) in tokens.items():
            connection.exec_driver_sql(
                "INSERT INTO token (id, hash, name, project, owner, role, projects, expires, created, used, made_by)"
                " VALUES (?, x'', ?, 'shop', 'robot', '', '', 9e9, ?, 0, ?)",
                (name, called, created, "shop/robot" if name == "t5" else ""),
            )
            for who, by, at in deeds:
                number += 1
                connection.exec_driver_sql(
                    "INSERT INTO audit"
                    " VALUES (?, ?, ?, ?, '', '', 'account.token.make', 'shop', '', ?, 'done', '', x'')",
                    (number, at, who, by, f"robot {called}"),
                )
        connection.commit()
    engine.dispose()
    Database(path).close()
    with closing(sqlite3.connect(path)) as found:
        makers = dict(found.execute("SELECT id, made_by FROM token"))
    assert makers == {"t1": "ada", "t2": "ada", "t3": "", "t4": "", "t5": "", "t6": "ben"}
