"""The files of a job in version control: which commits hold them, and which are not committed and why."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path, PurePath
from typing import Protocol

import msgspec

from ordito.ensemble.files import read, write_whole
from ordito.ensemble.layout import PRIVATE, Layout
from ordito.work.records import NOBODY, AskedBy


class JobEnd(msgspec.Struct, frozen=True):
    """How a job ended, for the message of a commit."""

    job: str
    workflow: str
    status: str
    summary: str
    asked: AskedBy = NOBODY
    """Who asked for it through a server."""


class KeptCommits(msgspec.Struct, frozen=True):
    """The commits of the files of a job."""

    commits: Mapping[str, str] = {}
    """Those that hold the files from which the job was made, by the path of their tree from the ensemble."""
    problems: tuple[str, ...] = ()
    """What is not committed, and why."""
    own: str = ""
    """The commit of the ensemble's own files, "" where there is none."""
    sharing: str = ""
    """Why other clones do not have them yet, though they should."""


NOTHING = KeptCommits()


class Keeper(Protocol):
    """Commits the files of one job to version control. It raises nothing: the result says what is not committed. Each
    part may be repeated with the same result."""

    def keep_sources(self, end: JobEnd) -> KeptCommits:
        """Commit the files from which the job was made that are in other trees, before its record is written."""

    def keep_ensemble(self, end: JobEnd, before: KeptCommits) -> KeptCommits:
        """Commit the files that were written, and the other files of the job in the same tree; returns ``before`` with
        these commits added."""


class KeepsNothing:
    """Commits nothing."""

    def keep_sources(self, end: JobEnd) -> KeptCommits:
        """Keep nothing."""
        return NOTHING

    def keep_ensemble(self, end: JobEnd, before: KeptCommits) -> KeptCommits:
        """Keep nothing."""
        return before


# What git is told about an ensemble: which files are not kept, and how histories of `jobs.tsv` are merged.
#
# Lines are only ever added, and only missing ones: both files belong to the user.

ATTRIBUTES = ("jobs.tsv merge=union", "artifacts/** -text")
"""Histories of jobs are joined line by line; pinned files are kept to the byte."""


def ensure_git_files(layout: Layout) -> None:
    """Make git ignore `.ordito/`, join the lines of `jobs.tsv` and leave pinned files unchanged.

    Raises ``EnsembleError``.
    """
    add_lines(layout.git_ignore, [f"/{PRIVATE}/"])
    add_lines(layout.git_attributes, ATTRIBUTES)


def ignore_files(layout: Layout, paths: Iterable[Path]) -> None:
    """Keep files of the ensemble out of git. Raises ``EnsembleError``."""
    add_lines(layout.git_ignore, [pattern(path.relative_to(layout.root)) for path in paths])


def add_lines(path: Path, lines: Iterable[str]) -> None:
    """Append to a file the lines that it does not hold. Raises ``EnsembleError``."""
    found = read(path)
    content = found or b""
    present = {line.strip() for line in content.decode("utf-8", "surrogateescape").splitlines()}
    missing = [line for line in dict.fromkeys(lines) if line not in present]
    if not missing:
        return
    if content and not content.endswith(b"\n"):
        content += b"\n"
    write_whole(path, [content, *(line.encode("utf-8", "surrogateescape") + b"\n" for line in missing)])


def is_ours(before: bytes, after: bytes) -> bool:
    """Whether all new lines in one of git's files are lines that Ordito adds."""
    known = set(before.splitlines())
    new = [line for line in after.splitlines() if line not in known]
    own = {line.encode() for line in (f"/{PRIVATE}/", *ATTRIBUTES)}
    kept = [line for line in after.splitlines() if line in known]
    return kept == before.splitlines() and all(line in own or line.startswith(b"/artifacts/") for line in new)


def pattern(path: PurePath) -> str:
    """A path as a pattern for git's ignore files, with its special characters escaped."""
    escaped = "".join(f"\\{c}" if c in "\\*?[ " else c for c in path.as_posix())
    return f"/{escaped}"
