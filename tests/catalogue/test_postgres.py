"""Blocks and a real server of PostgreSQL: migrations, backups, and looking whether it answers."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.blocks import Block
from tests.support.real.postgres import PASSWORD, Postgres

MIGRATE = "ordito.dev/lifecycle/data@v1#Migrate"
BACKUP = "ordito.dev/lifecycle/data@v1#BackupDatabase"
RESTORE = "ordito.dev/lifecycle/data@v1#RestoreDatabase"
SMOKE = "ordito.dev/lifecycle/test@v1#SmokeTest"

FILES = {
    "1_customers.up.sql": "-- who;\nCREATE TABLE customers (name text DEFAULT E'a\\';b');\n"
    "CREATE FUNCTION one() RETURNS int AS $$ SELECT 1; $$ LANGUAGE sql;\n",
    "1_customers.down.sql": "DROP FUNCTION one(); DROP TABLE customers;",
    "2_orders.up.sql": "CREATE TABLE orders (n int)",
    "2_orders.down.sql": "DROP TABLE orders;",
}


@pytest.fixture
def files(tmp_path: Path) -> Path:
    folder = tmp_path / "migrations"
    folder.mkdir()
    for name, text in FILES.items():
        (folder / name).write_text(text)
    return folder


def tables(postgres: Postgres, database: str) -> list[str]:
    return postgres.ask(database, "SELECT tablename FROM pg_tables WHERE schemaname !~ '^(pg_|info)' ORDER BY 1")


def test_migrations(tmp_path: Path, files: Path, postgres: Postgres) -> None:
    """Each is applied once, in a transaction of its own, and undone newest first; a failing one is taken back, with
    those of this execution before it, and told by its line."""
    database = postgres.database()
    block = Block(MIGRATE, tmp_path)
    config: dict[str, object] = {"database": database, "password": PASSWORD, "migrations": str(files)}
    ran = block.execute(config)
    assert (ran.status, ran.err) == (0, "")
    assert ran.outputs == {"applied": ["1_customers", "2_orders"], "version": "2_orders"}
    assert block.execute(config).outputs == ran.outputs  # The same execution, cut off before its report.
    assert block.execute(config, job="J3").outputs["applied"] == []
    (files / "3_fine.up.sql").write_text("CREATE TABLE fine (n int);")
    (files / "3_fine.down.sql").write_text("DROP TABLE fine;")
    (files / "4_bad.up.sql").write_text("CREATE TABLE bad (n int);\n\nINSERT INTO nowhere VALUES (1);\n")
    bad = block.execute(config, job="J4")
    assert bad.status == 1
    assert '4_bad.up.sql:3: relation "nowhere" does not exist' in bad.err
    assert tables(postgres, database) == ["customers", "orders", "ordito_migrations"]
    assert block.undo(config, ran.outputs).outputs == {"undone": ["2_orders", "1_customers"]}
    assert tables(postgres, database) == ["ordito_migrations"]
    assert PASSWORD not in ran.out + ran.err + bad.out + bad.err


def test_somebody_else_at_the_same_time(tmp_path: Path, files: Path, postgres: Postgres) -> None:
    """Two processes of one execution bring a database there together, each migration once."""
    config = {"database": postgres.database(), "password": PASSWORD, "migrations": str(files)}
    both = [Block(MIGRATE, tmp_path).start(config) for _ in range(2)]
    assert [process.wait(60) for process in both] == [0, 0]
    assert Block(MIGRATE, tmp_path).execute(config).outputs["applied"] == ["1_customers", "2_orders"]


def test_without_a_transaction(tmp_path: Path, files: Path, postgres: Postgres) -> None:
    """What a server refuses in a transaction is told how to be written; then it runs."""
    config: dict[str, object] = {"database": postgres.database(), "password": PASSWORD, "migrations": str(files)}
    index = "CREATE INDEX CONCURRENTLY i ON orders (n);\n"
    (files / "3_index.up.sql").write_text(index)
    ran = Block(MIGRATE, tmp_path).execute({**config, "when_one_fails": "keep"})
    assert "3_index.up.sql:1: CREATE INDEX CONCURRENTLY cannot run inside a transaction block" in ran.err
    assert "begin the file with the line: -- ordito: no transaction" in ran.err
    (files / "3_index.up.sql").write_text(f"-- ordito: no transaction\n{index}")
    assert Block(MIGRATE, tmp_path).execute(config).outputs["version"] == "3_index"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("SELECT 1;\n\\! touch hacked\n", "x.up.sql:2: commands of psql have no place here"),
        ("SELECT 1; COMMIT;", "x.up.sql:1: COMMIT has no place here"),
        ("COPY customers FROM STDIN;", "COPY FROM STDIN has no place here"),
        ("SELECT $a$ x", "the text that begins here has no end"),
    ],
)
def test_files_that_are_refused(tmp_path: Path, text: str, said: str, postgres: Postgres) -> None:
    """What would lead out of the transaction, or out of the database, does not reach the server."""
    (tmp_path / "m").mkdir()
    (tmp_path / "m" / "1x.up.sql").write_text(text)
    config = {"database": postgres.database(), "password": PASSWORD, "migrations": str(tmp_path / "m")}
    ran = Block(MIGRATE, tmp_path).execute(config)
    assert ran.status == 1
    assert said in ran.err


def test_backup_and_restore(tmp_path: Path, files: Path, postgres: Postgres) -> None:
    """Restored, a database is what it was, whatever was made since; undone, it is as it was before that."""
    database = postgres.database()
    known = {"database": database, "password": PASSWORD}
    Block(MIGRATE, tmp_path).execute({**known, "migrations": str(files)})
    postgres.ask(database, "INSERT INTO orders VALUES (7)")
    backup = Block(BACKUP, tmp_path).execute({**known, "target": str(tmp_path / "b")})
    assert (backup.status, backup.err) == (0, "")
    assert backup.outputs["backup"].endswith("step--J1.sql")
    postgres.ask(
        database,
        "DELETE FROM orders; CREATE VIEW v AS SELECT one(), n FROM orders; "
        "CREATE SCHEMA s; CREATE TYPE s.e AS ENUM ('a'); "
        "CREATE TABLE s.t (e s.e, n serial); CREATE DOMAIN d AS int; CREATE PROCEDURE p() LANGUAGE sql AS 'SELECT 1'",
    )
    config = {**known, "backup": str(tmp_path / "b"), "step": "step"}
    restored = Block(RESTORE, tmp_path).execute(config, job="J2")
    assert (restored.status, restored.err) == (0, "")
    assert tables(postgres, database) == ["customers", "orders", "ordito_migrations"]
    assert postgres.ask(database, "SELECT n, one() FROM orders") == ["7|1"]
    assert postgres.ask(database, "SELECT nspname FROM pg_namespace WHERE nspname !~ '^pg_|^info'") == ["public"]
    assert Block(RESTORE, tmp_path).undo(config, restored.outputs).status == 0
    assert postgres.ask(database, "SELECT count(*) FROM v, s.t") == ["0"]
    undone = Block(BACKUP, tmp_path).undo({**known, "target": "/x", "on_undo": "restore"}, backup.outputs)
    assert undone.status == 0
    assert postgres.ask(database, "SELECT n FROM orders") == ["7"]


def test_a_restoration_that_fails_changes_nothing(tmp_path: Path, postgres: Postgres) -> None:
    """All of it is one transaction, the removal of what is there included."""
    database = postgres.database()
    postgres.ask(database, "CREATE TABLE t (n int)")
    (tmp_path / "bad.sql").write_text("CREATE TABLE u (n int);\nCREATE TABLE u (n int);\n")
    config = {"database": database, "password": PASSWORD, "backup": str(tmp_path / "bad.sql")}
    ran = Block(RESTORE, tmp_path).execute(config)
    assert ran.status == 1
    assert 'relation "u" already exists' in ran.err
    assert tables(postgres, database) == ["t"]


def test_looking_whether_it_answers(tmp_path: Path, postgres: Postgres) -> None:
    """A smoke test logs in; a wrong password, a database that is not there, and no server are told, without secrets."""
    url = postgres.database()
    fine = {"url": url.replace("postgresql", "postgres"), "password": PASSWORD}
    assert Block(SMOKE, tmp_path).execute({"endpoints": [fine]}).status == 0
    ran = Block(SMOKE, tmp_path).execute(
        {
            "endpoints": [
                fine,
                {"url": url, "password": "wrong-geheim"},
                {"url": url.replace("shop@", f"shop:{PASSWORD}@").rpartition("/")[0] + "/none"},
                {"url": "postgres://shop@127.0.0.1:1/x"},
            ]
        }
    )
    assert ran.status == 1
    assert "password authentication failed" in ran.err
    assert 'database "none" does not exist' in ran.err
    assert "Connection refused" in ran.err
    assert "3 of 4 endpoints do not answer as they should" in ran.err
    assert "geheim" not in ran.err
    assert PASSWORD not in ran.err


def test_without_the_client(tmp_path: Path, files: Path) -> None:
    """What is missing is said, and how to get it; a password that is missing too."""
    (tmp_path / "bin").mkdir()
    block = Block(MIGRATE, tmp_path, path=str(tmp_path / "bin"))
    ran = block.execute({"database": "postgresql://shop@127.0.0.1/x", "migrations": str(files)})
    assert ran.status == 1
    assert "there is no psql" in ran.err
    assert "apt install postgresql-client" in ran.err


def test_without_the_password(tmp_path: Path, files: Path, postgres: Postgres) -> None:
    """Nobody is asked for it: the config is to name it."""
    ran = Block(MIGRATE, tmp_path).execute({"database": postgres.database(), "migrations": str(files)})
    assert ran.status == 1
    assert "give it by config, password" in ran.err
