"""Nodes that topologies stand for, whose operations are mapped to workflows and operations inside."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.scenarios import Scenario

FILES = sorted((Path(__file__).parent / "data" / "mapped").glob("*.yaml"))


@pytest.mark.parametrize("file", FILES, ids=lambda f: f.stem)
def test_mapped(file: Path, tmp_path: Path) -> None:
    """R-3.8.12-2: what is mapped runs in the place of the operation, and what is not is carried out inside as ever."""
    Scenario(file).play(tmp_path)
