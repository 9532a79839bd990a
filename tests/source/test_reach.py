"""Files that are opened within a folder alone, by a process that may read everything else."""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from ordito.ensemble.errors import EnsembleError
from ordito.ensemble.inbox import Inbox
from ordito.ensemble.layout import Layout
from ordito.source.new_files import open_regular, read_regular
from ordito.source.reach import check_open, within


@pytest.fixture
def place(tmp_path: Path) -> Path:
    folder = tmp_path / "inside"
    (folder / "deep").mkdir(parents=True)
    (folder / "deep" / "own").write_text("own")
    (tmp_path / "secret").write_text("secret")
    (folder / "link").symlink_to("deep/own")
    (folder / "out").symlink_to("../secret")
    (folder / "folder").symlink_to("..")
    return folder


def test_within_a_folder_no_link_leads_out(place: Path) -> None:
    with within(place):
        for name in ("deep/own", "link", "folder/inside/deep/own"):
            assert read_regular(place / name) == b"own"
        for name in ("out", "folder/secret", "../secret"):
            with pytest.raises(PermissionError):
                read_regular(place / name)
    assert read_regular(place / "out") == b"secret"


def test_what_counts_is_what_was_opened(place: Path) -> None:
    """A file that is moved out, or a folder on the way that is replaced, between the look at its path and its
    opening."""
    handle = os.open(place / "deep" / "own", os.O_RDONLY)
    try:
        with within(place):
            check_open(handle)
            (place / "deep" / "own").rename(place.parent / "moved")
            with pytest.raises(PermissionError):
                check_open(handle)
    finally:
        os.close(handle)


def test_a_folder_may_be_named_by_a_link_and_within_another(place: Path, tmp_path: Path) -> None:
    (tmp_path / "named").symlink_to(place)
    with within(tmp_path / "named"):
        with open_regular(tmp_path / "named" / "link") as file:
            assert file.read() == b"own"
        with within(place / "deep"), pytest.raises(PermissionError):
            read_regular(place.parent / "secret")
        assert read_regular(place / "link") == b"own"


@pytest.mark.parametrize("back", [True, False])
def test_no_database_is_opened_that_was_exchanged_at_that_very_moment(
    back: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where what was there before is put back at once."""
    mine, other = Layout(tmp_path / "mine"), Layout(tmp_path / "other")
    for layout in (mine, other):
        Inbox(layout).__exit__(None, None, None)
    folder, away, usual = mine.inbox.parent, tmp_path / "away", sqlite3.connect

    def connect(*given: Any, **more: Any) -> sqlite3.Connection:
        folder.rename(away)
        folder.symlink_to(other.inbox.parent)
        found: sqlite3.Connection = usual(*given, **more)
        if back:
            folder.unlink()
            away.rename(folder)
        return found

    with within(tmp_path / "mine"):
        Inbox(mine).__exit__(None, None, None)
        monkeypatch.setattr(sqlite3, "connect", connect)
        with pytest.raises(EnsembleError, match="outside"):
            Inbox(mine)
