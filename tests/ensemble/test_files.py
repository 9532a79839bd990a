"""`jobs.tsv`, the log of a job, git's files, the lock, and what is said when the disk refuses."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ordito.ensemble.errors import EnsembleError
from ordito.ensemble.files import write_whole
from ordito.ensemble.jobs_tsv import append_lines, escape, unescape
from ordito.ensemble.keeping import add_lines, ensure_git_files
from ordito.ensemble.layout import Layout
from ordito.ensemble.lock import DirectoryLock, holder
from ordito.ensemble.logs import JobLog, read_log
from ordito.ensemble.owner import Locked
from ordito.ensemble.store import open_ensemble, read_ensemble

FIRST = [b"A6BKKQCN0000\tjob\tone\n", b"A6BKKQCN0001\ttask\ttwo\n"]
SECOND = [b"A6BKKQCO0000\tjob\tthree\n", b"A6BKKQCO0001\ttask\tfour\n"]


# ------------------------------------------------------------------------------------------------------- jobs.tsv


@given(st.text())
def test_columns_are_escaped_as_in_c(text: str) -> None:
    written = escape(text)
    assert not set(written) & set("\t\n\r\0\x7f\x85\u2028")
    assert unescape(written) == text


@given(st.integers(0, sum(map(len, SECOND))))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
def test_a_torn_line_is_mended_and_no_line_doubled(tmp_path: Path, cut: int) -> None:
    """Cut off anywhere while a job's lines were appended, the file is whole once they are appended again."""
    path = tmp_path / "jobs.tsv"
    path.write_bytes(b"".join(FIRST) + b"".join(SECOND)[:cut])
    append_lines(path, SECOND)
    assert path.read_bytes() == b"".join([*FIRST, *SECOND])
    append_lines(path, SECOND)
    assert path.read_bytes() == b"".join([*FIRST, *SECOND])


def test_a_last_line_that_somebody_else_left_open_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "jobs.tsv"
    path.write_bytes(b"A5BKKQCN0000\tjob\tby hand")
    append_lines(path, FIRST)
    assert path.read_bytes() == b"A5BKKQCN0000\tjob\tby hand\n" + b"".join(FIRST)


# ---------------------------------------------------------------------------------------------------- the job's log


def fill(path: Path, pieces: list[tuple[str, bytes]]) -> None:
    with JobLog(path) as log:
        for step, data in pieces:
            log.write(step, data)
            log.flush()


PIECES = [("web_1.Standard.create", b"one\ntwo"), ("db_1.x y", b"\x00=9 fake\n"), ("web_1.Standard.create", b"three\n")]


def test_the_output_of_a_step_is_found_in_order(tmp_path: Path) -> None:
    path = tmp_path / "logs" / "job.log"
    fill(path, PIECES)
    assert list(read_log(path)) == PIECES
    assert b"".join(data for _, data in read_log(path, "web_1.Standard.create")) == b"one\ntwothree\n"
    assert list(read_log(path, "none")) == []
    assert list(read_log(tmp_path / "no.log")) == []


@given(st.integers(0, 100), st.integers(0, 100))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
def test_a_log_torn_anywhere_is_read_and_continued(tmp_path: Path, log_cut: int, index_cut: int) -> None:
    """A killed process may leave log and index cut off anywhere, each by itself."""
    path = tmp_path / "job.log"
    for file in (path, path.with_suffix(".index")):
        file.unlink(missing_ok=True)
    fill(path, PIECES)
    for file, cut in ((path, log_cut), (path.with_suffix(".index"), index_cut)):
        file.write_bytes(file.read_bytes()[: min(cut, file.stat().st_size)])
    found = list(read_log(path))
    whole = [piece for piece in found if piece in PIECES]
    assert found[: len(whole)] == PIECES[: len(whole)]
    for step, data in found[len(whole) :]:
        assert PIECES[len(whole)][0] == step
        assert PIECES[len(whole)][1].startswith(data)
    fill(path, [("last", b"end")])
    after = list(read_log(path))
    assert after[-1] == ("last", b"end")
    assert after[:-1] == PIECES[: len(after) - 1]


def test_nothing_is_made_for_a_job_that_prints_nothing(tmp_path: Path) -> None:
    with JobLog(tmp_path / "logs" / "job.log") as log:
        log.flush()
    assert not (tmp_path / "logs").exists()


def test_output_is_buffered_and_bounded(tmp_path: Path) -> None:
    path = tmp_path / "job.log"
    with JobLog(path) as log:
        for _ in range(1_000):
            log.write("a", b"x" * 1_000)
        assert path.stat().st_size > 500_000
    assert sum(len(data) for _, data in read_log(path, "a")) == 1_000_000


# ------------------------------------------------------------------------------------------------------ git's files


def test_lines_of_the_user_are_never_touched(tmp_path: Path) -> None:
    layout = Layout(tmp_path)
    layout.git_ignore.write_bytes(b"# mine\r\n*.bak")
    ensure_git_files(layout)
    ensure_git_files(layout)
    assert layout.git_ignore.read_bytes() == b"# mine\r\n*.bak\n/.ordito/\n"
    assert layout.git_attributes.read_bytes() == b"jobs.tsv merge=union\nartifacts/** -text\n"
    add_lines(layout.git_ignore, ["*.bak"])
    assert layout.git_ignore.read_bytes() == b"# mine\r\n*.bak\n/.ordito/\n"


# ---------------------------------------------------------------------------------------------------------- the lock

HOLDING = """
import sys
from pathlib import Path
from ordito.ensemble.layout import Layout
from ordito.ensemble.lock import DirectoryLock
with DirectoryLock(Layout(Path(sys.argv[1])), command="deploy"):
    print("held", flush=True)
    sys.stdin.read()
"""


@contextmanager
def held_elsewhere(root: Path) -> Iterator[subprocess.Popen[str]]:
    """Another process holds the lock, until its standard input ends."""
    command = [sys.executable, "-c", HOLDING, str(root)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == "held\n"
        yield child


def test_one_changing_command_at_a_time(tmp_path: Path) -> None:
    """The second one is told who holds the lock; looking is possible meanwhile."""
    layout = Layout(tmp_path)
    with held_elsewhere(tmp_path) as child:
        with pytest.raises(Locked) as error, open_ensemble(tmp_path, command="undeploy"):
            pass
        assert error.value.owner is not None
        assert (error.value.owner.pid, error.value.owner.command) == (child.pid, "deploy")
        assert "--wait-lock" in error.value.hint
        found = holder(layout)
        assert found is not None
        assert found.pid == child.pid
        with read_ensemble(tmp_path) as ensemble:
            assert ensemble.unfinished is None
        child.communicate("")
    assert holder(layout) is None
    assert layout.lock.read_bytes() == b""


def test_the_lock_dies_with_its_process(tmp_path: Path) -> None:
    with held_elsewhere(tmp_path) as child:
        child.kill()
        child.wait()
    with DirectoryLock(Layout(tmp_path), command="deploy"):
        pass


def test_waiting_for_the_lock(tmp_path: Path) -> None:
    with held_elsewhere(tmp_path) as child:
        assert child.stdin is not None
        child.stdin.close()
        with DirectoryLock(Layout(tmp_path), command="deploy", wait=60):
            assert holder(Layout(tmp_path)) is not None


# --------------------------------------------------------------------------------------------- what the world does


def test_a_file_in_the_way_is_named(tmp_path: Path) -> None:
    (tmp_path / ".ordito").write_text("")
    with pytest.raises(EnsembleError) as error:
        open_ensemble(tmp_path, command="deploy")
    assert str(tmp_path) in error.value.message


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_read_only_directory_is_named(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    try:
        with pytest.raises(EnsembleError) as error:
            open_ensemble(tmp_path, command="deploy")
    finally:
        tmp_path.chmod(0o700)
    assert error.value.hint


def test_a_full_disk_is_explained(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Said with what to do, and what was there stays as it was."""

    def full(handle: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    path = tmp_path / "ensemble.yaml"
    path.write_text("before")
    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(EnsembleError) as error:
        write_whole(path, [b"after"])
    assert "No space left" in error.value.message
    assert "make room" in error.value.hint
    assert path.read_text() == "before"


def test_a_damaged_journal_is_explained(tmp_path: Path) -> None:
    with open_ensemble(tmp_path, command="deploy") as ensemble:
        path = ensemble.layout.journal
    path.write_bytes(b"this is no database, and it is long enough to be noticed as one" * 100)
    for opening in (partial(open_ensemble, command="deploy"), read_ensemble):
        with pytest.raises(EnsembleError) as error:
            opening(tmp_path)
        assert "journal.db" in error.value.message
        assert "damaged" in error.value.hint


def test_a_journal_of_a_newer_version_is_refused(tmp_path: Path) -> None:
    import sqlite3

    with open_ensemble(tmp_path, command="deploy") as ensemble:
        path = ensemble.layout.journal
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA user_version = 99")
    connection.close()
    with pytest.raises(EnsembleError, match="newer version"):
        open_ensemble(tmp_path, command="deploy")


def test_a_file_that_is_written_again_with_the_same_bytes_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "file"
    write_whole(path, [b"a", b"b"])
    path.chmod(0o640)
    before = path.stat()
    write_whole(path, [b"ab"])
    assert path.stat().st_mtime_ns == before.st_mtime_ns
    write_whole(path, [b"abc"])
    assert path.stat().st_mode == before.st_mode
    assert list(tmp_path.iterdir()) == [path]
