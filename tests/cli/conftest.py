"""What the tests of the command share."""

from __future__ import annotations

import gc
import io
from collections.abc import Iterator
from pathlib import Path

import pytest

from ordito.cli.main import run as run_here
from tests.cli.program import Finished, Run
from tests.support.golden import note


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Iterator[Run]:
    """Run the command inside the test, in an empty directory, without a terminal."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.stdin", io.StringIO())
    for name in ("NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)

    def ordito(*arguments: str | Path) -> Finished:
        capsys.readouterr()
        code = run_here([str(argument) for argument in arguments])
        printed = capsys.readouterr()
        note(arguments, code, printed.out)
        return Finished(code, printed.out, printed.err)

    yield ordito
    # A command keeps what it has read out of the collector's sight until its process ends; this one goes on.
    gc.unfreeze()
