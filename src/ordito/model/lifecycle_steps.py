"""Lifecycle steps as a service declares them: by policies whose type is a block, or in a file of their own; and the
blocks that they name."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from ordito.base.span import Span
from ordito.base.versions import Version
from ordito.model.operation import Operation
from ordito.model.schema import DataType, PropertyDefinition
from ordito.model.settings import NO_SETTINGS
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


# A block of lifecycle steps as definitions describe it.

BUILT_IN = "built-in"
"""What the catalogue is called that comes with the program."""


class BlockType(msgspec.Struct, frozen=True):
    """A block by its fully qualified name.

    ``version`` is that of its types, "" where neither has one. ``config`` defines what it is configured with, None for
    nothing; ``data_types`` are those that this is made of. ``execute`` and ``undo`` are None where nothing implements
    them; ``undone_once`` is the node state to which a component has to come again before it is undone.
    ``is_implemented`` is whether there is a node type at all. ``origin`` says where it was found: "" for the
    service's own definitions, else whatever whoever looks for blocks calls the place. ``file`` holds its definition.
    """

    fqn: str
    version: str = ""
    config: PropertyDefinition | None = None
    data_types: Mapping[str, DataType] = {}
    execute: Operation | None = None
    undo: Operation | None = None
    undone_once: str = NO_SETTINGS.undone_once
    is_implemented: bool = False
    description: str = ""
    origin: str = ""
    file: str = ""
    span: Span | None = None

    @property
    def fields(self) -> Mapping[str, PropertyDefinition]:
        """What is known of the keys of its config, by key."""
        found = self.data_types.get(self.config.schema.type) if self.config is not None else None
        return found.properties if found is not None else {}


def is_newer(one: BlockType, other: BlockType) -> bool:
    """Whether the version of a block is newer than that of another one of the same name."""
    return _numbers(one.version) > _numbers(other.version)


def _numbers(text: str) -> tuple[int, int, int, bool, str, int]:
    """A version as it is compared: with a qualifier it is older than without; what is no version is the oldest."""
    try:
        version = Version.parse(text)
    except ValueError:
        return -1, 0, 0, False, "", 0
    return version.major, version.minor, version.fix, not version.qualifier, version.qualifier, version.build
