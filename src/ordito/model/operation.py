"""Interfaces, their operations and notifications, and the artifacts that implement them (§3.6.7, §3.6.16 to 20)."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from ordito.base.sensitive import Sensitive
from ordito.base.span import Span
from ordito.model.schema import Schema
from ordito.syntax.expressions import Value


class Artifact(msgspec.Struct, frozen=True):
    """A file of the service, or an image in a registry (§3.6.7)."""

    name: str
    kinds: tuple[str, ...]
    """The artifact type's full name and those of its ancestors, the type first."""
    file: str
    """A path relative to the service's root folder with ``/`` between its parts (it may begin with ``..`` where an
    import is beside the root), or an absolute URL; relative to the repository where there is one. The name of an image
    in its registry."""
    repository: str = ""
    deploy_path: str = ""
    version: str = ""
    checksum: str = ""
    checksum_algorithm: str = ""
    properties: Mapping[str, Value] = {}
    mime_type: str = ""
    span: Span | None = None
    address: str = ""
    """The address of the registry of an image."""
    account: Sensitive | None = None
    """The account for that registry, a map of ``user`` and ``token``."""


class Input(msgspec.Struct, frozen=True):
    """An input of an operation: its value, and what its declaration requires."""

    name: str
    schema: Schema | None = None
    required: bool = False
    has_value: bool = False
    """Whether a value is assigned, or there is a default."""
    value: Value = None
    metadata: Mapping[str, str] = {}
    span: Span | None = None
    is_default: bool = False
    """Whether its value is only that of its declaration (``default``, §3.6.14)."""


class Operation(msgspec.Struct, frozen=True):
    """An operation of one node or relationship, with inherited and overridden parts merged (§3.6.17)."""

    interface: str
    name: str
    implementation: Artifact | None = None
    """None for an operation that does nothing."""
    dependencies: tuple[Artifact, ...] = ()
    timeout: int | None = None
    """In seconds."""
    operation_host: str = ""
    inputs: Mapping[str, Input] = {}
    outputs: Mapping[str, tuple[str | int, ...]] = {}
    """By output, the attribute path that it is written to, for example ``("SELF", "port")``."""
    description: str = ""
    span: Span | None = None
    output_spans: Mapping[str, Span] = {}
    """By output, where that is written."""


class Notification(msgspec.Struct, frozen=True):
    """A notification of one node or relationship (§3.6.19): a call from outside, whose outputs are written to
    attributes like those of operations."""

    interface: str
    name: str
    implementation: Artifact | None = None
    """The artifact that subscribes to it, None where none is needed."""
    dependencies: tuple[Artifact, ...] = ()
    outputs: Mapping[str, tuple[str | int, ...]] = {}
    description: str = ""
    span: Span | None = None
    output_spans: Mapping[str, Span] = {}


class Interface(msgspec.Struct, frozen=True):
    """An interface (§3.6.20): its symbolic name, its type's full name and those of its ancestors, its operations and
    notifications."""

    name: str
    kinds: tuple[str, ...]
    operations: Mapping[str, Operation]
    notifications: Mapping[str, Notification] = {}


# What the name of an interface means where a function refers to it (§4.6.1, R-4.6.1-8).

NORMATIVE = "tosca.interfaces."


def interface_named(interfaces: Mapping[str, Interface], name: str) -> Interface | None:
    """The interface that a name means: its symbolic name, the full name of its type, or the short name of a normative
    type. Other names that a file has for a type were replaced by the full name when the call was checked."""
    if name in interfaces:
        return interfaces[name]
    return next((i for i in interfaces.values() if any(name in {kind, _short(kind)} for kind in i.kinds)), None)


def _short(kind: str) -> str:
    return kind.rpartition(".")[2] if kind.startswith(NORMATIVE) else kind


# Names that TOSCA and its normative lifecycle give a meaning of their own (§4.1, §4.2).

KEYWORDS = frozenset({"SELF", "SOURCE", "TARGET", "HOST", "ORCHESTRATOR", "INDEX"})
"""The words with a special meaning in functions and mappings; no template may have such a name."""

NODE_VARIABLES = ("NODE", "INSTANCE", "INSTANCES", "HOST")
"""The variables that every operation of a node finds in its environment, whatever the names of its inputs."""

RELATIONSHIP_VARIABLES = (
    *("SOURCE", "SOURCES", "SOURCE_NODE", "SOURCE_INSTANCE", "SOURCE_INSTANCES"),
    *("TARGET", "TARGETS", "TARGET_NODE", "TARGET_INSTANCE", "TARGET_INSTANCES"),
)
"""Those that every operation of a relationship finds."""

ENDS = ("SOURCE", "SOURCES", "TARGET", "TARGETS")
"""Variables of relationships that TOSCA reserves in operations of nodes, too, where they are not set (§4.2)."""
