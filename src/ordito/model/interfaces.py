"""Interfaces: operations as type after type and at last the template define, implement and assign them
(§3.6.16 to §3.6.20, §3.7.5)."""

from __future__ import annotations

from collections.abc import Mapping as MappingType

import msgspec

from ordito.base.diagnostics import Diagnostics, Related
from ordito.base.span import Span
from ordito.base.suggest import nearest
from ordito.model.artifacts import Artifacts
from ordito.model.definitions import Definitions
from ordito.model.hierarchy import Hierarchy
from ordito.model.operation import (
    ENDS,
    NODE_VARIABLES,
    RELATIONSHIP_VARIABLES,
    Artifact,
    Input,
    Interface,
    Notification,
    Operation,
)
from ordito.model.operation_parameters import (
    NODE_HOSTS,
    NODE_OUTPUTS,
    RELATIONSHIP_HOSTS,
    RELATIONSHIP_OUTPUTS,
    ArtifactFinder,
    Parameters,
)
from ordito.model.units import Unit, Units, find_type
from ordito.model.values import Values
from ordito.source.nodes import Mapping, Scalar
from ordito.syntax import entities
from ordito.syntax.shapes import Entries


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
        self._diagnostics = diagnostics
        self.parameters = Parameters(values, definitions, diagnostics)
        self.implementations = ArtifactFinder(artifacts, diagnostics)
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
                if operation.name == "inputs":
                    self._diagnostics.error(
                        "reserved-name",
                        '"inputs" is a keyname of interfaces and cannot name an operation',
                        operation.span,
                        hint="write inputs beside operations, not below it",
                    )
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
                {**base.inputs, **self.parameters.defined(written.inputs, base.inputs, definition.unit)},
                self._operations(
                    base, written.operations, definition.unit, RELATIONSHIP_OUTPUTS, defining=True, open_ended=True
                ),
                definition.content.span,
                self._notifications(base, written.notifications, definition.unit, RELATIONSHIP_OUTPUTS),
            )
            self._check_overlap(self.shapes[definition.name], base)

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
            if base is inherited.get(base.name):
                base = found[base.name]  # it may stand here under its own name as well
            if not base.kinds:
                found[name] = base
                continue
            inputs = self._inputs(item.inputs, base.inputs, unit, defining)
            if defining:
                self._check_implementations(item, unit, RELATIONSHIP_HOSTS if relationship else NODE_HOSTS)
            operations = self._operations(
                base, item.operations, unit, outputs, defining=defining, open_ended=unit.dialect.is_open
            )
            merged = {**base.inputs, **inputs} if inputs else base.inputs
            notifications = self._notifications(base, item.notifications, unit, outputs)
            found[base.name] = InterfaceParts(base.name, base.kinds, merged, operations, item.span, notifications)
            if item.operations or item.notifications:
                self._check_overlap(found[base.name], base)
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
        """The interfaces of one node or relationship with these artifacts.

        ``known`` are parts that were finished before for the same artifacts, with their results, which are reused.
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
        if unit.dialect.is_open:
            return base or InterfaceParts(name, (item.type.text if item.type is not None else name,))
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
        return self._new(name, item, inherited, owner, defining)

    def _new(
        self,
        name: str,
        item: entities.InterfaceDefinition,
        inherited: MappingType[str, InterfaceParts],
        owner: str,
        defining: bool,
    ) -> InterfaceParts:
        """An interface that nothing declares. In a template, one with the name of a type is taken as that type, with a
        warning, as in samples of chapter 7; otherwise it needs a type."""
        near = nearest(name, inherited)
        if not near and defining:
            self._diagnostics.error(
                "missing-keyname", f'interface "{name}" lacks "type"', item.span, hint="name its interface type"
            )
        elif not near and "." in name:
            self._diagnostics.warning(
                "undeclared-interface",
                f'no interface type is called "{name}", so its operations are those that stand here',
                item.span,
                hint="define an interface type of that name, or give the interface a type",
            )
            operations = {n: OperationParts(n) for n in item.operations or {}}
            return InterfaceParts(name, (name,), {}, operations, item.span)
        else:
            self._diagnostics.unknown("unknown-interface", f"interface of {owner}", name, item.span, inherited)
        return InterfaceParts(name, ())

    def _check_implementations(self, item: entities.InterfaceDefinition, unit: Unit, hosts: tuple[str, ...]) -> None:
        """What implements the operations of a type is checked whether a template uses it or not."""
        for operation in (item.operations or {}).values():
            self.implementations.check(operation.implementation, unit, hosts)
        for notification in (item.notifications or {}).values():
            self.implementations.check(notification.implementation, unit, hosts)

    def _warn_of_double(
        self,
        name: str,
        item: entities.InterfaceDefinition,
        shape: InterfaceParts,
        inherited: MappingType[str, InterfaceParts],
    ) -> None:
        """Warn of an interface with nearly the same name as another one of its type; a second one with another name is
        allowed."""
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

    def _inputs(
        self, written: Mapping | None, declared: MappingType[str, Input], unit: Unit, defining: bool
    ) -> dict[str, Input]:
        if defining:
            return self.parameters.defined(written, declared, unit)
        return self.parameters.assigned(written, declared)

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
            anew = item.replaces or (unit.dialect.is_free and item.implementation is not None)
            inherited = found.get(name) if not anew else OperationParts(name)
            if inherited is None:
                if not open_ended and not defining:
                    what = f'operation of interface "{base.name}"'
                    self._diagnostics.unknown("unknown-operation", what, name, item.span, base.operations)
                    continue
                if not open_ended:
                    self._undeclared(base, name, item)
                inherited = OperationParts(name)
            inputs, mapped, spans = inherited.inputs, inherited.outputs, inherited.output_spans
            if item.inputs is not None:
                inputs = {**inputs, **self._inputs(item.inputs, {**base.inputs, **inputs}, unit, defining)}
            if item.outputs is not None:
                mapped = {**mapped, **self.parameters.mapped(item.outputs, outputs)}
                spans = {**spans, **_spans(item.outputs)}
            found[name] = OperationParts(
                name,
                (item.implementation, unit) if item.implementation is not None else inherited.implementation,
                inputs,
                mapped,
                item.description.text if item.description else inherited.description,
                item.span,
                spans,
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
                {**inherited.outputs, **self.parameters.mapped(item.outputs, outputs)},
                item.description.text if item.description else inherited.description,
                item.span,
                {**inherited.output_spans, **_spans(item.outputs)},
            )
        return found

    def _check_overlap(self, interface: InterfaceParts, base: InterfaceParts) -> None:
        """An operation and a notification of one interface cannot have the same name (§3.6.20.4)."""
        for name, notification in interface.notifications.items():
            operation = interface.operations.get(name)
            if operation is not None and not (name in base.operations and name in base.notifications):
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

    def _finish_operation(
        self,
        interface: InterfaceParts,
        parts: OperationParts,
        artifacts: MappingType[str, Artifact],
        hosts: tuple[str, ...],
    ) -> Operation:
        primary, dependencies = self.implementations.find(parts.implementation, artifacts)
        timeout: int | None = None
        host = ""
        if parts.implementation is not None and isinstance(parts.implementation[0], entities.Implementation):
            timeout = parts.implementation[0].timeout
            host = self.implementations.host(parts.implementation[0].operation_host, hosts)
        inputs = _reaching(interface.inputs, parts.inputs)
        if inputs:
            self._check_variables(inputs, of_relationship=hosts is RELATIONSHIP_HOSTS)
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

    def _check_variables(self, inputs: MappingType[str, Input], *, of_relationship: bool) -> None:
        """Warn of inputs with the name of a reserved variable, even one that is not set yet (R-4.2-5)."""
        for name in () if of_relationship else ENDS:
            if name in inputs:
                self._diagnostics.warning(
                    "reserved-variable",
                    f'input "{name}" has the name of a variable that is reserved for operations of relationships',
                    inputs[name].span,
                    hint="rename the input: scripts understand it as an end of a relationship",
                )
        for name in RELATIONSHIP_VARIABLES if of_relationship else NODE_VARIABLES:
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
        primary, dependencies = self.implementations.find(parts.implementation, artifacts)
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


def _renamed(parts: InterfaceParts, name: str) -> InterfaceParts:
    return msgspec.structs.replace(parts, name=name)


def _reaching(outer: MappingType[str, Input], inner: MappingType[str, Input]) -> dict[str, Input]:
    """The inputs of an operation with those of its interface: the inner ones win (§2.15), but one that is only declared
    gets the value that the interface has for it."""
    found = {**outer, **inner}
    for name, declared in inner.items() if outer else ():
        given = outer.get(name)
        if given is not None and given.has_value and not declared.has_value:
            found[name] = msgspec.structs.replace(declared, has_value=True, value=given.value, span=given.span)
    return found


def _spans(written: Mapping | None) -> dict[str, Span]:
    return {key.text: node.span for key, node in written.entries()} if written is not None else {}
