"""Archives from others: the list of members is checked before any of them is used.

A CSAR is a ZIP file (§6.1). It may come from anywhere, so everything that could do harm is refused when it is opened:
names that lead out of it, links and special files, names given twice, encrypted and damaged members, and members that
would be too large when unpacked. Members are read from the archive; nothing is unpacked.
"""

from __future__ import annotations

import errno
import io
import posixpath
import re
import stat
import unicodedata
import weakref
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, cast

from ordito.base.diagnostics import Diagnostics
from ordito.source.new_files import regular_handle
from ordito.source.tree import inside, place

BAD = "bad-archive"
UNSAFE = "unsafe-archive"
TOO_LARGE = "too-large"

MOST_MEMBERS = 50_000
MOST_LISTED_BYTES = 16 << 20
"""How many bytes the list of members may have, which is read before anything is known about them."""
MOST_BYTES = 4 << 30
"""How many bytes all members may have together."""
MOST_RATIO = 200
"""How many times as large as the archive its members may be together, where they exceed ``LEAST_SUSPECT`` bytes."""
LEAST_SUSPECT = 64 << 20
MOST_NAME = 1000
MOST_PART = 255
MOST_DEPTH = 100
MOST_REPORTED = 20
BLOCK = 1 << 20

METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
ENCRYPTED = 0x1 | 0x40 | 0x2000
UTF_8 = 0x800
DRIVE = re.compile(r"[A-Za-z]:")
CONTROLLED = frozenset({".git", ".hg", ".svn"})
"""The folders of version control: to look at a folder with it runs programs that are configured in them."""
DAMAGE = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, ValueError)
"""The exceptions of the library for an archive that is damaged or not supported."""


class _Bounded(io.FileIO):
    """A file of which no piece is read that is larger than the list of members may be, as long as it is ``bounded``:
    until that list is known."""

    bounded = True

    def read(self, size: int | None = -1, /) -> bytes:
        if not self.bounded:
            return super().read(size) or b""
        wanted = MOST_LISTED_BYTES + 1 if size is None or size < 0 else size
        if wanted > MOST_LISTED_BYTES + 1:
            raise zipfile.BadZipFile(f"its list of members is longer than {MOST_LISTED_BYTES:,} bytes")
        return super().read(wanted) or b""


class _Member(io.RawIOBase):
    """A member open for reading, whose damage is an ``OSError`` like that of any other file."""

    def __init__(self, stream: zipfile.ZipExtFile) -> None:
        self._stream = stream

    def read(self, size: int | None = -1, /) -> bytes:
        try:
            return self._stream.read(-1 if size is None else size)
        except DAMAGE as error:
            raise damaged(error) from error

    def readable(self) -> bool:
        return True

    def close(self) -> None:
        self._stream.close()
        super().close()

    def __enter__(self) -> _Member:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def damaged(error: Exception) -> OSError:
    """An exception about a damaged archive, as the error of a file."""
    return OSError(errno.EIO, f"it is damaged in the archive: {error}")


class Archive:
    """The files in an archive that was checked; ``root`` is the absolute path of the archive."""

    is_archive = True

    def __init__(self, path: Path, opened: zipfile.ZipFile, members: dict[str, zipfile.ZipInfo]) -> None:
        self.root = str(path)
        self._opened = opened
        self._members = members
        self._folders: dict[str, tuple[set[str], list[str]]] = {"": (set(), [])}
        for name, member in members.items():
            if member.is_dir():
                self._folder(name)
            else:
                parent, _, last = name.rpartition("/")
                self._folder(parent)[1].append(last)

    def is_file(self, file: str) -> bool:
        found = self._members.get(_normal(file))
        return found is not None and not found.is_dir()

    def is_folder(self, file: str) -> bool:
        return _normal(file) in self._folders

    def exists(self, file: str) -> bool:
        return _normal(file) in self._members or self.is_folder(file)

    def entries(self, folder: str) -> tuple[Sequence[str], Sequence[str]]:
        try:
            folders, files = self._folders[_normal(folder)]
        except KeyError:
            raise FileNotFoundError(errno.ENOENT, "there is no such folder in the archive") from None
        return sorted(folders), sorted(files)

    def open(self, file: str) -> BinaryIO:
        found = self._members.get(_normal(file))
        if found is None:
            raise FileNotFoundError(errno.ENOENT, "there is no such file in the archive")
        if found.is_dir():
            raise IsADirectoryError(errno.EISDIR, "it is not a file")
        try:
            return cast("BinaryIO", _Member(cast("zipfile.ZipExtFile", self._opened.open(found))))
        except DAMAGE as error:
            raise damaged(error) from error

    def is_executable(self, file: str) -> bool:
        found = self._members.get(_normal(file))
        return found is not None and bool(found.external_attr >> 16 & 0o100)

    def files(self) -> Iterator[str]:
        """All files, in the order in which they are listed."""
        return (name for name, member in self._members.items() if not member.is_dir())

    def folders(self) -> Iterator[str]:
        """All folders, also those that occur only in the paths of files."""
        return (name for name in self._folders if name)

    def _folder(self, name: str) -> tuple[set[str], list[str]]:
        """What is known of a folder; those above it become known with it."""
        known = self._folders.get(name)
        if known is None:
            known = self._folders[name] = (set(), [])
            parent, _, last = name.rpartition("/")
            self._folder(parent)[0].add(last)
        return known


def _normal(file: str) -> str:
    name = posixpath.normpath(file)
    return "" if name == "." else name


def open_archive(path: Path, shown: str, diagnostics: Diagnostics) -> Archive | None:
    """Open an archive; ``shown`` is its name in messages. None, with all reasons, where it is not safe or damaged."""
    try:
        file = _Bounded(path, opener=regular_handle)
    except OSError as error:
        diagnostics.error("file-not-found", f"cannot read {shown}: {error.strerror or error}", None)
        return None
    try:
        opened = zipfile.ZipFile(file)
    except (OSError, *DAMAGE) as error:
        file.close()
        diagnostics.error(
            BAD, f"{shown} is not a valid ZIP archive: {error}", place(shown), hint="pack or copy it again"
        )
        return None
    file.bounded = False
    before = diagnostics.errors
    members = _Check(shown, path.stat().st_size, diagnostics).members(opened)
    if diagnostics.errors == before:
        _read_through(opened, members, shown, diagnostics)
    if diagnostics.errors > before:
        file.close()
        return None
    archive = Archive(path.resolve(), opened, members)
    weakref.finalize(archive, file.close)
    return archive


def member_of(path: Path, file: str, most: int) -> bytes | None:
    """The first ``most`` + 1 bytes of a file in an archive; None where it cannot be read. The rest of the archive is
    not checked."""
    wanted = _normal(file)
    try:
        with _Bounded(path, opener=regular_handle) as raw, zipfile.ZipFile(raw) as opened:
            raw.bounded = False
            found = next((m for m in opened.infolist() if _normal(_name(m)) == wanted), None)
            if found is None:
                return None
            with opened.open(found) as stream:
                return stream.read(most + 1)
    except (OSError, *DAMAGE):
        return None


class _Check:
    """Looks at the list of members, and says what is wrong with each."""

    def __init__(self, shown: str, size: int, diagnostics: Diagnostics) -> None:
        self._shown = shown
        self._size = size
        self._diagnostics = diagnostics
        self._reported = 0
        self._spelt: dict[str, str] = {}
        """Every path, files and folders, by how it is spelt where case and composition of letters make no difference.
        """

    def members(self, opened: zipfile.ZipFile) -> dict[str, zipfile.ZipInfo]:
        """The members by their names, without ``.`` and doubled slashes in them."""
        listed = opened.infolist()
        if len(listed) > MOST_MEMBERS:
            self.report(TOO_LARGE, f"it has {len(listed):,} members; at most {MOST_MEMBERS:,} are read", "")
            return {}
        self._check_size(listed)
        found: dict[str, zipfile.ZipInfo] = {}
        for member in listed:
            written = _name(member)
            if member.header_offset + member.compress_size > self._size:
                self.report(
                    BAD, f'the member "{_visible(written)}" would end after the end of the archive', "copy it again"
                )
                continue
            problem = bad_name(member.orig_filename) or bad_name(written) or _bad_kind(member)
            if problem:
                self.report(UNSAFE, f'the member "{_visible(written)}" {problem}', "pack it without that member")
                continue
            name = "/".join(part for part in written.split("/") if part not in {"", "."})
            if name and self._is_new(name, member, found):
                found[name] = member
        self._check_folders(found)
        return found

    def _check_size(self, listed: Sequence[zipfile.ZipInfo]) -> None:
        total = sum(member.file_size for member in listed)
        if total > MOST_BYTES:
            self.report(TOO_LARGE, f"its members have {total:,} bytes together; at most {MOST_BYTES:,} are read", "")
        elif total > LEAST_SUSPECT and total > self._size * MOST_RATIO:
            times = f"{total // max(self._size, 1):,}"
            self.report(UNSAFE, f"unpacked it would be {times} times as large", "a ZIP bomb is built like that")

    def _is_new(self, name: str, member: zipfile.ZipInfo, found: dict[str, zipfile.ZipInfo]) -> bool:
        """Whether no other member has a member's name, or one that some file systems take for the same."""
        earlier = found.get(name)
        if earlier is not None:
            if not (earlier.is_dir() and member.is_dir()):
                self.report(UNSAFE, f'the member "{name}" is in it twice', "pack it again")
            return False
        path = name
        while path:
            folded = unicodedata.normalize("NFC", path).casefold()
            other = self._spelt.get(folded)
            if other == path:
                break
            self._spelt.setdefault(folded, path)
            if other is not None:
                self.report(
                    UNSAFE,
                    f'"{other}" and "{path}" differ only by how their letters are written',
                    "many file systems treat them as the same: rename one of them",
                )
                return False
            path = path.rpartition("/")[0]
        return True

    def _check_folders(self, found: dict[str, zipfile.ZipInfo]) -> None:
        """See that nothing is both a file and a folder."""
        folders = {name.rpartition("/")[0] for name in found}
        for folder in list(folders):
            above = folder.rpartition("/")[0]
            while above and above not in folders:
                folders.add(above)
                above = above.rpartition("/")[0]
        for name, member in found.items():
            if name in folders and not member.is_dir():
                self.report(UNSAFE, f'the member "{name}" is a file, and a folder of other members', "pack it again")

    def report(self, code: str, message: str, hint: str) -> None:
        """Report what is wrong with the archive, unless much has been said already."""
        self._reported += 1
        if self._reported <= MOST_REPORTED:
            self._diagnostics.error(code, f"{self._shown}: {message}", place(self._shown), hint=hint)


def _name(member: zipfile.ZipInfo) -> str:
    """A member's name; one that is not said to be UTF-8 mostly is all the same."""
    if member.flag_bits & UTF_8 or member.orig_filename.isascii():
        return member.orig_filename
    try:
        return member.orig_filename.encode("cp437").decode("utf-8")
    except UnicodeError:
        return member.orig_filename


def bad_name(name: str) -> str:
    """What is wrong with the name of a member; "" where nothing is."""
    parts = name.split("/")
    if name.startswith("/") or DRIVE.match(name):
        return "has an absolute name"
    if ".." in parts:
        return "leads out of the archive"
    if "\\" in name:
        return "has a backslash in its name: parts of names are separated by slashes"
    if any(part.casefold() in CONTROLLED for part in parts):
        return "belongs to version control, whose settings and hooks run programs where they are unpacked"
    if any(unicodedata.category(letter) == "Cs" for letter in name):
        return "has a name that is not UTF-8"
    if any(unicodedata.category(letter) == "Cc" for letter in name):
        return "has a control character in its name"
    longest = max(len(part.encode("utf-8", "replace")) for part in parts)
    if len(name) > MOST_NAME or len(parts) > MOST_DEPTH or longest > MOST_PART:
        return "has a name that is too long"
    return ""


def _bad_kind(member: zipfile.ZipInfo) -> str:
    """What is wrong with a member that is not a plain file or folder; "" where nothing is."""
    kind = stat.S_IFMT(member.external_attr >> 16)
    if kind == stat.S_IFLNK:
        return "is a link: an archive holds the files themselves"
    if kind not in {0, stat.S_IFREG, stat.S_IFDIR}:
        return "is a special file, such as a device or a pipe"
    if member.flag_bits & ENCRYPTED:
        return "is encrypted"
    if member.compress_type not in METHODS:
        return "is compressed in a way that is not supported: members must be deflated or stored"
    return ""


def _visible(name: str) -> str:
    """A name as it can be shown, shortened where it is very long."""
    short = name if len(name) <= 100 else f"{name[:97]}..."
    return "".join(letter if letter.isprintable() else f"\\x{ord(letter):02x}" for letter in short)


def _read_through(
    opened: zipfile.ZipFile, members: dict[str, zipfile.ZipInfo], shown: str, diagnostics: Diagnostics
) -> None:
    """Read all members once: each must hold what the list says, by its size and its checksum."""
    reported = 0
    for name, member in members.items():
        try:
            with opened.open(member) as stream:
                while stream.read(BLOCK):
                    pass
        except (OSError, *DAMAGE) as error:
            reported += 1
            if reported <= MOST_REPORTED:
                at = inside(shown, name)
                diagnostics.error(BAD, f"{at} is damaged: {error}", place(at), hint="pack or copy it again")
