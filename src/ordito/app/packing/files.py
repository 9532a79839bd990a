"""Which files of a folder belong into its archive, and which of them must not or cannot be packed.

A link is packed as what it leads to, which must lie in the folder too: who packs a folder packs nothing else.
"""

from __future__ import annotations

import os
import posixpath
import stat
from collections.abc import Iterable, Iterator
from pathlib import Path

from ordito.app.packing.deployment_files import AT_THE_TOP, why_never
from ordito.base.diagnostics import Diagnostics
from ordito.ensemble.layout import MANIFEST, Layout
from ordito.ensemble.pins import is_own
from ordito.source.archive import UNSAFE, bad_name
from ordito.source.package import Package
from ordito.source.tree import place


def everything(packed: Package, out: Path, diagnostics: Diagnostics) -> Iterator[str]:
    """All files below the folder but hidden ones, archives, ensembles, and what belongs to a deployment. Warnings
    name what is left out and is not hidden."""
    made = os.path.abspath(out)  # noqa: PTH100
    for file in files_below(packed, ".", diagnostics):
        path = Path(packed.root) / file
        if path.suffix.lower() == ".csar" or str(path) == made:
            continue
        if file in AT_THE_TOP:
            _leave_out(packed, file, "it belongs to a deployment, and the service does not name it", diagnostics)
        else:
            yield file


def _leave_out(packed: Package, file: str, why: str, diagnostics: Diagnostics) -> None:
    shown = packed.shown(file)
    diagnostics.warning("left-out", f"{shown} is not packed: {why}", place(shown))


def files_below(packed: Package, folder: str, diagnostics: Diagnostics) -> Iterator[str]:
    """The files below a folder of the service, relative to its root."""
    layout = Layout(Path(packed.root))
    todo = [(folder, False)]
    while todo:
        here, linked = todo.pop()
        folders, files = packed.tree.entries(here)
        if here != folder and MANIFEST in files and "jobs.tsv" in files:
            continue
        for name in files:
            file = posixpath.normpath(posixpath.join(here, name))
            if name.startswith(".") or is_own(layout.root / file, layout):
                continue
            if why := why_never(layout.root, file):
                _leave_out(packed, file, why, diagnostics)
            else:
                yield file
        others = _other_entries(layout.root / here, {*folders, *files})
        for name in (*folders, *others):
            path = posixpath.normpath(posixpath.join(here, name))
            own = is_own(layout.root / path, layout)
            if name.startswith(".") or name == "__pycache__" or own:
                continue
            why = _why_not(layout.root, path, linked=linked) if name in others else ""
            if why:
                diagnostics.warning("left-out", f"{packed.shown(path)} is not packed: {why}", place(packed.shown(path)))
            else:
                todo.append((path, linked or name in others))


def _other_entries(folder: Path, known: set[str]) -> list[str]:
    """What lies in a folder and is neither a folder nor a file: links to folders, links to nothing, special files."""
    return sorted(name for name in os.listdir(folder) if name not in known)  # noqa: PTH208


def _why_not(root: Path, path: str, *, linked: bool) -> str:
    """Why something is not packed that is neither a folder nor a file; "" for a link to a folder that is."""
    full = root / path
    try:
        mode = full.stat().st_mode
    except OSError:
        return "it is a link that leads nowhere"
    if not stat.S_ISDIR(mode):
        return "it is a special file, such as a device or a pipe"
    target = full.resolve()
    if not target.is_relative_to(root):
        return f"it is a link to a folder elsewhere, {target}"
    if linked or full.parent.resolve().is_relative_to(target):
        return "it is a link to a folder that is being packed already"
    return ""


def check_packed(packed: Package, files: Iterable[str], diagnostics: Diagnostics) -> None:
    """See that all files lie in the folder that is packed, wherever links lead, that none of them belongs to a
    deployment or is a key, and that an archive can hold their names."""
    root = Path(packed.root).resolve()
    for file in files:
        shown = packed.shown(file)
        target = (root / file).resolve()
        if not target.is_relative_to(root):
            diagnostics.error(
                "outside-package",
                f"{shown} is a link that leads out of the folder that is packed, to {target}",
                place(shown),
                hint="put a copy of the file in its place, or remove the link",
            )
        elif target.is_file() and (why := why_never(root, file)):
            diagnostics.error(
                "never-packed",
                f"{shown} cannot be packed: {why}",
                place(shown),
                hint="the service names it; give what it holds as an input, or as a secret, where it is deployed",
            )
        elif problem := bad_name(file):
            diagnostics.error(UNSAFE, f"{shown} cannot be packed: it {problem}", place(shown), hint="rename it")
