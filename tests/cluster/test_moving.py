"""Ensembles that move in and out of a store, their keys, and what is said where that does not work."""

from __future__ import annotations

import os
import subprocess
import sys
import zlib
from pathlib import Path

import pytest

from ordito.cluster.store import Store
from tests.acceptance.busy import comparable, make_busy
from tests.acceptance.program import Finished, files_of, ordito
from tests.cluster.working import NAME, Stored
from tests.support.real.postgres import PASSWORD
from tests.support.real.stores import StoreServer

CANARY = "canary-4711"

TABLES = ("ensemble", "job", "meta", "record", "instance", "attribute", "output", "previous", "steps", "sealed_key")

SECRET = """\
tosca_definitions_version: tosca_simple_yaml_1_3
node_types:
  my.Thing: { derived_from: tosca.nodes.Root }
topology_template:
  inputs:
    token: { type: string, metadata: { sensitive: "true" } }
  node_templates:
    thing:
      type: my.Thing
      interfaces:
        Standard:
          operations:
            create:
              implementation: create.sh
              inputs: { TOKEN: { get_input: token } }
"""


@pytest.fixture
def stored(tmp_path: Path, store: Store) -> Stored:
    return Stored(make_busy(tmp_path, "continue"), store)


@pytest.fixture
def secretive(stored: Stored) -> Path:
    """A service with a secret."""
    folder = stored.busy.home / "secretive"
    folder.mkdir()
    (folder / "service.yaml").write_text(SECRET)
    (folder / "create.sh").write_text("#!/bin/bash\necho the token is $TOKEN\n")
    return folder / "service.yaml"


def in_store(stored: Stored, *words: str | Path) -> Finished:
    """A command about the store."""
    return ordito(stored.busy.home, "store", *words, "--store-file", stored.address_file)


def everything(folder: Path) -> dict[str, tuple[bytes, int]]:
    """All files of an ensemble, but the database of its journal: with their contents and permissions."""
    own = (".ordito/journal.db", ".ordito/lock", ".ordito/outline", ".ordito/scratch")
    return {
        name: (path.read_bytes(), path.stat().st_mode)
        for path in sorted(folder.rglob("*"))
        if path.is_file() and not (name := str(path.relative_to(folder))).startswith(own)
    }


def test_out_in_and_out_again_gives_the_same(stored: Stored) -> None:
    busy = stored.busy
    assert busy.deploy().code == 1
    (busy.ensemble / "notes").mkdir()
    (busy.ensemble / "notes" / "read me").write_text("äöü\n")
    (busy.ensemble / "notes" / "program").write_bytes(bytes(range(256)) * 100)
    (busy.ensemble / "notes" / "program").chmod(0o755)
    (busy.ensemble / "hosts.yaml").symlink_to("notes/hosts")
    found = [everything(busy.ensemble)]
    for number, place in enumerate((busy.ensemble, busy.home / "out")):
        moved = in_store(stored, "import", place, "-e", f"shops/number-{number}")
        assert moved.code == 0, moved.both
        moved = in_store(stored, "export", f"shops/number-{number}", busy.home / ("out" if not number else "again"))
        assert moved.code == 0, moved.both
    found += [everything(busy.home / "out"), everything(busy.home / "again")]
    assert found[0] == found[1] == found[2]
    assert (busy.home / "again" / "hosts.yaml").readlink() == Path("notes/hosts")
    # What came out is an ensemble like any other.
    before = comparable(busy)
    replayed = ordito(busy.home, "jobs", "replay", "-e", busy.home / "again")
    assert "give exactly what ensemble.yaml says" in replayed.both
    assert comparable(busy) == before
    removed = ordito(busy.home, "undeploy", "--yes", "-e", busy.home / "again")
    assert removed.code == 0, removed.both


def test_what_cannot_be_moved_is_named(stored: Stored) -> None:
    busy = stored.busy
    nowhere = in_store(stored, "import", busy.home / "nowhere", "-e", NAME)
    assert (nowhere.code, "is no ensemble" in nowhere.err) == (3, True)
    assert busy.deploy().code == 1
    for name in ("shops", "shops/..", "/shop", "a b/c"):
        assert "does not name an ensemble" in in_store(stored, "import", busy.ensemble, "-e", name).err
    assert in_store(stored, "import", busy.ensemble, "-e", NAME).code == 0
    again = in_store(stored, "import", busy.ensemble, "-e", NAME)
    assert (again.code, f"there is an ensemble {NAME}" in again.err) == (3, True)
    full = in_store(stored, "export", NAME, busy.ensemble)
    assert (full.code, "is not empty" in full.err) == (3, True)
    none = in_store(stored, "export", "shops/none", busy.home / "out")
    assert (none.code, "there is no ensemble shops/none" in none.err) == (3, True)
    assert not (busy.home / "out").exists()


def test_a_secret_is_nowhere_in_the_store(stored: Stored, secretive: Path, store_server: StoreServer) -> None:
    """The key of the ensemble is sealed with that of the workers, and follows it to other machines."""
    home = stored.busy.home
    key, deploying = home / "pool.key", ["deploy", str(secretive), "--yes", "-i", f"token={CANARY}"]
    assert in_store(stored, "init", "--key", key).code == 0
    without = stored.run(*deploying)
    assert (without.code, "a key is needed" in without.err) == (3, True), without.both
    deployed = stored.run(*deploying, "--key", str(key))
    assert deployed.code == 0, deployed.both
    with stored.store.connection() as db:
        assert db.execute("SELECT count(*) FROM ordito.sealed_key").fetchone() == (1,)
        assert db.execute("SELECT job FROM ordito.ensemble").fetchone() == ("",)
        dump = "".join(str(db.execute(f"SELECT * FROM ordito.{name}".encode()).fetchall()) for name in TABLES)
        blobs = [bytes(body) for (body,) in db.execute("SELECT body FROM ordito.blob")]
    # What a file holds is compressed in its row.
    dump += "".join(str(zlib.decompress(body[1:]) if body[:1] == b"\1" else body) for body in blobs)
    assert "the token is" in dump
    own_key = (home / "store of one" / "ensembles" / NAME / ".ordito" / "key").read_text().strip()
    for hidden in (CANARY, own_key, own_key.partition(":")[2], key.read_text().strip()):
        assert hidden not in dump
    # The same value again: nothing is to do, which only who can open the old one knows.
    again = stored.run(*deploying, "--key", str(key), place="other")
    assert (again.code, "Nothing to do" in again.both) == (0, True), again.both
    assert "the token is (sensitive)" in stored.run("jobs", "logs", place="two").out
    wrong = home / "wrong.key"
    assert in_store(stored, "init", "--key", wrong).code == 0
    refused = stored.run("status", "--key", str(wrong), place="three")
    assert (refused.code, "holds the key" in refused.err) == (3, True), refused.both
    unnamed = in_store(stored, "export", NAME, home / "out")
    assert (unnamed.code, "--key FILE" in unnamed.err) == (3, True), unnamed.both


def test_tables_that_do_not_fit_are_named(stored: Stored, store_server: StoreServer) -> None:
    empty = Stored(stored.busy, store_server.empty())
    for words in (["status"], ["jobs", "resume"]):
        found = empty.run(*words)
        assert (found.code, "has no tables" in found.err, "ordito" in found.err) == (3, True, True), found.both
    stored.address_file.unlink()
    with stored.store.connection() as db:
        db.execute("UPDATE ordito.alembic_version SET version_num = '9999'")
    for found in (stored.run("status"), in_store(stored, "upgrade")):
        assert (found.code, "newer version" in found.err) == (3, True), found.both


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("postgresql://shop:wrong-word@{host}/{name}", "password authentication failed"),
        ("postgresql://shop@{host}/{name}", "no password"),
        ("postgresql://shop:open-sesame@127.0.0.1:1/db", "refused"),
        ("postgresql://shop:open-sesame@{host}/nowhere", "does not exist"),
        ("postgresql://shop:open-sesame@10.255.255.1:1/db?connect_timeout=2", "10.255.255.1"),
        ("mysql://shop:open-sesame@{host}/{name}", "no address of a PostgreSQL database"),
    ],
)
def test_a_store_that_cannot_be_used_is_named(stored: Stored, address: str, said: str) -> None:
    host, _, name = stored.store.address.rpartition("@")[2].partition("/")
    stored.address_file.write_text(address.format(host=host, name=name))
    found = stored.run("status")
    assert found.code == 3, found.both
    assert said in found.err
    assert "= help: " in found.err
    for hidden in ("Traceback", "wrong-word", PASSWORD):
        assert hidden not in found.both


def test_passwords_are_given_in_files(stored: Stored) -> None:
    host, _, name = stored.store.address.rpartition("@")[2].partition("/")
    given = ordito(stored.busy.home, "status", "-e", NAME, "--store", stored.store.address)
    assert (given.code, "holds a password" in given.err) == (3, True)
    assert PASSWORD not in given.both
    stored.address_file.chmod(0o644)
    assert "others may read" in stored.run("status").err
    pgpass = stored.busy.home / "pgpass"
    pgpass.write_text(f"*:*:*:*:{PASSWORD}\n")
    pgpass.chmod(0o600)
    code = f"import os; os.environ['PGPASSFILE'] = {str(pgpass)!r}"
    words = ("store", "status", "--store", f"postgresql://shop@{host}/{name}")
    found = ordito(stored.busy.home, *words, code=code)
    assert found.code == 0, found.both


def test_beyond_this_machine_the_server_is_checked(tmp_path: Path) -> None:
    from ordito.cluster.address import store_at

    def modes(address: str) -> list[str]:
        return [word for word in store_at(address).address.split() if word.startswith("ssl")]

    assert "sslmode=verify-full" in modes("postgresql://me@db.example.com/shop")
    assert modes("postgresql://me@db.example.com/shop?sslmode=require") == ["sslmode=require"]
    for here in ("127.0.0.1", "localhost", "%2Frun%2Fpostgresql", ""):
        assert modes(f"postgresql://{here}/shop") == []


def test_verbs_that_do_not_know_stores_refuse_them(stored: Stored) -> None:
    for words in (
        ["secrets", "list"],
        ["jobs", "replay"],
        ["notify", "x", "y"],
        ["validate", str(stored.busy.service)],
    ):
        found = stored.run(*words)
        assert (found.code, "not-in-store" in found.err) == (3, True), found.both
    both = stored.run("status", "--server", "http://127.0.0.1:1")
    assert (both.code, "not both" in both.err) == (3, True)


def test_nothing_of_it_is_imported_without_a_store(tmp_path: Path) -> None:
    code = (
        "import sys; from ordito.cli.main import run; run(['status']); run(['plan', 'nothing']);"
        "sys.exit(any(name.split('.')[0] in ('psycopg', 'alembic', 'dbos') or name.startswith('ordito.cluster')"
        " for name in sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, env=dict(os.environ), check=False)
    assert done.returncode == 0
    assert files_of(tmp_path) == {}
