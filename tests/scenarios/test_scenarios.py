"""Every scenario of this folder: what exists, commands, what must run and in which order, what exists then."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.scenarios import Scenario

HERE = Path(__file__).parent
FILES = sorted(file for file in HERE.rglob("*.yaml") if file.parent.name != "services")


REAL = ("two_sources_two_targets", "undeploy_with_failing_stop", "scale_out_fails", "heal_keeps_ids", "heal_webserver")
"""Those that are played with processes too."""


@pytest.mark.parametrize("file", FILES, ids=lambda f: f.relative_to(HERE).with_suffix("").as_posix())
def test_scenario(file: Path, tmp_path: Path) -> None:
    """R-7.2-1: see what each file says."""
    Scenario(file).play(tmp_path)


@pytest.mark.parametrize("name", REAL)
def test_scenario_with_processes(name: str, tmp_path: Path) -> None:
    Scenario(HERE / f"{name}.yaml").play(tmp_path, real=True)
