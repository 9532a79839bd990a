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
"""Keys with which authors try to write into a step what it does."""


class LifecycleStep(msgspec.Struct, frozen=True):
    """One lifecycle step."""

    id: str
    """Unique in the service."""
    fqn: str
    """The name of its block."""
    phase: str
    """As in ``install.before``."""
    component: str = ""
    """A node template, "" for the module."""
    description: str = ""
    condition: str = ""
    """The text of the condition, "" for none."""
    timeout: str = ""
    """A duration, "" for none."""
    on_failure: str = "abort"
    config: Mapping[str, Value] = {}
    """Its values, which may hold calls; typed and completed by the block."""
    block: BlockType | None = None
    """None where there is no block of that name."""
    name: str = ""
    """Its name in messages: that of its policy, where several steps come from one policy."""
    root: str = "."
    """The path from the root of the service to that of the service that declares the step and has the files of its
    config."""
    span: Span | None = None
    spans: Mapping[str, Span] = {}
    """The places of the values that were given, by the names of these fields, and as ``config.<key>``."""

    @property
    def definitions(self) -> Mapping[str, PropertyDefinition]:
        """The definitions of the keys of config, by key."""
        return self.block.fields if self.block is not None else {}


# A block of lifecycle steps as definitions describe it.

BUILT_IN = "built-in"
"""The name of the catalogue that comes with Ordito."""


class BlockType(msgspec.Struct, frozen=True):
    """A block, by its fully qualified name."""

    fqn: str
    version: str = ""
    """The version of its types, "" where neither of them has one."""
    config: PropertyDefinition | None = None
    """The definition of its configuration, None for none."""
    data_types: Mapping[str, DataType] = {}
    """The data types of the configuration."""
    execute: Operation | None = None
    """None where nothing implements it; ``undo`` likewise."""
    undo: Operation | None = None
    undone_once: str = NO_SETTINGS.undone_once
    """The node state that a component must reach again before the block is undone."""
    is_implemented: bool = False
    """Whether a node type of its name exists."""
    description: str = ""
    origin: str = ""
    """Where it was found: "" for the service's own definitions, else the name of the catalogue."""
    file: str = ""
    """The file with its definition."""
    span: Span | None = None

    @property
    def fields(self) -> Mapping[str, PropertyDefinition]:
        """The definitions of the keys of its config, by key."""
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
