"""Commits the files of a job in git: first in other trees that hold files it was made from, then in the ensemble's."""

from __future__ import annotations

import os
import posixpath
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import msgspec

from ordito.base.git_process import GitFailed, NoGit, joined
from ordito.ensemble.errors import EnsembleError
from ordito.ensemble.git.job_files import JobFileSource, OwnFiles, changed_sources, sources_by_tree
from ordito.ensemble.git.tree import ChangedFile, Obstacle, WorkTree, some, top_of
from ordito.ensemble.keeping import JobEnd, KeptCommits
from ordito.ensemble.layout import Layout
from ordito.work.records import JobHeader, JobSources

AUTO = "auto"
ALWAYS = "always"
NEVER = "never"


class JobFiles(msgspec.Struct, frozen=True):
    """The files from which a job is made, by its header: the digest of its pin, and the files that were read."""

    pin: str
    sources: JobSources


class Home(msgspec.Struct, frozen=True):
    """The tree of an ensemble, the ensemble's own files in it, and the other files of the job, by tree."""

    tree: WorkTree
    own: OwnFiles
    sources: Mapping[Path, Mapping[str, JobFileSource]]

    @property
    def beside(self) -> Mapping[str, JobFileSource]:
        """The files from which the job was made and that are in the tree of the ensemble."""
        found = self.sources.get(self.tree.top, {})
        return {path: source for path, source in found.items() if path not in self.own}

    def others(self) -> Iterator[tuple[WorkTree, Mapping[str, JobFileSource]]]:
        """The other trees that hold files of the job and know some of them."""
        for top in sorted(self.sources):
            tree = WorkTree(top)
            if top != self.tree.top and tree.tracked(list(self.sources[top])):
                yield tree, self.sources[top]


def home_of(layout: Layout, files: JobFiles, mode: str) -> Home | None:
    """The tree in which an ensemble is committed; None where it is in none, or must not be committed.

    ``auto`` commits an ensemble whose directory is the top of a working tree, or whose file git knows already;
    ``always`` commits it in any tree. Raises ``GitFailed`` and ``EnsembleError``.
    """
    top = top_of(layout.root) if mode != NEVER else None
    if top is None:
        return None
    tree = WorkTree(top)
    own = OwnFiles(layout, tree)
    try:
        if mode == AUTO and not (own.is_tracked or (not own.prefix and not own.is_ignored)):
            return None
        tree.check()
    except NoGit:
        # Whether git knows the file cannot be asked then, and what was not wished for by name is not worth a word.
        if mode == AUTO and own.prefix:
            return None
        raise
    return Home(tree, own, sources_by_tree(layout, files.pin, files.sources))


def obstacles(home: Home) -> Iterator[Obstacle]:
    """What prevents the commits of a job that is about to begin. Raises ``GitFailed``."""
    for tree, sources in home.others():
        changes, _ = changed_sources(tree, sources)
        if changes and (found := tree.obstacle(sources)) is not None:
            yield found
    own = [*home.own.changes(), *changed_sources(home.tree, home.beside)[0]]
    partial = [change.path for change in own if change.is_partial]
    if partial:
        yield Obstacle(f"staged versions of {some(partial)} are not those in the folder", "commit or unstage them")
    found = home.tree.obstacle(_Joined(home))
    if found is not None:
        yield found
    if home.own.is_ignored:
        yield Obstacle(
            f"git is told to leave {home.own.manifest} out", "see which rule it is: git check-ignore -v FILE"
        )


class _Joined:
    """All files of a job in the ensemble's tree."""

    def __init__(self, home: Home) -> None:
        self._own, self._beside = home.own, home.beside

    def __contains__(self, path: object) -> bool:
        return path in self._own or path in self._beside

    def __iter__(self) -> Iterator[str]:
        return iter(self._beside)

    def __len__(self) -> int:
        return len(self._beside)


class GitKeeper:
    """Commits the files of a job; see ``keeping.Keeper``."""

    def __init__(self, layout: Layout, header: JobHeader, service: str, *, mode: str = "") -> None:
        """``service`` is the service's name, for the message; ``mode`` wins over what the header says."""
        self._layout = layout
        self._mode = mode or header.options.commit
        self._message = header.options.message
        self._files = JobFiles(header.service, header.sources)
        self._service = service

    def keep_sources(self, end: JobEnd) -> KeptCommits:
        """Commit the files from which the job was made, in the other trees that hold them."""
        commits: dict[str, str] = {}
        problems: list[str] = []

        def keep(home: Home) -> None:
            for tree, sources in home.others():
                shown = os.path.relpath(tree.top, os.path.realpath(self._layout.root))
                found = [*self._commit_sources(tree, sources, end)]
                problems.extend(f"{shown}: {problem}" for problem in found)
                if not found and (head := tree.head()):
                    commits[shown] = head

        problems += self._guarded(keep)
        return KeptCommits(commits, tuple(problems))

    def keep_ensemble(self, end: JobEnd, before: KeptCommits) -> KeptCommits:
        """Commit the files that were written, with the other files of the job in the same tree."""
        problems: list[str] = []
        made: list[str] = []

        def keep(home: Home) -> None:
            if (busy := home.tree.await_others()) is not None:
                problems.append(str(busy))
                return
            changes, others = changed_sources(home.tree, home.beside)
            if others:
                problems.append(_changed_since(others))
            own = home.own.changes()
            obstacle = home.tree.obstacle(_Joined(home)) or (
                commit(home.tree, [*own, *changes], self._text(end)) if own or changes else None
            )
            if obstacle is not None:
                problems.append(str(obstacle))
            else:
                made.append(home.tree.head())
                problems.extend(_left_out(home, self._files.pin))

        problems += self._guarded(keep)
        return KeptCommits(before.commits, tuple(dict.fromkeys([*before.problems, *problems])), made[0] if made else "")

    def _guarded(self, keep: Callable[[Home], None]) -> Sequence[str]:
        """Keep files, if there is where; gives what went wrong."""
        try:
            home = home_of(self._layout, self._files, self._mode)
            if home is not None:
                keep(home)
            elif self._mode == ALWAYS:
                return [f"{self._layout.root} is no longer in a working tree of git"]
        except (GitFailed, EnsembleError) as failure:
            return [failure.message]
        except OSError as error:
            return [f"{error.filename or self._layout.root}: {error.strerror or error}"]
        return []

    def _commit_sources(self, tree: WorkTree, sources: Mapping[str, JobFileSource], end: JobEnd) -> Iterator[str]:
        """Commit what changed in another tree; gives what stands against it."""
        if (busy := tree.await_others()) is not None:
            yield str(busy)
            return
        changes, others = changed_sources(tree, sources)
        if others:
            yield _changed_since(others)
        if changes:
            obstacle = tree.obstacle(sources) or commit(tree, changes, self._text(end))
            if obstacle is not None:
                yield str(obstacle)

    def _text(self, end: JobEnd) -> str:
        """The message of a commit."""
        made = f"{end.workflow} {self._service}: {end.status}\n\nJob {end.job}: {end.summary}."
        return with_trailers(self._message or made, end)


def _changed_since(paths: Sequence[str]) -> str:
    return f"changed since the job began, so not committed: {some(paths)}"


def _left_out(home: Home, pin: str) -> Iterator[str]:
    left = home.own.left_out(pin)
    if left:
        yield (
            f"your rules for git leave out files that were deployed: {some(left)} "
            f"(a clone cannot undeploy without them: add the line !/{home.own.prefix}artifacts/** to .gitignore)"
        )


# Committing some files of a working tree, and none of the user's other changes.

LIMIT = 600.0
"""Seconds for a commit: hooks of the user may take their time."""

TRAILER, BY, APPROVED = "Ordito-Job", "Ordito-By", "Ordito-Approved-By"
_FROM_INPUT = ("--pathspec-from-file=-", "--pathspec-file-nul")


def commit(tree: WorkTree, changes: Sequence[ChangedFile], message: str) -> Obstacle | None:
    """Commit these changes, and nothing else that is staged or changed; returns what prevented it, None for success.

    Git makes such a commit from a separate index (``--only``), so it leaves other staged changes alone. Where the
    commit fails, the index is unchanged. Raises ``GitFailed``.
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
        return Obstacle(f"git does not commit in {tree.top}: {failure.message}", "correct that, and commit by hand")
    return None


def _folder(changes: Sequence[ChangedFile]) -> str:
    """The folder in which changed files lie, as seen from the top."""
    return posixpath.commonpath([posixpath.dirname(change.path) for change in changes]) or "."


def with_trailers(message: str, end: JobEnd) -> str:
    """The message of a commit with trailers that name the job and, where it came through a server, who asked for it and
    who approved it."""
    trailers = [(TRAILER, end.job), *([(BY, end.asked.by)] if end.asked.by else ())]
    trailers += [(APPROVED, who) for who in end.asked.approved]
    return f"{message.strip()}\n\n" + "".join(f"{name}: {value}\n" for name, value in trailers)
