"""Backing up a server and restoring it, while it runs, while jobs run, and however either is interrupted."""

from __future__ import annotations

import base64
import json
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import msgspec
import pytest

from ordito.cli.main import run
from ordito.server.database.tables import BELOW
from ordito.server.operating.backup import back_up, read_backup
from ordito.server.operating.inspecting import look, verify
from ordito.server.operating.restore import restore, resume
from ordito.server.refused import ServerRefused
from ordito.server.restored import RESTORED, RESTORING, may_resume
from tests.cli.program import process, start, until
from tests.server.conftest import deployed
from tests.support.serving import MANY_REQUESTS, Client, Served
from tests.support.thorough import examples
from tests.support.yaml_files import read_yaml

SLOW = """\
tosca_definitions_version: tosca_simple_yaml_1_3
node_types:
  Slow:
    derived_from: tosca.nodes.Root
    interfaces:
      Standard:
        operations:
          create: { implementation: wait.sh, inputs: { WORD: { get_input: word } } }
topology_template:
  inputs: { word: { type: string, metadata: { sensitive: "true" }, default: none } }
  node_templates:
    one: { type: Slow }
    two: { type: Slow, requirements: [ dependency: one ] }
    three: { type: Slow, requirements: [ dependency: two ] }
"""
WAIT = """\
echo "$ORDITO_STEP" >> PLACE/ran
[ "${ORDITO_STEP#two}" = "$ORDITO_STEP" ] && exit 0
while [ ! -e PLACE/go ]; do read -t 0.1 <> <(:); done
exit 0
"""


def begun(place: Path, word: str = "none") -> tuple[Path, Any]:
    """An ensemble with a job that waits in its second step until the file ``go`` is there, and the process of it."""
    place.mkdir(parents=True, exist_ok=True)
    (place / "service.yaml").write_text(SLOW)
    (place / "wait.sh").write_text(f"#!/usr/bin/env bash\n{WAIT.replace('PLACE', str(place))}")
    (place / "wait.sh").chmod(0o755)
    running = start(place, "-e", place / "slow", "-q", "deploy", place / "service.yaml", "-i", f"word={word}", "--yes")
    until(lambda: (place / "ran").exists() and len((place / "ran").read_text().splitlines()) == 2)
    return place / "slow", running


def files_in(folder: Path) -> dict[str, bytes]:
    """All files below a folder."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def rows(home: Path, query: str) -> list[tuple[Any, ...]]:
    """Rows of the database of a server."""
    with closing(sqlite3.connect(home / "server.db")) as db:
        return db.execute(query).fetchall()


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The home of a server that runs, with one ensemble that lies elsewhere and one below the home. Nobody changes it;
    the token of its administrator lies beside it."""
    place = tmp_path_factory.mktemp("backed-up")
    shop = deployed(place / "elsewhere")
    with Served(place / "home", shop) as server:
        client = server.admin()
        client.do("POST", "projects", {"name": "mine"})
        inside = place / "home" / "projects" / "mine" / "ensembles" / "office"
        inside.parent.mkdir(parents=True)
        shutil.copytree(shop, inside)
        client.do("POST", "projects/mine/ensembles", {"name": "office", "path": str(inside)})
        (place / "home" / "packages").mkdir(exist_ok=True)
        (place / "home" / "packages" / "one.csar").write_bytes(b"a package")
        (place / "token").write_text(client.token)
        yield place / "home"


def test_a_restored_server_has_all_that_it_had(home: Path, tmp_path: Path) -> None:
    """Users, tokens, ensembles from within and without, packages and the audit log are there; without the old home."""
    made = back_up(home, tmp_path / "backup", with_keys=True)
    assert [f"{one.project}/{one.name}" for one in made.ensembles] == ["default/shop", "mine/office"]
    assert (made.left_out, made.missing) == ((), ())
    before = verify(home, "")
    other = tmp_path / "restored"
    found = restore(tmp_path / "backup", other, resumes=False)
    assert not found.unreadable
    assert found.waits
    assert not may_resume(other)
    assert (other / "packages" / "one.csar").read_bytes() == b"a package"
    after = verify(other, before.head)
    assert (after.broken, after.witnessed, after.rows) == (0, before.rows, before.rows + 1)
    assert {one.directory for one in restored_rows(other)} == {one.directory for one in found.ensembles}
    with Served(other) as again:
        client = Client(again.url, (home.parent / "token").read_text())
        for project, name in (("default", "shop"), ("mine", "office")):
            status = client.get(f"projects/{project}/ensembles/{name}/status")
            assert set(status["instances"]) == {"web_1", "db_1"}
        assert not verify(other, client.get("audit/head")["head"]).broken
        assert [row["action"] for row in client.get("audit")["items"]].count("server.restore") == 1
    assert resume(other, new_key=False).changed
    assert may_resume(other)
    assert not resume(other, new_key=False).changed
    assert not verify(other, before.head).broken
    assert run(["-e", str(other / "projects" / "default" / "ensembles" / "shop"), "-q", "undeploy", "--yes"]) == 0


def test_a_job_that_runs_is_resumed_from_the_backup(tmp_path: Path) -> None:
    """The restored ensemble knows the job as it was between two turns: what was done is not done again, what ran runs
    once more, and the rest follows."""
    slow, running = begun(tmp_path / "elsewhere")
    with Served(tmp_path / "home", slow):
        made = back_up(tmp_path / "home", tmp_path / "backup", with_keys=True)
    [kept] = made.ensembles
    assert kept.job
    running.kill()
    running.communicate()
    shutil.rmtree(slow)
    found = restore(tmp_path / "backup", tmp_path / "again", resumes=False)
    [one] = found.ensembles
    assert one.job == kept.job
    (tmp_path / "elsewhere" / "go").touch()
    assert run(["-e", one.directory, "-q", "jobs", "resume"]) == 0
    ran = (tmp_path / "elsewhere" / "ran").read_text().splitlines()
    assert [step.partition(".")[0] for step in ran] == ["one_1", "two_1", "two_1", "three_1"]
    status = read_yaml((Path(one.directory) / "ensemble.yaml").read_text())["status"]
    assert status["lastJob"]["changeId"] == kept.job
    assert run(["-e", one.directory, "-q", "undeploy", "--yes"]) == 0


def test_a_restored_server_resumes_jobs_once_it_may(tmp_path: Path) -> None:
    """The job that ran when the backup was made waits for `ordito server resume`, then goes on without a hand."""
    slow, running = begun(tmp_path / "elsewhere")
    with Served(tmp_path / "home", slow, settings="jobs: { resume: always }\n"):
        back_up(tmp_path / "home", tmp_path / "backup", with_keys=True)
    running.kill()
    running.communicate()
    shutil.rmtree(slow)
    (tmp_path / "elsewhere" / "go").touch()
    other = tmp_path / "again"
    [one] = restore(tmp_path / "backup", other, resumes=False).ensembles
    with Served(other, settings="") as server:
        assert Client(server.url).get("/readyz")["well"]
        assert read_yaml((Path(one.directory) / "ensemble.yaml").read_text()).get("status") is None
        resume(other, new_key=False)
        until((Path(one.directory) / "jobs" / f"{one.job}.yaml").exists)
    assert (tmp_path / "elsewhere" / "ran").read_text().splitlines()[-1].startswith("three_1")


def test_jobs_begin_and_end_while_ensembles_are_copied(tmp_path: Path) -> None:
    """Whenever a backup is made of an ensemble in which one job follows the other, its copy is whole: its records and
    its state say the same, and it can go on."""
    shop = deployed(tmp_path / "elsewhere")
    with Served(tmp_path / "home", shop):
        words = f"while :; do {sys.executable} -m ordito -e {shop} -q run create --node web --yes || exit 1; done"
        with subprocess.Popen(["bash", "-c", words], start_new_session=True) as busy:
            try:
                for number in range(examples(3)):
                    until(lambda: len(list((shop / "jobs").iterdir())) > 2 + number)  # noqa: B023
                    back_up(tmp_path / "home", tmp_path / f"backup{number}", with_keys=True)
            finally:
                os.killpg(busy.pid, signal.SIGKILL)
    for number in range(examples(3)):
        found = restore(tmp_path / f"backup{number}", tmp_path / f"home{number}", resumes=False)
        directory = found.ensembles[0].directory
        if found.ensembles[0].job:
            assert run(["-e", directory, "-q", "jobs", "resume"]) == 0
        assert run(["-e", directory, "-q", "jobs", "replay"]) == 0
        assert run(["-e", directory, "-q", "run", "create", "--node", "web", "--yes"]) == 0


def test_a_backup_without_keys_opens_nothing(tmp_path: Path) -> None:
    """Neither a key nor a secret in plain is in any byte of it, in whatever spelling, also while a job uses it."""
    place = tmp_path / "elsewhere"
    slow, running = begun(place, "canary-5512")
    key = b"-----BEGIN OPENSSH PRIVATE KEY-----\nc2VjcmV0\n-----END OPENSSH PRIVATE KEY-----\n"
    (slow / "id_ed25519").write_bytes(key)
    (slow / "secret.txt").write_text("canary-5512")
    assert process(place, "-e", slow, "secrets", "set", "word", "--file", slow / "secret.txt").code == 0
    (slow / "secret.txt").unlink()
    settings = "limits: { requests: 1000 }\nurl: { file: where }\n"
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "where").write_text("https://canary-url.example")
    (tmp_path / "home" / "keys" / "shop").mkdir(parents=True)
    (tmp_path / "home" / "keys" / "shop" / "id").write_bytes(b"canary-ssh")
    with Served(tmp_path / "home", slow, settings=settings):
        made = back_up(tmp_path / "home", tmp_path / "backup", with_keys=False)
        whole = back_up(tmp_path / "home", tmp_path / "whole", with_keys=True)
    at = "projects/default/ensembles/slow/"
    assert set(made.left_out) == {"key", "keys/shop/id", "where", f"{at}.ordito/key", f"{at}id_ed25519"}
    assert not whole.left_out
    secrets = [b"canary-5512", b"canary-url", b"canary-ssh", b"c2VjcmV0"]
    secrets += [(tmp_path / "home" / "key").read_bytes().strip(), (slow / ".ordito" / "key").read_bytes().strip()[14:]]
    everything = files_in(tmp_path / "backup")
    for secret in secrets:
        for spelt in (secret, base64.b64encode(secret), secret.hex().encode()):
            assert not [path for path, content in everything.items() if spelt in content], spelt
    assert (tmp_path / "whole" / "home" / "key").read_bytes() == (tmp_path / "home" / "key").read_bytes()
    assert not [path for path, content in files_in(tmp_path / "whole").items() if b"canary-5512" in content]
    found = restore(tmp_path / "backup", tmp_path / "again", resumes=False)
    assert any(text.startswith("secrets and sensitive values of default/slow") for text in found.unreadable)
    running.kill()
    running.communicate()


def sealed_home(home: Path) -> None:
    """Give the database of a home something that is sealed with its key."""
    from cryptography.fernet import Fernet

    secret = Fernet((home / "key").read_bytes().strip()).encrypt(b"of a webhook")
    with closing(sqlite3.connect(home / "server.db")) as db, db:
        values = ("wh_1", "default", "https://hooks.example", secret, "[]", "[]", 0, 0, "ann", 0.0)
        db.execute(f"INSERT INTO webhook VALUES ({', '.join('?' * len(values))})", values)


def test_a_server_without_its_key_does_not_start_with_another(home: Path, tmp_path: Path) -> None:
    """What it has sealed waits for its key: until that is brought, or given up for lost."""
    back_up(home, tmp_path / "first", with_keys=True)
    restore(tmp_path / "first", tmp_path / "sealed", resumes=True)
    home = tmp_path / "sealed"
    sealed_home(home)
    back_up(home, tmp_path / "backup", with_keys=False)
    other = tmp_path / "restored"
    found = restore(tmp_path / "backup", other, resumes=True)
    assert "https://hooks.example" in found.unreadable[0]
    assert may_resume(other)
    command = [sys.executable, "-m", "ordito.server", str(other), "--listen", "127.0.0.1:0"]
    refused = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert refused.returncode == 3
    assert "error[no-key]" in refused.stderr
    assert "--new-key" in refused.stderr
    (other / "key").write_bytes(base64.urlsafe_b64encode(bytes(32)))
    with pytest.raises(ServerRefused, match="is not the key"):
        resume(other, new_key=False)
    shutil.copy(home / "key", other / "key")
    assert resume(other, new_key=False).forgotten == ()
    assert not (other / RESTORED).exists()
    lost = tmp_path / "lost"
    restore(tmp_path / "backup", lost, resumes=False)
    with pytest.raises(ServerRefused, match="without its key"):
        resume(lost, new_key=False)
    assert len(resume(lost, new_key=True).forgotten) == 1
    assert rows(lost, "SELECT count(*) FROM webhook") == [(0,)]
    with Served(lost) as server:
        assert Client(server.url).get("/readyz")["well"]


def test_a_plan_that_ran_goes_on_without_the_key(tmp_path: Path) -> None:
    """What it was asked with cannot be read any more; its job ends all the same, and other plans begin."""
    place = tmp_path / "elsewhere"
    slow, running = begun(place)
    (place / "go").touch()
    running.communicate()
    (place / "go").unlink()
    (place / "ran").unlink()
    with Served(tmp_path / "home", slow, settings=f"{MANY_REQUESTS}reads: [ {place} ]\n") as server:
        client = server.admin()
        request = {"workflow": "run", "operation": "create"}
        wanted = {"request": request, "apply": "auto"}
        plan = client.do("POST", "projects/default/ensembles/slow/plans", wanted)["id"]
        at = f"projects/default/ensembles/slow/plans/{plan}"
        until(lambda: (place / "ran").exists() and "two_1" in (place / "ran").read_text())
        until(lambda: client.get(at)["state"] == "running")
        back_up(tmp_path / "home", tmp_path / "backup", with_keys=False)
        (place / "go").touch()
        until(lambda: client.get(at)["state"] == "applied")
        assert client.get(at)["job_status"] == "ok"
    again = tmp_path / "again"
    [found] = restore(tmp_path / "backup", again, resumes=False).ensembles
    # That of the ensemble was kept elsewhere, that of the server is lost.
    shutil.copy(slow / ".ordito" / "key", Path(found.directory) / ".ordito" / "key")
    resume(again, new_key=True)
    with Served(again, settings=f"{MANY_REQUESTS}jobs: {{ resume: always }}\nreads: [ {place} ]\n") as server:
        client = Client(server.url, client.token)
        until(lambda: client.get(at)["state"] == "applied")
        assert client.get(at)["job_status"] == "ok"
        other = client.do("POST", "projects/default/ensembles/slow/plans", wanted)["id"]
        until(lambda: client.get(f"projects/default/ensembles/slow/plans/{other}")["state"] == "applied")
        assert "a fault while plans were kept going" not in server.log.read_text()


@pytest.mark.parametrize("seed", range(3))
def test_a_damaged_byte_is_found_before_anything_is_restored(home: Path, tmp_path: Path, seed: int) -> None:
    back_up(home, tmp_path / "backup", with_keys=False)
    chance = random.Random(seed)
    for _ in range(examples(4)):
        files = [path for path in sorted((tmp_path / "backup").rglob("*")) if path.is_file() and path.stat().st_size]
        path = chance.choice(files)
        content = bytearray(path.read_bytes())
        at = chance.randrange(65 if path.name == "backup.sha256" else len(content)) % 64
        content[at] ^= 1
        before = path.read_bytes()
        path.write_bytes(content)
        with pytest.raises(ServerRefused) as refused:
            restore(tmp_path / "backup", tmp_path / "again", resumes=False)
        assert refused.value.code == "damaged-backup"
        assert not (tmp_path / "again").exists()
        path.write_bytes(before)
    (tmp_path / "backup" / "home" / "packages" / "one.csar").unlink()
    with pytest.raises(ServerRefused, match="damaged"):
        restore(tmp_path / "backup", tmp_path / "again", resumes=False)


def operate(*words: str | Path) -> subprocess.Popen[bytes]:
    """The program beside the server, as a process that can be killed."""
    command = [sys.executable, "-m", "ordito.server.operate", *map(str, words)]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL)


def killed_after(running: subprocess.Popen[bytes], folder: Path, count: int) -> None:
    """Kill a process when so many files are in a folder, or when it has ended."""
    until(lambda: running.poll() is not None or sum(len(names) for _, _, names in os.walk(folder)) >= count)
    running.kill()
    running.communicate()


@pytest.mark.timeout(600)
def test_a_backup_that_was_killed_is_none(home: Path, tmp_path: Path) -> None:
    whole = len(read_of(home, tmp_path / "whole").files)
    backups = tmp_path / "backups"
    backups.mkdir()
    for number in range(examples(4)):
        place = backups / "one"
        killed_after(operate("backup", home, place), backups, 3 + number * whole // examples(4))
        if not place.exists():
            for left in backups.iterdir():
                if whole_files_in(left) == whole:
                    continue  # All of it was written: it has only not got its name yet.
                with pytest.raises(ServerRefused) as refused:
                    restore(left, tmp_path / "again", resumes=False)
                assert refused.value.code == "damaged-backup"
        else:
            assert len(read_backup(place).files) >= whole
            shutil.rmtree(place)
    back_up(home, backups / "one", with_keys=False)
    assert [path.name for path in backups.iterdir()] == ["one"]


def whole_files_in(place: Path) -> int:
    """How many files a backup has, 0 where it is refused as damaged."""
    try:
        return len(read_backup(place).files)
    except ServerRefused as refused:
        if refused.code == "damaged-backup":
            return 0
        raise


def read_of(home: Path, place: Path) -> Any:
    """The list of a backup that is made there."""
    back_up(home, place, with_keys=False)
    return read_backup(place)


@pytest.mark.timeout(600)
def test_a_restore_that_was_killed_begins_anew(home: Path, tmp_path: Path) -> None:
    """No server starts on half a home, and restoring once more makes it whole."""
    whole = len(read_of(home, tmp_path / "backup").files)
    other = tmp_path / "restored"
    for number in range(examples(4)):
        killed_after(operate("restore", other, tmp_path / "backup"), other, 1 + number * whole // examples(4))
        if (other / RESTORING).exists():
            command = [sys.executable, "-m", "ordito.server", str(other)]
            refused = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
            assert (refused.returncode, "not restored whole" in refused.stderr) == (3, True), refused.stderr
        elif other.exists() and list(other.iterdir()):
            shutil.rmtree(other)
    restore(tmp_path / "backup", other, resumes=False)
    assert not verify(other, "").broken
    assert {one.directory for one in restored_rows(other)} == {
        str(other / "projects/default/ensembles/shop"),
        str(other / "projects/mine/ensembles/office"),
    }


class Row(msgspec.Struct):
    directory: str


def restored_rows(home: Path) -> list[Row]:
    """Where the ensembles of a home are: those below it are kept relative to it."""
    found = rows(home, "SELECT directory FROM ensemble")
    return [Row(directory.replace(BELOW, f"{home}/", 1) if directory.startswith(BELOW) else directory)
            for directory, in found]  # fmt: skip


@pytest.mark.skipif(os.geteuid() != 0 or not shutil.which("mount"), reason="only root can make a small disk")
def test_a_full_disk_leaves_nothing(home: Path, tmp_path: Path) -> None:
    small = tmp_path / "small"
    small.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=300k", "small", str(small)], check=False).returncode:
        pytest.skip("this machine does not let a disk be mounted")
    try:
        with pytest.raises(ServerRefused, match=r"No space left|full"):
            back_up(home, small / "backup", with_keys=False)
        assert list(small.iterdir()) == []
        back_up(home, tmp_path / "backup", with_keys=False)
        with pytest.raises(ServerRefused, match=r"No space left|full"):
            restore(tmp_path / "backup", small / "home", resumes=False)
        assert (small / "home" / RESTORING).exists()
    finally:
        subprocess.run(["umount", str(small)], check=True)


def test_what_makes_no_sense_is_refused(home: Path, tmp_path: Path) -> None:
    back_up(home, tmp_path / "backup", with_keys=False)
    for wrong, said in (
        (lambda: back_up(home, tmp_path / "backup", with_keys=False), "exists already"),
        (lambda: back_up(tmp_path, tmp_path / "other", with_keys=False), "not the home of a server"),
        (lambda: back_up(home, home / "inside", with_keys=False), "a part of itself"),
        (lambda: back_up(home, home.parent / "elsewhere" / "shop" / "b", with_keys=False), "a part of itself"),
        (lambda: restore(tmp_path / "backup", home, resumes=False), "is not empty"),
        (lambda: restore(tmp_path, tmp_path / "other", resumes=False), "is no backup"),
        (lambda: restore(tmp_path / "none", tmp_path / "other", resumes=False), "is no backup"),
        (lambda: verify(home, "abc"), "is no hash"),
        (lambda: look(tmp_path), "not the home of a server"),
    ):
        with pytest.raises(ServerRefused, match=said):
            wrong()
    assert not (tmp_path / "other").exists()
    assert not list((home.parent / "elsewhere" / "shop").glob(".*backup"))


def said(capfd: pytest.CaptureFixture[str], *words: str | Path, code: int = 0) -> str:
    """What a verb prints, which must end with a code."""
    capfd.readouterr()
    assert run([str(word) for word in words]) == code
    return capfd.readouterr().out


def test_what_verbs_say_of_a_server_that_is_well(home: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """As text and for programs, with exit codes that a script can use."""
    status = json.loads(said(capfd, "server", "status", home, "-o", "json"))
    assert (status["ensembles"], status["projects"], status["users"], status["problems"]) == (2, 2, 1, [])
    assert status["process"] > 0
    assert "runs: process" in said(capfd, "server", "status", home)
    head = json.loads(said(capfd, "server", "audit", "verify", home, "-o", "json"))["head"]
    assert f"hash {head}" in said(capfd, "server", "audit", "verify", home, "--head", head)
    assert "no row has the hash" in said(capfd, "server", "audit", "verify", home, "--head", "ab" * 32, code=1)


def test_what_verbs_say_of_a_restored_server(home: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """What is wrong with it is said, with another exit code."""
    backup, other = tmp_path / "backup", tmp_path / "other"
    assert "default/shop" in said(capfd, "server", "backup", home, backup)
    assert run(["server", "backup", str(home), str(backup)]) == 3
    assert "error[exists]" in capfd.readouterr().err
    assert "mine/office" in said(capfd, "server", "restore", backup, other)
    with closing(sqlite3.connect(other / "server.db")) as db, db:
        db.execute("UPDATE audit SET principal = 'somebody' WHERE number = 2")
        for project, who in (("default", "ann"), ("mine", "ben")):
            db.execute("INSERT INTO binding VALUES (?, '', 'user', ?, 'deployer')", (project, who))
    assert "BROKEN at row 2" in said(capfd, "server", "audit", "verify", other, code=1)
    shutil.rmtree(other / "projects" / "mine" / "ensembles" / "office")
    shown = said(capfd, "server", "status", other, code=1)
    for words in ("resumes nothing yet", "broken at row 2", "mine/office", "different deployers"):
        assert words in shown
    assert "goes on" in said(capfd, "server", "resume", other)
