"""Paths as texts, with ``/`` between their parts: joining and splitting without asking any disk."""

from __future__ import annotations

import posixpath
import re
from urllib.parse import urljoin

from ordito.base.git_places import beside_git, is_in_git

URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")


def is_url(path: str) -> bool:
    """Whether a path is a URL: a scheme, a colon and two slashes."""
    return URL.match(path) is not None


def beside(file: str, path: str) -> str:
    """The path that ``path`` names where it is written in ``file``; a URL where ``file`` is one."""
    if is_url(file):
        return beside_git(file, path) if is_in_git(file) else urljoin(file, path)
    return posixpath.normpath(posixpath.join(posixpath.dirname(file), path))


def below(folder: str, path: str) -> str:
    """A path relative to a folder, joined to the path of that folder; URLs and absolute paths stay as they are."""
    return path if is_url(path) or path.startswith("/") else posixpath.normpath(posixpath.join(folder, path))


def extensions(file: str) -> list[str]:
    """The extensions of a file, in lower case, the longest first, as in ``tar.gz``, ``gz``; at most
    ``MOST_EXTENSIONS`` parts of the name count."""
    name = posixpath.basename(file.partition("?")[0] if is_url(file) else file).lstrip(".").lower()
    parts = name.rsplit(".", MOST_EXTENSIONS)[1:]
    return [".".join(parts[number:]) for number in range(len(parts)) if parts[-1]]


MOST_EXTENSIONS = 3


def levels_above(path: str) -> int:
    """How many folders a relative path leads upwards: the number of ``..`` at its beginning."""
    parts = posixpath.normpath(path).split("/")
    return next((n for n, part in enumerate(parts) if part != ".."), len(parts))


def above(folder: str, levels: int) -> str:
    """The folder so many levels above an absolute one."""
    for _ in range(levels):
        folder = posixpath.dirname(folder)
    return folder


def from_above(folder: str, levels: int, path: str) -> str:
    """A path relative to an absolute folder, made relative to the folder so many levels above it."""
    if not levels or path.startswith("/") or "://" in path:
        return path
    return posixpath.relpath(posixpath.join(folder, path), above(folder, levels))


def seen_from(file: str, path: str) -> str:
    """A path made relative to the folder of a file, where both are relative to one folder; URLs and absolute paths stay
    as they are."""
    if any(is_url(one) or one.startswith("/") for one in (file, path)):
        return path
    folder = "/" + "-/" * max(levels_above(file), levels_above(path))
    return posixpath.relpath(folder + path, posixpath.dirname(folder + file))


def leaves_root(file: str) -> bool:
    """Whether a path relative to a root leads out of it."""
    return file.startswith("/") or posixpath.normpath(file).split("/", 1)[0] == ".." or "\\" in file
