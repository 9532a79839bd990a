"""Each job of these tests is also written into journals of an ensemble, a file's and a store's, which must give back
what the engine has committed."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from pathlib import Path

import pytest
from hypothesis import is_hypothesis_test

from ordito.ensemble.journal import EnsembleJournal, open_journal
from ordito.ensemble.layout import Layout
from ordito.instances.records import Delta
from ordito.testing import MemoryJournal
from ordito.work.plan import Plan
from ordito.work.records import JobHeader, Record, RollbackRecord
from tests.engine import fakes


class WrittenJournal(MemoryJournal):
    """A journal in memory that writes what begins with it into another one too. A job that is resumed has its records
    from elsewhere, and is only kept in memory."""

    def __init__(self, records: Collection[Record], made: Callable[[], EnsembleJournal]) -> None:
        super().__init__(records)
        self._made = made
        self._other: EnsembleJournal | None = None

    def open(self, header: JobHeader, plan: Plan, delta: Delta) -> None:
        super().open(header, plan, delta)
        self._other = self._made()
        self._other.open(header, plan, delta)
        assert self._other.plan() == plan

    def extend(self, plan: Plan, record: RollbackRecord) -> None:
        super().extend(plan, record)
        if self._other is not None:
            # What the engine calls from here on is the plan with its rollback.
            self._other.extend(plan, record)

    def append(self, record: Record) -> None:
        super().append(record)
        if self._other is not None and not isinstance(record, RollbackRecord):
            self._other.append(record)

    def commit(self) -> None:
        super().commit()
        if self._other is not None:
            self._other.commit()
            assert list(self._other.records()) == self.records


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    runs_jobs = getattr(metafunc.module, "run", None) is fakes.run
    if runs_jobs and not is_hypothesis_test(metafunc.function):
        metafunc.fixturenames.append("journals")
        stored = pytest.param("postgresql", marks=pytest.mark.targets)
        metafunc.parametrize("journals", ["sqlite", stored], indirect=True)


@pytest.fixture
def journals(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    """Where the journals of the test are written besides."""
    made: list[EnsembleJournal] = []
    opened = open_journal if request.param == "sqlite" else request.getfixturevalue("stored_journals").open

    def make() -> EnsembleJournal:
        made.append(opened(Layout(tmp_path / f"ensemble-{len(made)}")))
        return made[-1]

    monkeypatch.setattr(fakes, "MemoryJournal", lambda records: WrittenJournal(records, make))
    yield
    for journal in made:
        journal.shut()
