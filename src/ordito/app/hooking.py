"""What a plan is told of lifecycle steps: which blocks they run, and where they will lie in the pin of the service."""

from __future__ import annotations

import posixpath
from collections.abc import Mapping
from pathlib import Path

import msgspec

from ordito.app.services import ReadService
from ordito.ensemble.layout import Layout
from ordito.ensemble.pins import Pinned
from ordito.planning.options import Hooking
from ordito.work.hooks import Block


def hooking_of(layout: Layout, read: ReadService, pinned: Pinned) -> Hooking:
    """The blocks of a service's steps, as they lie in its pin."""
    if not read.steps.blocks:
        return Hooking()
    prefix = Path(pinned.root).relative_to(layout.artifacts / pinned.digest).as_posix()
    return Hooking(blocks=in_pin(read.steps.blocks, pinned.digest, prefix))


def in_pin(blocks: Mapping[str, Block], digest: str, prefix: str) -> dict[str, Block]:
    """Blocks whose folders are relative to the root of a service, as they lie in the pin with that digest, where the
    root is the folder ``prefix``."""
    return {
        name: msgspec.structs.replace(
            block, root=digest, folder=posixpath.normpath(posixpath.join(prefix, block.folder))
        )
        for name, block in blocks.items()
    }
