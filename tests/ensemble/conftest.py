"""Tests of ensembles whose journal is a file, and the same ones over with journals in a store."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from ordito.ensemble import backing

OVER = frozenset({"test_files", "test_jobs", "test_manifest", "test_new_ids", "test_pins", "test_replay", "test_vault"})
"""The files of tests that use a journal. The file of a journal itself is what ``test_journal_damage`` is about."""

OF_A_FILE = frozenset(
    {
        "test_a_killed_process_loses_nothing",
        "test_of_an_unfinished_job_no_more_is_read_than_is_asked_for",
    }
)
"""Tests in them that look into the file of a journal, or open it in another process."""


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    name = metafunc.module.__name__.rpartition(".")[2]
    if name in OVER and metafunc.function.__name__ not in OF_A_FILE:
        metafunc.fixturenames.append("journals")
        stored = pytest.param("postgresql", marks=pytest.mark.targets)
        metafunc.parametrize("journals", ["sqlite", stored], indirect=True)


@pytest.fixture
def journals(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Where the journals of the test are."""
    if request.param == "sqlite":
        yield
        return
    from tests.support.real.stores import StoredJournals

    stored: StoredJournals = request.getfixturevalue("stored_journals")
    monkeypatch.setattr(backing, "open_journal", stored.open)
    monkeypatch.setattr(backing, "read_journal", stored.read)
    yield
    stored.shut()
