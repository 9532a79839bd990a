"""Lifecycle steps around what is done to a database and an API that needs it, with the real program: what runs, in
exactly which order, as the processes wrote it down and as the command tells it."""

from __future__ import annotations

import os
import select
import shutil
import signal
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.acceptance.orders import kill
from tests.acceptance.program import ordito, processes_naming
from tests.acceptance.scene import AGAIN, DOWN, LASTING, UP, Scene, Step, chain, make_scene, told_by

MIGRATE = "ordito.dev/lifecycle/data@v1#Migrate"
BOTH_UP = [*chain("database", UP), *chain("api", UP)]
BOTH_DOWN = [*chain("api", DOWN), *chain("database", DOWN)]
DATABASE_AGAIN = chain("database", AGAIN)
OLD, NEW = {"database": "1"}, {"database": "2"}
ROLL_BACK = {"onFailure": "rollback"}
A, B, C = (Step(name, "upgrade.before", "database") for name in "abc")
C_ROLLS_BACK = Step("c", "upgrade.before", "database", said=ROLL_BACK)


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    """A database and an API of version 1, not deployed."""
    return make_scene(tmp_path)


@pytest.fixture(scope="module")
def version_1(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The home of a scene of version 1 that is deployed."""
    return make_scene(tmp_path_factory.mktemp("version-1")).installed().home


@pytest.fixture
def running(version_1: Path, tmp_path: Path) -> Scene:
    """A database and an API of version 1, deployed."""
    home = tmp_path / "home"
    shutil.copytree(version_1, home)
    return Scene(home, home / "service" / "service.yaml")


# ------------------------------------------------------------------------------------- a migration before an upgrade


def migrating(scene: Scene, up: str) -> list[Step]:
    """The steps that back a database up and migrate it, as the service of a scene has them."""
    folder = scene.service.parent / "migrations"
    folder.mkdir(exist_ok=True)
    (folder / "001_owner.up.sql").write_text(up, encoding="utf-8")
    (folder / "001_owner.down.sql").write_text("ALTER TABLE record DROP COLUMN owner;\n", encoding="utf-8")
    config = {"database": f"sqlite://{scene.home}/shop.sqlite", "migrations": "migrations"}
    return [
        Step("db_backup", "upgrade.before", "database"),
        Step("db_migrate", "upgrade.before", "database", MIGRATE, config),
        Step("api_only", "upgrade.before", "api"),
    ]


def make_database(scene: Scene) -> None:
    with closing(sqlite3.connect(scene.home / "shop.sqlite")) as database, database:
        database.execute("CREATE TABLE record (text TEXT)")


def columns(scene: Scene) -> list[str]:
    with closing(sqlite3.connect(scene.home / "shop.sqlite")) as database:
        return [row[1] for row in database.execute("PRAGMA table_info(record)")]


def test_a_migration_ends_before_the_first_operation_of_what_changes(running: Scene) -> None:
    """The schema is already the new one when the database's first operation runs; the API, which has not changed, is
    left alone, and so are its steps."""
    make_database(running)
    running.order("database.stop", 'od -A n -c -w9999 shop.sqlite | tr -d " " | grep -c ownerTEXT >seen')
    running.write(migrating(running, "ALTER TABLE record ADD COLUMN owner TEXT;\n"), versions=NEW)
    told = told_by(running.begin("upgrade"))
    assert told.code == 0, told.err
    assert told.story == ["db_backup", "db_migrate", *DATABASE_AGAIN]
    assert running.story() == ["db_backup", *DATABASE_AGAIN]  # The migration is no script of this test.
    assert (running.home / "seen").read_text() == "1\n"
    assert columns(running) == ["text", "owner"]
    assert running.states() == {"database_1": "started", "api_1": "started"}
    assert running.revision() == 2


def test_a_migration_that_fails_leaves_everything_as_it_was(running: Scene) -> None:
    """No operation is run, the revision is the old one, and repairing the migration is enough to go on: what was done
    before it is not done again."""
    make_database(running)
    running.write(migrating(running, "ALTER TABLE nowhere ADD COLUMN owner TEXT;\n"), versions=NEW)
    told = told_by(running.begin("upgrade"))
    assert (told.code, told.end["status"]) == (1, "failed"), told.err
    assert told.story == ["db_backup", "db_migrate!"]
    assert running.story() == ["db_backup"]
    assert columns(running) == ["text"]
    assert running.revision() == 1
    assert running.states() == {"database_1": "started", "api_1": "started"}

    running.write(migrating(running, "ALTER TABLE record ADD COLUMN owner TEXT;\n"), versions=NEW)
    again = told_by(running.begin("upgrade"))
    assert again.code == 0, again.err
    assert again.story == ["db_migrate", *DATABASE_AGAIN]
    assert (columns(running), running.revision()) == (["text", "owner"], 2)


# ------------------------------------------------------------------------------------------------------ rolling back


def test_a_failed_step_after_an_installation_takes_everything_back(scene: Scene) -> None:
    """What was made is removed in reverse, what came before is undone, and nothing is there afterwards."""
    scene.write(
        [
            Step("prepared", "install.before", "database"),
            Step("seeded", "install.after", "database"),
            Step("smoke", "install.after", "api", said=ROLL_BACK),
            Step("never", "install.after"),
        ],
        nodes={"api": {"type": "scene.Watched", "requirements": [{"peer": "database"}]}},
    )
    scene.order("smoke", "exit 1")
    told = scene.deploy()
    assert told.code == 7, told.err
    assert told.story == [
        *["prepared", *BOTH_UP, "api.check", "seeded", "smoke!"],
        *["seeded.undo", *BOTH_DOWN, "prepared.undo"],
    ]
    assert (told.end["status"], told.end["rollback"]) == ("failed", "complete")
    assert scene.states() == {}
    assert scene.revision() == 0


def test_steps_before_an_upgrade_are_undone_the_newest_first(running: Scene) -> None:
    """No operation of the database is run, and its old version stays."""
    running.write([A, B, C_ROLLS_BACK], versions=NEW)
    running.order("c", "exit 1")
    told = running.tell("upgrade")
    assert (told.code, told.end["rollback"]) == (7, "complete"), told.err
    assert told.story == ["a", "b", "c!", "b.undo", "a.undo"]
    assert running.revision() == 1
    running.write()
    assert not running.differs()


def test_a_step_without_an_undo_is_left_as_it_is_and_said(running: Scene) -> None:
    """It is told beforehand with its place, with --strict it is refused, and in the end it is what remains."""
    running.write([A, Step("b", "upgrade.before", "database", LASTING), C_ROLLS_BACK], versions=NEW)
    running.order("c", "exit 1")
    running.forget_all()
    said = 'lifecycle step "c" would roll back over "b"'
    for command in (["validate", "--strict", str(running.service)], ["upgrade", "--strict", "--yes"]):
        ensemble = ["-e", str(running.ensemble)] if command[0] == "upgrade" else []
        refused = ordito(running.home, *command, *ensemble)
        assert (refused.code, running.story()) == (3, []), refused.both
        assert f"error[lossy-rollback]: {said}" in refused.err
        assert f"{running.service}:52:9" in refused.err
    assert f"warning[lossy-rollback]: {said}" in running.run("plan", "upgrade").both
    told = running.tell("upgrade")
    assert told.story == ["a", "b", "c!", "a.undo"]
    assert any("b" in remains and "cannot be undone" in remains for remains in told.end["remains"])
    assert told.code == 8
    assert 'remains     lifecycle step "b" cannot be undone' in running.run("jobs", "show").out


def test_an_undo_that_fails_does_not_end_the_way_back(running: Scene) -> None:
    running.write([A, B, C_ROLLS_BACK], versions=NEW)
    running.order("c", "exit 1")
    running.order("b.undo", "exit 1")
    told = running.tell("upgrade")
    assert told.story == ["a", "b", "c!", "b.undo!", "a.undo"]
    assert (told.code, told.end["rollback"]) == (8, "incomplete"), told.err


def test_a_failed_step_after_an_upgrade_brings_the_old_version_back(running: Scene) -> None:
    """What came after the operations is undone first, then the old version is configured again, then what came before
    is undone. Nothing differs from the old service afterwards."""
    running.order("database.configure", 'echo "$VERSION" >>versions')
    before, after = Step("before", "upgrade.before", "database"), Step("after", "upgrade.after", "database")
    running.write([before, after, Step("proof", "upgrade.after", said=ROLL_BACK)], versions=NEW)
    running.order("proof", "exit 1")
    told = running.tell("upgrade")
    assert (told.code, told.end["rollback"]) == (7, "complete"), told.err
    assert told.story == [
        *["before", *DATABASE_AGAIN, "after", "proof!"],
        *["after.undo", *DATABASE_AGAIN, "before.undo"],
    ]
    assert (running.home / "versions").read_text() == "2\n1\n"
    assert running.revision() == 1
    running.write(versions=OLD)
    assert not running.differs()


@pytest.mark.parametrize("goes_on", [True, False])
def test_a_job_killed_on_its_way_back_goes_on_back(running: Scene, goes_on: bool) -> None:
    """What was undone is not undone again, what was not is, each once, whether the process that was at work outlived
    the program and ended well, or was killed with it."""
    running.write([Step("first", "upgrade.before", "database"), A, B, C_ROLLS_BACK], versions=NEW)
    running.order("c", "exit 1")
    with killed_at(running, "a.undo", goes_on=goes_on):
        before = ["first", "a", "b", "c!", "b.undo"]
        assert running.story() == [*before, "a.undo" if goes_on else "a.undo!"]
    told = told_by(running.begin("jobs", "resume"))
    assert (told.code, told.end["rollback"]) == (7, "complete"), told.err
    assert running.story() == (["first.undo"] if goes_on else ["a.undo", "first.undo"])
    assert running.revision() == 1
    assert running.states() == {"database_1": "started", "api_1": "started"}


@pytest.mark.parametrize("goes_on", [True, False])
def test_a_job_killed_in_a_step_goes_on_with_it(running: Scene, goes_on: bool) -> None:
    """A step that ended well while nobody looked is not carried out again, and one that was killed is."""
    running.write([A, B], versions=NEW)
    with killed_at(running, "b", goes_on=goes_on):
        assert running.story() == ["a", "b" if goes_on else "b!"]
    told = told_by(running.begin("jobs", "resume"))
    assert told.code == 0, told.err
    assert running.story() == (DATABASE_AGAIN if goes_on else ["b", *DATABASE_AGAIN])
    assert running.revision() == 2


@contextmanager
def killed_at(scene: Scene, name: str, *, goes_on: bool) -> Iterator[None]:
    """An upgrade whose program is killed while a step, or an undo, is at work, which then ends well by itself or is
    killed as well."""
    scene.order(name, "echo $$ >pid; read -r _ <gate || true")
    os.mkfifo(scene.home / "gate")
    process = scene.begin("upgrade")
    for line in process.stdout:
        if '"step.started"' in line and f'{name}"' in line:
            break
    gate = os.open(scene.home / "gate", os.O_WRONLY)  # It is open when the script reads from it.
    working = os.pidfd_open(int((scene.home / "pid").read_text()))
    kill(process)
    if not goes_on:
        signal.pidfd_send_signal(working, signal.SIGKILL)
    scene.order(name, "true")
    os.close(gate)
    assert select.select([working], [], [], 30)[0]
    os.close(working)
    yield


# -------------------------------------------------------------------------------------------------------- being ready


def test_a_test_of_the_module_waits_until_every_component_is_ready(scene: Scene) -> None:
    """The API needs three looks until it is well; the step of the module begins after the last of them."""
    watched: dict[str, dict[str, object]] = {
        "database": {"type": "scene.Watched"},
        "api": {"type": "scene.Watched", "requirements": [{"peer": "database"}]},
    }
    scene.write([Step("itest", "install.after")], nodes=watched)
    scene.order("api.check", "looked=x; read -r looked <looks || true; echo x$looked >looks; [ x$looked = xxxx ]")
    told = scene.deploy()
    assert told.code == 0, told.err
    story = scene.story()
    assert story[: len(BOTH_UP)] == BOTH_UP
    looks = [look for look in story[len(BOTH_UP) : -1] if look.startswith("api")]
    assert looks == ["api.check!", "api.check!", "api.check"]
    assert "database.check" in story[len(BOTH_UP) : -1]
    assert story[-1] == told.story[-1] == "itest"


def test_a_component_that_is_never_ready_fails_the_job_before_any_later_step(scene: Scene) -> None:
    api = {"type": "scene.Watched", "requirements": [{"peer": "database"}], "metadata": {"ordito.ready": "1"}}
    scene.write([Step("itest", "install.after")], nodes={"api": api})
    scene.order("api.check", "exit 1")
    told = scene.deploy()
    assert told.code == 1, told.err
    assert [name for name in told.story if name != "api.check!"] == BOTH_UP
    assert "api.check!" in told.story


# --------------------------------------------------------------------------------------------- what a step is told


def test_a_registration_runs_last_and_sees_what_the_components_have_become(scene: Scene) -> None:
    """Its config names an attribute that only starting the API gives; what it prints is in the log of the job."""
    ip = {"ip": {"get_attribute": ["api", "private_address"]}}
    scene.write([Step("register", "install.after", config=ip)])
    told = scene.deploy()
    assert told.code == 0, told.err
    assert told.story == [*BOTH_UP, "register"]
    assert "it is 10.0.0.3" in scene.run("jobs", "logs").out
    shown = scene.run("jobs", "show").out.splitlines()
    assert shown[-1].split()[1:4] == ["module", "hook.register", "succeeded"]


def test_a_step_that_may_fail_leaves_a_warning_and_a_job_that_went_well(scene: Scene) -> None:
    """One warning, and it is the last that is said."""
    scene.write([Step("register", "install.after", said={"onFailure": "continue"}), Step("next", "install.after")])
    scene.order("register", "exit 1")
    done = ordito(scene.home, *scene.deploying())
    assert done.code == 0, done.both
    assert scene.story() == [*BOTH_UP, "register!", "next"]
    warnings = [line for line in done.err.splitlines() if "warning" in line]
    assert warnings == [line for line in done.err.splitlines() if line][-1:]
    assert "register" in warnings[0]
    assert scene.states() == {"database_1": "started", "api_1": "started"}
    assert scene.revision() == 1


# ------------------------------------------------------------------------------------------------ declaring, and order


def everywhere(*transitions: str) -> list[Step]:
    """Steps of both components and of the module, before and after; those of the API and the module come first."""
    return [
        Step(f"{component or 'module'}.{transition}.{moment}", f"{transition}.{moment}", component)
        for transition in transitions
        for moment in ("after", "before")
        for component in ("", "api", "database")
    ]


def test_a_file_of_steps_and_policies_give_the_same_plan(scene: Scene) -> None:
    """Steps on components and on the module, or on none, are all well; how they are written makes no difference."""
    steps = [
        Step(f"{step.component or 'module'}/{step.phase}[0]", step.phase, step.component)
        for step in everywhere("install", "delete")
    ]
    scene.write(steps)
    by_policies = scene.json("plan", str(scene.service))
    scene.write(steps, sidecar=True)
    by_file = scene.json("plan", str(scene.service))
    assert len([step for step in by_policies["steps"] if "hook" in step]) == 6
    assert _without_places(by_policies) == _without_places(by_file)
    scene.write([s for s in steps if s.component == "api"])
    assert scene.run("validate", str(scene.service)).code == 0


def test_steps_of_components_come_before_those_of_the_module(scene: Scene) -> None:
    """Installed and upgraded: all before, the operations, all that changed is ready, all after, then the module."""
    nodes = {"api": {"type": "scene.Watched", "requirements": [{"peer": "database"}]}}
    steps = everywhere("install", "upgrade")
    scene.write(steps, nodes=nodes)
    told = scene.deploy()
    assert told.code == 0, told.err
    assert told.story == _around("install", [*BOTH_UP, "api.check"])

    api = {**nodes["api"], "properties": {"version": "2"}}
    scene.write(steps, versions=NEW, nodes={"api": api})
    upgraded = scene.tell("upgrade")
    assert upgraded.code == 0, upgraded.err
    assert upgraded.story[:2] == ["database.upgrade.before", "api.upgrade.before"]
    assert upgraded.story[-5:] == ["api.check", *_after("upgrade")]
    assert sorted(upgraded.story[2:-5]) == sorted([*DATABASE_AGAIN, *chain("api", AGAIN)])

    nothing = scene.tell("upgrade")
    assert (nothing.code, nothing.story) == (0, [])


def test_what_is_added_changed_and_removed_have_steps_of_their_own(scene: Scene) -> None:
    """In one upgrade: those of the first two around the operations, those of the last behind all others."""
    steps = [*everywhere("install", "upgrade", "delete"), *of("cache"), *of("old")]
    scene.write([s for s in steps if s.component != "cache"], nodes={"old": {"type": "scene.Node"}})
    assert told_by(scene.begin("deploy", str(scene.service))).code == 0
    scene.write(
        [s for s in steps if s.component != "old"],
        versions=NEW,
        nodes={"cache": {"type": "scene.Node", "requirements": [{"peer": "api"}]}},
    )
    told = scene.tell("upgrade")
    assert told.code == 0, told.err
    assert told.story == [
        *["database.upgrade.before", "cache.install.before", *DATABASE_AGAIN, *chain("cache", UP)],
        *["database.upgrade.after", "cache.install.after", "module.upgrade.before", "module.upgrade.after"],
        *["old.delete.before", *chain("old", DOWN), "old.delete.after"],
    ]


def of(component: str) -> list[Step]:
    return [
        Step(f"{component}.{phase}", phase, component)
        for transition in ("install", "upgrade", "delete")
        for phase in (f"{transition}.before", f"{transition}.after")
    ]


def _around(transition: str, operations: list[str]) -> list[str]:
    before = [f"{component}.{transition}.before" for component in ("database", "api")]
    return [*before, *operations, *_after(transition)]


def _after(transition: str) -> list[str]:
    of = (("database", "after"), ("api", "after"), ("module", "before"), ("module", "after"))
    return [f"{component}.{transition}.{moment}" for component, moment in of]


def test_steps_of_the_module_come_first_when_everything_is_removed(scene: Scene) -> None:
    """And components come in the opposite order."""
    scene.write(everywhere("delete"))
    scene.installed()
    told = scene.tell("undeploy")
    assert told.code == 0, told.err
    assert told.story == [
        *["module.delete.before", "module.delete.after", "api.delete.before", "database.delete.before"],
        *BOTH_DOWN,
        *["api.delete.after", "database.delete.after"],
    ]
    assert scene.states() == {}


def test_a_second_attempt_at_removing_everything_does_what_is_left(scene: Scene) -> None:
    """Steps about what the first attempt has removed included."""
    scene.write(everywhere("delete"))
    scene.installed()
    scene.order("database.delete", "exit 1")
    before = ["module.delete.before", "module.delete.after", "api.delete.before", "database.delete.before"]
    assert scene.tell("undeploy").story == [*before, *BOTH_DOWN[:-1], "database.delete!"]
    scene.forget("database.delete")
    scene.order("database.delete.after", "exit 1")
    second = scene.tell("undeploy")
    assert (second.code, second.story) == (1, ["database.delete", "api.delete.after", "database.delete.after!"])
    scene.forget("database.delete.after")
    third = scene.tell("undeploy")
    assert (third.code, third.story) == (0, ["database.delete.after"])
    assert scene.tell("undeploy").story == []


# --------------------------------------------------------------------------------------------------------- conditions


def test_conditions_decide_which_steps_are_carried_out(scene: Scene) -> None:
    """True, false, a name that there is not, no yes or no; a component knows its own values, the module all outputs."""

    def asked(name: str, condition: str, component: str = "database", phase: str = "install.after") -> Step:
        return Step(name, phase, component, said={"condition": condition, "onFailure": "continue"})

    nodes = {"api": {"type": "scene.Node", "properties": {"replicas": 7}, "requirements": [{"peer": "database"}]}}
    scene.write(
        [
            asked("early", "outputs.private_address != _|_", phase="install.before"),
            asked("too_early", 'outputs.private_address == "10.0.0.8"', phase="install.before"),
            asked("yes", "values.replicas == 3"),
            asked("no", "values.replicas == 7"),
            asked("undefined", "values.missing == 7"),
            asked("number", "values.replicas"),
            asked("name", 'component.name == "api" && values.replicas == 7 && len(resources) == 1', "api"),
            asked("all", 'outputs.api.private_address == "10.0.0.3" && transition == "install"', ""),
        ],
        nodes=nodes,
    )
    told = scene.deploy()
    assert told.code == 0, told.err
    assert told.story == [*BOTH_UP, "yes", "name", "all"]
    assert told.skipped == ["early", "no"]
    assert [e["hook"]["id"] for e in told.of("step.failed")] == ["too_early", "undefined", "number"]
    assert {e["hook"]["reason"] for e in told.of("step.failed")} == {"condition"}


# ---------------------------------------------------------------------------------------------------------- onFailure

FAULTS: dict[str, tuple[dict[str, str], str]] = {
    "exit": ({}, "exit 1"),
    "timeout": ({"timeout": "1s"}, "sleep 30 & wait"),
    "condition": ({"condition": "values.missing"}, ""),
}


@pytest.mark.parametrize("reason", FAULTS)
@pytest.mark.parametrize("outcome", ["abort", "continue", "rollback"])
def test_what_a_failed_step_leads_to(scene: Scene, reason: str, outcome: str) -> None:
    """Whatever it failed of. Without further words what follows is not run. No process is left of a step whose time is
    over."""
    said, script = FAULTS[reason]
    words = {} if outcome == "abort" else {"onFailure": outcome}
    failing = Step("b", "install.before", "database", said={**said, **words})
    scene.write([Step("a", "install.before", "database"), failing, Step("c", "install.before", "database")])
    scene.order("b", f"echo $$ >pids; {script}")
    told = scene.deploy()
    failed = ["b!"] if reason != "condition" else []
    stories = {
        "abort": (1, ["a", *failed]),
        "continue": (0, ["a", *failed, "c", *BOTH_UP]),
        "rollback": (7, ["a", *failed, "a.undo"]),
    }
    assert (told.code, told.story) == stories[outcome], told.err
    (failure,) = told.of("step.failed")
    assert (failure["hook"]["id"], failure["hook"]["reason"]) == ("b", reason)
    assert processes_naming(f"{scene.home}/") == []
    assert scene.states() == ({} if outcome != "continue" else {"database_1": "started", "api_1": "started"})


def _without_places(plan: Any) -> Any:
    """A plan without the places of what is declared, and the digest of the files that say it."""
    if isinstance(plan, dict):
        return {k: _without_places(v) for k, v in plan.items() if k not in ("declared", "service")}
    return [_without_places(v) for v in plan] if isinstance(plan, list) else plan
