"""How `ordito plan` ends, and how much it shows."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.program import DATA, Run

TINY = DATA / "tiny"


def test_the_exit_code_tells_of_changes_where_it_is_asked_for(run: Run, tmp_path: Path) -> None:
    log = f"log={tmp_path / 'log'}"
    assert run("plan", TINY, "-i", log).code == 0
    assert run("plan", TINY, "-i", log, "--detailed-exitcode").code == 2
    assert run("deploy", TINY, "-i", log, "--yes").code == 0
    assert run("plan", "--detailed-exitcode").code == 0
    assert run("plan", "undeploy", "--detailed-exitcode", "-o", "json").code == 2
    assert run("plan", "--detailed-exitcode", "-i", "word=bye").code == 2
    assert run("plan", "--detailed-exitcode", "--out", "p.plan").code == 0
    assert run("plan", "p.plan", "--detailed-exitcode").code == 0


@pytest.mark.parametrize("words", [["--full", "--summary"], ["--explain", "--full"], ["--explain", "--summary"]])
def test_views_exclude_each_other(run: Run, words: list[str]) -> None:
    refused = run("plan", TINY, "-i", "log=x", *words)
    assert refused.code == 64
    assert "exclude each other" in refused.err


def test_the_format_for_programs_is_named_and_complete(run: Run, tmp_path: Path) -> None:
    data = run("plan", TINY, "-i", f"log={tmp_path}", "-i", "count=2", "-o", "json").json
    assert data["format"] == "ordito.plan/1"
    ids = [step["id"] for step in data["steps"]]
    assert [name for wave in data["waves"] for name in wave] == sorted(
        (s["id"] for s in data["steps"] if not s.get("joins")), key=lambda i: (wave_of(data, i), ids.index(i))
    )
    for edge in data["edges"]:
        assert ids.index(edge["before"]) < ids.index(edge["after"])
        assert edge["reason"]
    assert data["counts"] == {"base": {"count": 1, "origin": ""}, "top": {"count": 2, "origin": "instance_count"}}
    assert data["totals"]["made"] == 3
    nothing = run("plan", "undeploy", "-o", "json", "-e", "e")
    assert nothing.code == 3
    yaml = run("plan", TINY, "-i", f"log={tmp_path}", "-o", "yaml").out
    assert yaml.startswith("format: ordito.plan/1\n")


def wave_of(data: dict[str, list[list[str]]], step: str) -> int:
    return next(number for number, wave in enumerate(data["waves"]) if step in wave)


def test_options_of_a_plan_are_explained(run: Run) -> None:
    told = run("plan", "--help").out
    for option in ("--out", "--explain", "--summary", "--full", "--detailed-exitcode", "--force"):
        assert option in told
    assert "--fetch" not in run("plan", "undeploy", "--help").out
