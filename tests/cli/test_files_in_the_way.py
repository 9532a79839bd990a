"""What others have put in the way: pipes where files are read, full disks, what killed processes have left."""

from __future__ import annotations

import fcntl
import os
import resource
import subprocess
import threading
import zipfile
from pathlib import Path

import pytest

from ordito.authoring.init import TEMPLATES
from ordito.source.new_files import fresh_file, fresh_folder
from tests.cli.program import Run, command, environment

SMALL = """\
tosca_definitions_version: tosca_simple_yaml_1_3
topology_template:
  node_templates:
    machine: { type: Compute }
"""


@pytest.fixture
def archive(run: Run) -> Path:
    """A small archive in the current directory."""
    Path("small").mkdir()
    Path("small/service.yaml").write_text(SMALL)
    assert run("package", "small").code == 0
    return Path("small.csar")


# ------------------------------------------------------------------------------------------------------------ pipes


def test_a_pipe_is_no_archive(run: Run) -> None:
    """Nobody waits for a writer: neither where an archive is read, nor where one would be replaced."""
    os.mkfifo("f.csar")
    done = run("unpackage", "f.csar")
    assert done.code == 3
    assert "cannot read f.csar: it is a FIFO (named pipe), not an ordinary file" in done.err
    Path("small").mkdir()
    Path("small/service.yaml").write_text(SMALL)
    done = run("package", "small", "--out", "f.csar")
    assert done.code == 3
    assert "error[exists]" in done.err
    assert Path("f.csar").is_fifo()


@pytest.mark.parametrize("words", [("status",), ("deploy", "s.yaml"), ("jobs", "list"), ("compile",)])
def test_a_pipe_is_no_ensemble(run: Run, words: tuple[str, ...]) -> None:
    """No command waits for somebody who writes an ensemble's file."""
    Path("s.yaml").write_text(SMALL)
    Path("e").mkdir()
    os.mkfifo("e/ensemble.yaml")
    done = run(*words, "-e", "e", *(["--yes"] if words[0] == "deploy" else []))
    assert done.code == 3 or (words[0] == "jobs" and done.code == 0)
    assert done.code == 0 or "it is a FIFO (named pipe), not an ordinary file" in done.err


@pytest.mark.parametrize("file", ["e/.ordito/lock", "e/jobs.tsv"])
def test_pipes_elsewhere_in_an_ensemble(run: Run, file: str) -> None:
    """Every file of an ensemble is an ordinary one."""
    Path("s.yaml").write_text(SMALL)
    Path(file).parent.mkdir(parents=True)
    os.mkfifo(file)
    assert run("deploy", "s.yaml", "-e", "e", "--yes").code not in {0, 70}


@pytest.mark.parametrize(
    "file",
    ["jobs.tsv", ".ordito/lock", ".ordito/outline", ".ordito/journal.db", ".ordito/secrets.lock", ".ordito/begun"],
)
def test_links_in_an_ensemble_from_elsewhere_lead_to_no_file_of_mine(run: Run, file: str) -> None:
    """What somebody has put into a repository cannot have files outside of it written, or emptied."""
    Path("s.yaml").write_text(SMALL)
    Path("mine").write_text("mine\n")
    assert run("deploy", "s.yaml", "-e", "e", "--yes").code == 0
    planted = Path("e", file)
    planted.unlink(missing_ok=True)
    planted.symlink_to(Path("mine").absolute())
    commands = [
        ("status",),
        ("check", "--yes"),
        ("undeploy", "--yes"),
        ("jobs", "resume"),
        ("secrets", "set", "x", "--file", "s.yaml"),
    ]
    done = [run(*words, "-e", "e") for words in commands]
    assert Path("mine").read_text() == "mine\n"
    assert 70 not in {one.code for one in done}, [one.err for one in done]
    # Files that are written whole take the place of a link.
    is_replaced = file in {".ordito/outline", ".ordito/begun"}
    assert is_replaced or any("link" in one.err for one in done), [one.err for one in done]


# ------------------------------------------------------------------------------------------------------- full disks


@pytest.mark.parametrize(
    "arguments", [["--help"], ["--version"], ["-e", "x", "--version"], ["compile", "--help"], ["init", "-h"]]
)
def test_help_that_cannot_be_written(tmp_path: Path, arguments: list[str]) -> None:
    """It is an error as with any other result, and no fault of the program."""
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            command(*arguments), cwd=tmp_path, env=environment(), stdout=full, stderr=subprocess.PIPE, check=False
        )
    assert done.returncode == 1
    assert done.stderr.decode() == "ordito: cannot write the result: No space left on device\n"


def test_errors_that_cannot_be_written(tmp_path: Path) -> None:
    """The exit code says it all the same."""
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(command("--wrong"), cwd=tmp_path, env=environment(), stderr=full, check=False)
    assert done.returncode == 64


def limited(size: int) -> None:
    """Let no file grow beyond so many bytes."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))


def test_init_makes_all_or_nothing(tmp_path: Path) -> None:
    """What was begun is removed, and the file is named that could not be written."""
    sizes = sorted(path.stat().st_size for path in (TEMPLATES / "hello").rglob("*") if path.is_file())
    done = subprocess.run(
        command("init", "deep/new"),
        cwd=tmp_path,
        env=environment(PYTHONDONTWRITEBYTECODE="1"),
        preexec_fn=lambda: limited(sizes[0] + 1),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 3
    assert "error[cannot-write]: cannot write deep/new/" in done.stderr
    assert "templates" not in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_init_leaves_what_others_have_made(run: Run) -> None:
    """Only what was made here goes away, and a link that leads nowhere is something too."""
    Path("there").mkdir()
    Path("there/service.yaml").symlink_to("nowhere")
    done = run("init", "there")
    assert (done.code, "error[exists]" in done.err) == (3, True)
    assert [path.name for path in Path("there").iterdir()] == ["service.yaml"]
    Path("file").touch()
    done = run("init", "file/below")
    assert (done.code, "cannot write file: File exists" in done.err) == (3, True)


# -------------------------------------------------------------------------------------------------------- leftovers


def test_what_a_killed_process_has_left_is_removed(run: Run, archive: Path) -> None:
    """Only what has that very form of name, and what no process holds any more."""
    others = [Path(".small.csar.mine.csar"), Path(".other.csar.0123456789abcdef.csar")]
    for path in others:
        path.touch()
    left, handle = fresh_file(archive, ".csar")
    assert run("package", "small").code == 0
    assert left.exists()
    os.close(handle)
    planted = left.with_name(".small.csar.0123456789abcdef.csar")
    planted.symlink_to("small/service.yaml")
    assert run("package", "small").code == 0
    assert not left.exists()
    assert planted.is_symlink()
    assert all(path.exists() for path in others)


def test_what_a_killed_unpacking_has_left_is_removed(run: Run, archive: Path) -> None:
    """As with archives: the lock tells whether somebody still works on it."""
    left, handle = fresh_folder(Path("out"), ".unpacking")
    (left / "half").touch()
    assert run("unpackage", archive, "--out", "out").code == 0
    assert left.exists()
    os.close(handle)
    Path("out").rename("first")
    assert run("unpackage", archive, "--out", "out").code == 0
    assert not left.exists()


def test_a_fresh_file_swept_away_before_it_was_locked_is_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between making and locking it others take it for a leftover."""
    real = fcntl.flock
    swept: list[Path] = []

    def lock(handle: int, how: int) -> None:
        if not swept:
            swept.extend(tmp_path.iterdir())
            swept[0].unlink()
        real(handle, how)

    monkeypatch.setattr(fcntl, "flock", lock)
    fresh, handle = fresh_file(tmp_path / "k.csar", ".csar")
    os.close(handle)
    assert fresh.exists()
    assert fresh != swept[0]


def test_two_unpack_at_once(run: Run, archive: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who comes second is told that there is something, and nothing of what was unpacked is touched."""
    real = zipfile.ZipFile.open
    came = threading.Event()

    def slow(self: zipfile.ZipFile, *arguments: object, **more: object) -> object:
        if any(Path().glob(".out.*")) and not came.is_set():
            came.set()
            Path("out").mkdir()
            Path("out/theirs").touch()
        return real(self, *arguments, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(zipfile.ZipFile, "open", slow)
    done = run("unpackage", archive, "--out", "out")
    assert came.is_set()
    assert done.code == 3
    assert "error[exists]: out exists already, and nothing is overwritten" in done.err
    assert [path.name for path in Path("out").iterdir()] == ["theirs"]
    assert not list(Path().glob(".out.*"))


def test_archives_do_not_go_to_standard_output(run: Run, archive: Path) -> None:
    """Neither packed nor unpacked."""
    assert "error[no-archive]" in run("package", "small", "--out", "-").err
    assert "error[cannot-write]" in run("unpackage", archive, "--out", "-").err
    assert not Path("-").exists()
