"""The events of a job in their file: whatever of it is there after a crash, what is missing is written, once."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ordito.app.job.kept_events import KeptEvents
from ordito.base.change_ids import encode
from ordito.ensemble.journal import EnsembleJournal
from ordito.ensemble.layout import Layout
from ordito.ensemble.logs import Retention, forget_old
from ordito.instances.records import Snapshot
from ordito.work.plan import Plan
from ordito.work.records import JobHeader, Record
from tests.acceptance.busy import make_busy


class Known:
    """What the journal holds at the end of a job, which is gone when its files are written."""

    def __init__(self, kept: KeptEvents, journal: EnsembleJournal) -> None:
        self.header: JobHeader = kept._header
        self.plan: Plan = kept._plan
        self.snapshot: Snapshot = kept._snapshot
        self.told: tuple[Record, ...] = tuple(journal.records())
        self.before: Mapping[str, Any] = journal.previous()

    def records(self) -> tuple[Record, ...]:
        """All records."""
        return self.told

    def previous(self) -> Mapping[str, Any]:
        """How everything was when the job began."""
        return self.before


@pytest.fixture(scope="module")
def known(tmp_path_factory: pytest.TempPathFactory) -> tuple[Known, bytes]:
    """A job with failures, attempts and a rollback, and the file of its events."""
    found: list[Known] = []
    end = KeptEvents.end

    def keep(self: KeptEvents, journal: EnsembleJournal) -> str:
        found.append(Known(self, journal))
        return end(self, journal)

    home = tmp_path_factory.mktemp("busy")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(KeptEvents, "end", keep)
        patch.setenv("HOME", str(home))
        busy = make_busy(home, "rollback")
        from ordito.cli.main import run

        assert run(busy.deploying("--on-failure", "rollback")) == 7
    text = Layout(busy.ensemble).events(found[0].header.id).read_bytes()
    return found[0], text


@given(data=st.data())
def test_what_is_missing_is_written_once(
    tmp_path_factory: pytest.TempPathFactory, known: tuple[Known, bytes], data: st.DataObject
) -> None:
    """Cut at any byte, also with zeros or half a line behind it: the file becomes the same again."""
    job, text = known
    layout = Layout(tmp_path_factory.mktemp("cut"))
    path = layout.events(job.header.id)
    path.parent.mkdir(parents=True)
    cut = data.draw(st.one_of(st.integers(0, len(text)), st.sampled_from(_ends(text))))
    rest = data.draw(st.sampled_from([b"", b"\0" * 40, b'{"type":"step', b"\n", b'{"type":3}\n']))
    path.write_bytes(text[:cut] + rest)
    kept = KeptEvents(layout, job.header, job.plan, job.snapshot)
    kept.catch_up(job)  # type: ignore[arg-type]
    assert kept.end(job) == ""  # type: ignore[arg-type]
    assert path.read_bytes() == text


def _ends(text: bytes) -> list[int]:
    """Where lines end."""
    return [at + 1 for at, byte in enumerate(text) if byte == ord("\n")]


def test_all_of_them_together_are_not_too_large(tmp_path: Path) -> None:
    """The oldest go first; those of the newest job stay, however large they are."""
    layout = Layout(tmp_path)
    layout.event_files.mkdir(parents=True)
    jobs = [encode(number) for number in range(4)]
    for job in jobs:
        layout.events(job).write_bytes(b"x" * 100)
    forget_old(layout, Retention(size=250))
    assert sorted(path.stem for path in layout.event_files.iterdir()) == jobs[2:]
    forget_old(layout, Retention(size=10))
    assert [path.stem for path in layout.event_files.iterdir()] == jobs[3:]
