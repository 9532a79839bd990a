"""Digests of files that this process has read already: a command looks at the same files when it plans, when it pins
them and when it reads a pin, and hashes what has not changed meanwhile once.

A file is the same as long as it is the same inode with the same size and times; the time of change cannot be set back.
What was changed a moment ago is not remembered: it may be changed once more within one tick of the file system's clock.
"""

from __future__ import annotations

import os
import time
from typing import BinaryIO

from ordito.ensemble.files import digest_of_stream

MOMENT = 2.0
"""Seconds; there are file systems that count no less."""

MOST_KNOWN = 100_000

_Signature = tuple[int, int, int, int, int]
_known: dict[_Signature, str] = {}


def known_digest(file: BinaryIO) -> str:
    """The SHA-256 of an open file from its beginning, in hexadecimal digits."""
    before = _signature(file)
    if before is None:
        return digest_of_stream(file)
    known = _known.get(before)
    if known is not None:
        return known
    digest = digest_of_stream(file)
    if _signature(file) == before and time.time() - max(before[3], before[4]) / 1e9 > MOMENT:
        if len(_known) >= MOST_KNOWN:
            _known.clear()
        _known[before] = digest
    return digest


def _signature(file: BinaryIO) -> _Signature | None:
    """What a file is known again by; None for what is no file of the system, such as a member of an archive."""
    try:
        found = os.fstat(file.fileno())
    except (OSError, AttributeError):
        return None
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns
