"""Checks the references of function calls: every entity, property, attribute, artifact and operation that a call names
must exist, and its result must have the type that its place needs (chapter 4). No value may depend on itself."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from collections.abc import Mapping as MappingType

import msgspec

from ordito.base.diagnostics import Diagnostics, Related
from ordito.base.span import Span
from ordito.model.checking import STRING
from ordito.model.constraints import violation
from ordito.model.mappings import AttributeMappings
from ordito.model.operation import Interface, interface_named
from ordito.model.places import Place, ReadValue, Slot
from ordito.model.reach import CallFaults, NoFaults, Reach
from ordito.model.schema import ANY, DataType, PropertyDefinition, Schema, fits, shown
from ordito.model.service import NodeTemplate, Output, Relationship
from ordito.model.templates import SUBSTITUTE, Templates, held_calls
from ordito.model.types import Types
from ordito.model.units import Units, find_type
from ordito.model.values_with_calls import Holders
from ordito.source.nodes import Scalar
from ordito.syntax.expressions import Call, Needs, Value, calls, is_static
from ordito.syntax.functions import BLUEPRINT, FORMS
from ordito.syntax.shapes import is_lost
from ordito.syntax.topology import TopologyTemplate

INDEX = "INDEX"


class References:
    """Checks calls against a whole topology.

    ``check_all`` is the only entry: it gets the calls in a value and their ``Place``, whose ``inputs`` are added to
    those of the topology.
    """

    def __init__(
        self,
        topology: TopologyTemplate,
        types: Types,
        units: Units,
        nodes: MappingType[str, NodeTemplate],
        relationship_templates: MappingType[str, tuple[Relationship, ...]],
        inputs: MappingType[str, PropertyDefinition],
        diagnostics: Diagnostics,
    ) -> None:
        self._topology = topology
        self._types = types
        self._units = units
        self._inputs = inputs
        self.diagnostics = diagnostics
        self._faults = CallFaults(diagnostics)
        self._named: dict[int, Call] = {}
        self.of_substituted: list[ReadValue] = []
        """What is read from nodes for which topologies are to stand: these must have it as well."""
        self._reach = Reach(topology, types, nodes, relationship_templates, self._faults)
        self.silent = Reach(topology, types, nodes, relationship_templates, NoFaults())
        """Follows calls without a word."""
        self.cycles = Cycles(self.silent, diagnostics)

    def check_all(self, found: Iterable[Call], place: Place) -> None:
        """Check calls; the fault of one is reported once, however many templates share it."""
        for call in found:
            if call.function in CHECKS and not self._faults.is_reported(call):
                CHECKS[call.function](self, call, place)

    def direct(self, call: Call, node: NodeTemplate) -> bool:
        """Whether a call is right, or wrong, for every template of the node's type alike, since it refers to what the
        type has."""
        if call.function in {"get_property", "get_attribute"}:
            name = call.arguments[1]
            own = name in node.definitions or (call.function == "get_attribute" and name in node.attribute_definitions)
            return call.arguments[0] == "SELF" and own and name not in node.capabilities and len(call.arguments) == 2
        if call.function == "get_input":
            return INDEX not in call.arguments
        return call.function in {"concat", "join", "token", "get_nodes_of_type"}

    # ------------------------------------------------------------------------------------------------- values

    def _text(self, call: Call, place: Place) -> None:
        """concat, join and token, whose arguments are checked by themselves."""
        if isinstance(call.needs, Needs):  # a place with a type has compared it already
            self._compare(call, place, Schema(FORMS[call.function].gives), None)

    def _input(self, call: Call, place: Place) -> None:
        name = str(call.arguments[0])
        definition = place.inputs.get(name) or self._inputs.get(name)
        if definition is not None:
            value = definition.default if definition.fixed else None
            schema = self._inside(call, place, f'input "{name}"', definition.schema, 1, value)
            self._compare(call, place, schema, definition.span)
        elif not is_lost(self._topology.inputs, name):
            self._faults.unknown(call, "input", name, "the topology", [*place.inputs, *self._inputs], 0)

    def _value(self, call: Call, place: Place) -> None:
        """get_property and get_attribute: [entity, (capability or requirement,) name, ...]."""
        slot = self._reach.find(call, place)
        if slot is None:
            return
        if isinstance(slot.owner, NodeTemplate) and SUBSTITUTE in slot.owner.directives:
            named = slot.owner is place.node if call.arguments[0] == "SELF" else call.arguments[0] == slot.owner.name
            if named:
                self.of_substituted.append(ReadValue(call, slot))
        what = "property" if call.function == "get_property" else "attribute"
        value: Value = None
        if what == "property":
            _, value = slot.value(what)
        schema = self._inside(call, place, f'{what} "{slot.name}"', slot.schema, slot.rest, value)
        self._compare(call, place, schema, slot.definition.span)

    def _node(self, call: Call, place: Place) -> None:
        """The functions of blueprints that ask all instances of a node."""
        self._reach.entity(call, place)

    def _compare(self, call: Call, place: Place, given: Schema | None, declared: Span | None) -> None:
        """Report a call whose result can never be what its place needs (R-4.4.1-3)."""
        if given is None or fits(given, call.needs, self._types.data):
            return
        if place.keywords == () and call.function in OF_INSTANCES and self._holds(call.needs, given):
            return
        message = f"{call.function} gives {shown(given)} here, and {shown(call.needs)} is needed"
        hint = "refer to a value of the type that is needed, or change the type of one of them"
        related = (Related("its type is declared here", declared),) if declared is not None else ()
        if self._is_number_for_text(given, call.needs):
            self._faults.objection(call, "number-for-text", message, hint, related)
        else:
            self._faults.error(call, "bad-value", message, hint, related=related)

    def _is_number_for_text(self, given: Schema, needed: object) -> bool:
        """Whether a call gives a number where a text is needed, which every number has."""
        base = self._types.values.base
        return isinstance(needed, Schema) and base(needed) == "string" and base(given) in {"integer", "float"}

    def _holds(self, needed: object, given: Schema) -> bool:
        """Whether a list or map can hold the values of a schema: what an output gets that is of several instances."""
        if not isinstance(needed, Schema) or self._types.values.base(needed) not in {"list", "map"}:
            return False
        entry = needed.entry or self._types.data[needed.type].entry
        return entry is None or fits(given, entry, self._types.data)

    def _inside(  # noqa: C901  (a case for each kind of type)
        self, call: Call, place: Place, what: str, schema: Schema, start: int, value: Value = None
    ) -> Schema | None:
        """The schema to which names and indexes lead from a value of a schema; a fault is reported. What the documents
        give for the value is looked at as far as it is known."""
        for at in range(start, len(call.arguments)):
            part = call.arguments[at]
            data_type = self._types.data.get(schema.type)
            if data_type is None:
                return None
            if data_type.base == ANY:
                pass  # whatever is inside may be anything as well
            elif isinstance(part, Call) and data_type.base == "":
                return None
            elif data_type.base == "":
                field = data_type.properties.get(str(part))
                if field is None:
                    owner = f"{what} ({data_type.name})"
                    self._faults.unknown(call, "field", str(part), owner, data_type.properties, at)
                    return None
                schema = field.schema
            elif data_type.base in {"list", "map"} or (data_type.base == "range" and _is_index(part)):
                if wrong := self._excluded(schema, data_type, part):
                    self._faults.error(call, "bad-call", f"{what} {wrong}", "name one that its type allows", at)
                    return None
                schema = INTEGER if data_type.base == "range" else schema.entry or data_type.entry or STRING
            else:
                self._faults.error(
                    call,
                    "bad-call",
                    f'{what} is {shown(schema)}, which has no part "{part}"',
                    "end the list before it",
                    at,
                )
                return None
            if isinstance(value, list | dict):
                if self._is_missing(call, place, what, value, at):
                    return None
                value = _entry(value, part)
            else:
                value = None
        return schema

    def _excluded(self, schema: Schema, data_type: DataType, part: Value) -> str:
        """Why a list, map or range of a type never has a part at an index or by a key; "" where it may have."""
        if data_type.base == "list" and not _is_index(part):
            return f'is a list: an index from 0 on is needed, not "{part}"'
        if isinstance(part, Call) or part == INDEX:
            return ""
        if data_type.base == "range":
            return (
                "" if int(str(part)) < BOUNDS else "is a range, which has two parts: 0 is the lower bound, 1 the upper"
            )
        if data_type.base == "list":
            clauses = [*schema.constraints, *data_type.constraints]
            most = [c.operand for c in clauses if c.operator in MOST_ENTRIES and isinstance(c.operand, int)]
            return f"has at most {min(most)} entries" if most and int(str(part)) >= min(most) else ""
        key = schema.key or data_type.key
        if key is None or self._types.values.base(key) != "string":
            return ""
        wanted = [*key.constraints, *self._types.data[key.type].constraints]
        wrong = next((w for c in wanted if (w := violation(str(part), c, "string"))), "")
        return f'has no key "{part}": a key {wrong}' if wrong else ""

    def _is_missing(self, call: Call, place: Place, what: str, value: list[Value] | dict[str, Value], at: int) -> bool:
        """Whether a list or map that is written has no such entry, which is reported (R-4.4.2-7)."""
        part = call.arguments[at]
        if isinstance(part, Call):
            return False
        if isinstance(value, dict):
            if str(part) in value:
                return False
            hint = self.diagnostics.suggestion(str(part), value)
            self._faults.error(call, "unknown-entry", f'{what} has no entry "{part}"', hint, at)
            return True
        last = part if isinstance(part, int) else _last_index(place) if part == INDEX else int(str(part))
        if last < len(value):
            return False
        entries = "1 entry" if len(value) == 1 else f"{len(value)} entries"
        asked = f"index {last} was requested" + (" by INDEX" if part == INDEX else "")
        self._faults.error(call, "unknown-entry", f"{what} has {entries}, and {asked}", "count from 0", at)
        return True

    # ------------------------------------------------------------------------- artifacts, operations, node types

    def _artifact(self, call: Call, place: Place) -> None:
        self._text(call, place)
        name = str(call.arguments[1])
        if call.arguments[0] == "HOST":
            self._artifact_of_hosts(call, place, name)
            return
        owner = self._reach.entity(call, place)
        if owner is not None and name not in owner.artifacts:
            shown_owner = owner.name if isinstance(owner, NodeTemplate) else owner.key
            self._faults.unknown(call, "artifact", name, f'"{shown_owner}"', owner.artifacts, 1)

    def _artifact_of_hosts(self, call: Call, place: Place, name: str) -> None:
        if place.node is None:
            self._faults.error(call, "bad-call", "HOST means something in node templates only", place.hint(), 0)
            return
        known: dict[str, None] = {}
        hosts = list(self._reach.hosts(place.node))
        for host in hosts:
            if name in host.artifacts:
                return
            known.update(dict.fromkeys(host.artifacts))
        if hosts:
            self._faults.unknown(call, "artifact", name, f'any host of "{place.node.name}"', known, 1)
        else:
            self._reach.no_host(call, place.node)

    def _output(self, call: Call, place: Place) -> None:
        """get_operation_output: [entity, interface, operation, output]. The interface may be named by its type as the
        file in which it is written calls that; from here on the call has the type's full name."""
        entity, interface, operation = (str(a) for a in call.arguments[:3])
        if entity == "HOST":
            self._faults.error(call, "bad-call", "get_operation_output knows no HOST", place.hint("HOST"), 0)
            return
        owner = self._reach.entity(call, place)
        if owner is None:
            return
        found = interface_named(owner.interfaces, interface) or self._of_type(owner.interfaces, call)
        if found is None:
            self._faults.unknown(call, "interface", interface, f'"{entity}"', owner.interfaces, 1)
        elif operation not in found.operations and found.kinds:
            self._faults.unknown(call, "operation", operation, f'interface "{found.name}"', found.operations, 2)

    def _of_type(self, interfaces: MappingType[str, Interface], call: Call) -> Interface | None:
        unit = self._units.of_source(call.span.source)
        kind = find_type("interface", str(call.arguments[1]), unit, self._units) if unit is not None else None
        found = interface_named(interfaces, kind.name) if kind is not None else None
        if found is not None and kind is not None:
            arguments = (call.arguments[0], kind.name, *call.arguments[2:])
            msgspec.structs.force_setattr(call, "arguments", arguments)
        return found

    def _nodes_of_type(self, call: Call, place: Place) -> None:
        """get_nodes_of_type: the type is looked for as the file in which it is written sees it; from here on the call
        has its full name."""
        self._text(call, place)
        unit = self._units.of_source(call.span.source)
        if unit is None or id(call) in self._named:
            return
        at = call.argument_span(0)
        place_of_name = (at.source, at.line, at.column, at.end_line, at.end_column)
        found = self._units.require("node", Scalar(*place_of_name, str(call.arguments[0]), True), unit)
        if found is not None:
            msgspec.structs.force_setattr(call, "arguments", (found.name,))
        self._named[id(call)] = call


def _is_index(part: Value) -> bool:
    """Whether a part of a path may be an index of a list."""
    if isinstance(part, str):
        return part == INDEX or part.isdecimal()
    return isinstance(part, Call) or (isinstance(part, int) and part >= 0)


def _last_index(place: Place) -> int:
    """The greatest number that INDEX stands for in a place, as far as the template says how many instances it has."""
    node = place.node
    count = node.instance_count if node is not None else None
    if isinstance(count, int):
        return count - 1
    least = node.occurrences[0] if node is not None and node.occurrences is not None else 1
    return max(least, 1) - 1


def _entry(value: list[Value] | dict[str, Value], part: Value) -> Value:
    """What a list or map that is written has at a place; None where that cannot be told."""
    if isinstance(value, dict):
        return value.get(str(part)) if not isinstance(part, Call) else None
    if isinstance(part, int) or (isinstance(part, str) and part != INDEX):
        return value[int(part)]
    return None


MOST_ENTRIES = frozenset({"length", "max_length"})
BOUNDS = 2
"""How many parts a range has."""

OF_INSTANCES = frozenset({"get_attribute", "get_operation_output"})
INTEGER = Schema("integer")

CHECKS: dict[str, Callable[[References, Call, Place], None]] = {
    **dict.fromkeys(("concat", "join", "token"), References._text),  # noqa: SLF001
    "get_input": References._input,  # noqa: SLF001  (the table of the class's own checks)
    "get_property": References._value,  # noqa: SLF001
    "get_attribute": References._value,  # noqa: SLF001
    **dict.fromkeys((f"{BLUEPRINT}get_attributes_{what}" for what in ("list", "dict")), References._node),  # noqa: SLF001
    "get_artifact": References._artifact,  # noqa: SLF001
    "get_operation_output": References._output,  # noqa: SLF001
    "get_nodes_of_type": References._nodes_of_type,  # noqa: SLF001
}


# Circles of values: properties and attributes that come to themselves by what they refer to (§4.4.2, R-4.4.2-8).
#
# Only values that hold calls can be part of a circle, so only these are looked at. What an operation needs that it
# gives itself is no circle: it may use what its last run gave.

OF_VALUES = {"get_property": "property", "get_attribute": "attribute"}
MOST_LISTED = 20


class Spot(msgspec.Struct, frozen=True, eq=False):
    """A value with calls in it: the place of its calls, its name in messages, and the value itself."""

    place: Place
    name: str
    value: Value

    @property
    def key(self) -> tuple[str, str, int]:
        """A unique key; it holds the owner, since types share values."""
        relationship = self.place.relationship
        node = self.place.node
        return (node.name if node is not None else "", relationship.key if relationship else "", id(self.value))


class Cycles:
    """Finds cycles of values. ``reach`` follows calls; their faults are reported elsewhere."""

    def __init__(self, reach: Reach, diagnostics: Diagnostics) -> None:
        self._reach = reach
        self._diagnostics = diagnostics
        self._done: dict[tuple[str, str, int], bool] = {}
        """By value, whether it is still open: it waits for what it refers to."""
        self._holders = Holders()
        self._reported: set[frozenset[int]] = set()

    def check(self, owner: NodeTemplate | Relationship) -> None:
        """Look for cycles from all values of a node or relationship on."""
        for held in self._holders.held(owner):
            if not is_static(held.value):
                prefix = f"{held.capability.name}." if held.capability is not None else ""
                name = owner.name if isinstance(owner, NodeTemplate) else owner.key
                place = Place(node=owner) if isinstance(owner, NodeTemplate) else Place(relationship=owner)
                self._follow(Spot(place, f"{name}.{prefix}{held.name}", held.value))

    def _follow(self, start: Spot) -> None:
        if start.key in self._done:
            return
        self._done[start.key] = True
        path: list[tuple[Spot, Iterator[tuple[Call, Spot]], Call | None]] = [(start, self._edges(start), None)]
        while path:
            spot, edges, _ = path[-1]
            edge = next(edges, None)
            if edge is None:
                self._done[spot.key] = False
                path.pop()
                continue
            call, following = edge
            is_open = self._done.get(following.key)
            if is_open:
                self._report([*((s, c) for s, _, c in path), (following, call)])
            elif is_open is None:
                self._done[following.key] = True
                path.append((following, self._edges(following), call))

    def _edges(self, spot: Spot) -> Iterator[tuple[Call, Spot]]:
        """The values with calls in them that a value refers to, with the call that does."""
        for call in calls(spot.value):
            what = OF_VALUES.get(call.function)
            slot = self._reach.find(call, spot.place) if what is not None else None
            if what is not None and slot is not None:
                following = _spot(slot, call, what)
                if following is not None:
                    yield call, following

    def _report(self, path: list[tuple[Spot, Call | None]]) -> None:
        """Report a cycle: the path from where its last value was met first. ``path`` pairs each value with the call
        that led to it."""
        last = path[-1][0].key
        begin = next(i for i, (spot, _) in enumerate(path) if spot.key == last)
        circle = path[begin:]
        involved = [call for _, call in circle[1:] if call is not None]
        if frozenset(map(id, involved)) in self._reported:
            return
        self._reported.add(frozenset(map(id, involved)))
        names = [spot.name for spot, _ in circle]
        if len(names) > MOST_LISTED:
            names = [*names[: MOST_LISTED - 2], f"... ({len(names) - MOST_LISTED} more)", *names[-2:]]
        self._diagnostics.error(
            "value-cycle",
            f"a value depends on itself: {' -> '.join(names)}",
            involved[0].span,
            hint="give one of them a value of its own",
        )


def _spot(slot: Slot, call: Call, what: str) -> Spot | None:
    """The value, or the part of one, that a call leads to; None where it holds no call."""
    _, value = slot.value(what)
    name = slot.path
    for part in call.arguments[slot.rest :]:
        inner = _part(value, part)
        if inner is None:
            break
        value, name = inner, f"{name}.{part}"
    if not isinstance(value, Call | list | dict) or is_static(value):
        return None
    owner = slot.owner
    place = Place(node=owner) if isinstance(owner, NodeTemplate) else Place(relationship=owner)
    return Spot(place, name, value)


def _part(value: Value, part: Value) -> Value:
    """What is written at a place of a list or map; None where that cannot be told."""
    if isinstance(value, dict) and isinstance(part, str | int):
        return value.get(str(part))
    if isinstance(value, list) and isinstance(part, int) and 0 <= part < len(value):
        return value[part]
    return None


# Checking the function calls of a whole topology, each where it is written (chapter 4).


def check_calls(
    templates: Templates,
    unbound: Iterable[Relationship],
    between: MappingType[str, Iterable[Call]],
    outputs: MappingType[str, Output],
    references: References,
    mappings: AttributeMappings,
) -> None:
    """Check the references of all calls. Calls of a type are checked once where the result is the same for all its
    templates, the others for each template that does not override their value. ``between`` are the calls of
    relationships by their keys, also of ``unbound`` ones."""
    varying: dict[str, list[Call]] = {}
    for name, node in templates.nodes.items():
        copied = templates.copied(name)
        if copied is None:
            _check_node(node, templates, varying, between, references, mappings)
            continue
        with references.diagnostics.about(copied):
            _check_node(node, templates, varying, between, references, mappings)
    for relationship in unbound:
        with references.diagnostics.about(templates.copied(relationship.source)):
            _check_relationship(relationship, between, references, mappings)
    for output in outputs.values():
        references.check_all(calls(output.value), Place())


def _check_node(
    node: NodeTemplate,
    templates: Templates,
    varying: dict[str, list[Call]],
    between: MappingType[str, Iterable[Call]],
    references: References,
    mappings: AttributeMappings,
) -> None:
    """Check the calls of one template and of its relationships."""
    place = Place(node=node)
    own, shared = templates.calls[node.name], templates.shared_calls(node.type)
    if own:
        references.check_all(own, place)
    if node.existing:
        return  # it has values instead of the calls of its type, and nothing is run on it
    if node.type not in varying:
        varying[node.type] = [c for c in shared if not references.direct(c, node)]
        references.check_all((c for c in shared if references.direct(c, node)), place)
    if shared or node.name in templates.calling:
        references.cycles.check(node)
    if varying[node.type]:
        held = {id(c) for c in held_calls(node)}
        references.check_all((c for c in varying[node.type] if id(c) in held), place)
    mappings.check(node.interfaces, place)
    for relationship in node.requirements:
        _check_relationship(relationship, between, references, mappings)


def _check_relationship(
    relationship: Relationship,
    between: MappingType[str, Iterable[Call]],
    references: References,
    mappings: AttributeMappings,
) -> None:
    place = Place(relationship=relationship)
    if linking := between[relationship.key]:
        references.check_all(linking, place)
        references.cycles.check(relationship)
    mappings.check(relationship.interfaces, place)
