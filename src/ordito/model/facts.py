"""Values that are known before anything is deployed: from constants, defaults and inputs.

Nodes are selected by such values (§3.6.5, R-3.6.5-4). A value that is known only at run time, or depends on an input
without a value, is unknown, with the reason.
"""

from __future__ import annotations

from collections.abc import Container, Iterator
from collections.abc import Mapping as MappingType
from itertools import islice

import msgspec

from ordito.model.hosting import chain
from ordito.model.service import NodeTemplate
from ordito.syntax.expressions import Call, Value

MOST_STEPS = 100
"""How many values may refer to each other in a chain; a value beyond that counts as unknown."""

MOST_TEXT = 1_000_000
"""How long a text may become: one that is put together of itself doubles with each step."""


class Unknown(msgspec.Struct, frozen=True):
    """A value that is not known yet, or never will be."""

    reason: str
    """Why it is not known."""
    at_fault: bool = False
    """Whether the document has a fault there, which is reported elsewhere."""


class Facts:
    """The known values of a topology's nodes. ``inputs`` are the known values of inputs, ``declared`` the names of all
    inputs."""

    def __init__(
        self, nodes: MappingType[str, NodeTemplate], inputs: MappingType[str, Value], declared: Container[str]
    ) -> None:
        self._nodes = nodes
        self._declared = declared
        self._inputs = inputs
        self._known: dict[tuple[str, int], tuple[Call, Value]] = {}
        """What calls came to, by node and call: many ways may lead to one."""

    def of(self, value: Value, node: NodeTemplate, steps: int = 0) -> Value | Unknown:
        """What a value that stands in a node comes to."""
        if isinstance(value, Call):
            if steps > MOST_STEPS:
                return Unknown("it depends on too many other values")
            known = self._known.get((node.name, id(value)))
            if known is not None:
                return known[1]
            fact = self._call(value, node, steps + 1)
            if not isinstance(fact, Unknown):
                self._known[node.name, id(value)] = (value, fact)
            return fact
        if isinstance(value, list):
            return self._list(value, node, steps)
        if isinstance(value, dict):
            entries = self._list([*value.values()], node, steps)
            return entries if isinstance(entries, Unknown) else dict(zip(value, entries, strict=True))
        return value

    def _list(self, values: list[Value], node: NodeTemplate, steps: int) -> list[Value] | Unknown:
        found: list[Value] = []
        for value in values:
            fact = self.of(value, node, steps)
            if isinstance(fact, Unknown):
                return fact
            found.append(fact)
        return found

    def _call(self, call: Call, node: NodeTemplate, steps: int) -> Value | Unknown:
        if call.function == "get_input":
            return self._input(call, node, steps)
        if call.function == "get_property":
            return self._property(call, node, steps)
        arguments = self._list([*call.arguments], node, steps)
        if isinstance(arguments, Unknown):
            return arguments
        if call.function == "concat":
            return _joined("", arguments)
        if call.function == "join" and isinstance(arguments[0], list):
            delimiter = _text(arguments[1]) if len(arguments) > 1 else ""
            return _joined(delimiter, arguments[0])
        if call.function == "token":
            return _token(arguments)
        return Unknown(f"{call.function} is known at run time only")

    def _input(self, call: Call, node: NodeTemplate, steps: int) -> Value | Unknown:
        name = str(call.arguments[0])
        if name not in self._inputs:
            return Unknown(f'input "{name}" has no value yet', at_fault=name not in self._declared)
        fact = self.of(self._inputs[name], node, steps)
        return fact if isinstance(fact, Unknown) else _part(fact, call.arguments[1:])

    def _property(self, call: Call, node: NodeTemplate, steps: int) -> Value | Unknown:
        entity = str(call.arguments[0])
        for owner in self._meant(entity, node):
            for value, place, rest in self._places(owner, call.arguments[1:]):
                fact = self.of(value, place, steps)
                return fact if isinstance(fact, Unknown) else _part(fact, rest)
        return Unknown("it has no value")

    def _meant(self, entity: str, node: NodeTemplate) -> Iterator[NodeTemplate]:
        """The nodes that the first argument of a function may mean, the likeliest first."""
        if entity == "SELF":
            yield node
        elif entity == "HOST":
            yield from islice(chain(self._nodes, node.name), 1, None)
        elif entity in self._nodes:
            yield self._nodes[entity]

    def _places(
        self, node: NodeTemplate, path: tuple[Value, ...]
    ) -> Iterator[tuple[Value, NodeTemplate, tuple[Value, ...]]]:
        """The values that a path may mean, each with the node it stands in and the rest of the path."""
        name, rest = str(path[0]), path[1:]
        if name in node.properties:
            yield node.properties[name], node, rest
        if not rest:
            return
        inner = str(rest[0])
        capability = node.capabilities.get(name)
        if capability is not None and inner in capability.properties:
            yield capability.properties[inner], node, rest[1:]
        for relationship in node.requirements:
            target = self._nodes.get(relationship.target)
            if relationship.requirement != name or target is None:
                continue
            offered = target.capabilities.get(relationship.capability)
            if offered is not None and inner in offered.properties:
                yield offered.properties[inner], target, rest[1:]
            if inner in target.properties:
                yield target.properties[inner], target, rest[1:]


def _part(value: Value, path: tuple[Value, ...]) -> Value | Unknown:
    """The part of a value that a path leads to."""
    for step in path:
        if isinstance(value, dict) and str(step) in value:
            value = value[str(step)]
        elif isinstance(value, list) and isinstance(step, int) and 0 <= step < len(value):
            value = value[step]
        else:
            return Unknown(f'it has no part "{step}"')
    return value


def _joined(delimiter: str, parts: list[Value]) -> str | Unknown:
    texts = [_text(p) for p in parts]
    if sum(map(len, texts)) + len(delimiter) * len(texts) > MOST_TEXT:
        return Unknown(f"it becomes longer than {MOST_TEXT:,} characters")
    return delimiter.join(texts)


def _text(value: Value) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _token(arguments: list[Value]) -> Value | Unknown:
    text, characters, index = arguments
    parts = [_text(text)]
    for character in dict.fromkeys(_text(characters)):
        parts = [piece for part in parts for piece in part.split(character)]
    return parts[index] if isinstance(index, int) and 0 <= index < len(parts) else Unknown("token finds no such part")
