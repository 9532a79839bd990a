"""Restores files of a pin: in a clone, files that are too large for git, from the folder of the service if that still
holds them; and files that somebody has changed."""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path, PurePosixPath

from ordito.base.git_process import Git, GitFailed
from ordito.base.text import listed
from ordito.ensemble.errors import EnsembleError, explained
from ordito.ensemble.files import digest_of, sync_directory
from ordito.ensemble.keeping import pattern
from ordito.ensemble.layout import Layout
from ordito.ensemble.pins import (
    ACCEPTED,
    LARGEST_FOR_GIT,
    READ_ONLY,
    READ_ONLY_PROGRAM,
    PinnedFile,
    all_pins,
    changed_files,
    pinned_files,
)
from ordito.source.new_files import fresh_name

MOST_NAMED = 3
MOST_COMMITS = 50
"""In how many commits a file is searched for."""


def origins(service: Path, main: str) -> Iterator[Path]:
    """The folders of which a pin may be a copy: ``service`` is the service as the user names it (a file or a folder),
    ``main`` its entry definitions file in the pin."""
    parts = PurePosixPath(main).parts
    for levels in range(len(parts)):
        tail = PurePosixPath(*parts[levels:])
        file = service if service.is_file() else service / tail
        root = Path(*file.parts[: len(file.parts) - len(parts)])
        if file.is_file() and root / main == file:
            yield root
            return


def restore(layout: Layout, digest: str, folders: Iterable[Path]) -> bool:
    """Restore missing files of a pin from the first of the folders that holds them; returns whether it is complete now.

    Raises ``EnsembleError`` with the names of files that are missing because they are too large for git.
    """
    place = layout.artifacts / digest
    missing = [file for file in pinned_files(layout, digest) if not (place / file.place).exists()]
    found = list(folders) if missing else []
    left = [file for file in missing if not any(_put_back(folder, place, file) for folder in found)]
    if not left:
        return bool(missing)
    if not _are_ignored(layout, digest, left):
        return False
    names = listed((file.place for file in left), MOST_NAMED)
    limit = LARGEST_FOR_GIT // (1 << 20)
    raise EnsembleError(
        f"files that were deployed are not in this clone, since git keeps none above {limit} MiB: {names}",
        f"copy them into {place} from where the ensemble was deployed, or have the service hold them as they were",
    )


def renew(layout: Layout, digest: str, folders: Iterable[Path]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Restore the changed files of a pin: from the first of the folders that holds them, else from another pin, else
    from the history of the ensemble in git. Returns the places of those that were restored, and of those that were not
    found. Raises ``EnsembleError``."""
    place = layout.artifacts / digest
    changed = changed_files(layout, digest)
    if not changed:
        return (), ()
    found = list(folders)
    others = _same_files(layout, {file.digest for file in changed})
    done: list[str] = []
    for file in changed:
        wanted = PinnedFile(file.place, file.digest, file.is_executable)
        if (
            any(_put_back(folder, place, wanted) for folder in found)
            or any(_put_back_file(source, place, wanted) for source in others.get(file.digest, ()))
            or _put_back_from_git(layout, place, wanted)
        ):
            done.append(file.place)
    if len(done) == len(changed):
        with explained("write", place):
            (place / ACCEPTED).unlink(missing_ok=True)
    return tuple(done), tuple(file.place for file in changed if file.place not in done)


def _same_files(layout: Layout, contents: Collection[str]) -> dict[str, list[Path]]:
    """The files of all pins that should hold one of some contents, by content."""
    found: dict[str, list[Path]] = {}
    for pin in all_pins(layout):
        for file in pinned_files(layout, pin):
            if file.digest in contents:
                found.setdefault(file.digest, []).append(layout.artifacts / pin / file.place)
    return found


def _put_back_from_git(layout: Layout, place: Path, file: PinnedFile) -> bool:
    """Put back a file as a commit of the ensemble holds it."""
    git, path = Git(layout.root), f"./{layout.artifacts.name}/{place.name}/{file.place}"
    try:
        commits = git.run("log", f"-{MOST_COMMITS}", "--format=%H", "--", path).decode().split()
        for commit in commits:
            code, content, _ = git.attempt("cat-file", "blob", f"{commit}:{path}")
            if code == 0 and hashlib.sha256(content).hexdigest() == file.digest:
                with tempfile.TemporaryDirectory() as folder:
                    source = Path(folder) / "content"
                    source.write_bytes(content)
                    return _put_back_file(source, place, file)
    except GitFailed:
        return False
    return False


def _put_back(folder: Path, place: Path, file: PinnedFile) -> bool:
    return _put_back_file(folder / file.place, place, file)


def _put_back_file(source: Path, place: Path, file: PinnedFile) -> bool:
    target = place / file.place
    with explained("write", target):
        if not source.is_file() or digest_of(source) != file.digest:
            return False
        target.parent.mkdir(parents=True, exist_ok=True)
        fresh = fresh_name(target)
        try:
            shutil.copyfile(source, fresh)
            fresh.chmod(READ_ONLY_PROGRAM if file.is_executable else READ_ONLY)
            with fresh.open("rb") as copy:
                os.fsync(copy.fileno())
            fresh.replace(target)
        finally:
            fresh.unlink(missing_ok=True)
        sync_directory(target.parent)
    return True


def _are_ignored(layout: Layout, digest: str, files: Iterable[PinnedFile]) -> bool:
    """Whether the program itself has told git to leave these files out."""
    try:
        lines = {line.strip() for line in layout.git_ignore.read_text("utf-8", "surrogateescape").splitlines()}
    except FileNotFoundError:
        return False
    folder = PurePosixPath(layout.artifacts.name, digest)
    return all(pattern(folder / file.place) in lines for file in files)
