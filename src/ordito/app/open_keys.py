"""Files of private keys that others may read: OpenSSH uses no such key, so what works here would not work with it."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path

from ordito.work.targets import Target

OTHERS = 0o077
"""What OpenSSH permits nobody but the owner of a key."""


def is_open(path: Path) -> bool:
    """Whether a file of this user can be used by others; that of somebody else is left to them, as by OpenSSH."""
    try:
        found = path.stat()
    except OSError:
        return False
    return found.st_uid == os.getuid() and bool(found.st_mode & OTHERS)


def open_keys(target: Target) -> tuple[str, ...]:
    """The files of private keys by which a host and those on the way to it are reached, and that others may use."""
    return tuple(dict.fromkeys(file for file in _files(target.settings) if is_open(Path(file))))


def _files(settings: Mapping[str, object]) -> Iterator[str]:
    identity, jump = settings.get("identity"), settings.get("jump")
    # The text of a key is no file; it is sensitive.
    yield from (item for item in identity if isinstance(item, str)) if isinstance(identity, list | tuple) else ()
    for hop in jump if isinstance(jump, list | tuple) else ():
        if isinstance(hop, Mapping):
            yield from _files(hop)
