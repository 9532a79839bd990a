"""Every scenario of this folder: what exists, commands, what must run and in which order, what exists then."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.scenarios import Scenario

FILES = sorted(Path(__file__).parent.rglob("*.yaml"))


@pytest.mark.parametrize("file", FILES, ids=lambda f: f.stem)
def test_scenario(file: Path, tmp_path: Path) -> None:
    """R-7.2-1: see what each file says."""
    Scenario(file).play(tmp_path)
