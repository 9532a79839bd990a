"""Values by their declared type: from located nodes to data, with every fault reported at its place (§3.3, §3.6.11)."""

from __future__ import annotations

from collections.abc import Mapping as MappingType
from functools import partial

from ordito.base.diagnostics import Diagnostics, Related
from ordito.base.span import Placed, Span
from ordito.base.suggest import nearest
from ordito.model.assignments import Assignments
from ordito.model.constraints import LENGTHS, violation
from ordito.model.data_rules import DataRule, Subject, rules_of
from ordito.model.equality import equal_values
from ordito.model.external_schemas import schema_violation
from ordito.model.primitive_values import READERS, wrong
from ordito.model.results import fits, shown
from ordito.model.schema import Constraint, DataType, PropertyDefinition, Schema
from ordito.model.sensitivity import hide, says_sensitive
from ordito.source.nodes import Mapping, Node, Scalar, Sequence
from ordito.source.scalars import core_value
from ordito.syntax.expressions import Call, Value, is_static
from ordito.syntax.functions import FUNCTIONS, call_in, has_shape, read_call

UNREADABLE = Schema("")
"""The schema of what is defined by a type that does not exist: its values are not looked at."""
COMPOUND = frozenset({list, dict})
STRING = Schema("string")


class Values:
    """Reads values by their schemas. ``found_calls`` collects every call that was read since it was last emptied."""

    def __init__(self, data_types: MappingType[str, DataType], diagnostics: Diagnostics) -> None:
        self.data_types = data_types
        self.diagnostics = diagnostics
        self.found_calls: list[Call] = []
        self.literal = False
        """Whether nothing that is read is a function, as in the values of inputs."""
        self.assignments = Assignments(self)
        self._rules: dict[str, tuple[DataRule, ...]] = {}
        self._secret: Schema | None = None
        """The schema of the sensitive type whose value is being read."""

    def base(self, schema: Schema) -> str:
        """The primitive type at the root of a schema's type, "" for complex types."""
        data_type = self.data_types.get(schema.type)
        return data_type.base if data_type is not None else ""

    def read(self, node: Node, schema: Schema, what: str, declared: Span | None = None) -> Value:
        """Read a value of a schema. Where it does not fit, an error is reported and None returned.

        ``what`` names the value in messages (``property "port"``), ``declared`` is where its type was declared.
        """
        if type(node) is Mapping and call_in(node) and not self._is_data(node, schema):
            return self._call(node, schema, what)
        data_type = self.data_types.get(schema.type)
        if data_type is None:
            return None
        if data_type.sensitive and schema is not self._secret:
            outer, self._secret = self._secret, schema
            secret = self._quietly(node, schema, what, declared)
            self._secret = outer
            return secret
        before = self.diagnostics.errors
        reader = READERS.get(data_type.base)
        if reader is not None:
            value = reader(node, schema.type, what, declared, self.diagnostics)
        else:
            value = self._composed(node, schema, data_type, what, declared)
        if self.diagnostics.errors > before:
            return None
        if data_type.constraints or schema.constraints or self.rules(data_type):
            self.check(value, schema, data_type, node, what)
        return value

    def is_sensitive(self, definition: PropertyDefinition) -> bool:
        """Whether nothing may be shown of the values of a definition, by what it says or by their type."""
        data_type = self.data_types.get(definition.schema.type)
        return says_sensitive(definition.metadata) or (data_type is not None and data_type.sensitive)

    def read_as(self, definition: PropertyDefinition, node: Node, what: str) -> Value:
        """Read a value of a definition, without a word about it if it is sensitive."""
        return self.read_by(definition.schema, definition.metadata, node, what, definition.span)

    def read_by(
        self, schema: Schema, metadata: MappingType[str, str], node: Node, what: str, declared: Span | None
    ) -> Value:
        """As ``read_as``, by schema and metadata."""
        if metadata and says_sensitive(metadata):
            return self._quietly(node, schema, what, declared)
        return self.read(node, schema, what, declared)

    def _quietly(self, node: Node, schema: Schema, what: str, declared: Span | None) -> Value:
        """Read a value that must not be shown: of one that does not fit nothing is said but that. Functions are no
        values yet; what is written in them is not shown either."""
        hide(node)
        if type(node) is Mapping and call_in(node) and not self._is_data(node, schema):
            return self._call(node, schema, what)
        loud, self.diagnostics = self.diagnostics, Diagnostics()
        value = self.read(node, schema, what, declared)
        found, self.diagnostics = self.diagnostics, loud
        if not found.has_errors:
            return value
        self._misfit(node, what, declared)
        return None

    def _misfit(self, place: Placed, what: str, declared: Span | None) -> None:
        """Say of a sensitive value only that it does not fit."""
        related = (Related("declared here", declared),) if declared else ()
        self.diagnostics.error(
            "bad-value",
            f"{what} does not fit what is declared",
            place.span,
            hint="the value is not shown, since it is sensitive",
            related=related,
        )

    def check_as(self, definition: PropertyDefinition, value: Value, place: Placed, what: str) -> None:
        """Check an evaluated value as ``check`` does, by a definition; of a sensitive one nothing is said but that it
        does not fit."""
        data_type = self.data_types.get(definition.schema.type)
        if data_type is None:
            return
        if not self.is_sensitive(definition):
            self.check(value, definition.schema, data_type, place, what)
            return
        loud, self.diagnostics = self.diagnostics, Diagnostics()
        self.check(value, definition.schema, data_type, place, what)
        found, self.diagnostics = self.diagnostics, loud
        if found.has_errors:
            self._misfit(place, what, definition.span)

    def rules(self, data_type: DataType) -> tuple[DataRule, ...]:
        """The rules that values of a data type must keep."""
        found = self._rules.get(data_type.name)
        if found is None:
            found = self._rules[data_type.name] = rules_of(data_type)
        return found

    def check(self, value: Value, schema: Schema, data_type: DataType, place: Placed, what: str) -> None:
        """Check an evaluated value, which stands at ``place``, against the constraints of its type and schema, and
        the rules of its type."""
        if isinstance(value, Call):
            return
        if self._breaks_constraint(value, schema, data_type, place, what):
            return
        for rule in self.rules(data_type):
            rule(Subject(value, what, place, self.diagnostics))

    def _breaks_constraint(self, value: Value, schema: Schema, data_type: DataType, place: Placed, what: str) -> bool:
        constraints = data_type.constraints or schema.constraints
        if data_type.constraints and schema.constraints:
            constraints = (*data_type.constraints, *schema.constraints)
        if not constraints:
            return False
        whole, same = True, None
        if type(value) in COMPOUND:
            whole = is_static(value)
            same = partial(equal_values, schema=schema, data_types=self.data_types)
        for constraint in constraints:
            if not whole and constraint.operator not in LENGTHS:
                continue  # parts of the value are known at run time only
            if constraint.operator == "schema":
                wrong = schema_violation(str(constraint.operand), str(value), data_type)
            else:
                wrong = violation(value, constraint, data_type.base, same)
            if wrong:
                related = (Related("the constraint is declared here", constraint.span),) if constraint.span else ()
                self.diagnostics.error(
                    "constraint", f"{what} {wrong}", place.span, hint=_valid_value(value, constraint), related=related
                )
                return True
        return False

    def _call(self, node: Mapping, schema: Schema, what: str) -> Value:
        call = read_call(node, self.diagnostics, schema)
        if call is None:
            return None
        open_calls: list[Value] = [call]
        while open_calls:
            part = open_calls.pop()
            if isinstance(part, Call):
                self.found_calls.append(part)
                open_calls.extend(part.arguments)
            elif isinstance(part, list):
                open_calls.extend(part)
        self._check_result(call, schema, what)
        return call

    def _is_data(self, node: Mapping, schema: Schema) -> bool:
        """Whether a map that looks like a call is the data that it is in YAML (R-4.3-3).

        It is where a map or a complex value is needed and the function cannot give one, or what stands below its name
        are no arguments; and in every map that is given as an input, where functions have no meaning.
        """
        data_type = self.data_types.get(schema.type)
        if data_type is None or data_type.base not in {"map", ""}:
            return False
        (key,) = node.keys
        gives = FUNCTIONS[key.text].gives
        if data_type.base == "":
            return key.text in data_type.properties and bool(gives or self.literal or not has_shape(node))
        if has_shape(node) and not gives and not self.literal:
            return False
        if not self.literal:
            why = f"it gives a {gives}, and a map is needed" if gives else "what follows are no arguments of it"
            self.diagnostics.warning(
                "literal-call", f'"{key.text}" is a key of a map here and calls no function: {why}', key.span
            )
        return True

    def _check_result(self, call: Call, schema: Schema, what: str) -> None:
        """Report a call whose result can never be of the type that is needed (R-4.4.1-3). What refers to something
        else is compared where that is looked up."""
        given = FUNCTIONS[call.function].gives
        if given and schema.type in self.data_types and not fits(Schema(given), schema, self.data_types):
            self.diagnostics.error(
                "bad-value",
                f"{what} needs {shown(schema)}, but {call.function} gives a {given}",
                call.span,
                hint=f"use a value of type {schema.type}",
            )

    def _composed(self, node: Node, schema: Schema, data_type: DataType, what: str, declared: Span | None) -> Value:
        """Read a value that has parts."""
        if data_type.base == "list":
            return self._list(node, schema, data_type, what, declared)
        if data_type.base == "map":
            return self._map(node, schema, data_type, what, declared)
        return self._complex(node, data_type, what)

    def _list(self, node: Node, schema: Schema, data_type: DataType, what: str, declared: Span | None) -> Value:
        if not isinstance(node, Sequence):
            wrong(node, schema.type, what, declared, self.diagnostics, "write [ ... ] or lines that begin with a dash")
            return None
        entry = schema.entry or data_type.entry or STRING
        return [self.read(i, entry, f"entry {n} of {what}", declared) for n, i in enumerate(node.items, start=1)]

    def _map(self, node: Node, schema: Schema, data_type: DataType, what: str, declared: Span | None) -> Value:
        if not isinstance(node, Mapping):
            wrong(node, schema.type, what, declared, self.diagnostics)
            return None
        entry = schema.entry or data_type.entry or STRING
        key_schema = schema.key or data_type.key
        found: dict[str, Value] = {}
        for key, value in node.entries():
            if key_schema is not None:
                self.read(key, key_schema, f"a key of {what}", declared)
            if key.plain and (key_schema is None or self.base(key_schema) == "string"):
                self._check_key(key, what)
            found[key.text] = self.read(value, entry, f'"{key.text}" of {what}', declared)
        return found

    def _check_key(self, key: Scalar, what: str) -> None:
        """Warn of a key that YAML takes for something else than the text that it is here."""
        if isinstance(core_value(key), str):
            return
        self.diagnostics.warning(
            "key-not-text",
            f'the key {key.text} of {what} is taken as the text "{key.text}"',
            key.span,
            hint=f'write "{key.text}" with quotes',
        )

    def _complex(self, node: Node, data_type: DataType, what: str) -> Value:
        if not isinstance(node, Mapping):
            fields = ", ".join(data_type.properties)
            wrong(node, data_type.name, what, None, self.diagnostics, f"write a map with its fields: {fields}")
            return None
        return self.assignments.fields(node, data_type.properties, what, "field", node)

    def fits(self, node: Node, schema: Schema) -> bool:
        """Whether a node can be read as a value of a schema; nothing is reported."""
        kept, self.diagnostics = self.diagnostics, Diagnostics()
        calls_before = len(self.found_calls)
        self.read(node, schema, "it")
        kept, self.diagnostics = self.diagnostics, kept
        del self.found_calls[calls_before:]
        return not kept.has_errors


def _valid_value(value: Value, constraint: Constraint) -> str:
    operand = constraint.operand
    if constraint.operator != "valid_values" or not isinstance(value, str) or not isinstance(operand, list):
        return ""
    near = nearest(value, [o for o in operand if isinstance(o, str)])
    return f'did you mean "{near[0]}"?' if near else ""
