"""Names in a file of hosts, as /etc/hosts is one: each in a line of its own that carries our mark.

The file is locked while it is read and written, and replaced as a whole. Lines without the mark are never touched.
"""

from __future__ import annotations

import errno
import fcntl
import ipaddress
import os
import re
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

import ordito_block as block

MARK = "# by ordito"
STANDARD = "/etc/hosts"
_OURS = re.compile(rf"\s*(\S+)\s+(\S+)\s+{MARK}\s*")
_NAME = re.compile(
    r"(?=.{1,253}$)[A-Za-z0-9_]([A-Za-z0-9_-]*[A-Za-z0-9_])?(\.[A-Za-z0-9_]([A-Za-z0-9_-]*[A-Za-z0-9_])?)*"
)

Addresses = Mapping[str, "str | None"]
"""The addresses of names; None for one that has no line of ours."""


class HostsFile:
    """A file of hosts, locked, as it was read."""

    def __init__(self, place: Path, text: str) -> None:
        self.place = place
        self._lines = text.splitlines()
        self.ours = {m[2].lower(): m[1] for line in self._lines if (m := _OURS.fullmatch(line))}

    def foreign(self, names: list[str]) -> None:
        """See that nobody else says where these names are. Raises ``Failed``."""
        wanted = {name.lower() for name in names}
        for number, line in enumerate(self._lines, 1):
            if _OURS.fullmatch(line):
                continue
            if found := wanted & set(line.partition("#")[0].lower().split()[1:]):
                raise block.Failed(
                    f"{self.place}:{number}: {min(found)} is named here already, in a line that is not ours",
                    "take it out of that line, or register another name",
                )

    def put(self, wanted: Addresses) -> None:
        """Give names these addresses, or none, and write that where it is something else."""
        lower = {name.lower(): address for name, address in wanted.items()}
        if all(self.ours.get(name) == address for name, address in lower.items()):
            return
        kept = [line for line in self._lines if not ((m := _OURS.fullmatch(line)) and m[2].lower() in lower)]
        added = [f"{address} {name} {MARK}" for name, address in wanted.items() if address is not None]
        _write(self.place, "".join(f"{line}\n" for line in [*kept, *added]))


@contextmanager
def opened() -> Iterator[HostsFile]:
    """The file that the config names, locked. Raises ``Failed``."""
    place = Path(os.path.realpath(block.absolute("file", block.text("file", STANDARD))))
    while True:
        try:
            handle = os.open(place, os.O_RDWR | os.O_CLOEXEC)
        except FileNotFoundError:
            raise block.Failed(f"there is no file {place}", "see whether the path is right") from None
        try:
            fcntl.flock(handle, fcntl.LOCK_EX)
            # Who had the lock before may have replaced the file.
            if os.path.samestat(os.fstat(handle), place.stat()):
                yield HostsFile(place, place.read_text(encoding="utf-8", errors="surrogateescape"))
                return
        finally:
            os.close(handle)


def _write(place: Path, text: str) -> None:
    data = text.encode("utf-8", "surrogateescape")
    old = place.stat()
    try:
        with block.replacing(place) as part:
            part.write_bytes(data)
            shutil.copymode(place, part)
            with suppress(PermissionError):
                os.chown(part, old.st_uid, old.st_gid)
    except OSError as error:
        if error.errno not in (errno.EBUSY, errno.EXDEV):
            raise
        # In a container it may be mounted, and can only be written where it is.
        with place.open("r+b") as file:
            file.write(data)
            file.truncate()
            file.flush()
            os.fsync(file.fileno())


def names() -> list[str]:
    """The names of the config, checked. Raises ``Failed``."""
    found = block.texts("names")
    if not found:
        raise block.misconfigured("names", "it names no host")
    for name in found:
        if not _NAME.fullmatch(name):
            raise block.misconfigured("names", f"{name!r} is no name of a host")
    return found


def address() -> str:
    """The address of the config, checked. Raises ``Failed``."""
    written = block.text("address")
    try:
        return str(ipaddress.ip_address(written))
    except ValueError:
        raise block.misconfigured("address", f"{written!r} is no IP address") from None


def go_back(before: Mapping[str, object], made: Addresses) -> None:
    """Make names what they were, where they are still what was made of them; others are left alone. Raises ``Failed``
    where there are such."""
    back: dict[str, str | None] = {}
    strange: list[str] = []
    with opened() as hosts:
        for name, address in made.items():
            now = hosts.ours.get(name.lower())
            then = before.get(name)
            if now == address:
                back[name] = then if isinstance(then, str) else None
            elif now != then:
                strange.append(f"{name} is {now or 'not registered'} now")
        hosts.put(back)
    for name, then in back.items():
        block.say(f"{name}: {then or 'not registered'} again")
    if strange:
        raise block.Failed(f"left alone, since somebody else has changed it: {'; '.join(strange)}")
