"""Inputs, outputs and capabilities of a blueprint as inputs and outputs of TOSCA (sections 4 and 12)."""

from __future__ import annotations

from collections.abc import Mapping

from ordito.base.diagnostics import Diagnostics
from ordito.lowering.cloudify.schemas import OBJECTS, PRIMITIVES, Schemas
from ordito.lowering.cloudify.types import same_lost
from ordito.lowering.cloudify.values import PARENT, Asked, Values, holds_call
from ordito.lowering.cloudify.values import SECRET as SECRET_INPUT
from ordito.lowering.making import mapping, text
from ordito.source import nodes
from ordito.source.nodes import Node, Scalar, is_null
from ordito.source.scalars import decimal, integer
from ordito.syntax import entities
from ordito.syntax.cloudify.entities import InputSchema, OutputSchema

MESSAGE = "ordito.message"
"""What stands beside the operator of a constraint: what is said where it does not hold."""

CAPABILITY = "ordito.capability"
"""The metadata of outputs that are capabilities, which other services may read."""

SCALARS = frozenset({"equal", "greater_than", "greater_or_equal", "less_than", "less_or_equal"})
LENGTHS = frozenset({"length", "min_length", "max_length"})
OPERATORS = frozenset({*SCALARS, *LENGTHS, "in_range", "valid_values", "pattern"})
OF_DATA = frozenset({"filter_id", "labels", "tenants", "name_pattern", "deployment_id"})
"""Operators that ask a manager what there is."""
NUMBERS = frozenset({"integer", "float"})
TEXTS = frozenset({"string", "textarea", "regex", *OBJECTS})


class ParametersOf:
    """Lowers inputs and outputs."""

    def __init__(self, schemas: Schemas, values: Values, version: str, diagnostics: Diagnostics) -> None:
        self._schemas = schemas
        self._values = values
        self._version = version
        self._diagnostics = diagnostics

    def inputs(self, written: Mapping[str, InputSchema]) -> dict[str, entities.ParameterDefinition]:
        """The inputs of a blueprint, or the parameters of a workflow."""
        found = same_lost(written)
        for name, item in written.items():
            found[name] = self._input(item)
        return found

    def secrets(self, written: Mapping[str, Scalar]) -> dict[str, entities.ParameterDefinition]:
        """The inputs that stand for secrets."""
        found = {}
        for name, at in written.items():
            key = text(f"{SECRET_INPUT}{name}", at)
            metadata = {"ordito.secret": text(name, at, plain=False), "sensitive": text("true", at)}
            found[key.text] = entities.ParameterDefinition(
                at=at, key=key, type=text("any", at), required=False, metadata=metadata
            )
        return found

    def outputs_of_others(
        self, asked: Mapping[str, Asked], known: Mapping[str, object]
    ) -> dict[str, entities.ParameterDefinition]:
        """The inputs that stand for capabilities of other services, and the one that names the service that this one
        is part of."""
        found = {}
        for name, of in asked.items():
            at = of.capability
            key = text(name, at)
            metadata = {"ordito.output": text(f"{of.service} {at.text}", at, plain=False)}
            found[name] = entities.ParameterDefinition(
                at=at, key=key, type=text("any", at), required=False, metadata=metadata
            )
            if of.service == f"@{PARENT}" and PARENT not in known:
                found[PARENT] = entities.ParameterDefinition(
                    at=at, key=text(PARENT, at), type=text("string", at), required=False
                )
        return found

    def _input(self, item: InputSchema) -> entities.ParameterDefinition:
        made = self._schemas.property(item, parameter=True)
        assert isinstance(made, entities.ParameterDefinition)
        self._check_hidden(item)
        self._check_display(item)
        entry = self._entries(item, made.entry_schema)
        clauses, of_items = self._constraints(item)
        checked = not (item.constraints and item.default is not None and holds_call(item.default))
        if entry is not None and of_items:
            entry = entities.SchemaDefinition(
                at=entry.at, type=entry.type, entry_schema=entry.entry_schema, constraints=of_items
            )
        metadata = {}
        if item.display_label is not None:
            metadata["display_label"] = item.display_label
        if item.hidden:
            metadata["hidden"] = text("true", item.at)
        return entities.ParameterDefinition(
            at=made.at,
            key=made.key,
            type=made.type,
            description=made.description,
            required=made.required,
            default=made.default if checked else None,
            entry_schema=entry,
            constraints=clauses or None,
            metadata=metadata or None,
        )

    def _check_hidden(self, item: InputSchema) -> None:
        if item.hidden and item.required is not False and item.default is None:
            self._diagnostics.error(
                "bad-schema",
                f'input "{item.name}" is hidden and required, and has no default',
                item.span,
                hint="give it a default, or write required: false",
            )

    def _check_display(self, item: InputSchema) -> None:
        if item.display is not None and (item.type is None or item.type.text != "textarea"):
            self._diagnostics.error(
                "bad-schema",
                f'input "{item.name}" has "display", which is for the type textarea alone',
                item.display.at.span,
                hint="remove it, or write type: textarea",
            )

    def _entries(self, item: InputSchema, entry: entities.SchemaDefinition | None) -> entities.SchemaDefinition | None:
        kind = item.item_type
        if kind is None:
            return entry
        if item.type is None or item.type.text != "list":
            self._diagnostics.error(
                "bad-schema",
                f'input "{item.name}" has "item_type", which is for the type list alone',
                kind.span,
                hint="remove it, or write type: list",
            )
            return entry
        if not self._schemas.known(kind):
            return entry
        name = PRIMITIVES.get(kind.text, "string" if kind.text in OBJECTS else kind.text)
        inner = None
        if name in {"list", "map"}:
            inner = entities.SchemaDefinition(at=kind, type=text("any", kind))
        return entities.SchemaDefinition(at=kind, type=text(name, kind), entry_schema=inner)

    # --------------------------------------------------------------------------------------------- constraints

    def _constraints(self, item: InputSchema) -> tuple[list[Node], list[Node]]:
        """The constraints of an input, and those of its items."""
        clauses: list[Node] = []
        for node in item.constraints or ():
            clause = self._clause(node, item)
            if clause is not None:
                clauses.append(clause)
        if item.constraints and item.default is not None and holds_call(item.default):
            self._diagnostics.error(
                "bad-constraint",
                f'the default of input "{item.name}" is a function, and cannot be checked by constraints',
                item.default.span,
                hint="remove the constraints, or write the value itself",
            )
            return [], []
        return ([], clauses) if item.item_type is not None else (clauses, [])

    def _clause(self, node: Node, item: InputSchema) -> Node | None:
        """A clause as TOSCA has it; None where there is none, or it cannot be read."""
        if not isinstance(node, nodes.Mapping) or not node.keys:
            self._diagnostics.error(
                "bad-constraint", "a constraint is a map of its operator to what it compares with", node.span
            )
            return None
        known = [k for k in node.keys if k.text in OPERATORS or k.text in OF_DATA]
        if len(node.keys) > 1 and self._version < "cloudify_dsl_1_5":
            self._diagnostics.error(
                "bad-constraint",
                "a constraint has one operator",
                node.keys[1].span,
                hint="write a dash before each of them",
            )
            return None
        if not known:
            key = node.keys[0]
            self._diagnostics.unknown("bad-constraint", "constraint", key.text, key.span, sorted(OPERATORS))
            return None
        self._warn_of_others(node, known[0])
        key = known[0]
        operand = self._values.lowered(node.values[key.text])
        if key.text in OF_DATA:
            self._diagnostics.warning(
                "not-applied", f'the constraint "{key.text}" asks a manager, and is not applied here', key.span
            )
            return None
        if not self._is_operand(key, operand) or not self._suits(key, item):
            return None
        if key.text == "pattern":
            assert isinstance(operand, Scalar)
            operand = text(rf"(?:{operand.text})[\s\S]*", operand, plain=False)
        message = node.values.get("error_message")
        if isinstance(message, Scalar) and not is_null(message):
            return mapping([(key, operand), (text(MESSAGE, message), message)], node)
        return mapping([(key, operand)], node)

    def _warn_of_others(self, node: nodes.Mapping, operator: Scalar) -> None:
        for key in node.keys:
            if key is not operator and key.text != "error_message":
                self._diagnostics.warning(
                    "not-applied",
                    f'"{key.text}" beside the constraint "{operator.text}" has no meaning',
                    key.span,
                    hint="remove it, or write a constraint of its own",
                )

    def _is_operand(self, key: Scalar, operand: Node) -> bool:
        """Whether what a constraint compares with has its form."""
        single = isinstance(operand, Scalar) and not is_null(operand)
        number = isinstance(operand, Scalar) and operand.plain and decimal(operand.text) is not None
        expected = ""
        if key.text in SCALARS and not single:
            expected = "a single value"
        elif key.text in LENGTHS and not (isinstance(operand, Scalar) and integer(operand.text) is not None and number):
            expected = "a whole number"
        elif key.text == "in_range" and not (
            isinstance(operand, nodes.Sequence)
            and len(operand.items) == 2
            and all(isinstance(i, Scalar) and decimal(i.text) is not None for i in operand.items)
        ):
            expected = "a list of two numbers"
        elif key.text == "valid_values" and not isinstance(operand, nodes.Sequence):
            expected = "a list of values"
        elif key.text == "pattern":
            if not single:
                expected = "a regular expression"
            elif not self._schemas.check_pattern(operand):
                return False
        if expected:
            self._diagnostics.error("bad-constraint", f'"{key.text}" needs {expected}', operand.span)
        return not expected

    def _suits(self, key: Scalar, item: InputSchema) -> bool:
        """Whether a constraint can be applied to values of the type."""
        kind = item.item_type or item.type
        if kind is None or (kind.text not in PRIMITIVES and kind.text not in OBJECTS):
            return True
        name = kind.text
        wrong = (
            (key.text == "pattern" and name not in TEXTS)
            or (key.text in LENGTHS and name in {*NUMBERS, "boolean"})
            or (key.text in {"in_range", *SCALARS} - {"equal"} and name not in NUMBERS)
        )
        if wrong:
            self._diagnostics.error(
                "bad-constraint", f'"{key.text}" cannot be applied to values of type {name}', key.span
            )
        return not wrong

    # ------------------------------------------------------------------------------------------------- outputs

    def outputs(
        self, written: Mapping[str, OutputSchema], capabilities: Mapping[str, OutputSchema]
    ) -> dict[str, entities.ParameterDefinition]:
        """The outputs of a blueprint, and its capabilities, which are outputs for other services."""
        found = same_lost(written)
        for name, item in written.items():
            found[name] = self._output(item, item.key, None)
        for name, item in capabilities.items():
            key = item.key
            mark = {CAPABILITY: text(name, item.at, plain=False)}
            shown = name
            if name in written:
                same = nodes.same_data(written[name].value, item.value)
                shown = name if same else f"capabilities.{name}"
            found[shown] = self._output(item, key if shown == name or key is None else text(shown, key), mark)
        return found

    def _output(
        self, item: OutputSchema, key: Scalar | None, metadata: dict[str, Scalar] | None
    ) -> entities.ParameterDefinition:
        return entities.ParameterDefinition(
            at=item.at,
            key=key,
            description=item.description,
            value=self._values.lowered(item.value),
            metadata=metadata,
        )


__all__ = ["CAPABILITY", "ParametersOf"]
