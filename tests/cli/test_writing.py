"""What commands write: whole or not at all, where it was meant, and over nothing that they have read."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

import ordito.authoring.format as formatting
from ordito.authoring.format import format_text
from ordito.ensemble.files import put_whole
from tests.cli.program import Finished, Run, command, environment, process

MAIN = """\
tosca_definitions_version: tosca_simple_yaml_1_3
imports: [ types.yaml ]
topology_template:
  node_templates:
    machine: { type: Compute }
"""
TYPES = "tosca_definitions_version: tosca_simple_yaml_1_3\nnode_types: { mine: { derived_from: Compute } }\n"
UGLY = """\
tosca_definitions_version: tosca_simple_yaml_1_3
topology_template:
    node_templates:
        machine: { type: Compute }
"""
WRITERS = [("compile",), ("graph", "-o", "dot"), ("schema",)]


@pytest.fixture
def service(run: Run) -> Path:
    """A service of two files in the current directory."""
    Path("s.yaml").write_text(MAIN)
    Path("types.yaml").write_text(TYPES)
    return Path("s.yaml")


def temporary(folder: Path) -> list[str]:
    """What was left in a folder of what should have taken another file's place."""
    return [path.name for path in folder.iterdir() if path.name.endswith(".new")]


# ------------------------------------------------------------------------------------------------- documents, --out


@pytest.mark.parametrize("words", WRITERS)
@pytest.mark.parametrize("out", ["s.yaml", "types.yaml", "./sub/../s.yaml", "link.json", "hard.json"])
def test_what_was_read_is_not_overwritten(run: Run, service: Path, words: tuple[str, ...], out: str) -> None:
    """By whichever name: the entry and its imports."""
    Path("sub").mkdir()
    Path("link.json").symlink_to("types.yaml")
    os.link("s.yaml", "hard.json")
    done = run(*words, service, "--out", out)
    assert done.code == 3
    assert f"error[exists]: {out} was read by this command and would be overwritten" in done.err
    assert (service.read_text(), Path("types.yaml").read_text()) == (MAIN, TYPES)
    assert run(*words, service, "--out", "new.json").code == 0


@pytest.mark.parametrize("words", WRITERS)
def test_an_archive_that_was_read_is_not_overwritten(run: Run, words: tuple[str, ...]) -> None:
    """Nor an ensemble's file."""
    Path("small").mkdir()
    Path("small/service.yaml").write_text(MAIN.replace("imports: [ types.yaml ]\n", ""))
    assert run("package", "small").code == 0
    before = Path("small.csar").read_bytes()
    assert "error[exists]" in run(*words, "small.csar", "--out", "small.csar").err
    assert Path("small.csar").read_bytes() == before
    Path("ensemble.yaml").write_text("spec: { service: small }\n")
    assert "error[exists]" in run(*words, "small", "--out", "ensemble.yaml").err


@pytest.mark.parametrize("words", WRITERS)
def test_a_dash_is_standard_output(run: Run, service: Path, words: tuple[str, ...]) -> None:
    """As /dev/stdout is."""
    plain = run(*words, service).out
    assert plain
    assert run(*words, service, "--out", "-").out == plain
    assert run(*words, service, "--out", "/dev/stdout").out == plain
    assert not Path("-").exists()


@pytest.mark.parametrize("words", WRITERS)
def test_devices_and_pipes_stay_what_they_are(run: Run, service: Path, words: tuple[str, ...], tmp_path: Path) -> None:
    """They are written to; a full one says so."""
    os.mkfifo("pipe")
    got: list[bytes] = []
    reader = threading.Thread(target=lambda: got.append(Path("pipe").read_bytes()))
    reader.start()
    assert run(*words, service, "--out", "pipe").code == 0
    reader.join()
    assert got[0].decode() == run(*words, service).out
    assert Path("pipe").is_fifo()
    assert run(*words, service, "--out", "/dev/null").code == 0
    done = run(*words, service, "--out", "/dev/full")
    assert done.code == 3
    assert "error[cannot-write]: cannot write /dev/full: No space left on device" in done.err
    assert "jobs resume" not in done.err
    assert all(Path(device).is_char_device() for device in ("/dev/null", "/dev/full"))


def test_an_inherited_handle_is_written(run: Run, service: Path) -> None:
    """Shells give such names for pipes of theirs."""
    end, other = os.pipe()
    assert run("graph", service, "-o", "dot", "--out", f"/dev/fd/{other}").code == 0
    os.close(other)
    assert os.read(end, 1 << 16).decode() == run("graph", service, "-o", "dot").out
    os.close(end)


def test_a_folder_is_no_file(run: Run, service: Path) -> None:
    """And what stands in the way is said."""
    Path("folder").mkdir()
    done = run("compile", service, "--out", "folder")
    assert (done.code, "error[cannot-write]: cannot write folder: there is a folder" in done.err) == (3, True)
    done = run("compile", service, "--out", "s.yaml/x")
    assert (done.code, "error[cannot-write]" in done.err, "ensemble" in done.err) == (3, True, False)
    Path("round").symlink_to("round")
    done = run("compile", service, "--out", "round")
    assert (done.code, "error[cannot-write]" in done.err) == (3, True)


def test_a_planted_link_is_not_followed(run: Run, service: Path) -> None:
    """The names under which files are written before they take their place cannot be foreseen."""
    Path("precious").write_text("mine")
    for name in (".out.json.new", ".ugly.yaml.new"):
        Path(name).symlink_to("precious")
    Path("ugly.yaml").write_text(UGLY)
    assert run("compile", service, "--out", "out.json").code == 0
    assert run("fmt", "ugly.yaml").code == 0
    assert Path("precious").read_text() == "mine"
    assert Path("ugly.yaml").read_text() != UGLY


def test_nothing_is_left_where_the_place_cannot_be_taken(
    run: Run, service: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also when the last step fails, or is interrupted."""
    for error in (OSError(5, "Input/output error"), KeyboardInterrupt()):

        def fail(self: Path, target: Path, error: BaseException = error) -> Path:
            raise error

        monkeypatch.setattr(Path, "replace", fail)
        assert run("compile", service, "--out", "out.json").code in {3, 130}
        assert temporary(Path()) == []


def test_two_write_at_once(tmp_path: Path) -> None:
    """Each writes a file of its own; the last one wins, whole."""
    texts = [bytes([letter]) * 100_000 for letter in b"abcd"]

    def write(text: bytes) -> None:
        for _ in range(10):
            put_whole(tmp_path / "file", text)

    threads = [threading.Thread(target=write, args=(text,)) for text in texts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (tmp_path / "file").read_bytes() in texts
    assert temporary(tmp_path) == []


# -------------------------------------------------------------------------------------------------------------- fmt


@pytest.fixture
def ugly(run: Run) -> Path:
    """A file to format."""
    path = Path("ugly.yaml")
    path.write_text(UGLY)
    return path


def test_what_others_write_meanwhile_is_kept(run: Run, ugly: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An editor that saves while a file is being formatted wins."""

    def slow(text: str) -> str:
        ugly.write_text(UGLY + "# saved\n")
        return format_text(text)

    monkeypatch.setattr(formatting, "format_text", slow)
    done = run("fmt", ugly)
    assert done.code == 0
    assert "ugly.yaml is not changed: it was changed meanwhile" in done.err
    assert ugly.read_text() == UGLY + "# saved\n"
    assert temporary(Path()) == []


def test_hard_links_stay(run: Run, ugly: Path) -> None:
    """A file with two names would become two."""
    os.link(ugly, "other.yaml")
    done = run("fmt", ugly)
    assert (done.code, "it has 2 names (hard links)" in done.err) == (0, True)
    assert "nothing to format in 0 files; 1 file left as it is" in done.out
    assert ugly.samefile("other.yaml")
    assert ugly.read_text() == UGLY


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may give files away")
def test_the_owner_stays(run: Run, ugly: Path) -> None:
    """And so do the permissions."""
    os.chown(ugly, 1234, 2345)
    ugly.chmod(0o640)
    assert run("fmt", ugly).code == 0
    found = ugly.stat()
    assert (found.st_uid, found.st_gid, found.st_mode & 0o7777) == (1234, 2345, 0o640)
    assert ugly.read_text() != UGLY


@pytest.mark.parametrize("start", ["\ufeff", "%YAML 1.2\n---\n"])
def test_what_is_left_is_named(run: Run, start: str) -> None:
    """It does not pass for a file in the usual form."""
    Path("odd.yaml").write_text(start + UGLY)
    for words in (("fmt", "odd.yaml"), ("fmt", "--check", "odd.yaml")):
        done = run(*words)
        assert done.code == 0
        assert "nothing to format in 0 files; 1 file left as it is" in done.out
        assert "warning: odd.yaml is not changed: it" in done.err


def test_what_is_no_file_is_called_what_it_is(run: Run) -> None:
    """A pipe exists, and so does a link that leads to itself."""
    os.mkfifo("pipe.yaml")
    Path("round.yaml").symlink_to("round.yaml")
    Path("broken.yaml").symlink_to("nowhere")
    for path, said in (
        ("pipe.yaml", "pipe.yaml is a FIFO (named pipe), not an ordinary file"),
        ("/dev/null", "/dev/null is a device, not an ordinary file"),
        ("round.yaml", "cannot read round.yaml: Too many levels of symbolic links"),
        ("broken.yaml", "broken.yaml is a link that leads nowhere"),
        ("missing.yaml", "there is no file missing.yaml"),
    ):
        done = run("fmt", path)
        assert (done.code, said in done.err) == (3, True)
    assert run("fmt", ".").code == 0


@pytest.fixture
def locked() -> Iterator[Path]:
    """A folder that may not be read, where everybody comes as far as to it."""
    top = Path(tempfile.mkdtemp())
    top.chmod(0o755)
    (top / "locked").mkdir()
    (top / "locked" / "ugly.yaml").write_text(UGLY)
    (top / "locked").chmod(0)
    yield top / "locked"
    (top / "locked").chmod(0o700)
    shutil.rmtree(top)


@pytest.mark.parametrize("words", [(), ("--check",)])
@pytest.mark.parametrize("above", [False, True])
def test_a_folder_that_cannot_be_read(locked: Path, run: Run, words: tuple[str, ...], *, above: bool) -> None:
    """It does not pass for one without files."""
    given = locked.parent if above else locked
    run("fmt", "--help")
    before = os.geteuid()
    if before == 0:
        os.seteuid(65534)
    try:
        done: Finished = run("fmt", given, *words)
    finally:
        os.seteuid(before)
    assert done.code == 3
    assert f"cannot read the folder {locked}: Permission denied" in done.err


def test_a_full_disk(tmp_path: Path) -> None:
    """It is said of the file that was to be written, with what helps against it."""
    (tmp_path / "ugly.yaml").write_text(UGLY + "# " + "x" * 5000 + "\n")
    done = process(tmp_path, "fmt", "ugly.yaml")
    assert done.code == 0
    (tmp_path / "ugly.yaml").write_text(UGLY + "# " + "x" * 5000 + "\n")
    limited = subprocess.run(
        ["bash", "-c", 'ulimit -f 1; exec "$@"', "-", *command("fmt", "ugly.yaml")],
        cwd=tmp_path,
        env=environment(PYTHONDONTWRITEBYTECODE="1"),
        capture_output=True,
        text=True,
        check=False,
    )
    assert limited.returncode == 3
    assert "error[cannot-write]: cannot write ugly.yaml: File too large" in limited.stderr
    assert "jobs resume" not in limited.stderr
    assert "x" * 5000 in (tmp_path / "ugly.yaml").read_text()
    assert temporary(tmp_path) == []
