"""Conditions: assertions about attributes, typed by what they are about (§3.6.24, §3.6.25)."""

from __future__ import annotations

from collections.abc import Iterable

from ordito.base.diagnostics import Diagnostics
from ordito.base.span import Span
from ordito.base.suggest import nearest
from ordito.model.definitions import Definitions
from ordito.model.imperative import Assertion, Condition
from ordito.model.schema import Constraint, PropertyDefinition
from ordito.model.subjects import Subject
from ordito.syntax import conditions as written

STATE = "state"
NODE_STATES = (
    "initial",
    "creating",
    "created",
    "configuring",
    "configured",
    "starting",
    "started",
    "stopping",
    "deleting",
    "deleted",
    "error",
)
"""The states that nodes have of themselves (§3.4.1), and ``deleted`` afterwards; workflows may set others."""


class Conditions:
    """Reads conditions."""

    def __init__(self, definitions: Definitions, diagnostics: Diagnostics) -> None:
        self._definitions = definitions
        self._diagnostics = diagnostics

    def read(self, clause: written.Clause | None, subject: Subject) -> Condition | None:
        """A condition about a subject; the nesting of documents is bounded by the loader."""
        if clause is None:
            return None
        parts: list[Condition | Assertion] = []
        for part in clause.parts:
            read = self.read(part, subject) if isinstance(part, written.Clause) else self._assertion(part, subject)
            if read is not None:
                parts.append(read)
        return Condition(clause.operator, tuple(parts), clause.span)

    def _assertion(self, assertion: written.Assertion, subject: Subject) -> Assertion | None:
        name = assertion.attribute.text
        definition = self._definition(assertion, subject)
        if definition is None:
            return None
        schema = self._definitions.constrained(definition.schema, list(assertion.constraints))
        added = schema.constraints[len(definition.schema.constraints) :]
        if name == STATE:
            for constraint in added:
                warn_of_states(_texts(constraint), constraint.span, self._diagnostics)
        return Assertion(name, added, assertion.attribute.span)

    def _definition(self, assertion: written.Assertion, subject: Subject) -> PropertyDefinition | None:
        """The definition of the attribute, the first where several have it."""
        name = assertion.attribute.text
        found = [h.value(name) for h in subject.holders]
        known = next((d for d in found if d is not None), None)
        if subject.certain and (None in found if subject.every else known is None):
            lacking = subject.holders[found.index(None)] if None in found else None
            owner = lacking.name if lacking is not None else subject.what
            candidates = {n for h in subject.holders for n in h.values}
            self._diagnostics.error(
                "unknown-attribute",
                f'{owner} has no attribute "{name}"',
                assertion.attribute.span,
                hint=self._diagnostics.suggestion(name, candidates),
            )
            return None
        return known


def warn_of_states(states: Iterable[str], span: Span | None, diagnostics: Diagnostics) -> None:
    """Warn of states that no node has of itself: a workflow may use its own, and may have misspelt one."""
    for state in states:
        if state not in NODE_STATES:
            near = nearest(state, NODE_STATES)
            diagnostics.warning(
                "unknown-state",
                f'"{state}" is no node state of TOSCA',
                span,
                hint=f'did you mean "{near[0]}"?' if near else "right if a workflow sets it",
            )


def _texts(constraint: Constraint) -> list[str]:
    operand = constraint.operand
    if constraint.operator not in {"equal", "valid_values"}:
        return []
    return [v for v in (operand if isinstance(operand, list) else [operand]) if isinstance(v, str)]
