"""Which workflow the words of `ordito plan` are about."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.cli.program import DATA, Run

TINY = DATA / "tiny"


MEANT = [
    ([], "deploy"),
    (["apply"], "deploy"),
    (["install", "tiny"], "deploy"),
    (["destroy"], "undeploy"),
    (["workflow:undeploy"], "undeploy"),
    (["--full", "undeploy"], "undeploy"),
    (["-i", "word=hello", "deploy"], "deploy"),
    (["-qiword=hello", "deploy"], "deploy"),
    (["--input", "word=hello", "tiny", "--full"], "deploy"),
    (["--", "tiny"], "deploy"),
]


def test_the_first_word_may_name_a_workflow(run: Run, tmp_path: Path) -> None:
    shutil.copytree(TINY, tmp_path / "tiny")
    assert run("deploy", "tiny", "--yes", "-i", f"log={tmp_path / 'log'}").code == 0
    for words, workflow in MEANT:
        found = run("plan", "-o", "json", *words)
        assert (found.code, found.json.get("workflow")) == (0, workflow), (words, found.out, found.err)


def test_options_of_all_verbs_stand_anywhere_among_the_words(run: Run, tmp_path: Path) -> None:
    ensemble = tmp_path / "undeploy"
    assert run("deploy", TINY, "--yes", "-e", ensemble, "-i", f"log={tmp_path / 'log'}").code == 0
    for words in (["-e", "undeploy", "undeploy"], ["undeploy", "-e", "undeploy"], ["-qe", "undeploy", "undeploy"]):
        found = run("plan", "-o", "json", *words)
        assert (found.code, found.json["workflow"]) == (0, "undeploy"), found.err


@pytest.mark.parametrize("is_folder", [True, False])
def test_a_word_for_a_workflow_and_a_service_is_refused_with_both_spellings(
    run: Run, tmp_path: Path, *, is_folder: bool
) -> None:
    if is_folder:
        shutil.copytree(TINY, tmp_path / "deploy")
    else:
        (tmp_path / "deploy").write_text("tosca_definitions_version: tosca_simple_yaml_1_3\n")
    refused = run("plan", "deploy")
    assert refused.code == 64
    assert "`ordito plan workflow:deploy`" in refused.err
    assert "`ordito plan ./deploy`" in refused.err
    assert run("plan", "./deploy", "-i", "log=x").code == (0 if is_folder else 3)
    assert run("plan", "deploy", "./deploy", "-i", "log=x").code == (0 if is_folder else 3)


def test_a_folder_without_a_service_is_not_taken_for_one(run: Run, tmp_path: Path) -> None:
    (tmp_path / "deploy").mkdir()
    assert run("plan", "deploy", TINY, "-i", "log=x").code == 0
    assert "no service is named" in run("plan", "deploy").err


def test_an_unknown_workflow_is_named_with_those_that_there_are(run: Run) -> None:
    refused = run("plan", "workflow:undeplyo")
    assert refused.code == 64
    assert 'there is no workflow "undeplyo"' in refused.err
    assert "undeploy" in refused.err


def test_a_misspelt_workflow_is_not_taken_for_a_service(run: Run, tmp_path: Path) -> None:
    for words in (["heel", "web_1"], ["heel"], ["heel", "--full"]):
        refused = run("plan", *words)
        assert refused.code == 64
        assert 'neither a workflow nor a service "heel"; did you mean "heal"?' in refused.err
    shutil.copytree(TINY, tmp_path / "heel")
    assert run("plan", "heel", "-i", "log=x").code == 0


def test_what_another_workflow_takes_is_refused(run: Run) -> None:
    assert 'there is no option "-i"' in run("plan", "undeploy", "-i", "word=x").err
    refused = run("-i", "word=x", "plan", "undeploy")
    assert refused.code == 64
    assert "plan undeploy takes no values of inputs" in refused.err
    assert 'there is no option "--fetch"' in run("plan", "undeploy", "--fetch").err
