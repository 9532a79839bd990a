"""What the tests with git share."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import run
from tests.git.repository import Repository, make_repository, settings_of_git, write_service

__all__ = ["ensemble", "run", "service"]


@pytest.fixture(autouse=True)
def _settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in settings_of_git(tmp_path).items():
        monkeypatch.setenv(name, value)


@pytest.fixture
def service(tmp_path: Path) -> Repository:
    """A repository with a service, committed."""
    repository = make_repository(tmp_path / "mini")
    write_service(repository)
    repository.commit("the service")
    return repository


@pytest.fixture
def ensemble(tmp_path: Path) -> Repository:
    """An empty repository for an ensemble."""
    return make_repository(tmp_path / "live")
