"""What of a job is committed, when, and what is left to the user."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.cli.program import Finished, Run
from tests.git.repository import SERVICE, Repository, make_repository, without_git, write_service
from tests.support.leaving import FQN, catalogue
from tests.support.yaml_files import read_yaml

DEPLOY = ("deploy", "mini", "-e", "live", "--yes")


def record_of(ensemble: Repository) -> dict[str, Any]:
    """The header of the latest job."""
    latest = max((ensemble.top / "jobs").glob("*.yaml"))
    header: dict[str, Any] = read_yaml(latest.read_text())["job"]
    return header


def more(run: Run, count: int, *options: str) -> Finished:
    """One more job."""
    return run(*DEPLOY, "-i", f"count={count}", *options)


# ------------------------------------------------------------------------------------------------- what is committed


def test_a_job_is_committed_with_all_its_files_and_a_message_that_names_it(
    run: Run, service: Repository, ensemble: Repository
) -> None:
    done = run(*DEPLOY)
    assert done.code == 0, done.err
    job = record_of(ensemble)["changeId"]
    assert ensemble.messages == ["deploy mini: ok"]
    assert ensemble.git("log", "-1", "--format=%(trailers:key=Ordito-Job,valueonly)").strip() == job
    assert ensemble.changes == []
    held = ensemble.held()
    assert {"ensemble.yaml", "jobs.tsv", f"jobs/{job}.yaml", ".gitignore", ".gitattributes"} <= held
    assert sum(name.startswith("artifacts/") for name in held) == 3
    assert not any(name.startswith(".ordito") for name in held)
    assert f"Committed: {ensemble.head[:12]} (this ensemble); made from {service.head[:12]} (../mini)" in done.err


def test_the_record_names_the_commits_that_hold_what_the_job_was_made_from(
    run: Run, service: Repository, ensemble: Repository
) -> None:
    """Nothing changed there: then it is the last commit, and no new one is made."""
    before = service.head
    assert run(*DEPLOY).code == 0
    assert record_of(ensemble)["commits"] == {"../mini": before}
    assert service.messages == ["the service"]

    service.write("service.yaml", SERVICE + "# as before\n")
    service.write("other.txt", "not of the job")
    assert more(run, 2).code == 0
    assert service.messages == ["deploy mini: ok", "the service"]
    assert service.held() == {"service.yaml"}
    assert service.changes == ["?? other.txt"]
    assert record_of(ensemble)["commits"] == {"../mini": service.head}


def test_files_that_a_service_names_are_added_and_others_are_not(
    run: Run, service: Repository, ensemble: Repository
) -> None:
    text = SERVICE.replace("delete: scripts/do.sh", "delete: scripts/new.sh")
    service.write("service.yaml", text)
    service.write("scripts/new.sh", "#!/bin/sh\n")
    service.write("scripts/notes.txt", "of nobody's business\n")
    assert run(*DEPLOY).code == 0
    assert service.held() == {"service.yaml", "scripts/new.sh"}
    assert service.changes == ["?? scripts/notes.txt"]


def test_steps_of_the_lifecycle_are_committed_with_the_service_and_blocks_of_the_user_are_not(
    run: Run, service: Repository, ensemble: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    mine = make_repository(tmp_path / "data" / "ordito" / "catalog")
    catalogue(mine.top / "mine", "1.3.0", fqn="example.org/lifecycle/files@v1#Mine")
    catalogue(service.top / "catalog" / "ours")
    step = f'{{ fqn: "{FQN}", config: {{ text: hello }} }}'
    other = step.replace("#Leave", "#Mine")
    service.write("lifecycle.yaml", f"module: {{ install: {{ after: [ {step}, {other} ] }} }}\n")
    done = run(*DEPLOY)
    assert done.code == 0, done.err
    scripts = {f"catalog/ours/scripts/{name}.sh" for name in ("leave", "lib", "undo")}
    assert service.held() == {"lifecycle.yaml", "catalog/ours/blocks.yaml", *scripts}
    assert service.changes == []
    assert len(mine.changes) == 4


def test_a_service_in_the_ensembles_own_tree_is_committed_with_it(run: Run, tmp_path: Path) -> None:
    here = make_repository(tmp_path / "live")
    write_service(here)
    assert run("deploy", "-e", "live", "--yes").code == 0
    assert {"service.yaml", "scripts/do.sh", "ensemble.yaml"} <= here.held()
    assert here.changes == []
    assert "commits" not in record_of(here)


def test_files_with_inputs_are_committed_if_git_knows_them(
    run: Run, tmp_path: Path, service: Repository, ensemble: Repository
) -> None:
    """They may hold secrets: nothing adds them but their owner."""
    service.write("known.yaml", "count: 1\n")
    service.commit()
    service.write("known.yaml", "count: 2\n")
    service.write("secret.yaml", "count: 3\n")
    assert run(*DEPLOY, "-I", "mini/known.yaml", "-I", "mini/secret.yaml").code == 0
    assert service.held() == {"known.yaml"}
    assert service.changes == ["?? secret.yaml"]


def test_every_job_is_committed_failed_ones_too(
    run: Run, tmp_path: Path, service: Repository, ensemble: Repository
) -> None:
    (tmp_path / "fail").touch()
    assert run(*DEPLOY).code == 1
    (tmp_path / "fail").unlink()
    assert run(*DEPLOY).code == 0
    assert run("undeploy", "-e", "live", "--yes").code == 0
    assert ensemble.messages == ["undeploy mini: ok", "deploy mini: ok", "deploy mini: failed"]
    assert ensemble.changes == []


def test_the_message_may_be_the_users(run: Run, service: Repository, ensemble: Repository) -> None:
    assert run(*DEPLOY, "--message", "Bring it up\n\n# for the demo").code == 0
    message = ensemble.git("log", "-1", "--format=%B")
    assert message.startswith("Bring it up\n\n# for the demo\n\nOrdito-Job: ")


def test_programs_are_told_the_commits(run: Run, service: Repository, ensemble: Repository) -> None:
    told = run(*DEPLOY, "-o", "json").json
    assert told["commit"] == ensemble.head
    assert told["commits"] == {"../mini": service.head}
    assert told["not_committed"] == []


# ------------------------------------------------------------------------------------------------ when it is committed


def test_never_commits_nothing(run: Run, service: Repository, ensemble: Repository) -> None:
    assert run(*DEPLOY, "--commit", "never").code == 0
    assert ensemble.messages == []
    assert more(run, 2).code == 0
    assert ensemble.changes == []
    assert len([name for name in ensemble.held() if name.startswith("jobs/")]) == 2


def test_auto_keeps_out_of_a_repository_that_does_not_hold_the_ensemble(run: Run, tmp_path: Path) -> None:
    """Such as a home directory that is a repository: the ensemble in a folder of it must be known to git."""
    around = make_repository(tmp_path / "around")
    write_service(around, "mini")
    around.commit()
    deploying = ("deploy", "around/mini", "-e", "around/live", "--yes")
    assert run(*deploying).code == 0
    assert around.messages == ["by hand"]
    around.git("add", "live/ensemble.yaml")
    around.git("commit", "--quiet", "-m", "keep it")
    assert run(*deploying, "-i", "count=2").code == 0
    assert around.messages[0] == "deploy mini: ok"
    assert around.changes == []


def test_always_commits_wherever_the_ensemble_lies(run: Run, tmp_path: Path) -> None:
    around = make_repository(tmp_path / "around")
    write_service(around, "mini")
    assert run("deploy", "around/mini", "-e", "around/live", "--yes", "--commit", "always").code == 0
    assert around.changes == []
    assert "live/ensemble.yaml" in around.held()


def test_always_needs_a_repository(run: Run, tmp_path: Path, service: Repository) -> None:
    done = run(*DEPLOY, "--commit", "always")
    assert done.code == 3
    assert f"git init {tmp_path / 'live'}" in done.err
    assert not (tmp_path / "live").exists()


def test_always_tells_a_bare_repository(run: Run, tmp_path: Path, service: Repository) -> None:
    make_repository(tmp_path / "live", bare=True)
    done = run(*DEPLOY, "--commit", "always")
    assert done.code == 3
    assert "bare repository" in done.err


def test_without_git_everything_else_works(
    run: Run, tmp_path: Path, service: Repository, ensemble: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", without_git(tmp_path / "programs"))
    refused = run(*DEPLOY, "--commit", "always")
    assert refused.code == 3
    assert "git is not installed on this machine" in refused.err
    assert not (ensemble.top / "ensemble.yaml").exists()
    done = run(*DEPLOY)
    assert done.code == 0
    assert "not committed: git is not installed on this machine" in done.err
    assert record_of(ensemble)["notCommitted"] == ["git is not installed on this machine"]


# --------------------------------------------------------------------------------------------- what is in the way


def staged(tree: Repository) -> None:
    tree.write("mine.txt", "mine")
    tree.git("add", "mine.txt")


def merging(tree: Repository) -> None:
    tree.write("mine.txt", "one")
    tree.commit()
    tree.git("switch", "--quiet", "-c", "side", "HEAD")
    tree.write("mine.txt", "two")
    tree.commit()
    tree.git("switch", "--quiet", "main")
    tree.write("mine.txt", "three")
    tree.commit()
    tree.git("merge", "side", code=1)


def rebasing(tree: Repository) -> None:
    merging(tree)
    tree.git("merge", "--abort")
    tree.git("rebase", "side", code=1)


def detached(tree: Repository) -> None:
    tree.git("commit", "--quiet", "--allow-empty", "-m", "first")
    tree.git("checkout", "--quiet", "--detach")


def anonymous(tree: Repository) -> None:
    tree.git("config", "user.useConfigOnly", "true")
    tree.git("config", "user.name", "")
    tree.git("config", "user.email", "")


IN_THE_WAY = [
    (staged, "mine.txt", "git restore --staged"),
    (merging, "a merge is under way", "git merge --abort"),
    (rebasing, "a rebase is under way", "git rebase --continue"),
    (detached, "its HEAD is detached", "git switch"),
    (anonymous, "does not know who you are", "git config --global user.name"),
]


@pytest.mark.parametrize(("prepare", "said", "hint"), IN_THE_WAY)
def test_what_is_in_the_way_never_harms_the_job_nor_the_tree(
    run: Run, service: Repository, ensemble: Repository, prepare: Any, said: str, hint: str
) -> None:
    """The job ends as it would; it is said and recorded; HEAD, index and the user's files are as they were."""
    prepare(ensemble)
    before = (ensemble.git("rev-parse", "HEAD", code=None), ensemble.git("diff", "--cached"), ensemble.git("diff"))
    done = run(*DEPLOY)
    assert done.code == 0
    assert f"warning: not committed: {record_of(ensemble)['notCommitted'][0]}" in done.err
    assert said in done.err
    assert hint in done.err
    after = (ensemble.git("rev-parse", "HEAD", code=None), ensemble.git("diff", "--cached"), ensemble.git("diff"))
    assert before == after


@pytest.mark.parametrize(("prepare", "said", "hint"), IN_THE_WAY)
def test_always_refuses_before_the_job_what_is_in_the_way(
    run: Run, service: Repository, ensemble: Repository, prepare: Any, said: str, hint: str
) -> None:
    prepare(ensemble)
    done = run(*DEPLOY, "--commit", "always")
    assert done.code == 3
    assert said in done.err
    assert hint in done.err
    assert not (ensemble.top / "ensemble.yaml").exists()


def test_another_tree_with_staged_changes_is_left_alone(run: Run, service: Repository, ensemble: Repository) -> None:
    staged(service)
    service.write("service.yaml", SERVICE + "# more\n")
    before = service.head
    refused = run(*DEPLOY, "--commit", "always")
    assert refused.code == 3
    assert "mine.txt" in refused.err
    assert run(*DEPLOY).code == 0
    assert service.head == before
    assert set(service.changes) == {" M service.yaml", "A  mine.txt"}
    assert ensemble.messages == ["deploy mini: ok"]
    assert "mine.txt" in record_of(ensemble)["notCommitted"][0]


def test_a_part_that_was_staged_of_a_file_of_the_job_is_not_lost(
    run: Run, service: Repository, ensemble: Repository
) -> None:
    service.write("service.yaml", SERVICE + "# staged\n")
    service.git("add", "service.yaml")
    service.write("service.yaml", SERVICE + "# in the folder\n")
    done = run(*DEPLOY)
    assert done.code == 0
    assert "service.yaml" in record_of(ensemble)["notCommitted"][0]
    assert service.git("show", ":service.yaml").endswith("# staged\n")
    assert service.messages == ["the service"]


def test_a_hook_that_refuses_leaves_the_index_as_it_was(run: Run, service: Repository, ensemble: Repository) -> None:
    ensemble.write("mine.txt", "mine")
    ensemble.hook("pre-commit", "echo too late in the day >&2; exit 1")
    done = run(*DEPLOY)
    assert done.code == 0
    assert "too late in the day" in done.err
    assert "too late in the day" in record_of(ensemble)["notCommitted"][0]
    assert ensemble.git("diff", "--cached", "--name-only") == ""
    assert all(change.startswith("?? ") for change in ensemble.changes)
    ensemble.hook("pre-commit", "exit 0")
    assert more(run, 2).code == 0
    assert ensemble.changes == ["?? mine.txt"]


def test_hooks_run_as_git_runs_them_and_get_none_of_our_surroundings(
    run: Run, tmp_path: Path, service: Repository, ensemble: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Called from a hook of another repository, the program works on its own."""
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "elsewhere"))
    monkeypatch.setenv("GIT_INDEX_FILE", str(tmp_path / "index"))
    monkeypatch.setenv("GIT_EDITOR", "touch opened")
    ensemble.write(".git/hooks/pre-commit", f"#!/bin/sh\npwd >'{tmp_path}/seen'\n")
    assert run(*DEPLOY).code == 0
    monkeypatch.delenv("GIT_DIR")
    monkeypatch.delenv("GIT_INDEX_FILE")
    assert (tmp_path / "seen").read_text().strip() == str(ensemble.top)
    assert ensemble.messages == ["deploy mini: ok"]


def test_a_lock_that_a_killed_git_left_is_told(
    run: Run, service: Repository, ensemble: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ordito.ensemble.git.tree.PATIENCE", 0.1)
    (ensemble.top / ".git" / "index.lock").touch()
    done = run(*DEPLOY)
    assert done.code == 0
    assert f"remove {ensemble.top}/.git/index.lock" in done.err


def test_a_branch_without_commits_a_linked_worktree_and_a_submodule(
    run: Run, tmp_path: Path, service: Repository, ensemble: Repository
) -> None:
    ensemble.git("commit", "--quiet", "--allow-empty", "-m", "first")
    ensemble.git("worktree", "add", "--quiet", tmp_path / "linked", "-b", "linked")
    linked = Repository(tmp_path / "linked")
    linked.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", service.top, "mini")
    linked.commit("with the service")
    done = run("deploy", "linked/mini", "-e", "linked", "--yes")
    assert done.code == 0, done.err
    assert linked.messages[0] == "deploy mini: ok"
    assert linked.changes == []
    assert record_of(linked)["commits"] == {"mini": service.head}


def test_a_sparse_checkout_is_told(run: Run, service: Repository, ensemble: Repository) -> None:
    ensemble.write("kept/file", "x")
    ensemble.commit()
    ensemble.git("sparse-checkout", "set", "kept")
    done = run("deploy", "mini", "-e", "live/sub", "--yes", "--commit", "always")
    assert done.code == 0
    assert "sparse-checkout add sub" in done.err
    assert ensemble.git("diff", "--cached", "--name-only") == ""
    ensemble.git("sparse-checkout", "add", "sub")
    assert run("deploy", "mini", "-e", "live/sub", "--yes", "--commit", "always", "-i", "count=2").code == 0
    assert ensemble.changes == []


def test_rules_of_the_user_that_leave_out_what_was_deployed_are_told(
    run: Run, service: Repository, ensemble: Repository
) -> None:
    ensemble.write(".gitignore", "*.sh\n")
    ensemble.commit()
    done = run(*DEPLOY)
    assert done.code == 0
    assert "do.sh" in record_of(ensemble)["notCommitted"][0]
    assert "!/artifacts/**" in done.err
    assert ensemble.messages[0] == "deploy mini: ok"


def test_the_users_own_lines_in_files_for_git_stay_the_users_business(
    run: Run, service: Repository, ensemble: Repository
) -> None:
    """A change of the user that is not committed stays so; the program's own lines alone are committed."""
    assert run(*DEPLOY).code == 0
    text = (ensemble.top / ".gitignore").read_text()
    ensemble.write(".gitignore", f"*.bak\n{text}")
    assert more(run, 2).code == 0
    assert ensemble.changes == [" M .gitignore"]
    assert (ensemble.top / ".gitignore").read_text() == f"*.bak\n{text}"


def test_what_the_user_wrote_and_staged_in_the_ensembles_file_is_committed_with_the_job(
    run: Run, service: Repository, ensemble: Repository
) -> None:
    assert run(*DEPLOY).code == 0
    path = ensemble.top / "ensemble.yaml"
    path.write_text("# mine\n" + path.read_text())
    ensemble.git("add", "ensemble.yaml")
    assert more(run, 2).code == 0
    assert ensemble.changes == []
    assert ensemble.git("show", "HEAD:ensemble.yaml").startswith("# mine\n")


def test_files_that_are_merged_into_the_ensembles_file_belong_to_it(
    run: Run, service: Repository, ensemble: Repository
) -> None:
    ensemble.write("common.yaml", "count: 2\n")
    ensemble.write("ensemble.yaml", "spec:\n  service: ../mini\n  inputs:\n    +common.yaml:\n")
    done = run("deploy", "-e", "live", "--yes")
    assert done.code == 0, done.err
    assert "common.yaml" in ensemble.held()
    assert ensemble.changes == []


def test_the_inventory_belongs_to_the_job_unless_a_credential_is_written_in_it(
    run: Run, service: Repository, ensemble: Repository
) -> None:
    """It decides where things are made. One with a password is committed only where its owner has added it."""
    ensemble.write("hosts.yaml", "hosts: { one: { connection: local, password: hunter2 } }\n")
    assert run(*DEPLOY).code == 0
    assert ensemble.changes == ["?? hosts.yaml"]
    elsewhere = "hosts: { one: { connection: local, password: { secret: one }, identity: { file: key } } }\n"
    ensemble.write("hosts.yaml", elsewhere)
    assert more(run, 2).code == 0
    assert "hosts.yaml" in ensemble.held()
    ensemble.write("hosts.yaml", elsewhere + "# as before\n")
    assert more(run, 3).code == 0
    assert ensemble.changes == []
    assert ensemble.git("show", "HEAD:hosts.yaml").endswith("# as before\n")


def test_an_archive_is_committed_with_what_was_deployed_from_it(
    run: Run, tmp_path: Path, service: Repository, ensemble: Repository
) -> None:
    assert run("package", "mini", "--out", ensemble.top / "mini.csar").code == 0
    assert run("deploy", ensemble.top / "mini.csar", "-e", "live", "--yes").code == 0
    assert "mini.csar" in ensemble.held()
    assert ensemble.changes == []


def test_files_of_the_user_in_a_folder_called_status_are_not_committed(run: Run, ensemble: Repository) -> None:
    """Nor is it that one of them is gone."""
    write_service(ensemble)
    for name in ("page", "gone", "new"):
        ensemble.write(f"status/{name}.yaml", "title: Status\n")
        if name == "gone":
            ensemble.commit("the service")
    ensemble.write("status/page.yaml", "title: Another\n")
    (ensemble.top / "status" / "gone.yaml").unlink()
    assert run("deploy", "live", "-e", "live", "--yes").code == 0
    assert ensemble.messages == ["deploy mini: ok", "the service"]
    assert ensemble.changes == [" D status/gone.yaml", " M status/page.yaml", "?? status/new.yaml"]
