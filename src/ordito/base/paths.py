"""Paths as texts, with ``/`` between their parts: joining and splitting without asking any disk."""

from __future__ import annotations

import posixpath


def beside(file: str, path: str) -> str:
    """The path that ``path``, written in ``file``, names."""
    return posixpath.normpath(posixpath.join(posixpath.dirname(file), path))


def extension(file: str) -> str:
    """The part after the last dot of a file's name, in lower case, "" where there is none."""
    return posixpath.splitext(file)[1].lower().lstrip(".")
