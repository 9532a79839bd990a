"""The files of a folder that belong into its archive, and those that must not or cannot be packed.

A link is packed as the file that it leads to, which must be in the folder, too: nothing from outside is packed.
"""

from __future__ import annotations

import os
import posixpath
import stat
from collections.abc import Iterable, Iterator
from pathlib import Path

from ordito.app.services.read import ReadService
from ordito.app.services.step_files import kept_file
from ordito.base.diagnostics import Diagnostics
from ordito.blocks.search import FOLDER
from ordito.ensemble.layout import MANIFEST, PRIVATE, Layout
from ordito.ensemble.pins import LIFECYCLE, is_own
from ordito.ensemble.vault import KEY_FILE
from ordito.model.lifecycle_steps import BUILT_IN
from ordito.source.archive import UNSAFE, bad_name
from ordito.source.new_files import open_regular
from ordito.source.opening import STEP_FILES
from ordito.source.package import Package
from ordito.source.tree import place


def everything(packed: Package, out: Path, diagnostics: Diagnostics) -> Iterator[str]:
    """All files below the folder except hidden ones, archives, ensembles, and files of a deployment. Warnings name
    those that are left out and not hidden."""
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
    """The entries of a folder that are neither folders nor files: links to folders, broken links, special files."""
    return sorted(name for name in os.listdir(folder) if name not in known)  # noqa: PTH208


def _why_not(root: Path, path: str, *, linked: bool) -> str:
    """Why an entry is not packed that is neither a folder nor a file; "" for a link to a folder that is packed."""
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
        return "it is a link to a folder that is packed already"
    return ""


def check_packed(packed: Package, files: Iterable[str], diagnostics: Diagnostics) -> None:
    """Report files that lead out of the packed folder by links, that belong to a deployment or are keys, or whose names
    an archive cannot have."""
    root = Path(packed.root).resolve()
    for file in files:
        shown = packed.shown(file)
        target = (root / file).resolve()
        if not target.is_relative_to(root):
            diagnostics.error(
                "outside-package",
                f"{shown} is a link that leads out of the packed folder, to {target}",
                place(shown),
                hint="put a copy of the file in its place, or remove the link",
            )
        elif target.is_file() and (why := why_never(root, file)):
            diagnostics.error(
                "never-packed",
                f"{shown} cannot be packed: {why}",
                place(shown),
                hint="the service names it; give its content as an input, or as a secret, when it is deployed",
            )
        elif problem := bad_name(file):
            diagnostics.error(UNSAFE, f"{shown} cannot be packed: it {problem}", place(shown), hint="rename it")


# Files that belong to a deployment of a service, and that nobody is given with the service: what an ensemble writes,
# secrets, and private keys. They are known wherever they lie and whatever links to them, since a folder may hold a
# service and an ensemble of it.

NEVER = frozenset({MANIFEST, "jobs.tsv", "secrets.yaml"})
"""Files that are never packed, in any folder."""

AT_THE_TOP = frozenset({"inputs.yaml", "hosts.yaml"})
"""Files that are not packed if they are in the folder of the service itself, unless the service names them: values and
hosts of one deployment."""

_KEY_BEGINS = 128
_OPENINGS = (b"-----BEGIN ", b"---- BEGIN SSH2 ENCRYPTED ", b"PuTTY-User-Key-File-")


def why_never(root: Path, file: str) -> str:
    """Why a file of a service is never packed, for people; "" if it may be. Raises ``OSError``."""
    full = root / file
    for path in dict.fromkeys((full, full.resolve())):
        if path.name in NEVER:
            return f"{path.name} belongs to a deployment"
        if PRIVATE in path.parts[len(root.parts) :] or PRIVATE in path.parts[-2:]:
            return f"{PRIVATE} belongs to a deployment"
        if any(is_own(part, Layout(part.parent.parent)) for part in _within(path, root)):
            return "it belongs to a deployment"
    named = os.environ.get(KEY_FILE, "")
    if named and full.resolve() == Path(named).resolve():
        return f"it is the key that {KEY_FILE} names"
    return "it is a private key" if _is_private_key(full) else ""


def _within(path: Path, root: Path) -> list[Path]:
    """A path and its parent folders, up to the folder of the service."""
    return [part for part in (path, *path.parents) if part.is_relative_to(root) and part != root]


def _is_private_key(path: Path) -> bool:
    with open_regular(path) as file:
        begin = file.read(_KEY_BEGINS).lstrip()
    if not begin.startswith(_OPENINGS):
        return False
    first = begin.split(b"\n", 1)[0]
    return not first.startswith(_OPENINGS[0]) or b"PRIVATE KEY" in first


# What lifecycle steps need in an archive: the file in which they are written, and the catalogues of their blocks, at
# the places where they are looked for.


def is_for_pins(file: str) -> bool:
    """Whether a file is in the folder of pins with the files of steps, which archives do not have."""
    return LIFECYCLE in file.split("/")


def packed_steps(read: ReadService, *, with_built_in: bool) -> dict[str, str]:
    """The files that steps need, by their paths in the archive, each with its path in the service. The blocks that come
    with the program are left out if the archive has them as a profile."""
    steps = read.steps
    beside = posixpath.dirname(read.package.main)
    found: dict[str, str] = {}
    if kept_file(read.package) in steps.files:
        own = steps.file or posixpath.join(beside, STEP_FILES[0])
        found[own] = own if steps.file else kept_file(read.package)
    for folder, copy in steps.copies.items():
        if copy.origin == BUILT_IN and not with_built_in:
            continue
        target = copy.inside or posixpath.join(beside, FOLDER, posixpath.basename(folder))
        for file in steps.files:
            if file.startswith(f"{folder}/"):
                place = posixpath.join(target, file.removeprefix(f"{folder}/"))
                if not copy.inside:
                    found[place] = file
                elif read.package.tree.is_file(place):
                    found[place] = place
    return found


def replaced_files(read: ReadService) -> set[str]:
    """Files of the service that declare steps, and that a file from elsewhere has replaced."""
    if read.steps.file or kept_file(read.package) not in read.steps.files:
        return set()
    beside = posixpath.dirname(read.package.main)
    return {posixpath.join(beside, name) for name in STEP_FILES}
