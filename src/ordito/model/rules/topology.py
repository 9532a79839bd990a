"""A resolved topology as its rules see it: nodes, capabilities and relationships with the values that are known."""

from __future__ import annotations

from collections.abc import Mapping as MappingType

import msgspec

from ordito.base.diagnostics import Diagnostics
from ordito.base.span import Span
from ordito.model.imperative import Policy
from ordito.model.schema import PropertyDefinition
from ordito.model.service import Capability, NodeTemplate, Relationship
from ordito.model.values import Written, is_bundled
from ordito.source.nodes import Mapping
from ordito.syntax.expressions import Call, Value


class Owner(msgspec.Struct, frozen=True):
    """An owner of properties: a node, one of its capabilities, a relationship, or a policy.

    Where its values hold errors, which were reported, all of its values count as unknown and none as missing.
    """

    values: MappingType[str, Value]
    definitions: MappingType[str, PropertyDefinition]
    assigned: frozenset[str]
    written: Mapping | None
    is_sound: bool
    span: Span | None
    inputs: MappingType[str, Value] | None
    diagnostics: Diagnostics

    def known(self, name: str) -> Value:
        """The value of a property; None where it has none, or one that only a function's evaluation gives."""
        if not self.is_sound:
            return None
        value = self.values.get(name)
        return given_by(value, self.inputs) if isinstance(value, Call) else value

    def has(self, name: str) -> bool:
        """Whether a property has a value, be it known or not."""
        if not self.is_sound:
            return True
        value = self.values.get(name)
        if isinstance(value, Call) and value.function == "get_input" and self.inputs is not None:
            return given_by(value, self.inputs) is not None
        return value is not None

    def is_assigned(self, name: str) -> bool:
        """Whether the template, or a type that is not normative, gives a property a value."""
        return name in self.assigned and self.has(name)

    def at(self, name: str) -> Span | None:
        """The place of a property's value: in the template, or of its call or default, or else of its owner. Once
        inputs are known, they may break a rule, so a call of another property is preferred to the owner."""
        if self.written is not None and name in self.written.values:
            return self.written.values[name].span
        value, definition = self.values.get(name), self.definitions.get(name)
        if isinstance(value, Call):
            return value.span
        if name in self.assigned and definition is not None and not is_bundled(definition.span):
            return definition.span
        of_calls = (v.span for v in self.values.values() if isinstance(v, Call) and self.inputs is not None)
        return next(of_calls, self.span)

    def error(self, code: str, message: str, span: Span | None, hint: str) -> None:
        """Report that a rule is broken."""
        self.diagnostics.error(code, message, span, hint=hint)


class Topology(msgspec.Struct, frozen=True):
    """All nodes, relationships and policies. ``written`` finds where the properties of one stand, ``inputs``
    are the values of the inputs, None as long as they are not known. ``seen`` is for rules that look at something
    once."""

    nodes: MappingType[str, NodeTemplate]
    incoming: MappingType[str, tuple[Relationship, ...]]
    diagnostics: Diagnostics
    policies: MappingType[str, Policy] = {}
    written: Written = msgspec.field(default_factory=Written)
    inputs: MappingType[str, Value] | None = None
    seen: set[tuple[str, str]] = msgspec.field(default_factory=set)

    def node(self, node: NodeTemplate) -> Owner:
        """A node template as an owner of properties."""
        return self._owner(node.properties, node.definitions, node.assigned, node.span)

    def capability(self, node: NodeTemplate, capability: Capability) -> Owner:
        """A capability of a node template as an owner of properties."""
        return self._owner(capability.properties, capability.definitions, capability.assigned, node.span)

    def relationship(self, relationship: Relationship) -> Owner:
        """A relationship as an owner of properties."""
        return self._owner(
            relationship.properties, relationship.definitions, frozenset(relationship.properties), relationship.span
        )

    def policy(self, policy: Policy) -> Owner:
        """A policy as an owner of properties."""
        return self._owner(policy.properties, policy.definitions, frozenset(policy.properties), policy.span)

    def first_time(self, what: str, name: str) -> bool:
        """Whether this is the first call with these arguments."""
        if (what, name) in self.seen:
            return False
        self.seen.add((what, name))
        return True

    def _owner(
        self,
        values: MappingType[str, Value],
        definitions: MappingType[str, PropertyDefinition],
        assigned: frozenset[str],
        span: Span | None,
    ) -> Owner:
        written, is_sound = self.written.of(values)
        return Owner(values, definitions, assigned, written, is_sound, span, self.inputs, self.diagnostics)


def given_by(call: Call, inputs: MappingType[str, Value] | None) -> Value:
    """What a call gives where it only reads an input whose value is known; None otherwise."""
    if inputs is None or call.function != "get_input":
        return None
    value = inputs.get(str(call.arguments[0]))
    for part in call.arguments[1:]:
        if isinstance(value, dict):
            value = value.get(str(part))
        elif isinstance(value, list) and isinstance(part, int) and 0 <= part < len(value):
            value = value[part]
        else:
            return None
    return value
