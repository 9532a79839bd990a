"""Files that have not changed are hashed once by a process, and every change is seen."""

from __future__ import annotations

import hashlib
import io
import os
from pathlib import Path
from typing import BinaryIO

import pytest

from ordito.ensemble import pins
from ordito.ensemble.files import digest_of_stream
from ordito.ensemble.pins import known_digest


@pytest.fixture
def hashed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the files that were hashed, one after the other."""
    names: list[str] = []

    def counted(file: BinaryIO) -> str:
        names.append(str(getattr(file, "name", "")))
        return digest_of_stream(file)

    monkeypatch.setattr(pins, "digest_of_stream", counted)
    monkeypatch.setattr(pins, "MOMENT", -1.0)
    monkeypatch.setattr(pins, "_known", {})
    return names


def digest(path: Path) -> str:
    with path.open("rb") as file:
        return known_digest(file)


def test_a_file_that_has_not_changed_is_hashed_once(tmp_path: Path, hashed: list[str]) -> None:
    path = tmp_path / "a"
    path.write_text("one")
    assert digest(path) == digest(path) == hashlib.sha256(b"one").hexdigest()
    assert len(hashed) == 1


def test_every_change_is_seen(tmp_path: Path, hashed: list[str]) -> None:
    path = tmp_path / "a"
    path.write_text("one")
    digest(path)
    times = path.stat().st_atime_ns, path.stat().st_mtime_ns
    path.write_text("two")
    os.utime(path, ns=times)  # As if nothing had happened: the time of change still says so.
    assert digest(path) == hashlib.sha256(b"two").hexdigest()
    other = tmp_path / "b"
    other.write_text("six")
    other.replace(path)
    assert digest(path) == hashlib.sha256(b"six").hexdigest()
    assert len(hashed) == 3


def test_what_was_changed_a_moment_ago_is_not_remembered(
    tmp_path: Path, hashed: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pins, "MOMENT", 1e9)
    path = tmp_path / "a"
    path.write_text("one")
    digest(path)
    digest(path)
    assert len(hashed) == 2


def test_what_is_no_file_is_hashed_each_time(hashed: list[str]) -> None:
    for _ in range(2):
        assert known_digest(io.BytesIO(b"one")) == hashlib.sha256(b"one").hexdigest()
    assert len(hashed) == 2


def test_no_more_are_remembered_than_there_is_room_for(
    tmp_path: Path, hashed: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pins, "MOST_KNOWN", 2)
    for name in "abc":
        (tmp_path / name).write_text(name)
        digest(tmp_path / name)
    assert len(pins._known) == 1
