"""What a service is resolved with besides its own files."""

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
    """What a service is resolved with.

    ``inputs`` are values of its inputs as they are given (see ``bind_inputs``); ``inventory`` is a service whose nodes
    exist already; without it ``hosts`` gives one, if anything is to be selected: all that fit are as good as the first.
    ``choices`` are what the user chose, or what was chosen for an earlier deployment. Where ``final``, everything has
    to be chosen now: what cannot be is an error. ``blocks`` gives what catalogues have for a lifecycle step, by the
    name of its block; ``steps`` is the root of a file that declares lifecycle steps. ``allowed`` are the codes of
    findings with which the author chose to go on.
    """

    inputs: Mapping[str, object] = {}
    inventory: Service | None = None
    hosts: Callable[[], Service] | None = None
    choices: Choices = Choices()
    final: bool = False
    blocks: Callable[[str], BlockType | None] = _no_block
    steps: Node | None = None
    allowed: frozenset[str] = frozenset()
