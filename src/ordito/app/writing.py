"""Why a file cannot be written that a command was told to write, and what to do about it."""

from __future__ import annotations

import errno

from ordito.app.errors import Refused

_HINTS = {
    errno.ENOSPC: "make room on the disk, and try again",
    errno.EDQUOT: "the quota of this user is used up: make room, and try again",
    errno.EFBIG: "the file is larger than this user may write: write it elsewhere",
    errno.EROFS: "the file system is read-only: write it elsewhere",
    errno.EACCES: "write it where this user may, or give this user the right to write there",
    errno.EPERM: "write it where this user may, or give this user the right to write there",
    errno.EEXIST: "a file stands where a folder is needed: name another place",
    errno.ENOTDIR: "a file stands where a folder is needed: name another place",
    errno.EISDIR: "there is a folder of that name: name a file",
    errno.ENAMETOOLONG: "give it a shorter name",
    errno.ELOOP: "the link leads back to itself: remove it, or name another place",
    errno.EIO: "the disk reports an error: check it before trying again",
}


def cannot_write(name: str, error: OSError) -> Refused:
    """What the operating system says about writing a file or folder, which people call ``name``."""
    return Refused("cannot-write", f"cannot write {name}: {error.strerror or error}", _HINTS.get(error.errno or 0, ""))
