"""Where backups lie, and which one is meant.

A backup is one file, which is there as a whole or not at all, and is called after the step and the job that made it:
``STEP--JOB.SUFFIX``. Jobs sort by their time, so those of one step do too. A file that a restoration made of what was
there before it has ``before-`` in front of that name.
"""

from __future__ import annotations

import re
from pathlib import Path

import ordito_block as block

_DIGEST = re.compile(r"[0-9a-f]{64}")
_NAME = re.compile(r"[A-Za-z0-9]")


def folder(key: str) -> Path:
    """A folder of the config for backups; it is made where it is not there, for its owner only."""
    place = block.absolute(key, block.text(key))
    place.mkdir(parents=True, exist_ok=True, mode=0o700)
    return place


def chosen(suffix: str) -> Path:
    """The backup that the config means: a file, or the newest of a step in a folder. Raises ``Failed``."""
    place = block.absolute("backup", block.text("backup"))
    if place.is_dir():
        step = block.text("step", "")
        if not step:
            raise block.misconfigured(
                "step", f"{place} is a folder", "say which step has made the backup, or name a file"
            )
        found = sorted(place.glob(f"{block.step_name(step)}*{suffix}"))
        if not found:
            raise block.Failed(f"{place} has no backup of step {step} that ends with {suffix}")
        place = found[-1]
    if not place.is_file():
        raise block.Failed(f"there is no backup {place}")
    if wanted := block.text("sha256", ""):
        if not _DIGEST.fullmatch(wanted):
            raise block.misconfigured("sha256", "it is not 64 hexadecimal digits")
        verify(place, wanted)
    return place


def verify(place: Path, wanted: str) -> None:
    """See that a backup is what it was when it was made. Raises ``Failed``."""
    if not place.is_file():
        raise block.Failed(f"the backup {place} is not there any more")
    if block.digest(place) != wanted:
        raise block.Failed(f"the backup {place} is not what it was when it was made", "restore from another one")


def described(place: Path) -> dict[str, object]:
    """What the outputs say of a backup."""
    return {"backup": str(place), "sha256": block.digest(place), "size": place.stat().st_size}


def of_outputs(outputs: block.Outputs) -> Path:
    """The backup that an execution has made, unharmed. Raises ``Failed``."""
    place = Path(str(outputs.get("backup", "")))
    verify(place, str(outputs.get("sha256", "")))
    return place


def restores_on_undo() -> bool:
    """Whether undoing a backup restores it; else it is only kept."""
    wanted = block.text("on_undo", "keep")
    if wanted not in ("keep", "restore"):
        raise block.misconfigured("on_undo", f"{wanted} is neither keep nor restore")
    return wanted == "restore"
