"""Clones of one ensemble: what git merges by itself, what is said about the rest, and what it does not keep."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.program import Run
from tests.git.repository import SERVICE, Repository, clone, make_repository, write_service

TWO = """\
tosca_definitions_version: tosca_simple_yaml_1_3
metadata: { template_name: two }
node_types:
  two.Node:
    derived_from: tosca.nodes.Root
    interfaces:
      Standard:
        operations: { create: scripts/do.sh, delete: scripts/do.sh }
topology_template:
  inputs:
    left: { type: integer, default: 1 }
    right: { type: integer, default: 1 }
  node_templates:
    left: { type: two.Node, instance_count: { get_input: left }, occurrences: [ 0, 9 ] }
    right: { type: two.Node, instance_count: { get_input: right }, occurrences: [ 0, 9 ] }
"""


@pytest.fixture
def clones(run: Run, tmp_path: Path) -> tuple[Repository, Repository]:
    """Two clones of an ensemble that each deployed something else since."""
    shared = make_repository(tmp_path / "shared", bare=True)
    first = clone(shared.top, tmp_path / "first")
    write_service(first)
    first.write("service.yaml", TWO)
    assert run("deploy", "-e", "first", "--yes").code == 0
    first.git("push", "--quiet", "-u", "origin", "main")
    second = clone(shared.top, tmp_path / "second")
    assert run("deploy", "-e", "first", "--yes", "-i", "left=3").code == 0
    first.git("push", "--quiet")
    assert run("deploy", "-e", "second", "--yes", "-i", "right=2").code == 0
    return first, second


def test_records_of_two_clones_are_merged_by_git_and_the_status_is_in_conflict(
    run: Run, clones: tuple[Repository, Repository]
) -> None:
    first, second = clones
    second.git("pull", "--quiet", "--no-rebase", code=1)
    assert second.git("diff", "--name-only", "--diff-filter=U").split() == ["ensemble.yaml"]
    lines = (second.top / "jobs.tsv").read_text().splitlines()
    jobs = [line.split("\t")[0] for line in lines if line.split("\t")[1] == "job"]
    assert len(jobs) == 3
    assert sorted(path.stem for path in (second.top / "jobs").glob("*.yaml")) == sorted(jobs)
    assert set((first.top / "jobs.tsv").read_text().splitlines()) < set(lines)

    for words in (["status"], ["deploy", "--yes"], ["undeploy", "--yes"]):
        refused = run(*words, "-e", "second")
        assert refused.code == 3
        assert "second/ensemble.yaml:" in refused.err
        assert "a merge of git has left a conflict in the status" in refused.err
        assert "jobs replay --write" in refused.err

    assert run("jobs", "replay", "--write", "-e", "second").code == 0
    second.commit("joined")
    assert run("jobs", "replay", "-e", "second").code == 0
    found = run("status", "-e", "second", "-o", "json").json
    assert set(found["instances"]) == {"left_1", "left_2", "left_3", "right_1", "right_2"}
    second.git("push", "--quiet")
    first.git("pull", "--quiet", "--no-rebase")
    # What was given in either clone is remembered in both, so that no later command undoes what one of them did.
    for name in ("first", "second"):
        assert "Nothing to do" in run("plan", "-e", name).out + run("deploy", "-e", name, "--yes").err
    assert "Nothing to do" in run("deploy", "-e", "first", "--yes", "-i", "left=3", "-i", "right=2").err


def test_a_conflict_in_the_users_part_is_the_users_to_solve(run: Run, clones: tuple[Repository, Repository]) -> None:
    first, second = clones
    for tree, comment in ((first, "# first\n"), (second, "# second\n")):
        path = tree.top / "ensemble.yaml"
        path.write_text(comment + path.read_text())
        tree.commit()
    first.git("push", "--quiet")
    second.git("pull", "--quiet", "--no-rebase", code=1)
    refused = run("status", "-e", "second")
    assert refused.code == 3
    assert "second/ensemble.yaml:1: a merge of git has left a conflict in the part that is yours" in refused.err


def test_a_clone_goes_on_where_the_other_one_stopped(run: Run, tmp_path: Path, ensemble: Repository) -> None:
    write_service(ensemble)
    assert run("deploy", "-e", "live", "--yes").code == 0
    other = clone(ensemble.top, tmp_path / "other")
    again = run("deploy", "-e", "other", "--yes")
    assert again.code == 0
    assert "Nothing to do" in again.err
    assert run("undeploy", "-e", "other", "--yes").code == 0
    assert other.messages == ["undeploy mini: ok", "deploy mini: ok"]


LARGE = 11 * 1024 * 1024


def make_large(ensemble: Repository, folder: str = "") -> None:
    write_service(ensemble, folder)
    text = SERVICE.replace(
        "delete: scripts/do.sh",
        "delete: { implementation: { primary: scripts/do.sh, dependencies: [ scripts/large.bin ] } }",
    )
    prefix = f"{folder}/" if folder else ""
    ensemble.write(f"{prefix}service.yaml", text)
    (ensemble.top / f"{prefix}scripts/large.bin").write_bytes(bytes(LARGE))


def test_files_above_ten_mebibytes_stay_out_of_git_and_are_named_in_a_clone(
    run: Run, tmp_path: Path, ensemble: Repository
) -> None:
    """The user's own lines in `.gitignore` stay."""
    ensemble.write(".gitignore", "*.tmp\n")
    make_large(ensemble)
    assert run("deploy", "-e", "live", "--yes").code == 0
    ignored = (ensemble.top / ".gitignore").read_text().splitlines()
    assert ignored[0] == "*.tmp"
    assert any(line.startswith("/artifacts/") and line.endswith("/scripts/large.bin") for line in ignored)
    assert ensemble.changes == ["?? scripts/large.bin"]
    assert not any(path.endswith("large.bin") for path in ensemble.held())
    clone(ensemble.top, tmp_path / "other")
    refused = run("undeploy", "-e", "other", "--yes")
    assert refused.code == 3
    assert "scripts/large.bin" in refused.err
    assert "git keeps none above 10 MiB" in refused.err


@pytest.mark.parametrize("folder", ["", "deep/er"])
def test_a_large_file_that_the_service_still_holds_is_put_back(
    run: Run, tmp_path: Path, ensemble: Repository, folder: str
) -> None:
    make_large(ensemble, folder)
    service = ensemble.top / folder / "service.yaml"
    assert run("deploy", service, "-e", "live", "--yes").code == 0
    other = clone(ensemble.top, tmp_path / "other")
    (other.top / folder / "scripts" / "large.bin").write_bytes(bytes(LARGE))
    done = run("undeploy", "-e", "other", "--yes")
    assert done.code == 0, done.err
