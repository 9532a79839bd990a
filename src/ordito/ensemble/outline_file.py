"""The outline of the service that a job is about, kept in `.ordito/`. It only saves time: whoever finds none, or that
of another job, makes it from the pinned service."""

from __future__ import annotations

import contextlib

import msgspec

from ordito.ensemble.layout import Layout
from ordito.instances.outline import Outline

FORMAT = "ordito.outline/1"


class _Kept(msgspec.Struct, frozen=True):
    format: str
    job: str
    outline: Outline


def keep_outline(layout: Layout, job: str, outline: Outline) -> None:
    """Keep the outline of a job's service; where that is not possible nothing is lost."""
    new = layout.outline.with_suffix(".new")
    with contextlib.suppress(OSError):
        new.write_bytes(msgspec.msgpack.encode(_Kept(FORMAT, job, outline)))
        new.replace(layout.outline)


def kept_outline(layout: Layout, job: str) -> Outline | None:
    """The outline that was kept for a job."""
    try:
        kept = msgspec.msgpack.decode(layout.outline.read_bytes(), type=_Kept)
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError):
        return None
    return kept.outline if kept.format == FORMAT and kept.job == job else None
