"""Archives that nobody vouches for: what could do harm is refused, and said."""

from __future__ import annotations

import contextlib
import io
import os
import stat
import struct
import unicodedata
import warnings
import zipfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ordito.base.diagnostics import Diagnostics
from ordito.source import archive as archives
from ordito.source.archive import open_archive
from ordito.source.opening import open_package
from tests.source.archives import NAMED, packed
from tests.support.thorough import examples


def refused(path: Path) -> list[tuple[str, str]]:
    """Why an archive is refused: code and message."""
    diagnostics = Diagnostics()
    assert open_package(str(path), diagnostics) is None
    assert all(d.span is not None and d.span.source.name.startswith(str(path)) for d in diagnostics)
    assert all(d.hint or d.code == "too-large" for d in diagnostics)
    return [(d.code, d.message) for d in diagnostics]


def member(name: str, content: bytes = b"x", mode: int = 0, **attributes: int) -> tuple[zipfile.ZipInfo, bytes]:
    """A member with attributes that usual ones do not have."""
    info = zipfile.ZipInfo("x")
    info.filename = info.orig_filename = name
    info.external_attr = mode << 16
    for key, value in attributes.items():
        setattr(info, key, value)
    return info, content


def archive_of(path: Path, *members: tuple[zipfile.ZipInfo, bytes]) -> Path:
    with zipfile.ZipFile(path, "w") as archive, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        archive.writestr("service.yaml", NAMED)
        for info, content in members:
            archive.writestr(info, content)
    return path


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("../evil.sh", "leads out of the archive"),
        ("scripts/../../evil.sh", "leads out of the archive"),
        ("scripts/..", "leads out of the archive"),
        ("/etc/evil", "has an absolute name"),
        ("//host/evil", "has an absolute name"),
        ("C:/evil", "has an absolute name"),
        ("c:evil", "has an absolute name"),
        ("scripts\\..\\evil.sh", "has a backslash"),
        ("a\nb", "has a control character"),
        ("a\x1b[2J", "has a control character"),
        ("x" * 300, "has a name that is too long"),
        ("x/" * 200 + "x", "has a name that is too long"),
        ("x" * 60_000, "has a name that is too long"),
    ],
)
def test_names(tmp_path: Path, name: str, said: str) -> None:
    """R-6.1-4: names that lead out of the archive, or that are none, are refused; nothing is written anywhere."""
    found = refused(archive_of(tmp_path / "x.csar", member(name)))
    assert [code for code, _ in found] == ["unsafe-archive"]
    assert said in found[0][1]
    assert "\n" not in found[0][1]
    assert "\x1b" not in found[0][1]
    assert len(found[0][1]) < 400
    assert os.listdir(tmp_path) == ["x.csar"]  # noqa: PTH208


def test_a_name_that_ends_early(tmp_path: Path) -> None:
    """R-6.1-4: a name with a NUL in it, which some readers cut off there."""
    path = archive_of(tmp_path / "x.csar", member("a.sh#.txt"))
    path.write_bytes(path.read_bytes().replace(b"a.sh#.txt", b"a.sh\0.txt"))
    assert "control character" in refused(path)[0][1]


@pytest.mark.parametrize(
    ("mode", "said"),
    [(stat.S_IFLNK, "is a link"), (stat.S_IFIFO, "is a special file"), (stat.S_IFCHR | 0o644, "is a special file")],
)
def test_links_and_special_files(tmp_path: Path, mode: int, said: str) -> None:
    """R-6.1-4: links are refused, wherever they lead, and so are devices."""
    found = refused(archive_of(tmp_path / "x.csar", member("link", b"/etc/passwd", mode)))
    assert [code for code, _ in found] == ["unsafe-archive"]
    assert said in found[0][1]


@pytest.mark.parametrize(
    ("names", "said"),
    [
        (["a.sh", "a.sh"], 'the member "a.sh" is in it twice'),
        (["a.sh", "./a.sh"], 'the member "a.sh" is in it twice'),
        (["a//b", "a/b"], 'the member "a/b" is in it twice'),
        (["Scripts/a.sh", "scripts/a.sh"], "differ only by how"),
        (["Scripts/a.sh", "scripts/b.sh"], '"Scripts" and "scripts" differ only by how'),
        (["caf\u00e9.sh", unicodedata.normalize("NFD", "caf\u00e9.sh")], "differ only by how"),
        (["a", "a/b"], "is a file, and a folder"),
        (["a/b/c", "a/b"], "is a file, and a folder"),
    ],
)
def test_names_that_collide(tmp_path: Path, names: list[str], said: str) -> None:
    """R-6.1-4: two members of one name, or of names that some file systems take for the same."""
    found = refused(archive_of(tmp_path / "x.csar", *[member(name) for name in names]))
    assert [code for code, _ in found] == ["unsafe-archive"]
    assert said in found[0][1]


def test_folders_may_be_listed(tmp_path: Path) -> None:
    """R-6.1-3: members for folders, once or twice, do no harm; names may begin with a dot and a slash."""
    path = archive_of(
        tmp_path / "x.csar",
        member("scripts/", b""),
        member("scripts/", b""),
        member("./scripts/a/run.sh", mode=stat.S_IFREG | 0o755),
        member("scripts/b.txt"),
    )
    diagnostics = Diagnostics()
    archive = open_archive(path, "x.csar", diagnostics)
    assert archive is not None
    assert not len(diagnostics)
    assert archive.entries("scripts") == (["a"], ["b.txt"])
    assert archive.entries(".") == (["scripts"], ["service.yaml"])
    assert archive.is_folder("scripts/a")
    assert archive.is_executable("scripts/a/run.sh")
    assert not archive.is_executable("scripts/b.txt")
    assert not archive.exists("scripts/c")
    with archive.open("scripts/b.txt") as stream:
        assert stream.read() == b"x"
    with pytest.raises(IsADirectoryError):
        archive.open("scripts")
    with pytest.raises(FileNotFoundError):
        archive.open("nothing")
    with pytest.raises(FileNotFoundError):
        archive.entries("nothing")


def test_names_in_utf_8_without_saying_so(tmp_path: Path) -> None:
    """Many programs write names in UTF-8 and do not set the mark for it."""
    path = packed(tmp_path / "x.csar", {"service.yaml": NAMED, "caf\u00e9.sh": "x"})
    data = path.read_bytes()
    for signature, at in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        begin = data.rindex(signature)
        data = data[: begin + at] + b"\0\0" + data[begin + at + 2 :]
    path.write_bytes(data)
    archive = open_archive(path, "x.csar", Diagnostics())
    assert archive is not None
    assert "caf\u00e9.sh" in archive.files()


def test_encrypted(tmp_path: Path) -> None:
    """R-6.1-4: nobody is asked for a password."""
    path = packed(tmp_path / "x.csar", {"service.yaml": NAMED})
    data = bytearray(path.read_bytes())
    data[6] |= 1
    data[data.index(b"PK\x01\x02") + 8] |= 1
    path.write_bytes(data)
    found = refused(path)
    assert [code for code, _ in found] == ["unsafe-archive"]
    assert "is encrypted" in found[0][1]


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_other_compression(tmp_path: Path, method: int) -> None:
    """R-6.1-4: what cannot be unpacked within bounds is not unpacked."""
    found = refused(packed(tmp_path / "x.csar", {"service.yaml": NAMED}, level=method))
    assert "compressed in a way" in found[0][1]


def test_bombs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """R-6.1-4: what would swell beyond bounds is refused before it does, by number, size and ratio."""
    monkeypatch.setattr(archives, "LEAST_SUSPECT", 1 << 20)
    path = packed(tmp_path / "x.csar", {"service.yaml": NAMED, "zeros": bytes(3 << 20)})
    found = refused(path)
    assert [code for code, _ in found] == ["unsafe-archive"]
    assert "times as large" in found[0][1]
    monkeypatch.setattr(archives, "MOST_BYTES", 2 << 20)
    assert [code for code, _ in refused(path)] == ["too-large"]
    monkeypatch.undo()
    monkeypatch.setattr(archives, "MOST_MEMBERS", 3)
    path = packed(tmp_path / "y.csar", {f"{n}.yaml": NAMED for n in range(4)})
    assert [code for code, _ in refused(path)] == ["too-large"]
    monkeypatch.undo()
    monkeypatch.setattr(archives, "MOST_LISTED_BYTES", 1000)
    path = packed(tmp_path / "z.csar", {f"{n}.yaml": NAMED for n in range(40)})
    assert [code for code, _ in refused(path)] == ["bad-archive"]


def test_a_header_that_lies(tmp_path: Path) -> None:
    """R-6.1-4: a member larger than the list says is not read beyond that, and is damaged."""
    path = packed(tmp_path / "x.csar", {"service.yaml": NAMED, "zeros": bytes(10 << 20)})
    data = bytearray(path.read_bytes())
    begin = data.rindex(b"PK\x01\x02")
    assert struct.unpack_from("<I", data, begin + 24) == (10 << 20,)
    struct.pack_into("<I", data, begin + 24, 10)
    path.write_bytes(data)
    found = refused(path)
    assert [code for code, _ in found] == ["bad-archive"]
    assert "zeros is damaged" in found[0][1]


def test_damaged(tmp_path: Path) -> None:
    """R-6.1-4, R-13.1-1: an archive is checked as a whole before anything in it is used."""
    path = tmp_path / "x.csar"
    for data in (b"", b"PK", b"tosca_definitions_version: x", b"\x1f\x8b\x08", b"PK\x05\x06" + bytes(18) + b"more"):
        path.write_bytes(data)
        assert [code for code, _ in refused(path)] in (["bad-archive"], ["no-entry"])
    whole = packed(path, {"service.yaml": NAMED, "big": os.urandom(5000)}).read_bytes()
    path.write_bytes(whole[:-40])
    assert [code for code, _ in refused(path)] == ["bad-archive"]
    middle = whole.index(b"big") + 2000
    path.write_bytes(whole[:middle] + bytes([whole[middle] ^ 255]) + whole[middle + 1 :])
    found = refused(path)
    assert found[0][0] == "bad-archive"
    assert ":/big is damaged" in found[0][1]


def test_what_is_not_there_or_not_whole(tmp_path: Path) -> None:
    """R-6.1-4: an archive that cannot be read, and one whose list speaks of more than there is."""
    diagnostics = Diagnostics()
    assert open_archive(tmp_path / "gone.csar", "gone.csar", diagnostics) is None
    assert [(d.code, d.message) for d in diagnostics] == [
        ("file-not-found", "cannot read gone.csar: No such file or directory")
    ]
    path = tmp_path / "x.csar"
    data = bytearray(whole_archive())
    struct.pack_into("<I", data, data.rindex(b"PK\x01\x02") + 20, 70_000)
    path.write_bytes(data)
    assert refused(path) == [
        ("bad-archive", f'{path}: the member "scripts/run.sh" would end after the end of the archive')
    ]


def whole_archive() -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("service.yaml", NAMED)
        archive.writestr("scripts/run.sh", "echo " * 50)
    return stream.getvalue()


@settings(max_examples=examples(80), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_any_damage(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    """Whatever became of an archive, it is opened or refused; what is opened can be read, or is a damaged file."""
    whole = bytearray(whole_archive())
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(whole) - 1))
        whole[at] = data.draw(st.integers(0, 255))
    path = tmp_path_factory.getbasetemp() / "damaged.csar"
    path.write_bytes(whole)
    diagnostics = Diagnostics()
    archive = open_archive(path, "x.csar", diagnostics)
    assert (archive is None) == diagnostics.has_errors
    for file in archive.files() if archive is not None else ():
        assert archive is not None
        with contextlib.suppress(OSError), archive.open(file) as stream:
            stream.read()
