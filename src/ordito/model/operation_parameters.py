"""The implementations of operations, their inputs, which types define and templates assign, and the attributes to which
outputs are mapped (§3.6.15, §3.6.17)."""

from __future__ import annotations

from collections.abc import Mapping as MappingType

import msgspec

from ordito.base.diagnostics import Diagnostics
from ordito.model.artifacts import FILE, Artifacts
from ordito.model.definitions import Definitions
from ordito.model.operation import Artifact, Input
from ordito.model.unit import Unit
from ordito.model.values import Values
from ordito.source.nodes import Mapping, Node, Scalar, Sequence, is_null
from ordito.source.scalars import integer
from ordito.syntax import entities
from ordito.syntax.expressions import Value, calls
from ordito.syntax.functions import read_untyped
from ordito.syntax.grammar import Reading, read_entity

NODE_OUTPUTS = ("SELF",)
RELATIONSHIP_OUTPUTS = ("SELF", "SOURCE", "TARGET")


class Parameters:
    """Reads inputs and outputs of operations."""

    def __init__(self, values: Values, definitions: Definitions, diagnostics: Diagnostics) -> None:
        self._values = values
        self._definitions = definitions
        self._diagnostics = diagnostics

    def defined(self, written: Mapping | None, declared: MappingType[str, Input], unit: Unit) -> dict[str, Input]:
        """Inputs as types write them: parameter definitions, or a value alone (given early), which is of the type that
        an ancestor ``declared`` for it."""
        if written is None:
            return {}
        found = {}
        reading = Reading(self._diagnostics, unit.dialect)
        for key, node in written.entries():
            item = read_entity(entities.ParameterDefinition, node, reading, key)
            if item is None:
                continue
            value = item.value if item.value is not None else item.default
            is_default = item.value is None and value is not None
            inherited = declared.get(key.text) or Input(key.text)
            if item.type is None:
                if value is not None:
                    inherited = msgspec.structs.replace(self._valued(inherited, value, key), is_default=is_default)
                found[key.text] = inherited
                continue
            schema = self._definitions.schema(item, unit)
            metadata = {k: v.text for k, v in (item.metadata or {}).items()}
            what = f'input "{key.text}"'
            data = self._values.read(value, schema, what, item.type.span, metadata) if value is not None else None
            found[key.text] = Input(
                key.text, schema, item.required is not False, value is not None, data, metadata, key.span, is_default
            )
        return found

    def assigned(self, written: Mapping | None, declared: MappingType[str, Input]) -> dict[str, Input]:
        """Inputs as templates write them: values, typed where the input is declared."""
        if written is None:
            return {}
        found = {}
        for key, node in written.entries():
            found[key.text] = self._valued(declared.get(key.text) or Input(key.text), node, key)
        return found

    def mapped(self, written: Mapping | None, begin_with: tuple[str, ...]) -> dict[str, tuple[str | int, ...]]:
        """Attribute mappings (§3.6.15): output -> [SELF, (capability,) attribute, ...]."""
        found: dict[str, tuple[str | int, ...]] = {}
        for key, node in written.entries() if written is not None else ():
            path = mapping_path(node)
            if path is None:
                self._diagnostics.error(
                    "bad-mapping",
                    f'output "{key.text}" must be mapped by a list of an entity and an attribute',
                    node.span,
                    hint="for example [ SELF, private_address ]",
                )
            elif path[0] not in begin_with:
                self._diagnostics.error(
                    "bad-mapping",
                    f'output "{key.text}" cannot be mapped to "{path[0]}" here',
                    node.items[0].span if isinstance(node, Sequence) else node.span,
                    hint=f"begin with {' or '.join(begin_with)}",
                )
            else:
                found[key.text] = path
        return found

    def _valued(self, definition: Input, node: Node, key: Scalar) -> Input:
        """An input with a value, typed where it is declared."""
        value: Value
        if definition.schema is not None and not is_null(node):
            what = f'input "{key.text}"'
            value = self._values.read(node, definition.schema, what, definition.span, definition.metadata)
        else:
            value = read_untyped(node, self._diagnostics)
            for call in calls(value):
                self._values.checker.note_call(call)
        return msgspec.structs.replace(
            definition, has_value=not is_null(node), value=value, span=key.span, is_default=False
        )


def mapping_path(node: Node) -> tuple[str | int, ...] | None:
    """The path that a mapping names, None where it is not a list of texts with at least two parts."""
    if not isinstance(node, Sequence) or len(node.items) < 2:
        return None
    path: list[str | int] = []
    for position, item in enumerate(node.items):
        if not isinstance(item, Scalar):
            return None
        index = integer(item.text) if item.plain and position > 1 else None
        path.append(item.text if index is None else index)
    return tuple(path)


# What implements an operation or a notification: artifacts, and where they run (§3.6.16, §3.6.18).

NODE_HOSTS = ("SELF", "HOST", "ORCHESTRATOR")
RELATIONSHIP_HOSTS = ("SOURCE", "TARGET", "ORCHESTRATOR")

Written = Scalar | entities.Implementation | entities.NotificationImplementation


class ArtifactFinder:
    """Finds the artifacts that implementations name."""

    def __init__(self, artifacts: Artifacts, diagnostics: Diagnostics) -> None:
        self._artifacts = artifacts
        self._diagnostics = diagnostics

    def find(
        self, given: tuple[Written, Unit] | None, artifacts: MappingType[str, Artifact]
    ) -> tuple[Artifact | None, tuple[Artifact, ...]]:
        """The artifact that implements something, if any, and those that it depends on; ``given`` is what is written,
        with the file that writes it."""
        if given is None:
            return None, ()
        written, unit = given
        if isinstance(written, Scalar):
            return self._primary(written, unit, artifacts), ()
        named = (self._artifact(d, unit, artifacts) for d in written.dependencies or ())
        return self._primary(written.primary, unit, artifacts), tuple(d for d in named if d is not None)

    def host(self, written: Scalar | None, hosts: tuple[str, ...]) -> str:
        """The keyword that says where an operation runs, which must be one of ``hosts``; "" where none is written."""
        if written is None:
            return ""
        if written.text not in hosts:
            self._diagnostics.error(
                "bad-value",
                f'the operation cannot run at "{written.text}"',
                written.span,
                hint=f"operation_host is one of {', '.join(hosts)} here",
            )
            return ""
        return written.text

    def check(self, written: Written | None, unit: Unit, hosts: tuple[str, ...]) -> None:
        """Check what a type writes, whether a template uses it or not. What is named by a text alone may be an artifact
        that only a derived type or a template has."""
        if written is None or isinstance(written, Scalar):
            return
        if isinstance(written, entities.Implementation):
            self.host(written.operation_host, hosts)
        for part in (written.primary, *(written.dependencies or ())):
            if isinstance(part, entities.ArtifactDefinition):
                self._artifacts.read(part, unit)

    def _primary(
        self, written: Scalar | entities.ArtifactDefinition | None, unit: Unit, artifacts: MappingType[str, Artifact]
    ) -> Artifact | None:
        """The artifact that implements an operation; one of no particular type is probably misspelt."""
        found = self._artifact(written, unit, artifacts)
        if found is not None and isinstance(written, Scalar) and found.kinds[:1] == (FILE,):
            self._diagnostics.warning(
                "unknown-extension",
                f'nothing is known to run "{written.text}": its type does not follow from its name',
                written.span,
                hint=f"name it with one of {', '.join(self._artifacts.runnable)}, or declare an artifact with a type",
            )
        return found

    def _artifact(
        self, written: Scalar | entities.ArtifactDefinition | None, unit: Unit, artifacts: MappingType[str, Artifact]
    ) -> Artifact | None:
        """An artifact of that name, an artifact defined in place, or a file."""
        if written is None:
            return None
        if isinstance(written, Scalar):
            return artifacts.get(written.text) or self._artifacts.file(written, unit)
        return self._artifacts.read(written, unit)
