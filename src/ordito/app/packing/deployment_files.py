"""Files that belong to a deployment of a service, and that nobody is given with the service: what an ensemble writes,
secrets, and private keys. They are known wherever they lie and whatever links to them, since a folder may hold a
service and an ensemble of it."""

from __future__ import annotations

import os
from pathlib import Path

from ordito.ensemble.layout import MANIFEST, PRIVATE, Layout
from ordito.ensemble.pins import is_own
from ordito.ensemble.vault import KEY_FILE
from ordito.source.regular import open_regular

NEVER = frozenset({MANIFEST, "jobs.tsv", "secrets.yaml"})
"""Files that are never packed, in whichever folder they lie."""

AT_THE_TOP = frozenset({"inputs.yaml", "hosts.yaml"})
"""Files that are not packed where they lie in the folder of the service, unless the service names them: values and
hosts of one deployment."""

_KEY_BEGINS = 128
_OPENINGS = (b"-----BEGIN ", b"---- BEGIN SSH2 ENCRYPTED ", b"PuTTY-User-Key-File-")


def why_never(root: Path, file: str) -> str:
    """Why a file of a service is never packed, in words; "" for one that may be. Raises ``OSError``."""
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
    """A path and the folders above it, below the folder of the service."""
    return [part for part in (path, *path.parents) if part.is_relative_to(root) and part != root]


def _is_private_key(path: Path) -> bool:
    with open_regular(path) as file:
        begin = file.read(_KEY_BEGINS).lstrip()
    if not begin.startswith(_OPENINGS):
        return False
    first = begin.split(b"\n", 1)[0]
    return not first.startswith(_OPENINGS[0]) or b"PRIVATE KEY" in first
