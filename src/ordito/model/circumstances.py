"""The values and choices with which a service is resolved, besides its own files."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import msgspec

from ordito.model.choices import Choices
from ordito.model.lifecycle_steps import BlockType
from ordito.model.service import Service
from ordito.source.nodes import Node


def _no_block(_: str) -> BlockType | None:
    return None


class Circumstances(msgspec.Struct, frozen=True):
    """The values and choices with which a service is resolved."""

    inputs: Mapping[str, object] = {}
    """Values of its inputs as they are given (see ``bind_inputs``)."""
    inventory: Service | None = None
    """A service whose nodes exist already."""
    hosts: Callable[[], Service] | None = None
    """Gives an inventory where there is none, if a node is to be selected: any node that fits will do."""
    choices: Choices = Choices()
    """What the user chose, or what was chosen for an earlier deployment."""
    final: bool = False
    """Whether everything has to be chosen now, so that anything that cannot be chosen is an error."""
    blocks: Callable[[str], BlockType | None] = _no_block
    """Gives the block of a name from catalogues."""
    steps: Node | None = None
    """The root of a file that declares lifecycle steps."""
    allowed: frozenset[str] = frozenset()
    """The codes of findings that the author allows."""
