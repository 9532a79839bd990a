"""Jobs at a server: planned there, asked about here, followed; with the output and exit codes of a job here."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from ordito.cli.main import run
from tests.client.conftest import deployed
from tests.support.serving import MANY_REQUESTS, Client, Served

ORDITO = [sys.executable, "-m", "ordito"]
CHANGING = re.compile(r"A6[0-9A-Za-z]{10}(\.\d+)?|\d\d:\d\d:\d\d|\d+\.\d+s?|\d{4}-\d\d-\d\dT[\d:.]+Z|pl_[0-9A-Z]{26}")
"""Ids, times and durations, which differ from job to job."""


class Place:
    """An ensemble, its server, and commands that are given to it."""

    def __init__(self, place: Path) -> None:
        self.place = place
        self.shop = deployed(place)
        self.settings = f"{MANY_REQUESTS}reads: [ {place} ]\n"
        self.server = Served(place / "home", self.shop, settings=self.settings)
        self.admin = self.server.admin()

    def environment(self, client: Client | None = None) -> dict[str, str]:
        token = (client or self.admin).token
        return {**os.environ, "ORDITO_SERVER": self.server.url, "ORDITO_TOKEN": token}

    def there(self, *words: str, client: Client | None = None, code: int = 0) -> subprocess.CompletedProcess[str]:
        done = subprocess.run(
            [*ORDITO, *words],
            env=self.environment(client),
            capture_output=True,
            text=True,
            check=False,
            stdin=subprocess.DEVNULL,
            cwd=self.place,
            timeout=100,
        )
        assert done.returncode == code, done
        assert "Traceback" not in done.stderr
        return done

    def begin(self, *words: str, client: Client | None = None) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [*ORDITO, *words], env=self.environment(client), stdout=-1, stderr=-1, text=True, cwd=self.place
        )

    def restart(self) -> None:
        """Kill the server, and start it again at the same address."""
        listen = self.server.url.removeprefix("http://")
        self.kill()
        self.server = Served(self.place / "home", settings=self.settings, listen=listen)

    def kill(self) -> None:
        """Kill the server."""
        self.server.stop(signal.SIGKILL)
        assert self.server.process.stdout is not None
        self.server.process.stdout.close()

    def wait(self) -> Path:
        """Operations wait as long as this file is there."""
        waiting = self.place / "waiting"
        waiting.touch()
        return waiting


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    found = Place(tmp_path)
    try:
        yield found
    finally:
        found.server.__exit__()


EXCERPT = re.compile(r"(?m)^ *\d* [│|].*\n")
"""The lines of a file in a finding: at a server only the place is known."""


def same(text: str) -> str:
    return CHANGING.sub("X", EXCERPT.sub("", text))


def until(process: subprocess.Popen[str], text: str) -> str:
    """What a command has written to its second channel until a line holds a text."""
    assert process.stderr is not None
    read = ""
    while text not in read:
        line = process.stderr.readline()
        assert line, read
        read += line
    return read


def rest(process: subprocess.Popen[str]) -> str:
    """What it writes to its second channel until it ends."""
    assert process.stderr is not None
    told = process.stderr.read()
    process.wait(100)
    return told


WORDS = [
    *(
        ["stop", "web", "--yes"],
        ["start", "web", "--yes"],
        ["stop", "web", "--yes", "-o", "json"],
        ["start", "--all", "-y"],
    ),
    *(["heal", "web", "--yes"], ["heal", "db", "web", "--yes", "-o", "json"], ["heal", "db", "--reinstall", "--yes"]),
    *(["check"], ["check", "web", "-o", "json"], ["check", "web", "--detailed-exitcode"], ["discover"]),
    *(["run", "Standard.start", "--node", "db", "--yes"], ["workflow", "run", "inspect", "--yes"]),
    *(["deploy", "--yes"], ["deploy", "--yes", "-o", "json"], ["deploy", "--yes", "-i", "motto=8080"]),
    *(
        ["upgrade", "--yes", "-o", "json"],
        ["scale", "web=1", "--yes"],
        ["stop", "web", "-q", "-y"],
        ["restart", "web", "-y"],
    ),
    *(["plan", "stop", "web", "-o", "json"], ["plan", "stop", "web"], ["plan", "scale", "web=1"]),
    *(["deploy", "--yes", "-i", "moto=1"], ["stop", "wep", "--yes"], ["run", "none", "--yes"], ["stop", "web"]),
    *(["jobs", "logs"], ["jobs", "events"], ["jobs", "retry", "--yes"], ["rollback", "--yes"]),
    *(["secrets", "set", "db", "--file", "hosts.yaml"], ["secrets", "set", "no good", "--file", "hosts.yaml"]),
    *(
        ["secrets", "list"],
        ["secrets", "rm", "db", "none"],
        ["secrets", "rm", "db", "-o", "json"],
        ["secrets", "rm", "db"],
    ),
    *(
        ["notify", "web", "busy"],
        ["notify", "wep", "busy"],
        ["notify", "web", "busi"],
        ["notify", "web", "busy", "-i", "a=1"],
    ),
    *(["jobs", "replay"], ["jobs", "replay", "--first", "1"], ["jobs", "replay", "--write", "-o", "json"]),
    *(["jobs", "unlock", "--remote"], ["state", "renew"], ["hosts", "release", "one"], ["hosts", "release", "two"]),
    *(
        ["forget"],
        ["forget", "web"],
        ["state", "rm", "db"],
        ["state", "mv", "db", "dbs", "-y"],
        ["state", "adopt", "db"],
    ),
    *(
        ["run", "Standard.start", "--node", "db", "-v", "--yes"],
        ["run", "Standard.start", "--node", "db", "--on-failure", "abort", "-y"],
    ),
    *(["undeploy", "--yes"], ["undeploy", "--yes"], ["jobs", "show"], ["status"]),
    *(
        ["forget", "web", "-o", "json"],
        ["forget"],
        ["state", "show"],
        ["state", "adopt", "db"],
        ["state", "adopt", "db", "-y"],
    ),
    *(["state", "rm", "db", "-y"], ["state", "rm", "db", "-y"], ["state", "export"]),
]


def told(words: list[str], capsys: pytest.CaptureFixture[str]) -> tuple[int, str, str]:
    """The exit code and the output of a command, without what differs from run to run."""
    code = run(words)
    out, err = capsys.readouterr()
    return code, same(out), same(err)


def test_jobs_there_are_as_jobs_here(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """One story, told twice: in a copy of an ensemble, and at the server of the ensemble itself."""
    place = Place(tmp_path / "shop")
    try:
        shutil.copytree(place.place, tmp_path / "copy", ignore=shutil.ignore_patterns("home"))
        monkeypatch.setenv("ORDITO_TOKEN", place.admin.token)
        for words in WORDS:
            monkeypatch.setenv("ORDITO_SERVER", "")
            monkeypatch.chdir(tmp_path / "copy" / "shop")
            capsys.readouterr()
            here = told(words, capsys)
            monkeypatch.setenv("ORDITO_SERVER", place.server.url)
            there = told(words, capsys)
            if "No operation was run" in here[2]:
                # Whether something could be checked is not said by a plan.
                here = (here[0], here[1], here[2].partition("Next:")[0])
            if words[0] == "plan" and "Next:" in there[2]:
                # At a server the plan stays.
                assert "plans apply X" in there[2]
                there = (there[0], there[1], here[2])
            if words[:2] == ["jobs", "show"]:
                # Who asked is said of jobs that a server has begun.
                there = (there[0], re.sub(r"(?m)^  (by|approved by) .*\n", "", there[1]), there[2])
            assert there == here, words
    finally:
        place.server.__exit__()


def test_a_failed_job(place: Place) -> None:
    (place.place / "failing").touch()
    done = place.there("stop", "web", "--yes", code=1)
    assert "FAILED" in done.stderr
    assert "web_1.Standard.stop says hello" in done.stderr
    assert "jobs logs A6" in done.stderr


def test_the_network_goes_away_in_the_middle(place: Place) -> None:
    waiting = place.wait()
    with place.begin("run", "Standard.start", "--yes") as command:
        before = until(command, "start")
        listen = place.server.url.removeprefix("http://")
        place.kill()
        # Whoever sits before it is told why nothing comes.
        before += until(command, "What was begun there goes on; it is asked again for 15 more minutes.")
        place.server = Served(place.place / "home", settings=place.settings, listen=listen)
        # What runs goes on, the command follows again, and nothing is told twice.
        before += until(command, "answers again")
        waiting.unlink()
        err = rest(command)
    assert command.returncode == 0, err
    told = before + err
    assert told.count("begin run") == 1
    assert sorted(re.findall(r"(db_1|web_1) +start +(start|ok)", told)) == [
        *(("db_1", "ok"), ("db_1", "start"), ("web_1", "ok"), ("web_1", "start")),
    ]
    assert "done after" in told
    assert [job["workflow"] for job in place.admin.get("projects/default/ensembles/shop/jobs")["jobs"]].count(
        "run"
    ) == 1


def test_the_server_is_away_while_a_plan_is_asked_for(place: Place) -> None:
    """The question waits for the server, and is asked once."""
    listen = place.server.url.removeprefix("http://")
    place.kill()
    with place.begin("stop", "web", "--yes") as command:
        place.server = Served(place.place / "home", settings=place.settings, listen=listen)
        err = rest(command)
    if command.returncode == 10:
        # The machine was so slow that the patience of a first question was over.
        assert "unreachable-server" in err
        return
    assert command.returncode == 0, err
    assert len(place.admin.get("projects/default/ensembles/shop/plans")["items"]) == 1


def test_a_sign_in_that_ends_meanwhile_leaves_the_job_and_names_it(place: Place) -> None:
    waiting, ben = place.wait(), somebody(place, "ben", "owner")
    with place.begin("restart", "--all", "--yes", client=ben) as command:
        until(command, "web_1")
        place.admin.do("DELETE", "users/ben")
        place.restart()
        err = rest(command)
    waiting.unlink()
    assert command.returncode == 10, err
    job = place.admin.get("jobs")["items"][0]["id"]
    assert f"job {job} goes on at the server without this command" in err
    assert f"ordito jobs events {job} --follow" in err


def test_an_interrupt_cancels_the_job(place: Place) -> None:
    waiting = place.wait()
    with place.begin("restart", "--all", "--yes") as command:
        until(command, "web_1")
        command.send_signal(signal.SIGINT)
        until(command, "cancelling")
        waiting.unlink()
        err = rest(command)
    assert command.returncode == 130, err
    assert "cancelled" in err


def test_the_third_interrupt_lets_go(place: Place) -> None:
    waiting = place.wait()
    (place.place / "say.sh").write_text(f"trap '' TERM INT; while [ -e {waiting} ]; do sleep 0.1; done\n")
    with place.begin("run", "Standard.start", "--yes") as command:
        until(command, "db_1")
        for said in ("cancelling", "ending"):
            command.send_signal(signal.SIGINT)
            until(command, said)
        command.send_signal(signal.SIGINT)
        err = rest(command)
    waiting.unlink()
    assert command.returncode == 130
    assert "it goes on at the server: follow it" in err or "interrupted" in err


def test_detached(place: Place) -> None:
    done = place.there("stop", "web", "--yes", "--detach", "-o", "json")
    plan = json.loads(done.stdout)
    assert plan["id"].startswith("pl_")
    shown = json.loads(place.there("plans", "show", plan["id"], "-o", "json").stdout)
    assert shown["workflow"] == "stop"
    place.there("jobs", "events", "--follow")
    assert json.loads(place.there("status", "-o", "json").stdout)["instances"]["web_1"]["state"] == "configured"


def somebody(place: Place, name: str, role: str) -> Client:
    """A user with a role in the project."""
    admin = place.admin
    admin.do("POST", "users", {"name": name})
    link = admin.do("POST", f"users/{name}/reset")["link"].rpartition("#")[2]
    from tests.server.test_signing_in import Browser

    browser = Browser(admin.url)
    assert browser.ask("POST", "sessions", {"link": link}).status == 201
    token = json.loads(browser.ask("POST", "me/tokens", {"name": "t"}).data)["token"]
    now = admin.get("projects/default/bindings")["bindings"]
    bindings = [*now, {"kind": "user", "who": name, "role": role}]
    if not any(one["role"] == "owner" for one in bindings):
        bindings.append({"kind": "user", "who": admin.get("me")["name"], "role": "owner"})
    admin.do("PUT", "projects/default/bindings", {"bindings": bindings}, {"If-Match": "*"})
    return admin.with_token(token)


def rule(place: Place) -> None:
    path = "projects/default/ensembles/shop/rules"
    body = {"rules": [{"when": {"workflows": ["stop"]}, "count": 1, "by": {"roles": ["approver"]}}]}
    place.admin.do("PUT", path, body, {"If-Match": "*"})


def test_a_plan_that_others_approve(place: Place) -> None:
    ann, ben = somebody(place, "ann", "approver"), somebody(place, "ben", "deployer")
    rule(place)
    done = place.there("stop", "web", "--yes", "-o", "json", client=ben, code=9)
    plan = json.loads(done.stdout)
    assert plan["state"] == "waiting"
    assert "plans approve" in done.stderr
    listed = json.loads(place.there("plans", "list", "--mine", "-o", "json", client=ann).stdout)["plans"]
    assert [one["id"] for one in listed] == [plan["id"]]
    denied = json.loads(place.there("plans", "approve", plan["id"], "-o", "json", client=ben, code=3).stdout)
    assert denied["error"]["code"] == "forbidden"
    place.there("plans", "approve", plan["id"], "--comment", "fine", client=ann)
    done = place.there("plans", "apply", plan["id"], client=ben)
    assert "(stop) done" in done.stderr
    assert "ann: approve fine" in place.there("plans", "show", plan["id"]).stdout


def test_waiting_for_an_approval(place: Place) -> None:
    ann, ben = somebody(place, "ann", "approver"), somebody(place, "ben", "deployer")
    rule(place)
    environment = {**place.environment(ben)}
    words = [*ORDITO, "stop", "web", "--yes", "--wait-approval", "2m"]
    with subprocess.Popen(words, env=environment, stdout=-1, stderr=-1, text=True) as command:
        told = until(command, "waits for approvals")
        found = re.search(r"pl_[0-9A-Z]+", told)
        assert found
        place.there("plans", "reject", found[0], "--comment", "not today", client=ann)
        err = rest(command)
    assert command.returncode == 3
    assert "rejected by ann" in err
    assert "not today" in err


def test_what_is_forbidden(place: Place) -> None:
    viewer = somebody(place, "eve", "planner")
    error = json.loads(place.there("stop", "web", "--yes", "-o", "json", client=viewer, code=3).stdout)["error"]
    assert error["code"] == "forbidden"
    plan = place.there("plan", "stop", "web", client=viewer)
    assert "Plan:" in plan.stdout
    assert "plans apply" not in plan.stderr
    assert "waits at the server for somebody who may" in plan.stderr
    assert "plans discard" in plan.stderr


def test_discarded_plans(place: Place) -> None:
    place.there("plan", "stop", "web")
    [plan] = json.loads(place.there("plans", "list", "-o", "json").stdout)["plans"]
    place.there("plans", "discard", plan["id"])
    error = json.loads(place.there("plans", "apply", plan["id"], "-o", "json", code=3).stdout)["error"]
    assert error["code"] == "not-ready"
    assert json.loads(place.there("plans", "list", "-o", "json").stdout)["plans"] == []


def test_a_folder_is_sent_and_deployed(place: Place) -> None:
    folder = place.place / "folder"
    folder.mkdir()
    for name in ("service.yaml", "say.sh"):
        shutil.copy(place.place / name, folder / name)
    done = place.there("-e", "more", "deploy", "folder", "--yes", "-i", "motto=8080")
    assert done.stdout == "motto = 8080\n"
    assert "(deploy) done" in done.stderr
    # The same again is not sent again, and changes nothing.
    assert "Nothing to do" in place.there("-e", "more", "deploy", "folder", "--yes", "-i", "motto=8080").stderr
    deeds = [deed["action"] for deed in place.admin.get("audit", limit=200)["items"]]
    assert (deeds.count("package.add"), deeds.count("ensemble.add") + deeds.count("ensemble.make")) == (1, 1)
    (folder / "say.sh").write_text("echo other\n")
    place.there("-e", "more", "upgrade", "folder", "--yes")
    assert "other" in place.there("-e", "more", "jobs", "logs").stdout
    listed = place.there("ensembles", "list").stdout
    assert "default/more" in listed
    place.there("ensembles", "create", "third", "--package", "folder", "--label", "team=web")
    assert "team=web" in place.there("ensembles", "show", "third").stdout
    place.there("ensembles", "remove", "third")
    error = place.there("-e", "more", "deploy", "nowhere", "--yes", "-o", "json", code=3)
    assert json.loads(error.stdout)["error"]["code"]


def test_files_of_inputs(place: Place) -> None:
    (place.place / "inputs.yaml").write_text("motto: 0x10\npass: {{ none }}\n".replace("{{ none }}", "'canary-9'"))
    done = place.there("deploy", "--yes", "-I", "inputs.yaml")
    assert done.stdout == "motto = 0x10\n"
    for path in (place.place / "home").rglob("*"):
        assert not path.is_file() or b"canary-9" not in path.read_bytes(), path


def test_watching_the_status(place: Place) -> None:
    with place.begin("status", "--watch") as command:
        assert command.stdout is not None
        lines: list[str] = []
        seen = threading.Event()

        def read() -> None:
            assert command.stdout is not None
            for line in command.stdout:
                lines.append(line)
                if "configured" in line:
                    seen.set()

        reader = threading.Thread(target=read)
        reader.start()
        place.there("stop", "web", "--yes")
        assert seen.wait(60), lines
        command.send_signal(signal.SIGINT)
        assert command.wait(60) == 0
        reader.join()


def test_cancelling_a_job_of_another_command(place: Place) -> None:
    waiting = place.wait()
    with place.begin("restart", "--all", "--yes") as command:
        until(command, "web_1")
        done = place.there("jobs", "cancel")
        assert "was told to end" in done.stderr
        waiting.unlink()
        rest(command)
    assert command.returncode == 130
    assert "Nothing to cancel" in place.there("jobs", "cancel").stderr
    assert "Nothing to resume" in place.there("jobs", "resume").stderr


def test_only_a_server_goes_on_without_the_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["-o", "json", "stop", "web", "--detach"]) == 3
    assert json.loads(capsys.readouterr().out)["error"]["code"] == "needs-server"


Ask = Callable[..., Any]


@pytest.mark.parametrize(
    "words",
    [["deploy", "--fetch", "--yes"], ["deploy", "--yes", "--commit", "never"], ["upgrade", "--explain", "--yes"]],
    ids=" ".join,
)
def test_what_names_this_machine_is_refused(
    admin: Client, words: list[str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ORDITO_TOKEN", admin.token)
    assert run(["--server", admin.url, "-o", "json", *words]) == 3
    assert json.loads(capsys.readouterr().out)["error"]["code"] == "local-only"


def test_the_page_about_a_job_is_the_one_of_the_server(place: Place, tmp_path: Path) -> None:
    """Whole, and the same as who works beside the server makes it."""
    [job] = re.findall(r"A6[0-9A-Za-z]{10}", place.there("jobs", "list", "-o", "json").stdout)[:1]
    place.there("jobs", "report", job, "--out", "there.html")
    assert run(["-e", str(place.shop), "jobs", "report", "--out", str(tmp_path / "here.html")]) == 0
    found = (place.place / "there.html").read_text()
    assert found.startswith("<!doctype html>")
    assert job in found
    assert "says hello" in found
    assert same(found) == same((tmp_path / "here.html").read_text())
    missing = place.there("jobs", "report", "A6000000none", code=3)
    assert "A6000000none" in missing.stderr
