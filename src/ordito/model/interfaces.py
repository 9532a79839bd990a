"""Interfaces: operations as type after type and at last the template define, implement and assign them
(§3.6.16 to §3.6.20, §3.7.5)."""

from __future__ import annotations

from collections.abc import Mapping as MappingType

import msgspec

from ordito.base.diagnostics import Diagnostics, Related
from ordito.base.span import Span
from ordito.base.suggest import nearest
from ordito.model.artifacts import FILE, Artifacts
from ordito.model.definitions import Definitions
from ordito.model.hierarchy import Hierarchy
from ordito.model.operation import Artifact, Input, Interface, Notification, Operation
from ordito.model.reserved import NODE_VARIABLES, RELATIONSHIP_VARIABLES
from ordito.model.units import Unit, Units, find_type
from ordito.model.values import Values
from ordito.source.nodes import Mapping, Node, Scalar, Sequence, is_null
from ordito.source.scalars import integer
from ordito.syntax import entities
from ordito.syntax.entries import Entries
from ordito.syntax.expressions import Value, calls
from ordito.syntax.functions import read_untyped
from ordito.syntax.grammar import Reading, read_entity

NODE_HOSTS = ("SELF", "HOST", "ORCHESTRATOR")
RELATIONSHIP_HOSTS = ("SOURCE", "TARGET", "ORCHESTRATOR")
NODE_OUTPUTS = ("SELF",)
RELATIONSHIP_OUTPUTS = ("SELF", "SOURCE", "TARGET")


class OperationParts(msgspec.Struct, frozen=True):
    """What is known of an operation at one level of derivation; ``implementation`` with the file that writes it."""

    name: str
    implementation: tuple[Scalar | entities.Implementation | entities.NotificationImplementation, Unit] | None = None
    inputs: MappingType[str, Input] = {}
    outputs: MappingType[str, tuple[str | int, ...]] = {}
    description: str = ""
    span: Span | None = None
    output_spans: MappingType[str, Span] = {}


class InterfaceParts(msgspec.Struct, frozen=True):
    """An interface at one level of derivation. ``inputs`` reach every operation. One without ``kinds`` is written but
    could not be read."""

    name: str
    kinds: tuple[str, ...]
    inputs: MappingType[str, Input] = {}
    operations: MappingType[str, OperationParts] = {}
    span: Span | None = None
    notifications: MappingType[str, OperationParts] = {}


class Interfaces:
    """All interface types, and the merging of interfaces along derivation."""

    def __init__(
        self, units: Units, values: Values, definitions: Definitions, artifacts: Artifacts, diagnostics: Diagnostics
    ) -> None:
        self._units = units
        self._values = values
        self._definitions = definitions
        self._artifacts = artifacts
        self._diagnostics = diagnostics
        self.shapes: dict[str, InterfaceParts] = {}

    def add_types(self, hierarchy: Hierarchy) -> None:
        """Flatten all interface types."""
        for definition in hierarchy.order:
            written = definition.content
            assert isinstance(written, entities.InterfaceType)
            parent = self.shapes.get(hierarchy.parent(definition) or "")
            base = parent or InterfaceParts(definition.name, ())
            declared: list[entities.OperationDefinition | entities.NotificationDefinition] = [
                *(written.operations or {}).values(),
                *(written.notifications or {}).values(),
            ]
            for operation in declared:
                if operation.implementation is not None:
                    self._diagnostics.error(
                        "bad-interface-type",
                        f'{operation.WHAT} "{operation.name}" of an interface type cannot have an implementation',
                        operation.span,
                        hint="implement it in a node or relationship type",
                    )
            self.shapes[definition.name] = InterfaceParts(
                definition.name,
                hierarchy.kinds[definition.name],
                {**base.inputs, **self._defined_inputs(written.inputs, definition.unit)},
                self._operations(
                    base, written.operations, definition.unit, NODE_OUTPUTS, defining=True, open_ended=True
                ),
                definition.content.span,
                self._notifications(base, written.notifications, definition.unit, NODE_OUTPUTS),
            )
            self._check_overlap(self.shapes[definition.name])

    def merge(
        self,
        inherited: MappingType[str, InterfaceParts],
        written: MappingType[str, entities.InterfaceDefinition] | None,
        unit: Unit,
        *,
        owner: str,
        relationship: bool,
        defining: bool,
    ) -> dict[str, InterfaceParts]:
        """Interfaces with what a type (``defining``: inputs are definitions) or a template writes about them."""
        found = dict(inherited)
        outputs = RELATIONSHIP_OUTPUTS if relationship else NODE_OUTPUTS
        for name, item in (written or {}).items():
            base = self._base(name, item, inherited, unit, owner, defining)
            if not base.kinds:
                found[name] = base
                continue
            inputs = (
                self._defined_inputs(item.inputs, unit) if defining else self.assigned_inputs(item.inputs, base.inputs)
            )
            operations = self._operations(base, item.operations, unit, outputs, defining=defining, open_ended=False)
            merged = {**base.inputs, **inputs} if inputs else base.inputs
            notifications = self._notifications(base, item.notifications, unit, outputs)
            found[base.name] = InterfaceParts(base.name, base.kinds, merged, operations, item.span, notifications)
            if item.operations or item.notifications:
                self._check_overlap(found[base.name])
        for name in written.lost if isinstance(written, Entries) else ():
            found.setdefault(name, InterfaceParts(name, ()))
        return found

    def finish(
        self,
        parts: MappingType[str, InterfaceParts],
        artifacts: MappingType[str, Artifact],
        *,
        relationship: bool,
        known: tuple[MappingType[str, InterfaceParts], MappingType[str, Interface]] | None = None,
    ) -> dict[str, Interface]:
        """The interfaces as they hold for one node or relationship that has these artifacts.

        ``known`` are parts that were finished for the same artifacts, with what they gave: it is taken over.
        """
        hosts = RELATIONSHIP_HOSTS if relationship else NODE_HOSTS
        finished = {}
        for name, interface in parts.items():
            before = known[0].get(name) if known is not None else None
            if known is not None and before is interface:
                finished[name] = known[1][name]
                continue
            made: dict[str, Operation] = {}
            if known is not None and before is not None and before.inputs is interface.inputs:
                made = {
                    n: known[1][name].operations[n]
                    for n, o in before.operations.items()
                    if interface.operations[n] is o
                }
            operations = {
                o.name: made.get(o.name) or self._finish_operation(interface, o, artifacts, hosts)
                for o in interface.operations.values()
            }
            notifications = {
                n.name: self._finish_notification(interface, n, artifacts) for n in interface.notifications.values()
            }
            finished[name] = Interface(name, interface.kinds, operations, notifications)
        return finished

    def named(self, interfaces: MappingType[str, Interface], text: str, unit: Unit) -> Interface | None:
        """The interface that a name in a file means: its own name, or that of its type."""
        if text in interfaces:
            return interfaces[text]
        found = find_type("interface", text, unit, self._units)
        return next((i for i in interfaces.values() if found is not None and found.name in i.kinds), None)

    def _base(
        self,
        name: str,
        item: entities.InterfaceDefinition,
        inherited: MappingType[str, InterfaceParts],
        unit: Unit,
        owner: str,
        defining: bool,
    ) -> InterfaceParts:
        """The interface that a definition or assignment builds on: inherited by its name or by its type's name, or
        new by its type."""
        base = inherited.get(name)
        if item.type is not None:
            found = self._units.require("interface", item.type, unit)
            shape = self.shapes.get(found.name) if found is not None else None
            if shape is None:
                return InterfaceParts(name, ())
            if base is not None:
                return self._typed(item.type, base, shape)
            self._warn_of_double(name, item, shape, inherited)
            return _renamed(shape, name)
        if base is not None:
            return base
        by_type = find_type("interface", name, unit, self._units)
        if by_type is not None and by_type.name in self.shapes:
            same = (i for i in inherited.values() if by_type.name in i.kinds)
            return next(same, _renamed(self.shapes[by_type.name], name))
        if defining:
            self._diagnostics.error(
                "missing-keyname", f'interface "{name}" lacks "type"', item.span, hint="name its interface type"
            )
        else:
            self._diagnostics.unknown("unknown-interface", f"interface of {owner}", name, item.span, inherited)
        return InterfaceParts(name, ())

    def _warn_of_double(
        self,
        name: str,
        item: entities.InterfaceDefinition,
        shape: InterfaceParts,
        inherited: MappingType[str, InterfaceParts],
    ) -> None:
        """A second interface of one type is as good as any, but one with nearly the same name is a slip."""
        near = nearest(name, [i.name for i in inherited.values() if i.kinds == shape.kinds])
        if near:
            self._diagnostics.warning(
                "similar-interface",
                f'"{name}" is another interface beside "{near[0]}", which has the same type',
                item.span,
                hint=f'did you mean "{near[0]}"?',
            )

    def _typed(self, written: Scalar, base: InterfaceParts, shape: InterfaceParts) -> InterfaceParts:
        """An inherited interface that is given a type: its own, or one derived from it."""
        if not base.kinds or shape.kinds == base.kinds:
            return base
        if base.kinds[0] in shape.kinds:
            operations = {**shape.operations, **base.operations}
            notifications = {**shape.notifications, **base.notifications}
            inputs = {**shape.inputs, **base.inputs}
            return InterfaceParts(base.name, shape.kinds, inputs, operations, base.span, notifications)
        self._diagnostics.error(
            "bad-refinement",
            f'interface "{base.name}" is of type {base.kinds[0]} and cannot become {shape.kinds[0]}',
            written.span,
            hint="use the same type or one derived from it",
        )
        return base

    def _operations(
        self,
        base: InterfaceParts,
        written: MappingType[str, entities.OperationDefinition] | None,
        unit: Unit,
        outputs: tuple[str, ...],
        *,
        defining: bool,
        open_ended: bool,
    ) -> dict[str, OperationParts]:
        found = dict(base.operations)
        for name, item in (written or {}).items():
            inherited = found.get(name)
            if inherited is None:
                if not open_ended and not defining:
                    what = f'operation of interface "{base.name}"'
                    self._diagnostics.unknown("unknown-operation", what, name, item.span, base.operations)
                    continue
                if not open_ended:
                    self._undeclared(base, name, item)
                inherited = OperationParts(name)
            declared = {**base.inputs, **inherited.inputs}
            inputs = (
                self._defined_inputs(item.inputs, unit) if defining else self.assigned_inputs(item.inputs, declared)
            )
            found[name] = OperationParts(
                name,
                (item.implementation, unit) if item.implementation is not None else inherited.implementation,
                {**inherited.inputs, **inputs},
                {**inherited.outputs, **self._outputs(item.outputs, outputs)},
                item.description.text if item.description else inherited.description,
                item.span,
                {**inherited.output_spans, **_spans(item.outputs)},
            )
        for name in written.lost if isinstance(written, Entries) else ():
            found.setdefault(name, OperationParts(name))
        return found

    def _notifications(
        self,
        base: InterfaceParts,
        written: MappingType[str, entities.NotificationDefinition] | None,
        unit: Unit,
        outputs: tuple[str, ...],
    ) -> MappingType[str, OperationParts]:
        """Notifications, which types and templates may both declare (§3.6.19)."""
        if not written:
            return base.notifications
        found = dict(base.notifications)
        for name, item in written.items():
            inherited = found.get(name) or OperationParts(name)
            found[name] = OperationParts(
                name,
                (item.implementation, unit) if item.implementation is not None else inherited.implementation,
                {},
                {**inherited.outputs, **self._outputs(item.outputs, outputs)},
                item.description.text if item.description else inherited.description,
                item.span,
                {**inherited.output_spans, **_spans(item.outputs)},
            )
        return found

    def _check_overlap(self, interface: InterfaceParts) -> None:
        """An operation and a notification of one interface cannot have the same name (§3.6.20.4)."""
        for name, notification in interface.notifications.items():
            operation = interface.operations.get(name)
            if operation is not None:
                self._diagnostics.error(
                    "duplicate-name",
                    f'"{name}" is an operation and a notification of interface "{interface.name}"',
                    notification.span,
                    hint="rename one of them",
                    related=(Related("the operation", operation.span),) if operation.span else (),
                )

    def _undeclared(self, base: InterfaceParts, name: str, item: entities.OperationDefinition) -> None:
        self._diagnostics.warning(
            "undeclared-operation",
            f'the interface type of "{base.name}" has no operation "{name}"',
            item.span,
            hint=self._diagnostics.suggestion(name, base.operations),
        )

    def _defined_inputs(self, written: Mapping | None, unit: Unit) -> dict[str, Input]:
        """Inputs as types write them: parameter definitions, or a value alone (given early)."""
        if written is None:
            return {}
        found = {}
        reading = Reading(self._diagnostics, unit.dialect)
        for key, node in written.entries():
            item = read_entity(entities.ParameterDefinition, node, reading, key)
            if item is None:
                continue
            value = item.value if item.value is not None else item.default
            if item.type is None:
                data = read_untyped(value, self._diagnostics) if value is not None else None
                self._collect(data)
                found[key.text] = Input(key.text, None, False, value is not None, data, span=key.span)
                continue
            schema = self._definitions.schema(item, unit)
            metadata = {k: v.text for k, v in (item.metadata or {}).items()}
            what = f'input "{key.text}"'
            data = self._values.read(value, schema, what, item.type.span) if value is not None else None
            found[key.text] = Input(
                key.text, schema, item.required is not False, value is not None, data, metadata, key.span
            )
        return found

    def assigned_inputs(self, written: Mapping | None, declared: MappingType[str, Input]) -> dict[str, Input]:
        """Inputs as templates write them: values, typed where the input is declared."""
        if written is None:
            return {}
        found = {}
        for key, node in written.entries():
            definition = declared.get(key.text) or Input(key.text)
            if definition.schema is not None and not is_null(node):
                declared_at = definition.span
                value = self._values.read(node, definition.schema, f'input "{key.text}"', declared_at)
            else:
                value = read_untyped(node, self._diagnostics)
                self._collect(value)
            found[key.text] = msgspec.structs.replace(
                definition, has_value=not is_null(node), value=value, span=key.span
            )
        return found

    def _collect(self, value: Value) -> None:
        self._values.found_calls.extend(calls(value))

    def _outputs(self, written: Mapping | None, entities_allowed: tuple[str, ...]) -> dict[str, tuple[str | int, ...]]:
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
            elif path[0] not in entities_allowed:
                self._diagnostics.error(
                    "bad-mapping",
                    f'output "{key.text}" cannot be mapped to "{path[0]}" here',
                    node.items[0].span if isinstance(node, Sequence) else node.span,
                    hint=f"begin with {' or '.join(entities_allowed)}",
                )
            else:
                found[key.text] = path
        return found

    def _finish_operation(
        self,
        interface: InterfaceParts,
        parts: OperationParts,
        artifacts: MappingType[str, Artifact],
        hosts: tuple[str, ...],
    ) -> Operation:
        primary, dependencies = self.implementation(parts.implementation, artifacts)
        timeout: int | None = None
        host = ""
        if parts.implementation is not None and isinstance(parts.implementation[0], entities.Implementation):
            timeout = parts.implementation[0].timeout
            host = self.host(parts.implementation[0].operation_host, hosts)
        inputs = _reaching(interface.inputs, parts.inputs)
        self._check_variables(inputs, RELATIONSHIP_VARIABLES if hosts is RELATIONSHIP_HOSTS else NODE_VARIABLES)
        return Operation(
            interface=interface.name,
            name=parts.name,
            implementation=primary,
            dependencies=dependencies,
            timeout=timeout,
            operation_host=host,
            inputs=inputs,
            outputs=parts.outputs,
            description=parts.description,
            span=parts.span,
            output_spans=parts.output_spans,
        )

    def _check_variables(self, inputs: MappingType[str, Input], reserved: tuple[str, ...]) -> None:
        """Warn of inputs that have the name of a variable which is there already (R-4.2-5)."""
        for name in reserved:
            if name in inputs:
                self._diagnostics.warning(
                    "reserved-variable",
                    f'input "{name}" has the name of a reserved variable, which keeps its own value',
                    inputs[name].span,
                    hint="rename the input: its value does not reach the environment of the operation",
                )

    def _finish_notification(
        self, interface: InterfaceParts, parts: OperationParts, artifacts: MappingType[str, Artifact]
    ) -> Notification:
        primary, dependencies = self.implementation(parts.implementation, artifacts)
        return Notification(
            interface=interface.name,
            name=parts.name,
            implementation=primary,
            dependencies=dependencies,
            outputs=parts.outputs,
            description=parts.description,
            span=parts.span,
            output_spans=parts.output_spans,
        )

    def implementation(
        self,
        given: tuple[Scalar | entities.Implementation | entities.NotificationImplementation, Unit] | None,
        artifacts: MappingType[str, Artifact],
    ) -> tuple[Artifact | None, tuple[Artifact, ...]]:
        """The artifact that implements something, if any, and those that it depends on (§3.6.16); ``given`` is what is
        written, with the file that writes it."""
        if given is None:
            return None, ()
        written, unit = given
        if isinstance(written, Scalar):
            return self._primary(written, unit, artifacts), ()
        named = (self._artifact(d, unit, artifacts) for d in written.dependencies or ())
        return self._primary(written.primary, unit, artifacts), tuple(d for d in named if d is not None)

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


def _renamed(parts: InterfaceParts, name: str) -> InterfaceParts:
    return msgspec.structs.replace(parts, name=name)


def _reaching(outer: MappingType[str, Input], inner: MappingType[str, Input]) -> dict[str, Input]:
    """The inputs of an operation with those of its interface: the inner ones win (§2.15), but one that only declares
    what it takes is given the value that the interface has for it."""
    found = {**outer, **inner}
    for name, declared in inner.items():
        given = outer.get(name)
        if given is not None and given.has_value and not declared.has_value:
            found[name] = msgspec.structs.replace(declared, has_value=True, value=given.value, span=given.span)
    return found


def _spans(written: Mapping | None) -> dict[str, Span]:
    return {key.text: node.span for key, node in written.entries()} if written is not None else {}


def mapping_path(node: Node) -> tuple[str | int, ...] | None:
    if not isinstance(node, Sequence) or len(node.items) < 2:
        return None
    path: list[str | int] = []
    for position, item in enumerate(node.items):
        if not isinstance(item, Scalar):
            return None
        index = integer(item.text) if item.plain and position > 1 else None
        path.append(item.text if index is None else index)
    return tuple(path)
