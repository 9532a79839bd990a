"""`ordito plan --out FILE` and `ordito deploy FILE`: exactly the plan that was seen, or none."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.program import DATA, Run, process, start, until

PLANNED = DATA / "planned"
CHANGE_ID = re.compile(r"A[0-9A-Za-z]{7}[0-9A-Fa-f]{4}")
TIME = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d[.\dZ]*|\d+\.\d+")
OWN = re.compile(r"^( *| *- )(seconds|began|ended|start|finished|machine|pid|ensemble):? .*$", re.MULTILINE)


@pytest.fixture
def service(tmp_path: Path) -> Path:
    shutil.copytree(PLANNED, tmp_path, dirs_exist_ok=True, ignore=shutil.ignore_patterns("golden"))
    return tmp_path


def files_of(folder: Path) -> dict[str, bytes]:
    return {str(p): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def recorded(ensemble: Path) -> list[str]:
    """What an ensemble has on record, without ids and times."""
    found = []
    for path in (ensemble / "ensemble.yaml", *sorted((ensemble / "jobs").iterdir())):
        text = OWN.sub(r"\1\2", path.read_text())
        found.append(TIME.sub("TIME", CHANGE_ID.sub("ID", text)))
    return found


def test_carrying_out_a_saved_plan_leaves_the_records_of_carrying_out_the_plan(run: Run, service: Path) -> None:
    steps = [
        ["deploy", "service.yaml", "-i", "count=3"],
        ["deploy", "-i", "count=1"],
        ["deploy", "--force"],
        ["undeploy"],
    ]
    for workflow, *words in steps:
        assert run("-e", "direct", workflow, *words, "--yes", "-q", "--parallel", "1").code == 0
        assert run("-e", "saved", "plan", workflow, *words, "--out", "p.plan").code == 0
        done = run("-e", "saved", "apply", "p.plan", "--yes", "-q", "--parallel", "1")
        assert done.code == 0, done.err
        assert recorded(service / "saved") == recorded(service / "direct")


def test_the_plan_is_shown_and_asked_about_as_any_other(run: Run, service: Path) -> None:
    shown = run("plan", "service.yaml", "--out", "p.plan")
    assert "ordito deploy p.plan" in shown.err
    assert run("plan", "p.plan").out == shown.out
    refused = run("deploy", "p.plan")
    assert refused.code == 64
    assert "no terminal to answer" in refused.err
    assert not (service / "ensemble.yaml").exists()


def test_a_plan_carries_itself_to_another_directory(run: Run, service: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (service / "inputs.yaml").write_text("count: 1\n")
    assert run("-e", "shop", "plan", "service.yaml", "-I", "inputs.yaml", "-i", "size=7", "--out", "p.plan").code == 0
    (service / "inputs.yaml").unlink()
    (service / "elsewhere").mkdir()
    monkeypatch.chdir(service / "elsewhere")
    done = run("-e", "../shop", "deploy", "../p.plan", "--yes")
    assert done.code == 0, done.err
    assert 'service: "../service.yaml"' in (service / "shop" / "ensemble.yaml").read_text()
    assert run("-e", "../shop", "status", "-o", "json").json["instances"]


def test_a_plan_for_another_directory_says_what_it_does_not_find(run: Run, service: Path) -> None:
    assert run("-e", "there", "plan", "service.yaml", "--out", "p.plan").code == 0
    (service / "elsewhere" / "here").mkdir(parents=True)
    refused = run("-e", "elsewhere/here", "deploy", "p.plan", "--yes")
    assert refused.code == 3
    assert "stale-plan" in refused.err
    assert "there is no elsewhere/service.yaml, seen from elsewhere/here" in refused.err
    assert list((service / "elsewhere" / "here").iterdir()) == []


def test_what_is_neither_a_plan_nor_there_is_said_to_be_missing(run: Run, service: Path) -> None:
    assert run("-e", "e", "deploy", "service.yaml", "--yes", "-q").code == 0
    refused = run("-e", "e", "deploy", "p.plan", "--yes")
    assert refused.code == 3
    assert "file-not-found" in refused.err


def test_an_empty_plan_is_saved_and_does_nothing(run: Run, service: Path) -> None:
    assert run("deploy", "service.yaml", "--yes").code == 0
    assert "Nothing to do" in run("plan", "--out", "p.plan").out
    before = files_of(service)
    done = run("deploy", "p.plan")
    assert (done.code, "Nothing to do" in done.err) == (0, True)
    assert files_of(service) == before


def edit(name: str, text: str = "# changed\n") -> Callable[[Run, Path], None]:
    def change(_: Run, folder: Path) -> None:
        path = folder / name
        path.write_text((path.read_text() if path.exists() else "") + text)

    return change


def other_input(_: Run, folder: Path) -> None:
    (folder / "size").write_text("9")


def another_job(run: Run, _: Path) -> None:
    assert run("deploy", "--yes", "-i", "count=1").code == 0


def edit_status(_: Run, folder: Path) -> None:
    path = folder / "ensemble.yaml"
    path.write_text(path.read_text().replace("state: started", "state: created", 1))


def edit_user_part(_: Run, folder: Path) -> None:
    path = folder / "ensemble.yaml"
    path.write_text("# mine\n" + path.read_text())


def remove_ensemble(_: Run, folder: Path) -> None:
    # All of it: with records of jobs and no status it is an ensemble that lost something.
    for name in (".ordito", "jobs"):
        shutil.rmtree(folder / name)
    for name in ("ensemble.yaml", "jobs.tsv"):
        (folder / name).unlink()


STALE: dict[str, tuple[Callable[[Run, Path], None], str]] = {
    "another job": (another_job, r"job \w{12} \(deploy\) has run since"),
    "the status": (edit_status, "the status in ensemble.yaml has changed"),
    "the user's part": (edit_user_part, "your part of ensemble.yaml was changed"),
    "no ensemble": (remove_ensemble, "it was made for an ensemble, and there is none here"),
    "a script": (edit("scripts/configure.sh"), "scripts/configure.sh was changed"),
    "another file beside it": (edit("scripts/more.sh"), "scripts/more.sh is new"),
    "a file that is gone": (lambda _, f: (f / "scripts" / "unused.sh").unlink(), "scripts/unused.sh is gone"),
    "the definitions": (edit("service.yaml"), "service.yaml was changed"),
    "who may run a script": (lambda _, f: (f / "scripts" / "unused.sh").chmod(0o755), "have other permissions"),
    "an input that stands in a file": (other_input, 'input "size" has another value'),
}


@pytest.mark.parametrize("what", STALE)
def test_a_plan_is_stale_when_anything_it_depends_on_is_different(run: Run, service: Path, what: str) -> None:
    (service / "scripts" / "unused.sh").write_text("")
    (service / "size").write_text("1")
    assert run("deploy", "service.yaml", "--yes").code == 0
    manifest = service / "ensemble.yaml"
    written = manifest.read_text().replace("inputs: {}", "inputs: { size: { file: size, format: yaml } }")
    manifest.write_text(written)
    assert run("plan", "-i", "count=3", "--out", "p.plan").code == 0
    change, said = STALE[what]
    change(run, service)
    before = files_of(service)
    for words in (("deploy", "p.plan", "--yes"), ("plan", "p.plan")):
        refused = run(*words)
        assert refused.code == 3
        assert "stale-plan" in refused.err
        assert re.search(said, refused.err), refused.err
        assert "ordito plan --out p.plan" in refused.err
    after = files_of(service)
    assert {n: c for n, c in after.items() if ".ordito" not in n} == {
        n: c for n, c in before.items() if ".ordito" not in n
    }


def test_the_same_plan_is_not_carried_out_twice(run: Run, service: Path) -> None:
    assert run("plan", "service.yaml", "--out", "p.plan").code == 0
    assert run("deploy", "p.plan", "--yes").code == 0
    again = run("deploy", "p.plan", "--yes")
    assert again.code == 3
    assert "has run since" in again.err
    assert len(list((service / "jobs").iterdir())) == 1


def test_steps_that_another_version_would_not_plan_are_not_run(run: Run, service: Path) -> None:
    from ordito.app.saved_plan import encoded, read_saved_plan

    assert run("plan", "service.yaml", "--out", "p.plan").code == 0
    saved = read_saved_plan("p.plan")
    import msgspec

    plan = msgspec.structs.replace(saved.plan, steps=saved.plan.steps[:-1])
    Path("p.plan").write_bytes(encoded(msgspec.structs.replace(saved, plan=plan, made_with="0.0.9")))
    refused = run("deploy", "p.plan", "--yes")
    assert refused.code == 3
    assert "made with ordito 0.0.9" in refused.err


@pytest.mark.parametrize(
    ("more", "named"),
    [
        (["--force"], "--force"),
        (["--fetch", "--allow-large"], "--allow-large, --fetch"),
        (["--substitute", "a=b"], "--substitute"),
        (["-i", "count=2"], "-i and -I"),
        (["--env", "testing"], "--env"),
    ],
)
def test_a_saved_plan_takes_nothing_that_decides_what_is_planned(
    run: Run, service: Path, more: list[str], named: str
) -> None:
    assert run("plan", "service.yaml", "--out", "p.plan").code == 0
    refused = run("deploy", "p.plan", "--yes", *more)
    assert refused.code == 64
    assert f"leave out {named}" in refused.err
    assert not (service / "ensemble.yaml").exists()


def test_a_plan_is_carried_out_in_the_environment_it_was_made_in(run: Run, service: Path) -> None:
    spec = "environments: { testing: { inputs: { count: 1 } }, production: { inputs: { count: 3 } } }"
    (service / "ensemble.yaml").write_text(f"spec:\n  service: service.yaml\n  {spec}\n")
    assert run("plan", "--env", "production", "--out", "p.plan").code == 0
    done = run("deploy", "p.plan", "--yes")
    assert done.code == 0, done.err
    assert run("status", "-o", "json").json["environment"] == "production"


def test_what_is_merged_into_the_users_part_belongs_to_it(run: Run, service: Path) -> None:
    (service / "more.yaml").write_text("count: 1\n")
    (service / "ensemble.yaml").write_text("spec:\n  service: service.yaml\n  inputs:\n    +more.yaml:\n")
    assert run("plan", "--out", "p.plan").code == 0
    (service / "more.yaml").write_text("# the same\ncount: 1\n")
    refused = run("deploy", "p.plan", "--yes")
    assert refused.code == 3
    assert "what is merged into it" in refused.err


def test_a_plan_to_look_at_instances_is_carried_out_too(run: Run, service: Path) -> None:
    assert run("deploy", "service.yaml", "--yes").code == 0
    assert run("plan", "check", "db", "--out", "c.plan").code == 0
    done = run("deploy", "c.plan", "--yes")
    assert done.code == 0, done.err
    refused = run("deploy", "c.plan", "--yes", "--allow-changed")
    assert refused.code == 64


def test_how_the_job_runs_is_said_when_it_runs(run: Run, service: Path) -> None:
    assert run("plan", "service.yaml", "--out", "p.plan").code == 0
    assert run("deploy", "p.plan", "--yes", "--parallel", "2", "--on-failure", "abort", "--wait-lock", "1").code == 0


def test_only_its_owner_reads_the_file_and_only_a_plan_is_overwritten(run: Run, service: Path) -> None:
    other = service / "mine.txt"
    other.write_text("mine")
    refused = run("plan", "service.yaml", "--out", "mine.txt")
    assert refused.code == 3
    assert other.read_text() == "mine"
    for _ in range(2):
        assert run("plan", "service.yaml", "--out", "p.plan").code == 0
    assert (service / "p.plan").stat().st_mode & 0o777 == 0o600
    assert [p.name for p in service.iterdir() if p.name.startswith(".")] == []
    assert run("plan", "service.yaml", "--out", "no/such/p.plan").code == 3
    assert run("plan", "service.yaml", "--out", "-").code == 64


def test_no_sensitive_value_stands_in_the_file(run: Run, service: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("cryptography", reason="what is sensitive cannot be sealed without it")
    document = service / "service.yaml"
    secret = "password: { type: string, default: first, metadata: { sensitive: 'true' } }"
    document.write_text(document.read_text().replace("password: { type: string, default: first }", secret))
    assert run("-e", "given", "plan", "service.yaml", "-i", "password=canary-1", "--out", "g.plan").code == 0
    assert "canary-1" not in (service / "g.plan").read_text()
    done = run("-e", "given", "deploy", "g.plan", "--yes")
    assert done.code == 0, done.err
    changed = run("-e", "given", "plan", "-i", "password=canary-4")
    assert "input password: (sensitive) -> (sensitive)" in changed.out
    assert "canary" not in changed.err + changed.out
    monkeypatch.setenv("PASSWORD", "canary-2")
    inputs = "inputs: { password: { env: PASSWORD } }"
    (service / "ensemble.yaml").write_text(f"spec:\n  service: service.yaml\n  {inputs}\n")
    assert run("plan", "--out", "p.plan").code == 0
    assert "canary-2" not in (service / "p.plan").read_text()
    monkeypatch.setenv("PASSWORD", "canary-3")
    stale = run("deploy", "p.plan", "--yes")
    assert stale.code == 3
    assert "stale-plan" in stale.err
    monkeypatch.setenv("PASSWORD", "canary-2")
    done = run("deploy", "p.plan", "--yes")
    assert done.code == 0, done.err


def test_a_damaged_plan_is_said_to_be_one(run: Run, service: Path) -> None:
    assert run("plan", "service.yaml", "--out", "p.plan").code == 0
    path = service / "p.plan"
    path.write_bytes(path.read_bytes()[:-20])
    refused = run("deploy", "p.plan", "--yes")
    assert refused.code == 3
    assert "damaged-plan" in refused.err
    assert not (service / "ensemble.yaml").exists()


def test_with_an_unfinished_job_a_plan_is_shown_and_not_saved(tmp_path: Path) -> None:
    running = start(tmp_path, "deploy", DATA / "slow", "-y", "-i", f"place={tmp_path}")
    until((tmp_path / "waiting").exists)
    running.kill()
    running.communicate()
    (tmp_path / "go").touch()
    words = ("plan", DATA / "slow", "-i", f"place={tmp_path}")
    shown = process(tmp_path, *words, "-o", "json")
    assert shown.code == 0, shown.err
    assert shown.json["unfinished"]
    refused = process(tmp_path, *words, "--out", "p.plan")
    assert refused.code == 5
    assert "jobs resume" in refused.err
    assert not (tmp_path / "p.plan").exists()
