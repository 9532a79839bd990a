"""Ensembles that an earlier version has written, in the middle of something, are read, resumed and upgraded.

Each folder that a test names is one in `data/former`: `ensemble` has its files, `journal.sql` is its journal, and
`private` has what else is in its `.ordito`. The only script is `do.sh`, which writes down the version of the service
that it runs from, its step, and its inputs. Version 1.0 has database <- api <- web (three instances), and a tool on a
box of its own. Versions 2.0 and 3.0 have other sizes, a cache and a lifecycle step, and no tool.
"""

from __future__ import annotations

import shutil
import sqlite3
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.cli.program import DATA, Run

FOLDERS = {"1.0": "one", "2.0": "two", "3.0": "three"}
"""Where the versions of the service are, beside the ensemble."""
WEBS = ("web_1", "web_2", "web_3")
FIRST = dict.fromkeys(("api_1", "box_1", "database_1", "tool_1", *WEBS), "started ok")
LATER = dict.fromkeys(("api_1", "cache_1", "database_1", *WEBS), "started ok")
"""How version 1.0 and the later ones are when they are complete."""
Calls = dict[str, str]
"""What was called on each instance, in order: each version of the service, and behind it those of its operations that
were called, with their inputs. What was called first stands first."""


@dataclass(frozen=True)
class Former:
    """An ensemble in a home directory of its own, beside the versions of its service that it has pinned."""

    run: Run
    home: Path

    def does(self, *words: str, code: int = 0) -> Calls:
        """Run a command that begins or resumes a job; gives what it has called."""
        done = self.run(*words, "--yes")
        assert done.code == code, done.err
        log = self.home / "operations.log"
        lines = log.read_text().splitlines() if log.exists() else []
        log.unlink(missing_ok=True)
        return calls(lines)

    def status(self) -> dict[str, Any]:
        return dict(self.run("status", "-o", "json").json)

    def instances(self) -> dict[str, str]:
        """The state and the effective status of each instance, with what else is told of it."""
        told = {}
        for name, row in self.status()["instances"].items():
            more = (*(row[key] for key in ("form",) if key in row), *(key for key in ("orphaned",) if row.get(key)))
            told[name] = " ".join((row["state"], row["effective"], *more))
        return told

    def job(self) -> tuple[str, int, int, bool]:
        """What is told of the job that is unfinished: its workflow, how many of its steps have ended, how many there
        are, and whether it is being rolled back. Nothing else may begin before it has ended."""
        job = self.status()["job"]
        listed = self.run("jobs", "list", "-o", "json").json["jobs"][0]
        assert (job["outcome"], listed["outcome"]) == ("interrupted", "interrupted")
        assert (listed["id"], listed["workflow"]) == (job["job"], job["workflow"])
        assert self.does("upgrade", code=5) == {}
        return job["workflow"], job["done"], job["steps"], job["rolling_back"]

    def further(self) -> Calls:
        """Upgrade to a version that it has never had: the newest with another number and size."""
        newest = self.home / max((v, name) for v, name in FOLDERS.items() if (self.home / name).exists())[1]
        service = shutil.copytree(newest, self.home / "further") / "service.yaml"
        text = service.read_text()
        service.write_text(text.replace(f"template_version: {version_of(newest)}\n", "template_version: 4.0\n"))
        return self.does("upgrade", "../further", "-i", "size=4")

    def assert_replays(self, jobs: int) -> None:
        """The records of all jobs, by whichever version they were written, give what is recorded."""
        done = self.run("jobs", "replay")
        counted = f"{jobs} jobs give" if jobs > 1 else "1 job give"
        assert (done.code, done.out) == (0, f"The records of {counted} exactly what ensemble.yaml says.\n")


@pytest.fixture
def former(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Former:
    case = DATA / "former" / request.param
    ensemble = shutil.copytree(case / "ensemble", tmp_path / "ensemble")
    private = shutil.copytree(case / "private", ensemble / ".ordito")
    db = sqlite3.connect(private / "journal.db")
    db.executescript((case / "journal.sql").read_text())
    db.close()
    for pinned in (ensemble / "artifacts").iterdir():
        folder = tmp_path / FOLDERS[version_of(pinned)]
        shutil.copytree(pinned, folder, ignore=shutil.ignore_patterns(".pinned"))
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(ensemble)
    return Former(run, tmp_path)


def version_of(service: Path) -> str:
    """The version that a service says it is of."""
    return (service / "service.yaml").read_text().partition("template_version: ")[2].split()[0]


def calls(lines: list[str]) -> Calls:
    """The log of the operations, by instance."""
    found: dict[str, list[str]] = {}
    versions: dict[str, str] = {}
    for line in lines:
        version, step, *inputs = line.split()
        back = "rollback." if step.startswith("rollback.") else ""
        name, _, operation = step.removeprefix(back).partition(".")
        instance = back + name
        words = found.setdefault(instance, [])
        if versions.get(instance) != version:
            words.append(version)
        versions[instance] = version
        words += [operation.rpartition(".")[2] or "execute", *inputs]
    return {instance: " ".join(words) for instance, words in found.items()}


def changed(before: str, after: str) -> Calls:
    """What is called where api and web are changed from one version into another."""
    leave, come = f"{before} remove_target stop", f"{after} configure size={after[0]}"
    return {
        "api_1": f"{leave} {come} uses=at-database_1 start add_target",
        **dict.fromkeys(WEBS, f"{leave} {come} start add_target"),
    }


TOOL_GOES = {"tool_1": "1.0 remove_target stop delete"}
TOOL_COMES = {"tool_1": "1.0 create start add_target"}
CACHE_COMES = {"cache_1": "4.0 create configure size=1 start add_target"}
TO_4 = {**changed("1.0", "4.0"), **CACHE_COMES, **TOOL_GOES, "migrate": "4.0 execute"}
"""What an upgrade of version 1.0 to version 4.0 calls, where that is made of a later one."""


# --------------------------------------------------------------------------------------------- a deployment was killed
# Two operations were at work: create of web_2, which was killed too, and create of tool_1, which came to its end alone.


@pytest.mark.parametrize("former", ["killed"], indirect=True)
def test_a_deployment_that_was_killed_is_ended(former: Former) -> None:
    assert former.job() == ("deploy", 16, 24, False)
    assert former.instances() == {**FIRST, "tool_1": "creating pending", "web_2": "creating pending"}
    assert former.does("jobs", "resume") == {
        "tool_1": "1.0 start add_target",
        "web_2": "1.0 create configure size=1 start add_target",
    }
    assert former.instances() == FIRST
    status = former.status()
    assert (status["revision"], status["job"], status["last_job"]["status"]) == (1, None, "ok")
    # An output of the operation whose end nobody had seen.
    assert status["instances"]["tool_1"]["attributes"] == {"address": "at-tool_1"}
    former.assert_replays(1)
    assert former.does("deploy") == {}


@pytest.mark.parametrize("former", ["killed"], indirect=True)
def test_a_deployment_that_was_killed_is_upgraded_when_it_has_ended(former: Former) -> None:
    former.does("jobs", "resume")
    assert former.further() == changed("1.0", "4.0")
    assert former.instances() == FIRST
    former.assert_replays(2)


# ----------------------------------------------------------------------------------------------------------- orphans
# Version 1.0 was upgraded to 2.0 with --no-prune.


@pytest.mark.parametrize("former", ["orphans"], indirect=True)
def test_what_the_template_has_lost_is_removed_by_its_own_service(former: Former) -> None:
    assert former.instances() == {**LATER, "box_1": "started ok orphaned", "tool_1": "started ok orphaned"}
    assert former.does("deploy") == {}
    shutil.rmtree(former.home / "one")
    # Its lifecycle step is carried out by each upgrade that changes something.
    assert former.does("upgrade", "--prune", "last") == {"migrate": "2.0 execute", **TOOL_GOES}
    assert former.instances() == LATER
    former.assert_replays(3)


@pytest.mark.parametrize("former", ["orphans"], indirect=True)
def test_an_upgrade_removes_what_the_template_has_lost(former: Former) -> None:
    assert former.further() == {**changed("2.0", "4.0"), "migrate": "4.0 execute", **TOOL_GOES}
    assert former.instances() == LATER
    former.assert_replays(3)


# --------------------------------------------------------------------------------------------------------- old forms
# Version 1.0 was upgraded to 2.0 with --instance web_3, then to 3.0, where the start of api_1 failed.


@pytest.mark.parametrize("former", ["old-forms"], indirect=True)
def test_instances_in_several_forms_are_brought_to_the_new_one(former: Former) -> None:
    assert former.instances() == {
        "api_1": "error unknown",
        "box_1": "started ok orphaned",
        "cache_1": "started ok",
        "database_1": "started ok",
        "tool_1": "started ok orphaned",
        "web_1": "started unknown revision 1",
        "web_2": "started unknown revision 1",
        "web_3": "started unknown job A4BNNxvr0000",
    }
    attempt = former.status()["attempt"]
    assert (attempt["workflow"], attempt["status"], attempt["revision"], attempt["back"]) == ("upgrade", "failed", 2, 1)
    planned = former.run("plan", "upgrade", "-o", "json").json["changes"]
    assert {row["instance"]: (row["symbol"], row["reason"]) for row in planned} == {
        "api_1": ("~", "it is unknown: continued, after Standard.configure"),
        "box_1": ("-", "the template has lost it"),
        "tool_1": ("-", "its host box_1 is removed"),
        **dict.fromkeys(WEBS, ("~", "Standard.configure: input size has changed")),
    }
    done = former.does("upgrade")
    assert list(done) == ["api_1", *WEBS, "migrate", "tool_1"]
    assert done == {
        **changed("1.0", "3.0"),
        "web_3": "2.0 remove_target stop 3.0 configure size=3 start add_target",
        "api_1": "3.0 stop start add_target",
        "migrate": "3.0 execute",
        **TOOL_GOES,
    }
    assert (former.instances(), former.status()["revision"]) == (LATER, 2)
    former.assert_replays(4)
    assert former.does("rollback") == {
        **changed("3.0", "1.0"),
        "cache_1": "3.0 remove_target stop delete",
        "migrate": "3.0 undo",
        **TOOL_COMES,
    }
    assert former.instances() == FIRST
    former.assert_replays(5)


@pytest.mark.parametrize("former", ["old-forms"], indirect=True)
def test_instances_in_several_forms_go_back(former: Former) -> None:
    """What is still in the form of revision 1 is linked again with what was changed, and is not stopped."""
    assert former.does("rollback") == {
        "api_1": "3.0 stop 1.0 configure size=1 uses=at-database_1 start add_target",
        "cache_1": "3.0 remove_target stop delete",
        "web_1": "1.0 remove_target add_target",
        "web_2": "1.0 remove_target add_target",
        "web_3": "2.0 remove_target stop 1.0 configure size=1 start add_target",
    }
    assert former.instances() == FIRST
    former.assert_replays(4)
    assert former.further() == TO_4
    assert former.instances() == LATER
    former.assert_replays(5)


@pytest.mark.parametrize("former", ["old-forms"], indirect=True)
def test_instances_in_several_forms_are_upgraded_further(former: Former) -> None:
    assert former.further() == {
        **changed("1.0", "4.0"),
        "web_3": "2.0 remove_target stop 4.0 configure size=4 start add_target",
        "api_1": "3.0 stop 4.0 configure size=4 uses=at-database_1 start add_target",
        "migrate": "4.0 execute",
        **TOOL_GOES,
    }
    assert former.instances() == LATER
    former.assert_replays(4)


# ------------------------------------------------------------------------------------------- a rollback was half done
# An upgrade of version 1.0 to 2.0 with --on-failure rollback failed at the start of web_1, and was killed while it
# configured api_1 as before.


@pytest.mark.parametrize("former", ["taking-back"], indirect=True)
def test_an_upgrade_that_was_killed_while_it_was_rolled_back_is_taken_back(former: Former) -> None:
    assert former.job() == ("upgrade", 36, 45, True)
    assert former.instances() == {
        "api_1": "configuring pending revision 1",
        "box_1": "started ok orphaned",
        "database_1": "started ok",
        "tool_1": "started ok orphaned",
        "web_1": "error unknown",
        "web_2": "started pending revision 1",
        "web_3": "started pending revision 1",
    }
    assert former.does("jobs", "resume", code=7) == {
        "rollback.api_1": "1.0 configure size=1 uses=at-database_1 start add_target",
        "rollback.web_1": "2.0 stop 1.0 configure size=1 start add_target",
        "rollback.web_2": "1.0 add_target",
        "rollback.web_3": "1.0 add_target",
    }
    assert former.instances() == FIRST
    job = former.run("jobs", "show", "-o", "json").json["job"]
    assert (job["status"], job["rollback"], former.status()["revision"]) == ("failed", "complete", 1)
    former.assert_replays(2)
    assert former.does("upgrade") == {}
    assert former.further() == TO_4
    assert former.instances() == LATER
    former.assert_replays(3)


# Version 1.0 was upgraded to 2.0. `ordito rollback` was killed while it configured api_1; tool_1 was there again, and
# the lifecycle step was undone.


@pytest.mark.parametrize("former", ["going-back"], indirect=True)
def test_a_rollback_that_was_killed_ends_at_the_revision_before(former: Former) -> None:
    assert former.job() == ("rollback", 11, 29, False)
    webs = dict.fromkeys(WEBS, "started pending revision 2")
    assert former.instances() == {**FIRST, "api_1": "configuring pending", **webs}
    rest = {name: called for name, called in changed("2.0", "1.0").items() if name != "api_1"}
    assert former.does("jobs", "resume") == {
        "api_1": "1.0 configure size=1 uses=at-database_1 start add_target",
        **rest,
    }
    assert former.instances() == FIRST
    assert [row["revision"] for row in former.run("revisions", "-o", "json").json["revisions"]] == [3, 2, 1]
    former.assert_replays(3)
    assert former.does("upgrade") == {}
    assert former.further() == TO_4
    assert former.instances() == LATER
    former.assert_replays(4)
