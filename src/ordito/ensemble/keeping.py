"""What becomes of the files of a job in version control: which commits hold them, and which do not and why."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

import msgspec


class JobEnd(msgspec.Struct, frozen=True):
    """How a job ended, as far as a commit speaks of it."""

    job: str
    workflow: str
    status: str
    summary: str


class Kept(msgspec.Struct, frozen=True):
    """``commits`` are those that hold the files a job was made from, by the tree's path from the ensemble; ``problems``
    say what is not committed and why. ``own`` is the commit of the ensemble's own files, "" where there is none;
    ``sharing`` says why other clones do not have them yet, though they should."""

    commits: Mapping[str, str] = {}
    problems: tuple[str, ...] = ()
    own: str = ""
    sharing: str = ""


NOTHING = Kept()


class Keeper(Protocol):
    """Keeps the files of one job in version control. Nothing is raised: what cannot be kept is told. Each part may be
    done again with the same result."""

    def keep_sources(self, end: JobEnd) -> Kept:
        """Keep the files that the job was made from, as far as they lie elsewhere; before its record is written."""

    def keep_ensemble(self, end: JobEnd, before: Kept) -> Kept:
        """Keep the files that were written, and what else of the job lies beside them; gives ``before`` with what came
        of it."""


class KeepsNothing:
    """Leaves everything as it is."""

    def keep_sources(self, end: JobEnd) -> Kept:
        """Keep nothing."""
        return NOTHING

    def keep_ensemble(self, end: JobEnd, before: Kept) -> Kept:
        """Keep nothing."""
        return before
