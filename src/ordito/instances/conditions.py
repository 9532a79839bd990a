"""Evaluates conditions on an instance, a link or a capability (§3.6.24, §3.6.25).

The parts of a condition are evaluated in their order, and no further than needed. A condition on an attribute that is
missing, has no value yet, or cannot be evaluated does not hold.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import cast

import msgspec

from ordito.base.sensitive import is_sensitive, revealed
from ordito.base.span import SourceText, Span
from ordito.instances.context import EvaluationError, Nothing, Trace
from ordito.instances.entities import Entity, NodeEntity
from ordito.instances.evaluate import Evaluator
from ordito.instances.records import Data
from ordito.model.checking import misfit
from ordito.model.constraints import equal_values, schema_violation, violation
from ordito.model.filters import shown_value
from ordito.model.imperative import Assertion, Condition
from ordito.model.schema import Constraint, PropertyDefinition, Schema
from ordito.syntax.expressions import Call, Value

NOWHERE = Span(SourceText("", ""), 1, 1, 1, 1)
"""The place of a call that is not written in any document."""


class CapabilityEntity(msgspec.Struct, frozen=True):
    """A capability of a node's instance."""

    node: NodeEntity
    name: str

    @property
    def id(self) -> str:
        """Its name in messages."""
        return f"{self.node.id}.{self.name}"


About = Entity | CapabilityEntity
"""The things that conditions can refer to."""


class Unmet(msgspec.Struct, frozen=True):
    """One reason why a condition does not hold."""

    entity: str
    """The id of what the condition refers to."""
    attribute: str
    """The attribute, "" where the reason is no single one: a ``not`` whose parts all hold."""
    value: Data | Nothing
    """The value of the attribute, which may be sensitive."""
    wrong: str
    """What is wrong with it, in words."""
    span: Span | None = None
    """Where the part that does not hold is written."""

    def __str__(self) -> str:
        what = f'"{self.attribute}" of {self.entity}' if self.attribute else self.entity
        return f"{what} {self.wrong}"


class Verdict(msgspec.Struct, frozen=True):
    """Whether a condition holds and, where it does not, the reasons."""

    holds: bool
    unmet: tuple[Unmet, ...] = ()

    def __str__(self) -> str:
        return "; ".join(map(str, self.unmet))


HOLDS = Verdict(holds=True)


class ConditionEvaluator:
    """Evaluates conditions with the values that an evaluator gives. Sensitive values in its verdicts stay wrapped, and
    no text shows them."""

    def __init__(self, evaluator: Evaluator) -> None:
        self._evaluator = evaluator

    def of(self, condition: Condition, about: About, trace: Trace | None = None) -> Verdict:
        """Whether a condition holds. The values that were read are added to ``trace``.

        Conditions nest no deeper than documents, so recursion is safe here.
        """
        unmet: list[Unmet] = []
        for part in condition.parts:
            verdict = self._part(part, about, trace)
            if condition.operator == "or" and verdict.holds:
                return HOLDS
            if condition.operator == "not" and not verdict.holds:
                return HOLDS
            if condition.operator not in {"or", "not"} and not verdict.holds:
                return verdict
            unmet += verdict.unmet
        if condition.operator == "not":
            what = "meets all conditions of a not" if len(condition.parts) > 1 else "meets the condition of a not"
            return Verdict(holds=False, unmet=(Unmet(about.id, "", Nothing(""), what, condition.span),))
        return Verdict(holds=False, unmet=tuple(unmet)) if condition.operator == "or" else HOLDS

    def _part(self, part: Condition | Assertion, about: About, trace: Trace | None) -> Verdict:
        if isinstance(part, Condition):
            return self.of(part, about, trace)
        wrong = self._unmet(part, about, trace)
        return HOLDS if wrong is None else Verdict(holds=False, unmet=(wrong,))

    def _unmet(self, assertion: Assertion, about: About, trace: Trace | None) -> Unmet | None:
        """Why an assertion does not hold, all of whose clauses must; None where it does."""
        name, span = assertion.attribute, assertion.span
        try:
            value = self.value(about, name, trace)
        except EvaluationError as error:
            return Unmet(about.id, name, Nothing(error.message), f"cannot be evaluated: {error.message}", span)
        if isinstance(value, Nothing):
            return Unmet(about.id, name, value, "has no value", span)
        if value is None:
            return Unmet(about.id, name, value, "is null", span)
        schema = _schema(about, name)
        plain, secret = cast(Value, revealed(value)), is_sensitive(value)
        wrong = self._misfit(plain, schema)
        if wrong:
            return Unmet(about.id, name, value, "is sensitive, and not of its type" if secret else wrong, span)
        for constraint in assertion.constraints:
            wrong = self._violation(plain, constraint, schema)
            if wrong:
                shown = "is sensitive, and breaks its constraint" if secret else f"is {shown_value(plain)} and {wrong}"
                return Unmet(about.id, name, value, shown, constraint.span or span)
        return None

    def value(self, about: About, name: str, trace: Trace | None = None) -> Data | Nothing:
        """The value of an attribute, in the form that conditions compare. Raises ``EvaluationError``."""
        path: tuple[Value, ...] = ("SELF", name)
        entity = about
        if isinstance(entity, CapabilityEntity):
            path, entity = ("SELF", entity.name, name), entity.node
        return self._evaluator.evaluate(Call("get_attribute", path, NOWHERE), entity.context, trace)

    def _misfit(self, value: object, schema: Schema | None) -> str:
        """Why a value is none of its type, so that it cannot be compared; what is recorded need not be."""
        if schema is None:
            return ""
        base = self._base(schema)
        if base in SIMPLE and isinstance(value, SIMPLE[base]):
            return ""
        wrong = misfit(value, schema, "its value", self._evaluator.service.data_types)
        return f"cannot be compared: {wrong}" if wrong else ""

    def _violation(self, value: Value, constraint: Constraint, schema: Schema | None) -> str:
        data_types = self._evaluator.service.data_types
        if constraint.operator == "schema" and schema is not None:
            return schema_violation(str(constraint.operand), str(value), data_types[schema.type])
        of_parts = partial(equal_values, schema=schema, data_types=data_types) if schema is not None else None
        base = self._base(schema) if schema is not None else ""
        return violation(value, constraint, base, of_parts if isinstance(value, list | dict) else None)

    def _base(self, schema: Schema) -> str:
        declared = self._evaluator.service.data_types.get(schema.type)
        return declared.base if declared is not None else ""


SIMPLE: Mapping[str, type | tuple[type, ...]] = {"string": str, "boolean": bool}
"""The primitive types whose values need no conversion before they are compared."""

TEXT = Schema("string")
BUILT_IN = frozenset({"state", "tosca_id", "tosca_name"})
"""Attributes, all texts, that every node and relationship has, whether or not its type declares them."""


def _schema(about: About, name: str) -> Schema | None:
    """What the values of an attribute are; None where nothing says so."""
    if isinstance(about, CapabilityEntity):
        capability = about.node.template.capabilities[about.name]
        return _declared(name, capability.attribute_definitions, capability.definitions)
    if name in BUILT_IN:
        return TEXT
    holder = about.template if isinstance(about, NodeEntity) else about.relationship
    return _declared(name, holder.attribute_definitions, holder.definitions)


def _declared(name: str, *definitions: Mapping[str, PropertyDefinition]) -> Schema | None:
    found = next((d[name] for d in definitions if name in d), None)
    # Only the type counts: what else a declaration asks for is none of the condition's business.
    return None if found is None else msgspec.structs.replace(found.schema, constraints=())
