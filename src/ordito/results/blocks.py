"""The blocks that lifecycle steps can name: those that there are, one in full, one that was tried, and imported
steps."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

import msgspec

from ordito.authoring.blocks import BlockEntry, ConfigField
from ordito.results.answer import ResultData

if TYPE_CHECKING:
    from ordito.authoring.block_test import BlockTest
    from ordito.authoring.blocks import BlockPage


class BlockListData(ResultData, frozen=True, tag="ordito.blocks-list/1"):
    """Blocks."""

    blocks: tuple[BlockEntry, ...]


class BlockData(ResultData, frozen=True, tag="ordito.blocks-show/1"):
    """Everything about a block."""

    block: BlockEntry
    digest: str
    """It identifies the content of the block."""

    declared: str
    """Where it is written."""

    scripts: Mapping[str, str]
    """What ``execute`` and ``undo`` run."""

    timeouts: Mapping[str, int]
    """How long each may take, in seconds, if the block says so."""

    config: tuple[ConfigField, ...]
    config_required: bool
    others: tuple[BlockEntry, ...]
    """Further blocks with that name."""

    undone_once: str
    """The node state that a component must reach again before the block is undone."""


class TriedData(msgspec.Struct, frozen=True):
    """How an operation of a block ended."""

    ending: str
    exit_code: int | None
    seconds: float
    message: str
    outputs: Mapping[str, object]


class BlockTestData(ResultData, frozen=True, tag="ordito.blocks-test/1"):
    """A block that was tried; ``undo`` is null if that was not."""

    fqn: str
    version: str
    origin: str
    execute: TriedData
    undo: TriedData | None
    succeeded: bool
    """Whether all that was tried succeeded."""


class ImportedStepsData(ResultData, frozen=True, tag="ordito.lifecycle-import/1"):
    """Lifecycle steps that were written into a file, and their number."""

    out: str
    steps: int


def block_list_data(found: Iterable[BlockEntry]) -> BlockListData:
    """Blocks."""
    return BlockListData(tuple(found))


def block_data(found: BlockPage) -> BlockData:
    """A block."""
    return msgspec.convert({"format": "ordito.blocks-show/1", **msgspec.to_builtins(found)}, BlockData)


def block_test_data(found: BlockTest) -> BlockTestData:
    """A block that was tried."""
    undo = msgspec.convert(found.undo, TriedData, from_attributes=True) if found.undo is not None else None
    execute = msgspec.convert(found.execute, TriedData, from_attributes=True)
    return BlockTestData(found.fqn, found.version, found.origin, execute, undo, found.succeeded)
