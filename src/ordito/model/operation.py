"""Interfaces, their operations and notifications, and the artifacts that implement them (§3.6.7, §3.6.16 to 20)."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from ordito.base.sensitive import Sensitive
from ordito.base.span import Span
from ordito.model.schema import Schema
from ordito.syntax.expressions import Value


class Artifact(msgspec.Struct, frozen=True):
    """A file that belongs to the service (§3.6.7).

    ``file`` is a path relative to the service's root folder with ``/`` between its parts (it may begin with ``..``
    where an import lies beside the root), or an absolute URL; relative to the repository where there is one.
    ``kinds`` are the artifact type's full name and those of its ancestors, the type first. An image in a registry is no
    file: ``file`` is what it is called there, ``address`` where the registry is, and ``account`` what that is shown, a
    map of ``user`` and ``token``.
    """

    name: str
    kinds: tuple[str, ...]
    file: str
    repository: str = ""
    deploy_path: str = ""
    version: str = ""
    checksum: str = ""
    checksum_algorithm: str = ""
    properties: Mapping[str, Value] = {}
    mime_type: str = ""
    span: Span | None = None
    address: str = ""
    account: Sensitive | None = None


class Input(msgspec.Struct, frozen=True):
    """An input of an operation: the value assigned or defaulted, if any, and what the declaration asks for. One whose
    value ``is_default`` has none but that of its declaration (``default``, §3.6.14)."""

    name: str
    schema: Schema | None = None
    required: bool = False
    has_value: bool = False
    value: Value = None
    metadata: Mapping[str, str] = {}
    span: Span | None = None
    is_default: bool = False


class Operation(msgspec.Struct, frozen=True):
    """An operation as it holds for one node or relationship, inherited and overridden parts merged (§3.6.17).

    ``implementation`` is None for an operation that does nothing. ``outputs`` maps an output's name to the attribute
    path it is written to, for example ``("SELF", "port")``; ``output_spans`` says where. ``timeout`` is in seconds.
    """

    interface: str
    name: str
    implementation: Artifact | None = None
    dependencies: tuple[Artifact, ...] = ()
    timeout: int | None = None
    operation_host: str = ""
    inputs: Mapping[str, Input] = {}
    outputs: Mapping[str, tuple[str | int, ...]] = {}
    description: str = ""
    span: Span | None = None
    output_spans: Mapping[str, Span] = {}


class Notification(msgspec.Struct, frozen=True):
    """A notification as it holds for one node or relationship (§3.6.19): a call from outside, whose outputs are written
    to attributes as those of operations are. ``implementation`` is what subscribes to it, None where nothing has to."""

    interface: str
    name: str
    implementation: Artifact | None = None
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
    """The interface that a name means: its symbolic name, else the full name of its type, or the short name of a
    normative one. What a file calls a type otherwise has become the full name when the call was checked."""
    if name in interfaces:
        return interfaces[name]
    return next((i for i in interfaces.values() if any(name in {kind, _short(kind)} for kind in i.kinds)), None)


def _short(kind: str) -> str:
    return kind.rpartition(".")[2] if kind.startswith(NORMATIVE) else kind


# Names that TOSCA and its normative lifecycle give a meaning of their own (§4.1, §4.2).

KEYWORDS = frozenset({"SELF", "SOURCE", "TARGET", "HOST", "ORCHESTRATOR", "INDEX"})
"""What stands for something in functions and mappings; no template can be called so."""

NODE_VARIABLES = ("NODE", "INSTANCE", "INSTANCES", "HOST")
"""The variables that every operation of a node finds in its environment, whatever its inputs are called."""

RELATIONSHIP_VARIABLES = (
    *("SOURCE", "SOURCES", "SOURCE_NODE", "SOURCE_INSTANCE", "SOURCE_INSTANCES"),
    *("TARGET", "TARGETS", "TARGET_NODE", "TARGET_INSTANCE", "TARGET_INSTANCES"),
)
"""Those that every operation of a relationship finds."""

ENDS = ("SOURCE", "SOURCES", "TARGET", "TARGETS")
"""Those of relationships whose names TOSCA reserves in operations of nodes as well, where nothing sets them (§4.2)."""
