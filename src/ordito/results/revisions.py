"""What differs between two revisions: ``ordito.revisions-diff/1``."""

from __future__ import annotations

from typing import Annotated

import msgspec

from ordito.app.diff import InputDiff
from ordito.app.revision_diff import DeclaredNodeDiff, FileDiff, diff_revisions
from ordito.results.answer import Asked, ResultData, UseCase

NUMBER = Annotated[int, msgspec.Meta(ge=1, le=1_000_000_000)]


class RevisionDiffData(ResultData, frozen=True, tag="ordito.revisions-diff/1"):
    """What differs between two revisions by what was deployed with them, whatever has happened to instances."""

    before: int
    after: int
    inputs: tuple[InputDiff, ...]
    nodes: tuple[DeclaredNodeDiff, ...]
    unchanged: int
    """How many nodes are declared in the same way."""

    files: tuple[FileDiff, ...]
    """The files of the service that are not the same."""


class RevisionDiffAsked(Asked, frozen=True):
    """Which revisions are compared."""

    before: NUMBER
    after: NUMBER


def _diff(directory: str, asked: RevisionDiffAsked) -> RevisionDiffData:
    found = diff_revisions(directory, asked.before, asked.after)
    return RevisionDiffData(found.before, found.after, found.inputs, found.nodes, found.unchanged, found.files)


REVISION_DIFF = UseCase("revisions diff", RevisionDiffAsked, (RevisionDiffData,), _diff)
