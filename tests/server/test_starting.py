"""How the server starts, refuses to start, and stops; and what becomes of its processes when any is killed."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from ordito.cli.main import run
from ordito.server.refused import ServerRefused
from ordito.server.settings import read_settings
from tests.cli.program import until
from tests.server.conftest import SERVICE, deployed
from tests.server.test_signing_in import GOOD, Browser
from tests.support.serving import Client, Served, children_of, environment_of, is_gone

ENSEMBLE = "projects/default/ensembles/shop"
RESTART = {"request": {"workflow": "restart", "all": True}, "apply": "auto"}


def ended(client: Client, request: object) -> str:
    """The state in which a plan ends that is asked for."""
    plan = client.do("POST", f"{ENSEMBLE}/plans", request)["id"]
    states = ("planning", "queued", "starting", "running")
    until(lambda: client.get(f"{ENSEMBLE}/plans/{plan}")["state"] not in states)
    return str(client.get(f"{ENSEMBLE}/plans/{plan}")["state"])


def refused(home: Path, *words: str) -> str:
    """What a server says that does not start."""
    command = [sys.executable, "-m", "ordito.server", str(home), *words]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 3, done
    assert "Traceback" not in done.stderr
    return done.stderr


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("lissen: 127.0.0.1:1", 'did you mean "listen"?'),
        ("listen: everywhere", "write an address and a port"),
        ("limits: { requests: many }", "$.limits.requests"),
        ("limits: { querry_seconds: 1 }", 'did you mean "query_seconds"?'),
        ("url: shop", "write it whole"),
        ("tls: { certificate: none.pem, key: none.pem }", "there is no file none.pem"),
        ("url: { env: ORDITO_NOT_SET }", "there is no environment variable ORDITO_NOT_SET"),
        ("url: { file: none }", "cannot read none"),
        ("listen: [", "server.yaml"),
        ("limits: { query_seconds: 0 }", "$.limits.query_seconds"),
        ("limits: { requests: 0 }", "$.limits.requests"),
        ("listen: 0.0.0.0:0", "a user with a password"),
    ],
)
def test_wrong_settings_are_refused(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "server.yaml").write_text(text)
    assert said in refused(tmp_path)


def test_beyond_this_machine_a_user_a_url_and_tls_are_needed(tmp_path: Path) -> None:
    (tmp_path / "server.yaml").write_text("listen: 0.0.0.0:0\n")
    message = refused(tmp_path)
    for word in ("user with a password", "`url`", "`tls`"):
        assert word in message


def test_a_home_has_one_server(tmp_path: Path) -> None:
    with Served(tmp_path) as server:
        assert f"process {server.process.pid}" in refused(tmp_path, "--listen", "127.0.0.1:0")
        port = server.url.rpartition(":")[2]
        assert "cannot listen" in refused(tmp_path / "other", "--listen", f"127.0.0.1:{port}")


def test_a_directory_without_an_ensemble_is_refused(tmp_path: Path) -> None:
    assert "holds no ensemble" in refused(tmp_path / "home", "--ensemble", str(tmp_path))


def test_a_newer_database_is_refused(tmp_path: Path) -> None:
    with Served(tmp_path):
        pass
    with sqlite3.connect(tmp_path / "server.db") as db:
        db.execute("UPDATE alembic_version SET version_num = '9999'")
    assert "newer version" in refused(tmp_path)


def test_a_damaged_database_or_certificate_is_refused(tmp_path: Path) -> None:
    (tmp_path / "server.db").write_bytes(b"no database" * 1_000)
    assert "server.db" in refused(tmp_path)
    other = tmp_path / "other"
    other.mkdir()
    (other / "server.yaml").write_text("tls: { certificate: c.pem, key: k.pem }\nlisten: 127.0.0.1:0\n")
    for name in ("c.pem", "k.pem"):
        (other / name).write_text("no certificate")
    assert "tls:" in refused(other)


def test_settings_come_from_files_and_variables(tmp_path: Path) -> None:
    (tmp_path / "url").write_text("https://ordito.example\n")
    (tmp_path / "server.yaml").write_text("url: { file: url }\nlisten: { env: WHERE }\nlimits: { requests: 7 }\n")
    found = read_settings(tmp_path / "server.yaml", {"WHERE": "127.0.0.1:99"})
    assert (found.url, found.port, found.limits.requests) == ("https://ordito.example", 99, 7)
    with pytest.raises(ServerRefused):
        read_settings(tmp_path / "server.yaml", {})


def test_files_of_the_home_are_for_its_owner_only(tmp_path: Path) -> None:
    with Served(tmp_path / "home", apart=True):
        for path in (tmp_path / "home").iterdir():
            if path.name not in ("server.yaml", "server.log"):
                assert not path.stat().st_mode & 0o077, path


def test_the_process_that_answers_may_be_killed(tmp_path: Path) -> None:
    with Served(tmp_path / "home", deployed(tmp_path), apart=True) as server:
        client = server.admin()
        before = client.get(f"{ENSEMBLE}/jobs")
        [forking] = children_of(server.process.pid)
        os.kill(forking, signal.SIGKILL)
        assert client.get(f"{ENSEMBLE}/revisions")["revisions"]
        assert client.get(f"{ENSEMBLE}/jobs") == before
        [again] = children_of(server.process.pid)
        assert again != forking
        assert client.ask("GET", "/readyz").status == 200


def test_nothing_is_left_when_the_server_is_killed(tmp_path: Path) -> None:
    with Served(tmp_path / "home", deployed(tmp_path), apart=True) as server:
        server.admin().get(f"{ENSEMBLE}/status")
        [forking] = children_of(server.process.pid)
        server.stop(signal.SIGKILL)
    until(lambda: is_gone(forking))
    with Served(tmp_path / "home") as again:
        assert again.admin().get(f"{ENSEMBLE}/status")["instances"]


def test_those_that_answer_get_few_variables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATABASE_PASSWORD", "canary")
    monkeypatch.setenv("FOR_OPERATIONS", "wanted")
    settings = "variables: [ FOR_OPERATIONS ]\n"
    with Served(tmp_path / "home", deployed(tmp_path), settings=settings) as server:
        server.admin().get(f"{ENSEMBLE}/status")
        [forking] = children_of(server.process.pid)
        found = environment_of(forking)
        assert "FOR_OPERATIONS" in found
        assert "DATABASE_PASSWORD" not in found


SPIES = """\
[ -e {place}/spies ] || exit 0
readlink /proc/$PPID/fd/1 > {place}/output
echo "Ordito serves FORGED" >> /proc/$PPID/fd/2
"""


def test_operations_have_neither_the_output_of_the_server_nor_its_umask(tmp_path: Path) -> None:
    """Its output has links that sign in, and its log is believed; what a job writes is for whom a command writes it."""
    (tmp_path / "spy.sh").write_text(SPIES.format(place=tmp_path))
    shop = deployed(tmp_path, service=SERVICE.replace("say.sh", "spy.sh"))
    (tmp_path / "spies").touch()
    with Served(tmp_path / "home", shop, settings=f"reads: [ {tmp_path} ]\n") as server:
        assert ended(server.admin(), RESTART) == "applied"
        assert (tmp_path / "output").read_text() == "/dev/null\n"
        until(lambda: "FORGED" in server.log.read_text())
        assert "a process: Ordito serves FORGED" in server.log.read_text().splitlines()
        assert "\nOrdito serves FORGED" not in server.log.read_text()
    records = list((shop / "jobs").glob("*.yaml"))
    assert len(records) == 2
    assert len({path.stat().st_mode for path in records}) == 1


def test_a_fault_of_a_runner_is_in_the_log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fault = "raise ZeroDivisionError('which nobody foresaw')"
    code = f"import ordito.app.unattended\ndef fault(*_):\n    {fault}\nordito.app.unattended.carry_out = fault\n"
    shop = deployed(tmp_path)
    (tmp_path / "more").mkdir()
    (tmp_path / "more" / "sitecustomize.py").write_text(code)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "more"))
    with Served(tmp_path / "home", shop, settings="variables: [ PYTHONPATH ]\n") as server:
        assert ended(server.admin(), RESTART) == "faulty"
        until(lambda: "a process: ZeroDivisionError: which nobody foresaw" in server.log.read_text())


SPEAKS = """\
import logging, pathlib, warnings
import ordito.app.unattended as unattended

carry_out = unattended.carry_out

def speaks(*given):
    pathlib.Path("{place}/begun").touch()
    open("{place}/gate").read()
    logging.getLogger("ordito").error("nobody hears this")
    warnings.warn("nor this")
    return carry_out(*given)

unattended.carry_out = speaks
"""


def test_a_runner_goes_on_when_nobody_hears_it_any_more(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What it says goes to the server, which is gone; what it does does not end with that."""
    shop = deployed(tmp_path)
    (tmp_path / "more").mkdir()
    (tmp_path / "more" / "sitecustomize.py").write_text(SPEAKS.format(place=tmp_path))
    os.mkfifo(tmp_path / "gate")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "more"))
    settings = f"variables: [ PYTHONPATH ]\nreads: [ {tmp_path} ]\n"
    with Served(tmp_path / "home", shop, settings=settings) as server:
        client = server.admin()
        plan = client.do("POST", f"{ENSEMBLE}/plans", RESTART)["id"]
        until((tmp_path / "begun").exists)
        server.stop(signal.SIGKILL)
    (tmp_path / "gate").write_text("go on")
    with Served(tmp_path / "home", settings=settings) as again:
        client = admin_of(again, client)
        until(lambda: client.get(f"{ENSEMBLE}/plans/{plan}")["state"] == "applied")
        assert client.get(f"{ENSEMBLE}/plans/{plan}")["job_status"] == "ok"


def test_no_link_is_made_where_an_administrator_has_a_password(tmp_path: Path) -> None:
    """Whoever reads the output of a later start gets nothing from it, however many administrators have none."""
    with Served(tmp_path) as server:
        admin = server.admin()
        admin.do("POST", "users", {"name": "second", "admin": True})
    with Served(tmp_path) as server:
        assert server.link
        link = admin_of(server, admin).do("POST", "users/second/reset")["link"].rpartition("#")[2]
        second = Browser(server.url)
        assert second.ask("POST", "sessions", {"link": link}).status == 201
        assert second.ask("PUT", "me/password", {"new": GOOD}).status == 204
    with Served(tmp_path) as server:
        server.stop()
        assert server.process.stdout is not None
        assert server.process.stdout.read() == ""


def admin_of(server: Served, before: Client) -> Client:
    """The administrator of a server that was started again."""
    return Client(server.url, before.token)


@pytest.mark.parametrize("limit", ["query_memory: 20000000", "query_seconds: 0.0001"])
def test_what_needs_too_much_is_refused(tmp_path: Path, limit: str) -> None:
    with Served(tmp_path / "home", deployed(tmp_path), settings=f"limits: {{ {limit} }}\n") as server:
        client: Client = server.admin()
        found = client.ask("GET", f"{ENSEMBLE}/status")
        assert found.status == 422, found
        assert found.data["code"] == "too-costly"
        assert client.get("ensembles")["items"]


def test_too_large_a_body_is_refused(tmp_path: Path) -> None:
    with Served(tmp_path, settings="limits: { body: 1000 }\n") as server:
        found = server.admin().ask("POST", "projects", {"name": "x", "description": "y" * 2_000})
        assert (found.status, found.data["code"]) == (413, "too-large")


def test_too_many_requests_are_slowed_down(tmp_path: Path) -> None:
    with Served(tmp_path, settings="limits: { requests: 2, unknown: 100 }\n") as server:
        client = server.admin()
        found = [client.ask("GET", "me") for _ in range(12)]
        late = next(one for one in found if one.status == 429)
        assert int(late.headers["Retry-After"]) >= 1
        assert late.data["code"] == "too-many"


def test_the_verb_serves_the_ensemble_of_its_directory(tmp_path: Path) -> None:
    shop = deployed(tmp_path)
    command = [sys.executable, "-m", "ordito", "-e", str(shop), "serve", "--listen", "127.0.0.1:0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as running:
        assert running.stdout is not None
        url = running.stdout.readline().split()[2]
        assert Client(url).get("/healthz")["well"]
        running.send_signal(signal.SIGINT)
        running.communicate(timeout=60)
    assert running.returncode == 0
    assert (shop / ".ordito" / "server" / "server.db").exists()


def test_the_verb_needs_a_home_or_an_ensemble(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["-e", str(tmp_path), "serve"]) == 3
    assert "name a directory for the server" in capsys.readouterr().err


def test_it_opens_the_browser_at_the_link(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program, opened = tmp_path / "browser", tmp_path / "opened"
    program.write_text(f'#!/bin/sh\necho "$1" > {opened}.new && mv {opened}.new {opened}\n')
    program.chmod(0o755)
    monkeypatch.setenv("BROWSER", str(program))
    with Served(tmp_path / "home", words=("--open",)) as server:
        until(opened.exists)
        assert opened.read_text() == f"{server.url}/sign-in#{server.link}\n"


def test_without_a_window_it_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("BROWSER", "DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(name, raising=False)
    with Served(tmp_path / "home", words=("--open",)) as server:
        until(lambda: "open that address yourself" in server.log.read_text())
        assert Client(server.url).get("/healthz")["well"]
