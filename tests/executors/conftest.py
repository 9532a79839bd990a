"""A place to run operations in, for each test its own."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.executors.place import Place


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    place = Place(tmp_path)
    yield place
    for step in ("run.sh", "run.py"):
        for process in place.processes(step):
            os.kill(process.pid, 9)
