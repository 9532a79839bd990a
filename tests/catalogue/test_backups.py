"""Blocks that back up and restore files, and databases of SQLite; those of PostgreSQL are in `test_postgres.py`."""

from __future__ import annotations

import hashlib
import os
import sqlite3
import tarfile
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.support.blocks import Block

DATA = "ordito.dev/lifecycle/data@v1#"


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """A folder with what folders have in them."""
    folder = tmp_path / "data"
    (folder / "deep" / "empty").mkdir(parents=True)
    (folder / "deep" / "größe").write_text("one")
    (folder / "run").write_text("#!/bin/sh\n")
    (folder / "run").chmod(0o4750)
    (folder / "link").symlink_to("deep")
    os.link(folder / "run", folder / "same")
    os.mkfifo(folder / "pipe")
    folder.chmod(0o2770)
    return folder


def tree(folder: Path) -> dict[str, tuple[int, object]]:
    """What is in a folder, with modes."""
    found: dict[str, tuple[int, object]] = {}
    for place in [folder, *sorted(folder.rglob("*"))]:
        content: object = place.readlink() if place.is_symlink() else place.read_text() if place.is_file() else None
        found[str(place.relative_to(folder))] = (place.lstat().st_mode, content)
    return found


def test_files(tmp_path: Path, files: Path) -> None:
    """A backup is one file whose digest is told; restored, all is as it was, and what came since is gone. Undone, that
    is as it was again."""
    single = tmp_path / "config"
    single.write_text("a")
    target = tmp_path / "backups"
    backup = Block(f"{DATA}BackupFiles", tmp_path).execute({"paths": [str(files), str(single)], "target": str(target)})
    assert (backup.status, backup.err) == (0, "")
    assert "left out" in backup.out
    assert "pipe is neither a file nor a folder" in backup.out
    place = Path(backup.outputs["backup"])
    assert [place] == list(target.iterdir())
    assert place.name == "step--J1.tar.gz"
    assert place.stat().st_mode & 0o777 == 0o600
    assert backup.outputs["sha256"] == hashlib.sha256(place.read_bytes()).hexdigest()

    (files / "pipe").unlink()
    was = tree(files)
    (files / "new").write_text("new")
    (files / "run").unlink()
    single.unlink()
    now = tree(files)
    restore = Block(f"{DATA}RestoreFiles", tmp_path)
    config = {"backup": str(target), "step": "step", "before": str(tmp_path / "before")}
    restored = restore.execute(config, job="J2")
    assert (restored.status, restored.err) == (0, "")
    assert (tree(files), single.read_text()) == (was, "a")
    # An attempt that was cut off has restored already; what it has kept is still what was there before it.
    restored = restore.execute(config, job="J2")
    assert restore.undo(config, restored.outputs).status == 0
    assert tree(files) == now
    assert not single.exists()
    assert not list(tmp_path.glob(".*ordito*"))


@pytest.mark.parametrize("wanted", ["keep", "restore"])
def test_undoing_a_backup(tmp_path: Path, files: Path, wanted: str) -> None:
    """It restores only where the config says so, and never removes the backup."""
    (files / "pipe").unlink()
    was = tree(files)
    config = {"paths": [str(files)], "target": str(tmp_path / "backups"), "on_undo": wanted}
    block = Block(f"{DATA}BackupFiles", tmp_path)
    ran = block.execute(config)
    (files / "run").unlink()
    assert block.undo(config, ran.outputs).status == 0
    assert (tree(files) == was) == (wanted == "restore")
    assert Path(ran.outputs["backup"]).exists()


def test_a_folder_that_a_link_has_replaced(tmp_path: Path, files: Path) -> None:
    """It is restored in place of the link, and where that led nothing changes."""
    was = tree(files)
    del was["pipe"]
    config = {"paths": [str(files)], "target": str(tmp_path / "backups"), "on_undo": "restore"}
    block = Block(f"{DATA}BackupFiles", tmp_path)
    ran = block.execute(config)
    elsewhere = files.rename(tmp_path / "elsewhere")
    files.symlink_to(elsewhere)
    assert block.undo(config, ran.outputs).status == 0
    assert not files.is_symlink()
    assert tree(files) == was
    assert elsewhere.joinpath("run").exists()


def test_a_backup_is_made_once(tmp_path: Path, files: Path) -> None:
    """An attempt that was cut off after it had made the backup leaves the one that counts: of the earlier moment."""
    config = {"paths": [str(files)], "target": str(tmp_path / "backups")}
    (tmp_path / "backups").mkdir()
    (tmp_path / "backups" / ".step--J1.tar.gz.abc.part").write_text("half")
    first = Block(f"{DATA}BackupFiles", tmp_path).execute(config)
    (files / "new").write_text("new")
    assert Block(f"{DATA}BackupFiles", tmp_path).execute(config).outputs == first.outputs
    other = Block(f"{DATA}BackupFiles", tmp_path).execute(config, job="J2")
    assert other.outputs["sha256"] != first.outputs["sha256"]
    assert sorted(place.name for place in (tmp_path / "backups").iterdir()) == ["step--J1.tar.gz", "step--J2.tar.gz"]


def test_backups_that_are_refused(tmp_path: Path, files: Path) -> None:
    """What is not there, what would hold itself, and relative paths."""
    block = Block(f"{DATA}BackupFiles", tmp_path)
    assert "there is nothing at" in block.execute({"paths": [str(files / "x")], "target": str(tmp_path / "b")}).err
    assert "lies in" in block.execute({"paths": [str(files)], "target": str(files / "b")}).err
    assert "is no absolute path" in block.execute({"paths": ["data"], "target": str(tmp_path / "b")}).err


def made(place: Path, members: list[tuple[str, str]], paths: list[str]) -> None:
    """An archive that was not made by the block."""
    import io
    import json

    manifest = json.dumps({"format": 1, "paths": [{"path": path, "exists": True} for path in paths]})
    with tarfile.open(place, "w:gz") as archive:
        for name, text in [("ordito-backup.json", manifest), *members]:
            member = tarfile.TarInfo(name)
            if text.startswith("->"):
                member.type, member.linkname = tarfile.SYMTYPE, text[2:]
                archive.addfile(member)
            else:
                member.size = len(text)
                archive.addfile(member, io.BytesIO(text.encode()))


@pytest.mark.parametrize(
    ("members", "paths", "said"),
    [
        ([("0/../../x", "")], ["/tmp/a"], "must not be in it"),
        ([("7/x", "")], ["/tmp/a"], "must not be in it"),
        ([("0/l", "->/etc"), ("0/l/passwd", "")], ["/tmp/a"], "must not be in it"),
        ([], ["a"], "names no absolute path"),
        ([], ["/"], "names no absolute path"),
    ],
)
def test_archives_that_lead_elsewhere(
    tmp_path: Path, members: list[tuple[str, str]], paths: list[str], said: str
) -> None:
    """What would be written elsewhere than the archive says is refused before anything is."""
    made(tmp_path / "x.tar.gz", members, paths)
    ran = Block(f"{DATA}RestoreFiles", tmp_path).execute({"backup": str(tmp_path / "x.tar.gz")})
    assert ran.status == 1
    assert said in ran.err
    assert [place.name for place in tmp_path.glob("*.gz")] == ["x.tar.gz"]


def test_backups_that_are_not_whole(tmp_path: Path, files: Path) -> None:
    """A digest that is another, a file that was cut off, and none at all are told before anything is touched."""
    block = Block(f"{DATA}BackupFiles", tmp_path)
    config = {"paths": [str(files)], "target": str(tmp_path / "backups"), "on_undo": "restore"}
    ran = block.execute(config)
    place = Path(ran.outputs["backup"])
    restore = Block(f"{DATA}RestoreFiles", tmp_path)
    assert "is not what it was" in restore.execute({"backup": str(place), "sha256": "0" * 64}).err
    place.write_bytes(place.read_bytes()[:-30])
    was = tree(files / "deep")
    assert "cannot be read as a backup" in restore.execute({"backup": str(place)}).err
    assert "is not what it was when it was made" in block.undo(config, ran.outputs).err
    place.unlink()
    assert "is not there any more" in block.undo(config, ran.outputs).err
    assert "has no backup of step other" in restore.execute({"backup": str(place.parent), "step": "other"}).err
    assert "say which step" in restore.execute({"backup": str(place.parent)}).err
    assert tree(files / "deep") == was


def rows(database: Path) -> list[Any]:
    with closing(sqlite3.connect(database)) as connection:
        return connection.execute("SELECT n FROM t ORDER BY n").fetchall()


def write(database: Path, number: int) -> None:
    with closing(sqlite3.connect(database)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("CREATE TABLE IF NOT EXISTS t (n)")
        connection.execute("INSERT INTO t VALUES (?)", (number,))
        connection.commit()


def test_a_database(tmp_path: Path) -> None:
    """It is backed up while somebody has it open, and restored so that they see it; undone, it is what it was."""
    database, target = tmp_path / "shop.db", tmp_path / "backups"
    write(database, 1)
    config = {"database": str(database), "target": str(target), "on_undo": "restore"}
    back = {"database": str(database), "backup": str(target), "step": "step"}
    with closing(sqlite3.connect(database)) as user:
        assert user.execute("SELECT n FROM t").fetchall() == [(1,)]
        backup = Block(f"{DATA}BackupDatabase", tmp_path).execute(config)
        assert (backup.status, backup.err) == (0, "")
        assert rows(Path(backup.outputs["backup"])) == [(1,)]
        write(database, 2)
        restored = Block(f"{DATA}RestoreDatabase", tmp_path).execute(back, job="J2")
        assert (restored.status, restored.err) == (0, "")
        assert user.execute("SELECT n FROM t").fetchall() == [(1,)]
    again = Block(f"{DATA}RestoreDatabase", tmp_path).execute(back, job="J2")
    assert Block(f"{DATA}RestoreDatabase", tmp_path).undo(back, again.outputs).status == 0
    assert rows(database) == [(1,), (2,)]
    assert Block(f"{DATA}BackupDatabase", tmp_path).undo(config, backup.outputs).status == 0
    assert rows(database) == [(1,)]
    kept = Block(f"{DATA}BackupDatabase", tmp_path).undo({**config, "on_undo": "keep"}, backup.outputs)
    assert "nothing was restored, as the config says" in kept.out


def test_a_database_that_was_not_there(tmp_path: Path) -> None:
    """It is made of the backup, and removed again when that is undone; what is no database is refused."""
    write(tmp_path / "old.sqlite3", 1)
    config = {"database": str(tmp_path / "new.db"), "backup": str(tmp_path / "old.sqlite3")}
    ran = Block(f"{DATA}RestoreDatabase", tmp_path).execute(config)
    assert rows(tmp_path / "new.db") == [(1,)]
    assert Block(f"{DATA}RestoreDatabase", tmp_path).undo(config, ran.outputs).status == 0
    assert not list(tmp_path.glob("new.db*"))
    (tmp_path / "bad.sqlite3").write_text("no database at all, and long enough to be looked at")
    refused = Block(f"{DATA}RestoreDatabase", tmp_path).execute({**config, "backup": str(tmp_path / "bad.sqlite3")})
    assert "is no sound database of SQLite" in refused.err
    missing = {"database": str(tmp_path / "none.db"), "target": str(tmp_path / "b")}
    assert "there is no database" in Block(f"{DATA}BackupDatabase", tmp_path).execute(missing).err
    assert not list((tmp_path / "b").iterdir())
