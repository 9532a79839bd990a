"""The files of a job by their working trees of git: those that Ordito writes in the ensemble, and those from which the
job was made."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path

import msgspec

from ordito.base.change_ids import is_change_id
from ordito.base.git_process import GitFailed
from ordito.ensemble.errors import EnsembleError
from ordito.ensemble.files import digest_of
from ordito.ensemble.git.tree import ChangedFile, WorkTree, top_of
from ordito.ensemble.keeping import is_ours
from ordito.ensemble.layout import Layout
from ordito.ensemble.manifest import PART_MARK, is_part, split
from ordito.ensemble.pins import LARGEST_FOR_GIT, LIFECYCLE, pinned_files
from ordito.work.records import JobSources

_DIGEST = re.compile(r"[0-9a-f]{64}")


class JobFileSource(msgspec.Struct, frozen=True):
    """A file from which a job was made."""

    path: Path
    is_named: bool
    """Whether the service names it, so that it is added to git where git does not know it yet."""
    digest: str = ""
    """The SHA-256 of what it held, "" where only its stamp is known."""
    stamp: str = ""
    """Its ``stamp_of``, "" where its digest is known."""

    @property
    def is_unchanged(self) -> bool:
        """Whether the file is unchanged since the job was made."""
        if self.stamp:
            return stamp_of(self.path) == self.stamp
        try:
            return digest_of(self.path) == self.digest
        except OSError:
            return False


def stamp_of(path: Path) -> str:
    """A text that changes whenever the file is written to; "" where there is no file."""
    try:
        found = path.stat()
    except OSError:
        return ""
    return f"{found.st_size} {found.st_mtime_ns}"


def sources_by_tree(layout: Layout, pin: str, sources: JobSources) -> dict[Path, dict[str, JobFileSource]]:
    """The files from which a job was made, by the top folder of their tree and their path in it. Files outside of any
    tree are left out. Raises ``EnsembleError``."""
    found: dict[Path, dict[str, JobFileSource]] = {}
    tops: dict[Path, Path | None] = {}
    for source in _sources(layout, pin, sources):
        real = Path(os.path.realpath(source.path))
        if real.parent not in tops:
            tops[real.parent] = top_of(real.parent)
        top = tops[real.parent]
        if top is not None:
            found.setdefault(top, {})[real.relative_to(top).as_posix()] = source
    return found


def _sources(layout: Layout, pin: str, sources: JobSources) -> list[JobFileSource]:
    definite = set(sources.definite)
    found = [JobFileSource(Path(path), path in definite, stamp=stamp) for path, stamp in sources.others.items()]
    if sources.origin:
        named = set(sources.named)
        origin = Path(sources.origin)
        files = (f for f in pinned_files(layout, pin) if LIFECYCLE not in f.place.split("/"))
        found += [JobFileSource(origin / file.place, file.place in named, file.digest) for file in files]
    return found


def changed_sources(tree: WorkTree, sources: Mapping[str, JobFileSource]) -> tuple[list[ChangedFile], list[str]]:
    """The changes to commit among these files, and the paths of those that have changed since the job was made.

    Files that git does not know are committed if the service names them and they are of a size for git. Raises
    ``GitFailed``.
    """
    changes, others = [], []
    for change in tree.changes(list(sources)):
        source = sources.get(change.path)
        if source is None or (change.is_new and not _may_be_added(source)):
            continue
        if source.is_unchanged:
            changes.append(change)
        else:
            others.append(change.path)
    return changes, others


def _may_be_added(source: JobFileSource) -> bool:
    return source.is_named and source.path.stat().st_size <= LARGEST_FOR_GIT


class OwnFiles:
    """The files of an ensemble that Ordito writes, in their working tree. Methods that call git raise ``GitFailed``."""

    def __init__(self, layout: Layout, tree: WorkTree) -> None:
        self._layout = layout
        self._tree = tree
        below = Path(os.path.realpath(layout.root)).relative_to(tree.top).as_posix()
        self.prefix = "" if below == "." else f"{below}/"
        self.manifest = f"{self.prefix}{layout.manifest.name}"
        self.git_files = (f"{self.prefix}{layout.git_ignore.name}", f"{self.prefix}{layout.git_attributes.name}")
        folders = (layout.jobs, layout.artifacts, layout.status)
        self._searched = (
            self.manifest,
            f"{self.prefix}{layout.jobs_tsv.name}",
            # Sealed with the ensemble's key, which git never sees.
            f"{self.prefix}{layout.secrets.name}",
            *self.git_files,
            *(f"{self.prefix}{folder.name}" for folder in folders),
        )

    @property
    def is_tracked(self) -> bool:
        """Whether git knows the ensemble."""
        return bool(self._tree.tracked([self.manifest]))

    @property
    def is_ignored(self) -> bool:
        """Whether git is told to leave the ensemble out."""
        return self._tree.ignores(self.manifest)

    def __contains__(self, path: object) -> bool:
        """Whether a path of the tree is that of a file that the program writes."""
        if not isinstance(path, str) or not path.startswith(self.prefix):
            return False
        folder, slash, rest = path.removeprefix(self.prefix).partition("/")
        if not slash:
            return path in self._searched[:5]
        first = rest.partition("/")[0]
        return (
            (folder == "jobs" and is_change_id(first.removesuffix(".yaml")))
            or (folder == "artifacts" and _DIGEST.fullmatch(first) is not None)
            or (folder == "status" and rest.endswith(".yaml") and self._is_status_part(path))
        )

    def _is_status_part(self, path: str) -> bool:
        """Whether the program wrote this file of `status/`: as it lies there, or where it is gone, as git has it."""
        try:
            return is_part(self._tree.top / path)
        except FileNotFoundError:
            return self._committed(path).startswith(PART_MARK)
        except OSError:
            return False

    def changes(self) -> list[ChangedFile]:
        """The changes to commit: those of files that belong to Ordito, even where the user has staged some of them; and
        in files that belong to the user, those that Ordito has made."""
        found = [change for change in self._tree.changes(self._searched) if change.path in self]
        mine = [change for change in found if change.path not in self.git_files or self._only_lines_added(change)]
        return [self._settled(change) for change in mine]

    def _only_lines_added(self, change: ChangedFile) -> bool:
        """Whether nothing but the program's own lines is new in one of git's files."""
        path = self._tree.top / change.path
        now = path.read_bytes() if path.exists() else b""
        return change.is_new or is_ours(self._committed(change.path), now)

    def _settled(self, change: ChangedFile) -> ChangedFile:
        """A staged version of a machine's file holds nothing that a later one does not; of `ensemble.yaml` that is so
        if the user's part is the same."""
        if not change.is_partial or change.path in self.git_files:
            return change
        if change.path == self.manifest and self._user_part(f":{change.path}") != self._user_part(None):
            return change
        return msgspec.structs.replace(change, is_partial=False)

    def _user_part(self, revision: str | None) -> bytes | None:
        """The user's part of `ensemble.yaml` in the index, or in the folder; None where there is none."""
        try:
            content = self._tree.git.run("show", revision) if revision else self._layout.manifest.read_bytes()
            return split(content).user
        except (GitFailed, EnsembleError, OSError):
            return None

    def _committed(self, path: str) -> bytes:
        code, content, _ = self._tree.git.attempt("show", f"HEAD:{path}")
        return content if code == 0 else b""

    def left_out(self, pin: str) -> list[str]:
        """Files of a pin that rules of the user keep out of git, though a clone would need them."""
        if not pin:
            return []
        folder = f"{self.prefix}artifacts/{pin}"
        listed = self._tree.git.paths("ls-files", "-z", "--others", "--ignored", "--exclude-standard", of=[folder])
        return [path for path in listed if (self._tree.top / path).stat().st_size <= LARGEST_FOR_GIT]
