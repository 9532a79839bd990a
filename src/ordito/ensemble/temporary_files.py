"""What a process that was killed while it wrote has left behind: files that were to take the place of others."""

from __future__ import annotations

import os
import re
from pathlib import Path

from ordito.base.change_ids import is_change_id
from ordito.ensemble.layout import Layout
from ordito.source.new_files import sweep

_NEW = re.compile(r"\..{1,40}\.[0-9a-f]{16}\.new")


def sweep_leftovers(layout: Layout) -> None:
    """Remove them; only for who holds the ensemble's lock, so that nobody is at work on one of them. What cannot be
    removed stays, and harms nobody."""
    for path in (layout.manifest, layout.jobs_tsv, layout.git_ignore, layout.git_attributes, layout.private / "begun"):
        sweep(path, ".new")
    for folder in (layout.status, layout.shared, layout.jobs, *_unrecorded(layout)):
        for name in _names(folder):
            if _NEW.fullmatch(name):
                sweep(folder / name[1:-21], ".new")


def _unrecorded(layout: Layout) -> list[Path]:
    """The folders of large jobs that are not closed."""
    names = _names(layout.jobs)
    known = set(names)
    return [layout.jobs / name for name in names if is_change_id(name) and f"{name}.yaml" not in known]


def _names(folder: Path) -> list[str]:
    try:
        return os.listdir(folder)  # noqa: PTH208  (plain names, of which there may be many)
    except OSError:
        return []
