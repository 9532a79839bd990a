"""Whether clones of an ensemble share it by a lock in their common repository, and where that repository is.

`lock: git` requests it, in `spec` or in one of its environments. An ensemble has one state for all environments: so an
environment that requests the lock does so for all. It is needed before anything else is read, so it is read from
`ensemble.yaml` directly.
"""

from __future__ import annotations

import hashlib
import re

import msgspec

from ordito.base.git_process import GitFailed, NoGit
from ordito.ensemble.errors import EnsembleError
from ordito.ensemble.git.tree import WorkTree, top_of
from ordito.ensemble.layout import Layout
from ordito.ensemble.manifest import user_part
from ordito.ensemble.yaml_writer import load

GIT = "git"
_MENTIONED = re.compile(rb"\block\b")
_ODD = re.compile(r"[^A-Za-z0-9]+")
REFERENCES = "refs/ordito/lock"


def asks_for_lock(layout: Layout) -> bool:
    """Whether the user's part requests the lock that clones share. Raises ``EnsembleError``."""
    return asked_in(user_part(layout), str(layout.manifest))


def asked_in(content: bytes, name: str) -> bool:
    """The same of a user's part that need not be that of an ensemble; ``name`` is its name in messages."""
    if not _MENTIONED.search(content):
        return False
    try:
        document = load(content, name, "repair it")
    except EnsembleError:
        # Whoever reads it for what it says explains it better, and does nothing then.
        return False
    spec = _map(document, "spec")
    environments = _map(spec, "environments")
    return any(section.get("lock") == GIT for section in (spec, *(_map(environments, name) for name in environments)))


def _map(document: object, name: object) -> dict[object, object]:
    found = document.get(name) if isinstance(document, dict) else None
    return found if isinstance(found, dict) else {}


class Meeting(msgspec.Struct, frozen=True):
    """Where clones share their state and the lock."""

    tree: WorkTree
    """The tree of this clone."""
    remote: str
    """The remote with the common repository."""
    branch: str
    """The branch in it that holds the state, as a reference."""
    lock: str
    """The reference that is the lock."""

    @property
    def shown(self) -> str:
        """The branch of the remote in messages."""
        return f"{self.remote}/{self.branch.removeprefix('refs/heads/')}"


def meeting_of(layout: Layout) -> Meeting:
    """Where the clones of an ensemble share its state. Raises ``EnsembleError`` where they cannot."""
    top = top_of(layout.root)
    if top is None:
        raise EnsembleError(
            f"{layout.manifest} asks for a lock in git, and {layout.root} is in no repository",
            f'make one, and share it: git init {layout.root}, git remote add origin URL; or remove "lock: git"',
        )
    tree = WorkTree(top)
    try:
        return _meeting(layout, tree)
    except NoGit as failure:
        raise EnsembleError(f"{layout.manifest} asks for a lock in git: {failure.message}", "install git") from failure
    except GitFailed as failure:
        raise EnsembleError(f"{layout.manifest} asks for a lock in git: {failure.message}") from failure


def _meeting(layout: Layout, tree: WorkTree) -> Meeting:
    tree.check()
    code, printed, _ = tree.git.attempt("symbolic-ref", "--quiet", "--short", "HEAD")
    if code != 0:
        raise EnsembleError(
            f"{top_shown(tree)} is on no branch, so there is none to share",
            "choose one: git switch BRANCH",
        )
    local = printed.decode().strip()
    remotes = tree.git.run("remote").decode().split()
    chosen = _setting(tree, f"branch.{local}.remote") or (remotes[0] if len(remotes) == 1 else "origin")
    if chosen not in remotes:
        raise EnsembleError(
            f"{layout.manifest} asks for a lock in git, and {top_shown(tree)} has no remote to share it with",
            "name it: git remote add origin URL, then git push -u origin HEAD",
        )
    branch = _setting(tree, f"branch.{local}.merge") or f"refs/heads/{local}"
    place = tree.relative(layout.manifest)
    key = hashlib.sha256(f"{branch}\0{place}".encode("utf-8", "surrogateescape")).hexdigest()[:12]
    words = _ODD.sub("-", f"{branch.removeprefix('refs/heads/')}-{place.removesuffix('ensemble.yaml')}").strip("-")
    return Meeting(tree, chosen, branch, f"{REFERENCES}/{words[:60]}-{key}")


def top_shown(tree: WorkTree) -> str:
    """The top folder of a tree in messages."""
    return str(tree.top)


def _setting(tree: WorkTree, name: str) -> str:
    code, printed, _ = tree.git.attempt("config", "--get", name)
    return printed.decode().strip() if code == 0 else ""
