"""Only ordinary files are read: what else there is may never end, or do something when it is opened."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from ordito.source.new_files import open_regular, read_regular


def test_an_ordinary_file(tmp_path: Path) -> None:
    """It is read, also through a link."""
    (tmp_path / "file").write_bytes(b"text")
    (tmp_path / "link").symlink_to("file")
    assert read_regular(tmp_path / "link") == b"text"
    with open_regular(tmp_path / "file") as file:
        assert file.read() == b"text"


def test_what_is_none(tmp_path: Path) -> None:
    """A FIFO and a device are refused at once, and said to be what they are."""
    os.mkfifo(tmp_path / "pipe")
    for place in (tmp_path / "pipe", Path(os.devnull)):
        with pytest.raises(OSError, match="it is a"):
            read_regular(place)


def test_it_is_refused_before_it_is_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Opening a device may do something already."""
    os.mkfifo(tmp_path / "pipe")
    opened: list[object] = []
    monkeypatch.setattr(os, "open", lambda path, _: opened.append(path))
    with pytest.raises(OSError, match="it is a"):
        read_regular(tmp_path / "pipe")
    assert opened == []


def test_what_changes_before_it_is_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is looked at again when it is open."""
    (tmp_path / "file").write_bytes(b"")
    os.mkfifo(tmp_path / "pipe")
    as_it_was = (tmp_path / "file").stat()
    monkeypatch.setattr(os, "stat", lambda _, **__: as_it_was)
    with pytest.raises(OSError, match="it is a"):
        read_regular(tmp_path / "pipe")
