"""`ordito secrets`: kept without being shown, shown when asked for by name."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.cli.program import environment
from tests.support import forked

pytest.importorskip("cryptography", reason="nothing can be sealed without it")


@dataclass(frozen=True)
class Done:
    """A command that has ended."""

    returncode: int
    stdout: bytes
    stderr: bytes


def secrets(folder: Path, *words: str, given: bytes | None = None) -> Done:
    running = forked.start(folder, environment(), ["secrets", *words], given=given or b"")
    out, err = running.communicate(60)
    return Done(running.wait(), out.encode(), err.encode())


def test_set_get_list_rm(tmp_path: Path) -> None:
    assert secrets(tmp_path, "list").returncode == 0
    for name, value in (("db-pw", b"canary-4711\n"), ("key", b"line one\nline two\n"), ("a.b", "ä\r\n".encode())):
        done = secrets(tmp_path, "set", name, given=value)
        assert done.returncode == 0, done.stderr
        assert b"canary" not in done.stdout + done.stderr
    assert secrets(tmp_path, "list").stdout == b"a.b\ndb-pw\nkey\n"
    assert secrets(tmp_path, "get", "db-pw").stdout == b"canary-4711\n"
    assert secrets(tmp_path, "get", "key").stdout == b"line one\nline two\n"
    assert secrets(tmp_path, "get", "a.b").stdout == "ä\n".encode()
    assert b"canary" not in (tmp_path / "secrets.yaml").read_bytes()
    assert "/.ordito/" in (tmp_path / ".gitignore").read_text()
    assert b"is unchanged" in secrets(tmp_path, "set", "db-pw", given=b"canary-4711").stderr
    assert secrets(tmp_path, "rm", "key", "a.b").returncode == 0
    assert secrets(tmp_path, "list").stdout == b"db-pw\n"


def test_a_file_is_taken_byte_for_byte(tmp_path: Path) -> None:
    (tmp_path / "key.pem").write_bytes(b"one\r\ntwo\n")
    assert secrets(tmp_path, "set", "pem", "--file", "key.pem").returncode == 0
    assert secrets(tmp_path, "get", "pem").stdout == b"one\r\ntwo\n\n"
    missing = secrets(tmp_path, "set", "pem", "--file", "nothing")
    assert missing.returncode != 0
    assert b"nothing" in missing.stderr
    assert b"Traceback" not in missing.stderr


@pytest.mark.parametrize(
    ("words", "given", "code", "said"),
    [
        (("get", "db-pv"), None, 3, "db-pw"),
        (("rm", "db-pw", "db-pv"), None, 3, 'no secret "db-pv"'),
        (("set", "1x"), b"x", 3, "is not a valid name"),
        (("set", "empty"), b"", 3, "is empty"),
        (("set", "binary"), b"\xff\xfe", 3, "UTF-8"),
        (("set", "short"), b"abc", 0, "so short"),
        (("set", "db-pw", "canary-4711"), b"", 64, "give the name only"),
        (("put", "x"), b"", 64, "put"),
    ],
)
def test_what_is_refused(tmp_path: Path, words: tuple[str, ...], given: bytes | None, code: int, said: str) -> None:
    assert secrets(tmp_path, "set", "db-pw", given=b"canary-4711").returncode == 0
    done = secrets(tmp_path, *words, given=given)
    assert done.returncode == code, done.stderr
    assert said in done.stderr.decode()
    assert b"Traceback" not in done.stderr
    assert secrets(tmp_path, "get", "db-pw").stdout == b"canary-4711\n", "and nothing was changed"


def test_no_other_key_is_made_beside_the_one_that_is_missing(tmp_path: Path) -> None:
    """As in a clone, to which nobody has brought the key yet."""
    assert secrets(tmp_path, "set", "one", given=b"canary-1").returncode == 0
    before = (tmp_path / "secrets.yaml").read_bytes()
    (tmp_path / ".ordito" / "key").unlink()
    done = secrets(tmp_path, "set", "two", given=b"canary-2")
    assert done.returncode == 3
    assert b"bring the file .ordito/key" in done.stderr
    assert (tmp_path / "secrets.yaml").read_bytes() == before
    assert not (tmp_path / ".ordito" / "key").exists()
    assert secrets(tmp_path, "set", "one", given=b"canary-3").returncode == 0
    assert secrets(tmp_path, "set", "two", given=b"canary-2").returncode == 0
