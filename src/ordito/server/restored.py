"""The marks of a home that was restored from a backup.

While it is being restored, the file ``restoring`` lies in it, and no server starts there. Afterwards the file
``restored`` says whether the server has to wait before it resumes anything, since the world may have gone on without
it, and whether it needs the key that was not in the backup.
"""

from __future__ import annotations

import contextlib
from pathlib import Path

import msgspec

from ordito.ensemble.errors import EnsembleError
from ordito.ensemble.files import read, sync_directory, write_whole
from ordito.server.refused import ServerRefused

RESTORING = "restoring"
RESTORED = "restored"


class Restored(msgspec.Struct, frozen=True):
    """What is to be known of a home that was restored."""

    is_held: bool
    """Whether nothing is resumed yet."""

    needs_key: bool
    """Whether its database holds what only the key opens that was not in the backup."""


def restored(home: Path) -> Restored | None:
    """The mark of a home, None for one that was not restored, or goes on as ever. Raises ``ServerRefused``."""
    path = home / RESTORED
    try:
        content = read(path)
        return None if content is None else msgspec.json.decode(content, type=Restored)
    except (EnsembleError, msgspec.DecodeError) as error:
        hint = "restore the home once more, or say with `ordito server resume` that it may go on"
        raise ServerRefused(f"cannot read {path}: {error}", hint) from error


def mark(home: Path, said: Restored) -> None:
    """Mark a home, or remove its mark where there is nothing to say. Raises ``OSError``, or ``EnsembleError``."""
    path = home / RESTORED
    if said.is_held or said.needs_key:
        write_whole(path, [msgspec.json.encode(said) + b"\n"])
        return
    with contextlib.suppress(FileNotFoundError):
        path.unlink()
        sync_directory(home)


def may_resume(home: Path) -> bool:
    """Whether the server of a home may resume jobs, begin plans and keep schedules: not if it was restored and nobody
    has said yet that it may. A mark that cannot be read holds it back as well."""
    try:
        found = restored(home)
    except ServerRefused:
        return False
    return found is None or not found.is_held


def refuse_unusable(home: Path) -> None:
    """Raise ``ServerRefused`` for a home that was restored in part only, or lacks the key that it needs."""
    if (home / RESTORING).exists():
        hint = "restore it again with `ordito server restore`, which begins anew"
        raise ServerRefused(f"{home} was not restored whole: that was interrupted, or goes on now", hint, "half-done")
    found = restored(home)
    if found is not None and found.needs_key and not (home / "key").exists():
        raise ServerRefused(
            f"{home} was restored without its key, and its database holds what only that key opens",
            f"bring the key to {home / 'key'}; if it is lost: `ordito server resume {home} --new-key` says what is"
            " forgotten then",
            "no-key",
        )
