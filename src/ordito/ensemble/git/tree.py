"""A working tree of git: where it is, which files changed in it, and what prevents a commit."""

from __future__ import annotations

import os
import time
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path

import msgspec

from ordito.base.git_process import Git, GitFailed
from ordito.base.text import listed

MOST_NAMED = 3

PATIENCE = 5.0
"""Seconds for which another process of git may work on the tree before that counts as an obstacle."""

PAUSE = 0.05

_UNDER_WAY = {
    "MERGE_HEAD": ("a merge", "git merge --continue", "git merge --abort"),
    "rebase-merge": ("a rebase", "git rebase --continue", "git rebase --abort"),
    "rebase-apply": ("a rebase", "git rebase --continue", "git rebase --abort"),
    "CHERRY_PICK_HEAD": ("a cherry-pick", "git cherry-pick --continue", "git cherry-pick --abort"),
    "REVERT_HEAD": ("a revert", "git revert --continue", "git revert --abort"),
}


class Obstacle(msgspec.Struct, frozen=True):
    """Why files of a tree are not committed, and what the user can do about it."""

    reason: str
    hint: str = ""

    def __str__(self) -> str:
        return f"{self.reason} ({self.hint})" if self.hint else self.reason


class ChangedFile(msgspec.Struct, frozen=True):
    """A file that differs from the last commit."""

    path: str
    """Its path from the top of the tree."""
    is_new: bool
    """Whether git does not know it yet."""
    is_partial: bool
    """Whether the staged version differs from the one in the folder."""


def top_of(directory: Path) -> Path | None:
    """The top of the working tree in which a directory is or would be, found without calling git; None where there is
    none."""
    real = Path(os.path.realpath(directory))
    for folder in (real, *real.parents):
        if os.path.lexists(folder / ".git"):
            return folder
    return None


def existing(directory: Path) -> Path:
    """The directory, or the nearest existing one above it."""
    return next(folder for folder in (directory, *directory.parents) if folder.is_dir())


class WorkTree:
    """A working tree, given by its top folder. Methods that call git raise ``GitFailed``."""

    def __init__(self, top: Path) -> None:
        self.top = top
        self.git = Git(top)

    def relative(self, path: Path) -> str:
        """A path of this machine as git names it."""
        return Path(os.path.realpath(path.parent), path.name).relative_to(self.top).as_posix()

    def check(self) -> None:
        """Check that git accepts it as a working tree. Raises ``GitFailed``."""
        if self.git.line("rev-parse", "--is-inside-work-tree") != "true":
            raise GitFailed(f"{self.top} is not a working tree of git")

    def head(self) -> str:
        """The id of the last commit, "" where there is none yet."""
        code, printed, _ = self.git.attempt("rev-parse", "--verify", "--quiet", "HEAD")
        return printed.decode().strip() if code == 0 else ""

    def tracked(self, paths: Sequence[str]) -> list[str]:
        """Those of these paths that git knows, and the known ones below them."""
        return self.git.paths("ls-files", "-z", of=paths) if paths else []

    def ignores(self, path: str) -> bool:
        """Whether a rule tells git to ignore a path, and git does not know it."""
        # This command alone takes no literal paths.
        code, _, said = self.git.attempt("check-ignore", "--quiet", f"./{path}", more={"GIT_LITERAL_PATHSPECS": "0"})
        if code not in (0, 1):
            raise GitFailed(said.decode("utf-8", "replace").strip())
        return code == 0

    def changes(self, paths: Sequence[str]) -> list[ChangedFile]:
        """The changes of these paths, and below them."""
        listed = self.git.paths(
            *("status", "--porcelain=v1", "-z", "--no-renames", "--untracked-files=all", "--ignore-submodules=all"),
            of=paths,
        )
        marks: dict[str, list[str]] = {}
        for line in dict.fromkeys(listed):
            marks.setdefault(line[3:], []).append(line[:2])
        return [_change(path, found) for path, found in marks.items()]

    def obstacle(self, own: Collection[str]) -> Obstacle | None:
        """What prevents a commit of ``own`` files; None where nothing does."""
        return self._under_way() or self._detached() or self._foreign(own) or self._nobody()

    def _under_way(self) -> Obstacle | None:
        for name, (what, onward, back) in _UNDER_WAY.items():
            if (self.top / self.git.line("rev-parse", "--git-path", name)).exists():
                return Obstacle(f"{what} is under way in {self.top}", f"end it: {onward}, or {back}")
        if self.git.run("ls-files", "--unmerged", "-z"):
            return Obstacle(f"files in {self.top} have conflicts", "resolve them and commit")
        return None

    def _detached(self) -> Obstacle | None:
        if self.git.holds("symbolic-ref", "--quiet", "HEAD"):
            return None
        return Obstacle(
            f"{self.top} is on no branch (its HEAD is detached), so a commit would be lost at the next checkout",
            "choose a branch: git switch BRANCH, or git switch -c NEW-BRANCH",
        )

    def _foreign(self, own: Collection[str]) -> Obstacle | None:
        """Files in the index that are the user's business."""
        staged = self.git.paths("diff", "--cached", "--name-only", "-z", "--no-renames", "--no-ext-diff")
        foreign = [path for path in staged if path not in own]
        if not foreign:
            return None
        return Obstacle(f"changes are staged in {self.top}: {some(foreign)}", "commit them, or git restore --staged .")

    def _nobody(self) -> Obstacle | None:
        for who in ("GIT_AUTHOR_IDENT", "GIT_COMMITTER_IDENT"):
            if not self.git.holds("var", who):
                return Obstacle(
                    "git does not know who you are",
                    'tell it: git config --global user.name "NAME" and git config --global user.email ADDRESS',
                )
        return None

    def await_others(self) -> Obstacle | None:
        """Wait a moment for other processes of git that work on the index."""
        lock = self.top / self.git.line("rev-parse", "--git-path", "index.lock")
        give_up = time.monotonic() + PATIENCE
        while lock.exists():
            if time.monotonic() > give_up:
                return Obstacle(
                    f"another process of git works on {self.top}, or was killed there",
                    f"if none runs any more, remove {lock}",
                )
            time.sleep(PAUSE)
        return None


def _change(path: str, marks: Iterable[str]) -> ChangedFile:
    """What the two marks say that git gives a file: that of the index, and that of the folder."""
    found = set(marks)
    staged = any(mark[0] not in " ?" for mark in found)
    differs = any(mark[1] != " " for mark in found)
    return ChangedFile(path, found <= {"??", " A"}, staged and differs)


def some(paths: Sequence[str]) -> str:
    """The first few of these paths in one text, for messages."""
    return listed(paths, MOST_NAMED)
