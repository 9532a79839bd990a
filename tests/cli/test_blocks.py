"""The verbs about blocks of lifecycle steps, and about files of such steps."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.program import Run
from tests.support.leaving import FQN, catalogue


@pytest.fixture
def alone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """An empty directory, and nothing of the user's own."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    folder = tmp_path / "work"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


def test_blocks_are_listed_wherever_they_are(run: Run, alone: Path, tmp_path: Path) -> None:
    catalogue(alone / "catalog" / "ours", "1.1.0")
    catalogue(tmp_path / "data" / "ordito" / "catalog" / "mine", "1.2.0")
    listed = json.loads(run("blocks", "list", "-o", "json").out)["blocks"]
    ours = [(b["version"], b["taken"], b["can_be_undone"]) for b in listed if b["fqn"] == FQN]
    assert ours == [("1.1.0", False, True), ("1.2.0", True, True)]
    assert {b["origin"] for b in listed if b["fqn"].startswith("ordito.dev/")} == {"built-in"}
    shown = run("blocks", "list", "leaves", "file").out.splitlines()
    assert len(shown) == 3
    assert "1.1.0 (older)" in shown[1]
    assert shown[2].endswith("Leaves a file")


def test_a_block_is_shown_with_its_config(run: Run, alone: Path, tmp_path: Path) -> None:
    given = str(catalogue(tmp_path / "given"))
    page = json.loads(run("blocks", "show", "Leave", "--catalog", given, "-o", "json").out)
    assert (page["block"]["version"], page["timeouts"], page["config_required"]) == ("1.2.0", {"execute": 20}, True)
    assert [(f["name"], f["type"], f["required"], f["default"]) for f in page["config"]] == [
        ("text", "string", True, None),
        ("times", "integer", False, 1),
        ("token", "string", False, None),
        ("like", "ordito.datatypes.ArchivePath", False, None),
    ]
    text = run("blocks", "show", FQN, "--catalog", given).out
    assert "text: string, required" in text
    assert "token: string, secret" in text


def test_a_block_that_is_not_there_is_refused_with_near_names(run: Run, alone: Path) -> None:
    refused = run("blocks", "show", "ordito.dev/lifecycle/notify@v1#Webhok")
    assert refused.code == 3
    assert "ordito.dev/lifecycle/notify@v1#Webhook" in refused.err
    assert "ordito blocks list" in refused.err


def test_a_block_is_tried_and_undone(run: Run, alone: Path, tmp_path: Path) -> None:
    (alone / "model.txt").write_text("as this\n")
    given = ["--catalog", str(catalogue(tmp_path / "given")), "-i", "text=hello", "-i", "token=s3cr3t-s3cr3t"]
    tried = run("blocks", "test", "Leave", *given, "-i", "like=model.txt", "--undo", "-o", "json")
    assert tried.code == 0, tried.err
    result = json.loads(tried.out)
    assert (result["fqn"], result["execute"]["outputs"]) == (FQN, {"place": "here"})
    assert result["undo"]["ending"] == "succeeded"
    assert "leaving hello 1" in tried.err
    assert "as this" in tried.err
    assert "left hello" in tried.err
    assert "undone" in tried.err
    assert "s3cr3t" not in tried.err + tried.out
    assert list(alone.iterdir()) == [alone / "model.txt"]


def test_a_block_that_fails_when_it_is_tried(run: Run, alone: Path, tmp_path: Path) -> None:
    tried = run("blocks", "test", "Leave", "--catalog", str(catalogue(tmp_path / "given")), "-i", "text=fail", "--undo")
    assert tried.code == 1
    assert "execute failed" in tried.out
    assert "undo" not in tried.out
    assert "cannot" in tried.err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["-i", "txt=hello"], 'did you mean "text"'),
        (["-i", "text=x"], "at least 2"),
        (["-i", "text=hello", "-i", "times=many"], "integer"),
        (["-i", "text=hello", "-i", "like=nothing.txt"], "nothing.txt"),
        (["-i", "text=hello", "--phase", "later"], "install.after"),
        ([], '"text"'),
    ],
)
def test_nothing_is_tried_with_a_config_that_does_not_fit(
    run: Run, alone: Path, tmp_path: Path, words: list[str], said: str
) -> None:
    refused = run("blocks", "test", "Leave", "--catalog", str(catalogue(tmp_path / "given")), *words)
    assert refused.code == 3
    assert said in refused.err
    assert "leaving" not in refused.err


# ------------------------------------------------------------------------------------------------------ out of CUE

CUE = """#!/bin/sh
# Says what `cue export` would, and writes down what it was asked.
echo "$@" >> "$0.asked"
case "$*" in
  *"module: #lifecycle"*) echo 'reference "#lifecycle" not found' >&2; exit 1 ;;
esac
cat "$0.says"
"""
STEPS = {"module": {}, "components": {"db": {"upgrade": {"before": [{"fqn": FQN, "config": {"text": "\U0001f600"}}]}}}}


@pytest.fixture
def cue(alone: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    program = tmp_path / "programs" / "cue"
    program.parent.mkdir()
    program.write_text(CUE)
    program.chmod(0o755)
    (program.parent / "cue.says").write_text(json.dumps(STEPS))
    monkeypatch.setenv("CUE_EXE", str(program))
    (alone / "shop.cue").write_text("#components: {}\n")
    return program


def test_steps_are_taken_over_from_a_module(run: Run, cue: Path, alone: Path) -> None:
    imported = run("lifecycle", "import", "shop.cue", "--out", "lifecycle.json")
    assert (imported.code, imported.out) == (0, "lifecycle.json: 1 lifecycle step\n")
    assert json.loads((alone / "lifecycle.json").read_text()) == STEPS
    asked = Path(f"{cue}.asked").read_text().splitlines()
    assert len(asked) == 2
    assert asked[1].startswith("export shop.cue -e {components: {for k, v in #components if v.#lifecycle != _|_")
    assert asked[1].endswith("--out json")
    named = run("lifecycle", "import", "shop.cue", "--value", "shop")
    assert json.loads(named.out) == STEPS
    assert "module: shop.#lifecycle" in Path(f"{cue}.asked").read_text().splitlines()[2]


def test_what_is_no_lifecycle_is_not_taken_over(run: Run, cue: Path, alone: Path) -> None:
    (cue.parent / "cue.says").write_text('{"module": {"install": {"befor": []}}}')
    refused = run("lifecycle", "import", "shop.cue", "--out", "lifecycle.json")
    assert refused.code == 3
    assert "befor" in refused.err
    assert not (alone / "lifecycle.json").exists()


def test_without_cue_it_is_said_how_to_get_it(
    run: Run, alone: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (alone / "shop.cue").write_text("")
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CUE_EXE", raising=False)
    refused = run("lifecycle", "import", "shop.cue")
    assert refused.code == 3
    assert "there is no program cue" in refused.err
    assert "CUE_EXE" in refused.err
    assert "no module" in run("lifecycle", "import", "shpo.cue").err
