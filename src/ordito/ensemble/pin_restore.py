"""Files of a pin that git does not keep, because they are large: in a clone they are taken from the folder of the
service if that still holds them, or named."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path, PurePosixPath

from ordito.base.listing import listed
from ordito.ensemble.errors import EnsembleError, explained
from ordito.ensemble.files import digest_of, sync_directory
from ordito.ensemble.git_files import pattern
from ordito.ensemble.layout import Layout
from ordito.ensemble.pins import LARGEST_FOR_GIT, PinnedFile, pinned_files
from ordito.source.new_files import fresh_name

MOST_NAMED = 3


def origins(service: Path, main: str) -> Iterator[Path]:
    """The folders of which a pin may be a copy: ``service`` is where the service lies, as the user names it (a file or
    a folder), ``main`` its entry definitions file in the pin."""
    parts = PurePosixPath(main).parts
    for levels in range(len(parts)):
        tail = PurePosixPath(*parts[levels:])
        file = service if service.is_file() else service / tail
        root = Path(*file.parts[: len(file.parts) - len(parts)])
        if file.is_file() and root / main == file:
            yield root
            return


def restore(layout: Layout, digest: str, folders: Iterable[Path]) -> bool:
    """Put back what is missing in a pin, from the first of the folders that hold it; whether all is there now.

    Raises ``EnsembleError`` that names what is missing, if it is missing because git does not keep it.
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


def _put_back(folder: Path, place: Path, file: PinnedFile) -> bool:
    source, target = folder / file.place, place / file.place
    with explained("write", target):
        if not source.is_file() or digest_of(source) != file.digest:
            return False
        target.parent.mkdir(parents=True, exist_ok=True)
        fresh = fresh_name(target)
        try:
            shutil.copyfile(source, fresh)
            fresh.chmod(0o755 if file.is_executable else 0o644)
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
