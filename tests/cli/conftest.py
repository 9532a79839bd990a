"""What the tests of the command share."""

from __future__ import annotations

import gc
import io
import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from ordito.base.json_text import json_text
from ordito.cli.channel import Channel
from ordito.cli.main import run as run_here
from ordito.cli.session import Session, Shown
from tests.cli.program import Finished, Run
from tests.support.golden import note

_show = Session.show


def show_read_back(session: Session, found: Shown, write: Callable[[Shown, Channel], None] | None = None) -> None:
    """Show a result as somebody does who has only read it in its format: nothing else may be shown, and nothing is
    lost on the way."""
    text = json_text(found.data)
    read = found.read(json.loads(text))
    assert json_text(read.data) == text
    _show(session, read, write)


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Iterator[Run]:
    """Run the command inside the test, in an empty directory, without a terminal."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.stdin", io.StringIO())
    for name in ("NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(Session, "show", show_read_back)

    def ordito(*arguments: str | Path) -> Finished:
        capsys.readouterr()
        code = run_here([str(argument) for argument in arguments])
        printed = capsys.readouterr()
        note(arguments, code, printed.out)
        return Finished(code, printed.out, printed.err)

    yield ordito
    # A command keeps what it has read out of the collector's sight until its process ends; this one goes on.
    gc.unfreeze()
