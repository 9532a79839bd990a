"""Lifecycle steps as a service declares them: by policies whose type is a block, or in a file of their own."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from ordito.base.span import Span
from ordito.model.block import BlockType
from ordito.model.schema import PropertyDefinition
from ordito.syntax.expressions import Value

PHASES = (
    "install.before",
    "install.after",
    "upgrade.before",
    "upgrade.after",
    "delete.before",
    "delete.after",
)
ON_FAILURE = ("abort", "continue", "rollback")
INLINE = ("script", "command", "run", "implementation", "inline", "exec")
"""Keys by which people try to write what a step does into the step itself."""


class LifecycleStep(msgspec.Struct, frozen=True):
    """One lifecycle step.

    ``id`` is unique in the service. ``fqn`` names the block, ``phase`` is as in ``install.before``, ``component`` a
    node template, "" for the module. ``condition`` and ``timeout`` are texts, "" for none. ``config`` may hold calls;
    it is typed and completed by ``block``, which is None where no block of that name was found. ``name`` is what
    messages call the step: that of its policy, where several steps came of that. ``root`` leads from the root of the
    service to that of the one that declares the step, whose files its config names. ``spans`` are the places of what
    was given, by the names of these fields, and of the keys of config as ``config.<key>``.
    """

    id: str
    fqn: str
    phase: str
    component: str = ""
    description: str = ""
    condition: str = ""
    timeout: str = ""
    on_failure: str = "abort"
    config: Mapping[str, Value] = {}
    block: BlockType | None = None
    name: str = ""
    root: str = "."
    span: Span | None = None
    spans: Mapping[str, Span] = {}

    @property
    def definitions(self) -> Mapping[str, PropertyDefinition]:
        """What is known of the keys of config, by key."""
        return self.block.fields if self.block is not None else {}
