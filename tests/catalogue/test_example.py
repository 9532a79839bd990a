"""The catalogue of the examples."""

from __future__ import annotations

import json
import sqlite3
import urllib.parse
from contextlib import closing
from pathlib import Path

from tests.support.answering import Answering
from tests.support.blocks import Block

PLACE = Path(__file__).parents[2] / "examples" / "catalogue" / "blocks.yaml"
FQN = "opm.dev/lifecycle/"


def block(name: str, folder: Path) -> Block:
    return Block(f"{FQN}{name}", folder, PLACE)


def test_backup(tmp_path: Path) -> None:
    """What the component's property names goes into the store, and is restored when that is undone."""
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "a").write_text("one")
    config = {"target": "s3://backups", "stores": str(tmp_path / "stores"), "path": str(tmp_path / "data")}
    ran = block("data@v0#Backup", tmp_path).execute(config)
    assert (ran.status, ran.err) == (0, "")
    assert Path(ran.outputs["backup"]) == tmp_path / "stores" / "backups" / "database-J1.tar.gz"
    (tmp_path / "data" / "a").write_text("two")
    assert block("data@v0#Backup", tmp_path).undo(config, ran.outputs).status == 0
    assert (tmp_path / "data" / "a").read_text() == "one"
    del config["path"]
    assert "nothing to back up" in block("data@v0#Backup", tmp_path).execute(config).err


def test_migrate(tmp_path: Path) -> None:
    """Each file once, and all of it undone."""
    (tmp_path / "m").mkdir()
    (tmp_path / "m" / "001_t.sql").write_text("CREATE TABLE t (n);")
    database = tmp_path / "shop.db"
    config = {"migrations": str(tmp_path / "m"), "database": str(database)}
    migrate = block("data@v0#Migrate", tmp_path)
    assert "applied 001_t.sql" in migrate.execute(config).out
    (tmp_path / "m" / "002_u.sql").write_text("CREATE TABLE u (n);")
    ran = migrate.execute(config, job="J2")
    assert ran.out == "applied 002_u.sql\n"
    (tmp_path / "m" / "003_bad.sql").write_text("CREATE TABLE v (n); INSERT INTO w VALUES (1);")
    assert "003_bad.sql: no such table: w" in migrate.execute(config, job="J3").err
    assert migrate.undo(config, ran.outputs).status == 0
    with closing(sqlite3.connect(database)) as connection:
        assert connection.execute("SELECT name FROM sqlite_master").fetchall() == [("t",)]
        assert connection.execute("PRAGMA user_version").fetchall() == [(1,)]
    assert migrate.execute({}).status == 0
    assert migrate.undo({}, {}).status == 0


def test_integration_test(tmp_path: Path) -> None:
    """Components are found by their names; all that does not answer is told."""
    with Answering(lambda path, _: (200 if path == "/" else 500, "")) as server:
        test = block("test@v0#IntegrationTest", tmp_path)
        context = json.dumps({"outputs": {"api": {"private_address": "127.0.0.1"}}})
        port = urllib.parse.urlsplit(server.url).port
        (tmp_path / "outputs-of.json").write_text(context)
        about = {"ORDITO_CONTEXT": str(tmp_path / "outputs-of.json")}
        fine = {"endpoints": [f"http://api:{port}/", f"postgres://api:{port}"]}
        assert test.execute(fine, **about).status == 0
        ran = test.execute({"endpoints": [f"http://api:{port}/bad", "tcp://api:1", *fine["endpoints"]]}, **about)
    assert ran.status == 1
    assert "it answers with status 500" in ran.err
    assert "tcp://api:1: Connection refused" in ran.err
    assert "2 endpoints do not answer" in ran.err


def test_slack(tmp_path: Path) -> None:
    """Without a webhook it is a line of the log."""
    slack = block("notify@v0#Slack", tmp_path)
    assert slack.execute({}).out == "notification: upgrade.before of database: done so far\n"
    with Answering() as server:
        assert slack.execute({"webhook": server.url, "text": "up"}).status == 0
    assert [request.body for request in server.asked] == ['{"text": "up"}']
    refused = slack.execute({"webhook": "http://127.0.0.1:1/geheim"})
    assert refused.status == 1
    assert "geheim" not in refused.err
