"""Committing some files of a working tree, and none of the user's other changes."""

from __future__ import annotations

import posixpath
from collections.abc import Sequence

from ordito.base.git_process import GitFailed, joined
from ordito.ensemble.git.tree import Change, Obstacle, WorkTree, some

LIMIT = 600.0
"""Seconds for a commit: hooks of the user may take their time."""

TRAILER = "Ordito-Job"
_FROM_INPUT = ("--pathspec-from-file=-", "--pathspec-file-nul")


def commit(tree: WorkTree, changes: Sequence[Change], message: str) -> Obstacle | None:
    """Commit these changes, and nothing else that is staged or changed; gives what stood against it.

    Git makes such a commit from an index of its own (``--only``), so what others stage meanwhile stays theirs. Where
    the commit fails the index is as it was before. Raises ``GitFailed``.
    """
    partial = [change.path for change in changes if change.is_partial]
    if partial:
        return Obstacle(
            f"staged versions of files in {tree.top} are not those in the folder: {some(partial)}",
            "commit what is staged, or git restore --staged it",
        )
    new = joined([change.path for change in changes if change.is_new])
    try:
        if new:
            tree.git.run("add", "--intent-to-add", *_FROM_INPUT, given=new)
        options = ("--quiet", "--only", "--cleanup=whitespace", "-m", message)
        tree.git.run("commit", *options, *_FROM_INPUT, given=joined([c.path for c in changes]), limit=LIMIT)
    except GitFailed as failure:
        if new:
            tree.git.attempt("reset", "--quiet", *_FROM_INPUT, given=new)
        if tree.git.attempt("config", "--bool", "core.sparseCheckout")[1].strip() == b"true":
            return Obstacle(
                f"git does not commit in {tree.top}, whose checkout is sparse: {failure.message}",
                f"add the folder to it: git -C {tree.top} sparse-checkout add {_folder(changes)}",
            )
        return Obstacle(f"git does not commit in {tree.top}: {failure.message}", "mend that, and commit by hand")
    return None


def _folder(changes: Sequence[Change]) -> str:
    """The folder in which changed files lie, as seen from the top."""
    return posixpath.commonpath([posixpath.dirname(change.path) for change in changes]) or "."


def with_trailer(message: str, job: str) -> str:
    """A commit's message that names the job."""
    return f"{message.strip()}\n\n{TRAILER}: {job}\n"
