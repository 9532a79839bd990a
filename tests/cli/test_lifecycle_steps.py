"""Lifecycle steps, carried out with what a job does to the resources: their blocks are processes."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from tests.cli.program import Run, start, until
from tests.support.lifecycle import RUN, SAY, TELL, Shop, Step

MADE = ["database_1.create", "database_1.start", "api_1.create", "api_1.start"]
READY = ["database_1 is ready", "api_1 is ready"]
REMOVED = ["api_1.stop", "api_1.delete", "database_1.stop", "database_1.delete"]


@pytest.fixture
def shop(tmp_path: Path) -> Shop:
    return Shop(tmp_path)


def ordered(done: list[str]) -> list[str]:
    """What was done; who was found to be ready at the same time stands in the order of names."""
    first = next((n for n, word in enumerate(done) if word.endswith("is ready")), len(done))
    count = sum(word.endswith("is ready") for word in done)
    return [*done[:first], *sorted(done[first : first + count], reverse=True), *done[first + count :]]


def test_installing_and_removing_in_the_order_of_the_phases(run: Run, shop: Shop) -> None:
    names = ("install.before", "install.after", "delete.before", "delete.after")
    steps = {f"{of or 'module'}.{n}": Step(n, *([of] if of else [])) for n in names for of in ("", "api", "database")}
    shop.write(steps)
    done = run("deploy", shop.folder, "--yes")
    assert done.code == 0, done.err
    assert ordered(shop.done) == [
        *("database.install.before", "api.install.before"),
        *MADE,
        *READY,
        *("database.install.after", "api.install.after", "module.install.before", "module.install.after"),
    ]
    assert run("undeploy", "--yes").code == 0
    assert shop.done == [
        *("module.delete.before", "module.delete.after", "api.delete.before", "database.delete.before"),
        *REMOVED,
        *("api.delete.after", "database.delete.after"),
    ]


def test_a_block_finds_what_it_is_about(run: Run, shop: Shop) -> None:
    condition, secret = 'values.version == "1" && outputs.address != ""', {"get_input": "token"}
    told = Step(
        "install.after", "api", condition=condition, word="hello", secret=secret, file="scripts/stop.sh", timeout="1m"
    )
    shop.write({"tell": told}, inputs={"token": {"type": "string", "metadata": {"sensitive": "true"}}})
    done = run("deploy", shop.folder, "--yes", "-v", "-i", "token=canary-7")
    assert done.code == 0, done.err
    found = shop.environment("tell")
    assert found["ORDITO_FQN"] == SAY
    assert (found["ORDITO_PHASE"], found["ORDITO_COMPONENT"], found["ORDITO_STEP"]) == ("install.after", "api", "tell")
    assert (found["CONFIG_word"], found["CONFIG_exit"]) == ("hello", "0")
    assert Path(found["CONFIG_file"]).read_text() == (shop.folder / "scripts/stop.sh").read_text()
    assert "artifacts" in Path(found["CONFIG_file"]).parts
    context = json.loads(Path(f"{shop.log}.context.tell").read_text())
    assert context["component"] == {"name": "api"}
    assert context["outputs"]["address"] == "at-api_1"
    assert [(r["id"], r["state"]) for r in context["resources"]] == [("api_1", "started")]
    assert not Path(found["ORDITO_CONTEXT"]).exists()
    assert found["CONFIG_secret"] == "canary-7"
    assert "printed (sensitive)" in done.err
    kept = [*Path("jobs").rglob("*"), *Path(".ordito").rglob("*"), Path("jobs.tsv")]
    assert not [p for p in kept if p.is_file() and b"canary-7" in p.read_bytes()]


@pytest.mark.parametrize(
    ("on_failure", "after", "code", "ended"),
    [
        ("abort", [], 1, ("failed", "")),
        ("continue", ["last"], 0, ("degraded", "")),
        ("rollback", [*REMOVED, "first.undo"], 7, ("failed", "complete")),
    ],
)
def test_what_a_step_that_fails_means(
    run: Run, shop: Shop, on_failure: str, after: list[str], code: int, ended: tuple[str, str]
) -> None:
    shop.write(
        {
            "first": Step("install.before", "database"),
            "bad": Step("install.after", "api", exit=3, onFailure=on_failure),
            "last": Step("install.after"),
        }
    )
    done = run("deploy", shop.folder, "--yes", "--json")
    (failed,) = [e for e in done.events if e["type"] == "step.failed"]
    said = {"id": "bad", "fqn": SAY, "phase": "install.after", "component": "api"}
    assert failed["hook"] == {**said, "reason": "exit"}
    assert ordered(shop.done) == ["first", *MADE, *READY, "bad", *after]
    (finished,) = [e for e in done.events if e["type"] == "job.finished"]
    assert (done.code, (finished["status"], finished.get("rollback", ""))) == (code, ended)


def test_why_a_step_fails(run: Run, shop: Shop) -> None:
    """Too late, without an answer to its condition, or with one that is neither true nor false: never silently left
    out."""
    failing: dict[str, dict[str, object]] = {
        "late": {"sleep": "30", "timeout": "200ms"},
        "undefined": {"condition": "values.nothing == 1"},
        "sibling": {"condition": 'values.database.version == "1"'},
        "text": {"condition": "values.version"},
    }
    shop.write({name: Step("install.after", "api", onFailure="continue", **more) for name, more in failing.items()})
    done = run("deploy", shop.folder, "--yes", "--json")
    reasons = {e["step"]: e["hook"]["reason"] for e in done.events if e["type"] == "step.failed"}
    assert reasons == {"late": "timeout", "undefined": "condition", "sibling": "condition", "text": "condition"}
    assert shop.done[-1] == "late"


def test_a_condition_that_does_not_hold_leaves_the_step_out(run: Run, shop: Shop) -> None:
    steps = {"no": Step("install.after", condition='outputs.api.address == "elsewhere"'), "yes": Step("install.after")}
    shop.write(steps)
    done = run("deploy", shop.folder, "--yes")
    assert done.code == 0
    assert "skipped: its condition does not hold" in done.err
    assert shop.done[-1:] == ["yes"]


def test_warnings_are_said_last(run: Run, shop: Shop) -> None:
    shop.write({"register": Step("install.after", exit=2, onFailure="continue")})
    done = run("deploy", shop.folder, "--yes")
    assert done.code == 0
    last = [line for line in done.err.splitlines() if line.strip()][-1]
    assert "lifecycle step register (install.after of the module) failed: exit 2" in last


def test_a_step_before_that_fails_lets_nothing_begin(run: Run, shop: Shop) -> None:
    steps = {
        "a": Step("install.before", "database"),
        "b": Step("install.before", "database", fqn=TELL),
        "c": Step("install.before", "api", exit=1, onFailure="rollback"),
    }
    shop.write(steps)
    done = run("deploy", shop.folder, "--yes")
    assert shop.done == ["a", "b", "c", "a.undo"]
    assert done.code == 8
    assert 'lifecycle step "b" cannot be undone' in done.err


def test_an_undo_that_fails_does_not_end_the_walk(run: Run, shop: Shop) -> None:
    steps = {
        "a": Step("install.before", "database", word="kept"),
        "b": Step("install.before", "database", undo_exit=4),
        "c": Step("install.before", "api", exit=1, onFailure="rollback"),
    }
    shop.write(steps)
    done = run("deploy", shop.folder, "--yes")
    assert shop.done == ["a", "b", "c", "b.undo", "a.undo"]
    assert done.code == 8
    result = json.loads(Path(f"{shop.log}.result.a").read_text())
    assert (result["config"]["word"], result["outputs"]) == ("kept", {"said": "kept"})
    assert result["context"]["phase"] == "install.before"


def test_nothing_comes_after_resources_that_failed(run: Run, shop: Shop) -> None:
    shop.write({"after": Step("install.after", "database"), "module": Step("install.after")})
    Path(f"{shop.log}.fail.api_1.start").touch()
    assert run("deploy", shop.folder, "--yes").code == 1
    assert shop.done == MADE
    Path(f"{shop.log}.fail.api_1.start").unlink()
    assert run("deploy", "--yes").code == 0
    assert shop.done[-2:] == ["after", "module"]


def test_what_is_not_ready_in_time_holds_back_what_comes_after(run: Run, shop: Shop) -> None:
    shop.write({"module": Step("install.after")})
    text = (shop.folder / "service.yaml").read_text()
    (shop.folder / "service.yaml").write_text(
        text.replace("    database:\n", "    database:\n      metadata: { ordito.ready: 1 s }\n")
    )
    Path(f"{shop.log}.ill.database_1").touch()
    done = run("deploy", shop.folder, "--yes")
    assert done.code == 1
    assert "database_1 is ill" in shop.done
    assert "it is not ready, its check says error" in done.err
    Path(f"{shop.log}.ill.database_1").unlink()
    assert run("deploy", "--yes").code == 0
    assert shop.done[-1] == "module"


def test_what_prepared_a_removal_is_undone_when_what_was_removed_is_there_again(run: Run, shop: Shop) -> None:
    """A removal that fails is not taken back by itself; going back makes all of it again."""
    steps = {
        "whole": Step("delete.before"),
        "before": Step("delete.before", "database"),
        "after": Step("delete.after", "database", exit=1, onFailure="rollback"),
    }
    shop.write(steps)
    assert run("deploy", shop.folder, "--yes").code == 0
    assert shop.done == MADE
    done = run("undeploy", "--yes")
    assert shop.done == ["whole", "before", *REMOVED, "after", "whole.undo"]
    assert done.code == 8
    assert "database_1 was removed, and is not created again" in done.err
    assert 'step "before" cannot be undone: database was removed, and this does not create it again' in done.err
    back = run("rollback", "--yes")
    assert back.code == 0, back.err
    done_again = shop.done
    assert done_again[:-2] == [*MADE, "database_1 is ready", "before.undo"]
    assert sorted(done_again[-2:], reverse=True) == READY


def running(phase: str, *targets: str, **more: object) -> Step:
    """A step that warms a cache; undone, that is cleared."""
    config = {"operation": "Cache.warm", "inputs": {"pages": "20"}, "undo_operation": "Cache.clear"}
    return Step(phase, *targets, fqn=RUN, config={**config, **({} if targets else {"component": "api"})}, **more)


def test_a_step_runs_an_operation_of_a_component(run: Run, shop: Shop) -> None:
    steps = {
        "none": running("install.before", "api"),
        "warm": running("install.after", "api"),
        "again": running("install.after", condition='outputs.database.address == "at-database_1"'),
        "not": running("install.after", condition="values == _|_"),
        "last": Step("install.after"),
    }
    shop.write(steps)
    done = run("deploy", shop.folder, "--yes")
    assert done.code == 0, done.err
    assert shop.done[-3:] == ["api_1.warm 20", "api_1.warm 20", "last"]
    assert "api_1       Cache.warm" in done.err
    # What a step runs is no part of making the instance.
    assert "Nothing to do" in run("deploy", "--yes").err


@pytest.mark.parametrize(
    ("on_failure", "after", "code"),
    [("abort", [], 1), ("continue", ["last"], 0), ("rollback", ["api_1.clear 20", "first.undo"], 7)],
)
def test_an_operation_that_a_step_runs_fails(
    run: Run, shop: Shop, on_failure: str, after: list[str], code: int
) -> None:
    before = {"first": Step("upgrade.before", "database"), "warm": running("upgrade.after", "api")}
    shop.write({})
    assert run("deploy", shop.folder, "--yes").code == 0
    bad = Step(
        "upgrade.after", fqn=RUN, onFailure=on_failure, config={"component": "database", "operation": "Cache.warm"}
    )
    shop.write({**before, "bad": bad, "last": Step("upgrade.after")}, version="2", nodes=("database", "api"))
    Path(f"{shop.log}.fail.database_1.warm").touch()
    assert shop.done
    done = run("upgrade", "--yes", "--hooks", "all")
    assert done.code == code, done.err
    found = [word for word in shop.done if not word.endswith(("ready", "stop", "delete", "create", "start"))]
    assert found == ["first", "api_1.warm 20", "database_1.warm 1", *after]


@pytest.mark.parametrize(
    ("config", "code", "said"),
    [
        ({"component": "apo", "operation": "Cache.warm"}, "unknown-template", "did you mean api?"),
        ({"component": "api", "operation": "Cache.wrm"}, "unknown-operation", "did you mean Cache.warm?"),
        ({"component": "api", "operation": "Cache.warm", "undo_operation": "Cache.x"}, "unknown-operation", "Cache"),
    ],
)
def test_an_operation_that_is_not_there_is_refused(
    run: Run, shop: Shop, config: dict[str, object], code: str, said: str
) -> None:
    shop.write({"warm": Step("install.after", fqn=RUN, config=config)})
    for words in (("validate", shop.folder), ("deploy", shop.folder, "--yes")):
        done = run(*words)
        assert done.code == 3
        assert done.err.count(f"error[{code}]") == 1
        assert said in done.err
    assert not shop.done


def test_upgrading_ends_with_what_leaves(run: Run, shop: Shop) -> None:
    """What is removed has the lifecycle steps that it was deployed with, of its own time."""
    gone = {
        "cache_saved": Step("delete.before", "cache", word={"get_input": "where"}, file="scripts/note"),
        "cache_gone": Step("delete.after", "cache", exit=1, onFailure="continue"),
    }
    (shop.folder / "scripts/note").write_text("as it was\n")
    nodes, inputs = ("api", "database", "cache"), {"where": {"type": "string", "default": "tape"}}
    shop.write(gone, nodes=nodes, inputs=inputs)
    assert run("deploy", shop.folder, "--yes").code == 0
    assert "cache_1.start" in shop.done
    (shop.folder / "scripts/note").unlink()
    names = ("database.upgrade.before", "database.upgrade.after", "api.upgrade.before")
    steps = {n: Step(".".join(n.split(".")[1:]), n.split(".")[0]) for n in names}
    shop.write({**steps, "test": Step("upgrade.after")}, version="2")
    done = run("upgrade", "--yes")
    assert done.code == 0, done.err
    assert ordered(shop.done) == [
        *("database.upgrade.before", "api_1.stop", "database_1.stop", "database_1.delete"),
        *("database_1.create", "database_1.start", "api_1.start", *READY),
        *("database.upgrade.after", "test", "cache_saved", "as it was", "cache_1.stop", "cache_1.delete", "cache_gone"),
    ]
    assert shop.environment("cache_saved")["CONFIG_word"] == "tape"


def test_an_upgrade_that_is_taken_back_undoes_its_steps_around_it(run: Run, shop: Shop) -> None:
    before = {"first": Step("install.before", "database")}
    shop.write(before)
    assert run("deploy", shop.folder, "--yes").code == 0
    assert shop.done[0] == "first"
    shop.write(
        {
            "migrate": Step("upgrade.before", "database"),
            "warm": Step("upgrade.after", "database"),
            "test": Step("upgrade.after", exit=1, onFailure="rollback"),
        },
        version="2",
    )
    done = run("upgrade", "--yes")
    assert done.code == 7, done.err
    found = shop.done
    place = [found.index(word) for word in ("migrate", "warm", "test", "warm.undo", "migrate.undo")]
    assert place == sorted(place)
    assert "database_1.create" in found[place[3] : place[4]]
    assert sorted(found[place[4] + 1 :]) == ["api_1 is ready", "database_1 is ready"]
    assert "first.undo" not in found
    assert run("diff", "--detailed-exitcode").code == 2
    shop.write(before)
    assert run("diff", "--detailed-exitcode").code == 0


def test_a_rollback_that_is_cut_goes_on_as_one(run: Run, shop: Shop) -> None:
    """What was undone is not undone again, what was cut off is, and nothing of the job itself begins."""
    shop.write(
        {
            "a": Step("install.before", "database"),
            "b": Step("install.before", "database"),
            "c": Step("install.before", "api", exit=1, onFailure="rollback"),
        }
    )
    hold = Path(f"{shop.log}.hold.a")
    os.mkfifo(hold)
    job = start(Path.cwd(), "deploy", shop.folder, "--yes")
    until(Path(f"{shop.log}.held.a").exists)
    job.kill()
    job.communicate()
    assert shop.done == ["a", "b", "c", "b.undo", "a.undo"]
    hold.unlink()
    done = run("jobs", "resume")
    assert done.code == 7, done.err
    assert shop.done == ["a.undo"]
    assert run("status", "-o", "json").json["instances"] == {}


def test_a_step_that_ended_when_the_program_died_is_not_carried_out_again(run: Run, shop: Shop) -> None:
    """A migration is applied once, whatever happens between its end and the note that it has ended."""
    shop.write({"migrate": Step("install.before", "database"), "hold": Step("install.before", "api", word="held")})
    hold = Path(f"{shop.log}.hold.hold.execute")
    os.mkfifo(hold)
    job = start(Path.cwd(), "deploy", shop.folder, "--yes")
    until(lambda: shop.log.exists() and "hold" in shop.log.read_text())
    job.kill()
    job.communicate()
    with hold.open("w") as let:
        let.write("go\n")
    until(lambda: "held" in shop.log.read_text())
    hold.unlink()
    assert run("jobs", "resume").code == 0
    assert shop.done == ["migrate", "hold", "held", *MADE]


def test_a_step_can_be_counted_as_done_by_hand(run: Run, shop: Shop) -> None:
    shop.write({"bad": Step("install.after", "api", exit=1), "last": Step("install.after")})
    failed = run("deploy", shop.folder, "--yes")
    assert (failed.code, shop.done[-1]) == (1, "bad")
    skipped = run("jobs", "skip", "bad", "--yes")
    assert (skipped.code, "skipped by hand" in skipped.err) == (0, True), skipped.err
    assert sorted(shop.done) == sorted([*READY, "last"])


def test_other_jobs_carry_out_no_steps(run: Run, shop: Shop) -> None:
    names = [f"{t}.{m}" for t in ("install", "upgrade", "delete") for m in ("before", "after")]
    shop.write({n: Step(n) for n in names})
    assert run("deploy", shop.folder, "--yes").code == 0
    assert set(shop.done) & {*names} == {"install.before", "install.after"}
    for words in (("restart", "api_1", "--yes"), ("check",), ("stop", "--all", "--yes")):
        assert run(*words).code == 0, words
        assert not {*shop.done} & {*names}


def test_conditions_know_which_version_follows_which(run: Run, shop: Shop) -> None:
    """In steps of components and in those of the module; before the first version there is none."""
    newer = "module.version != previous.module.version"
    steps = {
        "first": Step("install.after", condition='module.version == "1.2.0" && previous.module == _|_'),
        "of_database": Step("upgrade.before", "database", condition=f'{newer} && module.name == "shop"'),
        "to_two": Step("upgrade.after", condition='previous.module.version == "1.2.0" && module.version =~ "^2"'),
        "same": Step("upgrade.after", condition=f"!({newer})"),
    }
    shop.write(steps, release="1.2.0")
    assert run("deploy", shop.folder, "--yes", "-q").code == 0
    assert shop.done[-1] == "first"
    shop.write(steps, version="2", release="2.0.0")
    assert run("upgrade", "--yes", "-q").code == 0
    assert [word for word in shop.done if word in steps] == ["of_database", "to_two"]
    shop.write(steps, version="3", release="2.0.0")
    assert run("upgrade", "--yes", "-q").code == 0
    assert [word for word in shop.done if word in steps] == ["same"]
    shop.write({"wrong": Step("install.after", "api", condition="module.outputs.url != _|_")})
    assert '"module" has no "outputs" in conditions' in run("validate", shop.folder).err


def test_a_config_speaks_of_its_own_component(run: Run, shop: Shop) -> None:
    address, version = {"get_attribute": ["SELF", "address"]}, {"get_property": ["SELF", "version"]}
    steps = {
        "both": Step("install.after", "api", "database", word=address),
        "version": Step("install.before", "database", word=version),
    }
    shop.write(steps, version="7")
    assert run("deploy", shop.folder, "--yes", "-q").code == 0
    found = {name: shop.environment(name)["CONFIG_word"] for name in ("both@api", "both@database", "version")}
    assert found == {"both@api": "at-api_1", "both@database": "at-database_1", "version": "7"}
    shop.write(
        {
            "whole": Step("install.after", word=version),
            "wrong": Step("install.after", "api", word={"get_property": ["SELF", "port"]}),
        }
    )
    said = run("validate", shop.folder).err
    assert '"SELF" means nothing here' in said
    assert '"api" (test.Part) has no property "port"' in said


def test_what_was_removed_is_known_to_what_comes_after_it(run: Run, shop: Shop) -> None:
    """Its outputs, in conditions and in configs, be it that an earlier job has removed it."""
    known = {"word": {"get_attribute": ["SELF", "address"]}, "condition": 'outputs.address == "at-cache_1"'}
    gone = {"gone": Step("delete.after", "cache", **known)}
    nodes = ("api", "database", "cache")
    shop.write(gone, nodes=nodes)
    assert run("deploy", shop.folder, "--yes", "-q").code == 0
    assert run("undeploy", "--yes", "-q").code == 0
    assert shop.done[-1] == "gone"
    assert shop.environment("gone")["CONFIG_word"] == "at-cache_1"
    shop.write({"fails": Step("delete.after", "cache"), **gone}, nodes=nodes)
    assert run("deploy", shop.folder, "--yes", "-q").code == 0
    shop.write({}, version="2")
    fails = Path(f"{shop.log}.fail.fails")
    fails.touch()
    assert run("upgrade", "--yes", "-q").code == 1
    assert shop.done[-1] == "fails"
    fails.unlink()
    Path(f"{shop.log}.environment.gone").unlink()
    assert run("upgrade", "--yes", "-q").code == 0
    assert shop.done[-2:] == ["fails", "gone"]
    assert shop.environment("gone")["CONFIG_word"] == "at-cache_1"


@pytest.mark.parametrize("steps", [1, 2])
def test_what_was_carried_out_before_an_upgrade_that_aborts_is_said(run: Run, shop: Shop, steps: int) -> None:
    """Nothing was done to the instances, and yet there is something to go back from."""
    shop.write({})
    assert run("deploy", shop.folder, "--yes", "-q").code == 0
    before = {f"saved{number}": Step("upgrade.before", "database") for number in range(steps)}
    shop.write({**before, "tests": Step("upgrade.before", "database", exit=1)}, version="2")
    assert shop.done
    failed = run("upgrade", "--yes")
    assert failed.code == 1
    named = ", ".join(before)
    assert f"Lifecycle steps that were carried out and not undone: {named}\n" in failed.err
    assert "continue: no instance was changed so far" in failed.err
    assert f"go back to revision 1, and undo {named}" in failed.err
    assert run("upgrade", "--yes", "-q").code == 1
    again = run("jobs", "retry", "--yes")
    assert again.code == 1
    assert f"and undo {named}" in again.err
    assert shop.done == [*before, "tests", "tests", "tests"]
    assert run("rollback", "--yes", "-q").code == 0
    assert shop.done == [f"{name}.undo" for name in reversed(before)]
    shop.write({"tests": Step("upgrade.before", "database", exit=1)}, version="2")
    assert "continue: nothing was changed so far" in run("upgrade", "--yes").err
