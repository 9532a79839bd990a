"""Values by their declared type: from located nodes to data, with every fault reported at its place (§3.3, §3.6.11)."""

from __future__ import annotations

from collections.abc import Collection
from collections.abc import Mapping as MappingType
from functools import partial
from typing import Any

import msgspec

from ordito.base.diagnostics import Diagnostics, Related
from ordito.base.scalar_units import UNITS, NotAScalarUnit, canonical
from ordito.base.span import Placed, Span
from ordito.base.suggest import nearest
from ordito.base.timestamps import parse_timestamp
from ordito.base.versions import NO_VERSION, Version
from ordito.model.constraints import LENGTHS, violation
from ordito.model.data_rules import DataRule, Subject, rules_of
from ordito.model.equality import equal_values
from ordito.model.external_schemas import schema_violation
from ordito.model.results import fits, shown
from ordito.model.schema import Constraint, DataType, PropertyDefinition, Schema
from ordito.model.sensitivity import hide, says_sensitive
from ordito.model.written import Written
from ordito.source.nodes import NULLS, Mapping, Node, Scalar, Sequence, is_null
from ordito.source.scalars import BOOLEANS, MOST_DIGITS, core_value, decimal, integer, is_number
from ordito.syntax.expressions import Call, Value, is_static
from ordito.syntax.functions import FUNCTIONS, call_in, has_shape, meant_function, read_call

PRIMITIVES = (
    "string",
    "integer",
    "float",
    "boolean",
    "timestamp",
    "null",
    "version",
    "range",
    "list",
    "map",
    *UNITS,
)
EXAMPLES = {
    "integer": "give a whole number such as 80",
    "float": "give a number such as 0.5",
    "boolean": "write true or false",
}
MEANT_BOOLEANS = {
    **dict.fromkeys(("yes", "on", "y", "true", "1"), "true"),
    **dict.fromkeys(("no", "off", "n", "false", "0"), "false"),
}
MOST_SHOWN = 40
UNREADABLE = Schema("")
"""The schema of what is defined by a type that does not exist: its values are not looked at."""


COMPOUND = frozenset({list, dict})
MAYBE_NOTHING = frozenset({*NULLS, *NO_VERSION})
"""Texts that may say that there is no value."""


class _Completion(msgspec.Struct, frozen=True):
    """How the values of definitions are completed: with these defaults, and these must be given."""

    definitions: MappingType[str, PropertyDefinition]
    defaults: dict[str, Value]
    required: tuple[PropertyDefinition, ...]


class Values:
    """Reads values by their schemas. ``found_calls`` collects every call that was read since it was last emptied."""

    def __init__(self, data_types: MappingType[str, DataType], diagnostics: Diagnostics) -> None:
        self.data_types = data_types
        self.diagnostics = diagnostics
        self.found_calls: list[Call] = []
        self.literal = False
        """Whether nothing that is read is a function, as in the values of inputs."""
        self._completions: dict[int, _Completion] = {}
        self._warned: dict[int, PropertyDefinition] = {}
        self.written = Written()
        """Where the properties of nodes, capabilities and relationships are written."""
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
        value: Value = READERS[data_type.base](self, node, schema, data_type, what, declared)
        if self.diagnostics.errors > before:
            return None
        if data_type.constraints or schema.constraints or self.rules(data_type):
            self.check(value, schema, data_type, node, what)
        return value

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
        if not (data_type.sensitive or says_sensitive(definition.metadata)):
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

    def wrong(self, node: Node, type_name: str, what: str, declared: Span | None, hint: str = "") -> None:
        """Report that a node is no value of a type."""
        shown = f'"{node.text}"' if isinstance(node, Scalar) else node.kind
        related = (Related(f"{type_name} is declared here", declared),) if declared else ()
        article = "an" if type_name[0] in "aeiou" else "a"
        if near := meant_function(node):
            hint = f'did you mean the function "{near}"?'
        elif isinstance(node, Scalar) and not node.plain and hint in EXAMPLES.values():
            hint = f"{hint}, without quotes"
        self.diagnostics.error(
            "bad-value",
            f"{what}: {shown} is not {article} {type_name}",
            node.span,
            hint=hint or EXAMPLES.get(type_name, ""),
            related=related,
        )

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

    def _string(self, node: Node, schema: Schema, data_type: DataType, what: str, declared: Span | None) -> Value:
        if isinstance(node, Scalar):
            if node.plain and node.text in NULLS:
                self.diagnostics.error(
                    "missing-value", f"{what} is empty", node.span, hint='write "" for an empty text'
                )
            return node.text
        self.wrong(node, schema.type, what, declared)
        return None

    def _integer(self, node: Node, schema: Schema, data_type: DataType, what: str, declared: Span | None) -> Value:
        number = integer(node.text) if isinstance(node, Scalar) and node.plain else None
        if number is None:
            if isinstance(node, Scalar) and node.plain and is_number(node.text) and len(node.text) > MOST_DIGITS:
                self._too_big(node, what)
            else:
                self.wrong(node, schema.type, what, declared, EXAMPLES["integer"])
        return number

    def _float(self, node: Node, schema: Schema, data_type: DataType, what: str, declared: Span | None) -> Value:
        number = decimal(node.text) if isinstance(node, Scalar) and node.plain else None
        if number is None:
            if isinstance(node, Scalar) and node.plain and is_number(node.text):
                self._too_big(node, what)
            else:
                self.wrong(node, schema.type, what, declared, EXAMPLES["float"])
        return number

    def _too_big(self, node: Scalar, what: str) -> None:
        """Report a number that is none that can be kept."""
        shown = node.text if len(node.text) <= MOST_SHOWN else f"{node.text[:MOST_SHOWN]}..."
        self.diagnostics.error(
            "bad-value", f"{what}: {shown} is too large a number", node.span, hint="write a smaller one"
        )

    def _boolean(self, node: Node, schema: Schema, data_type: DataType, what: str, declared: Span | None) -> Value:
        if isinstance(node, Scalar) and node.plain and node.text in BOOLEANS:
            return BOOLEANS[node.text]
        meant = MEANT_BOOLEANS.get(node.text.casefold()) if isinstance(node, Scalar) and node.plain else None
        hint = f"write true or false (here: {meant}); YAML 1.2 knows only these" if meant else EXAMPLES["boolean"]
        self.wrong(node, schema.type, what, declared, hint)
        return None

    def _null(self, node: Node, schema: Schema, data_type: DataType, what: str, declared: Span | None) -> Value:
        if not is_null(node):
            self.wrong(node, "null", what, declared)
        return None

    def _timestamp(self, node: Node, schema: Schema, data_type: DataType, what: str, declared: Span | None) -> Value:
        if not isinstance(node, Scalar):
            self.wrong(node, schema.type, what, declared)
            return None
        try:
            parse_timestamp(node.text)
        except ValueError as error:
            self.diagnostics.error("bad-value", f"{what}: {error}", node.span)
        return node.text

    def _version(self, node: Node, schema: Schema, data_type: DataType, what: str, declared: Span | None) -> Value:
        if not isinstance(node, Scalar):
            self.wrong(node, schema.type, what, declared)
            return None
        try:
            Version.parse(node.text)
        except ValueError as error:
            self.diagnostics.error("bad-value", f"{what}: {error}", node.span)
        return node.text

    def _range(self, node: Node, schema: Schema, data_type: DataType, what: str, declared: Span | None) -> Value:
        usage = "give [lower, upper]; the upper bound may be UNBOUNDED"
        if not isinstance(node, Sequence):
            self.wrong(node, schema.type, what, declared, usage)
            return None
        reason = "a range has two bounds"
        if len(node.items) == 2:
            low, high = (integer(i.text) if isinstance(i, Scalar) and i.plain else None for i in node.items)
            first, last = node.items
            if isinstance(first, Scalar) and first.text == UNBOUNDED:
                reason = "only the upper bound may be UNBOUNDED"
            elif low is not None and isinstance(last, Scalar) and last.text == UNBOUNDED:
                return [low, UNBOUNDED]
            elif low is None or high is None:
                reason = "the bounds of a range are whole numbers"
            elif low <= high:
                return [low, high]
            else:
                reason = f"the upper bound {high} is below the lower bound {low}"
        related = (Related(f"{schema.type} is declared here", declared),) if declared else ()
        self.diagnostics.error("bad-value", f"{what}: {reason}", node.span, hint=usage, related=related)
        return None

    def _scalar_unit(self, node: Node, schema: Schema, data_type: DataType, what: str, declared: Span | None) -> Value:
        if not isinstance(node, Scalar):
            self.wrong(node, schema.type, what, declared)
            return None
        try:
            value = canonical(node.text, data_type.base)
        except NotAScalarUnit as error:
            self.diagnostics.error("bad-value", f"{what}: {error}", node.span, hint=error.hint)
            return None
        unit = value.partition(" ")[2]
        if data_type.base != "scalar-unit.size" and not node.text.rstrip().endswith(unit):
            self.diagnostics.warning(
                "unit-case", f"{what}: the unit is written {unit}", node.span, hint=f"write {value}"
            )
        return value

    def _list(self, node: Node, schema: Schema, data_type: DataType, what: str, declared: Span | None) -> Value:
        if not isinstance(node, Sequence):
            self.wrong(node, schema.type, what, declared, "write [ ... ] or lines that begin with a dash")
            return None
        entry = schema.entry or data_type.entry or STRING
        return [self.read(i, entry, f"entry {n} of {what}", declared) for n, i in enumerate(node.items, start=1)]

    def _map(self, node: Node, schema: Schema, data_type: DataType, what: str, declared: Span | None) -> Value:
        if not isinstance(node, Mapping):
            self.wrong(node, schema.type, what, declared)
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

    def _complex(self, node: Node, schema: Schema, data_type: DataType, what: str, declared: Span | None) -> Value:
        if not isinstance(node, Mapping):
            fields = ", ".join(data_type.properties)
            self.wrong(node, data_type.name, what, None, f"write a map with its fields: {fields}")
            return None
        return self.fields(node, data_type.properties, what, "field", node)

    def fields(
        self,
        node: Mapping | None,
        definitions: MappingType[str, PropertyDefinition],
        what: str,
        part: str,
        owner: Placed,
        astray: Collection[str] = (),
    ) -> dict[str, Value]:
        """Read the values that a map assigns to definitions, completed with defaults.

        ``part`` is what one of them is called ("property"), ``what`` whose they are, ``owner`` where the owner
        stands, for required ones that are missing. Names that are written in the wrong place (``astray``, as has been
        reported) are not missing.
        """
        completion = self._completion(definitions)
        before = self.diagnostics.errors
        if node is None:
            found = completion.defaults
            mistaken: set[str] = set()
        else:
            found = dict(completion.defaults)
            mistaken = self._assign(node, definitions, what, part, found)
        for definition in completion.required:
            if definition.name not in found and definition.name not in mistaken and definition.name not in astray:
                self.missing(definition, f"{what} lacks the required {part}", owner)
        if part != "property":
            return found
        is_astray = astray is not definitions and not definitions.keys().isdisjoint(astray)
        if is_astray and node is None:
            found = dict(found)  # of its own, since nothing is wrong with the defaults that others have as well
        if node is not None or is_astray:
            self.written.remember(found, node, is_sound=self.diagnostics.errors == before and not is_astray)
        return found

    def _assign(
        self,
        node: Mapping,
        definitions: MappingType[str, PropertyDefinition],
        what: str,
        part: str,
        found: dict[str, Value],
    ) -> set[str]:
        """Read what a map assigns into ``found``; gives the names of those that are probably meant by what is wrong."""
        mistaken: set[str] = set()
        for key, value in zip(node.keys, node.values.values(), strict=True):
            definition = definitions.get(key.text)
            if definition is None:
                mistaken.update(self.unknown(key, part, what, definitions, node))
                continue
            read = self.assigned(key, value, definition, part)
            if read is not None or definition.schema.type == "null":
                found[key.text] = read
            else:
                mistaken.add(key.text)
        return mistaken

    def missing(self, definition: PropertyDefinition, message: str, owner: Placed, hint: str = "") -> None:
        """Report that something required has no value."""
        related = (Related("declared here", definition.span),) if definition.span else ()
        self.diagnostics.error(
            "missing-value",
            f'{message} "{definition.name}"',
            owner.span,
            hint=hint or f"give it a value of type {definition.schema.type}",
            related=related,
        )

    def forget(self, definitions: MappingType[str, PropertyDefinition]) -> None:
        """Look at definitions anew: their defaults have changed."""
        self._completions.pop(id(definitions), None)

    def _completion(self, definitions: MappingType[str, PropertyDefinition]) -> _Completion:
        known = self._completions.get(id(definitions))
        if known is None or known.definitions is not definitions:
            known = _Completion(
                definitions,
                {n: d.default for n, d in definitions.items() if d.has_default},
                tuple(d for d in definitions.values() if d.required and not d.has_default),
            )
            self._completions[id(definitions)] = known
        return known

    def assigned(self, key: Scalar, value: Node, definition: PropertyDefinition, part: str) -> Value:
        """Read one assigned value; None for null or where it does not fit."""
        if definition.fixed:
            related = (Related("the value is fixed here", definition.span),) if definition.span else ()
            self.diagnostics.error(
                "fixed-value",
                f'{part} "{key.text}" has a fixed value and cannot be assigned',
                key.span,
                hint="remove it",
                related=related,
            )
            return definition.default
        if definition.status != "supported":
            self.note_status(definition, part, key)
        if type(value) is Scalar and value.text in MAYBE_NOTHING and self._is_nothing(value, definition.schema):
            return self._nothing(definition, key, part)
        return self.read_as(definition, value, f'{part} "{key.text}"')

    def note_status(self, definition: PropertyDefinition, part: str, place: Placed) -> None:
        """Warn of what is given a value and is not supported (R-3.6.10-4), once for each definition."""
        if definition.status == "supported" or id(definition) in self._warned:
            return
        self._warned[id(definition)] = definition
        self.diagnostics.warning(
            "status",
            f'{part} "{definition.name}" is {definition.status}',
            place.span,
            hint=STATUS_HINTS.get(definition.status, ""),
            related=(Related("defined here", definition.span),) if definition.span else (),
        )

    def attributes(
        self, node: Mapping | None, definitions: MappingType[str, PropertyDefinition], what: str
    ) -> dict[str, Value]:
        """Read the attribute values that a map assigns, completed with defaults (§3.6.13)."""
        defaults = self._completion(definitions).defaults
        if node is None:
            return defaults
        found = dict(defaults)
        for key, value in node.entries():
            definition = definitions.get(key.text)
            if definition is not None:
                inner = self._attribute_value(value, definition)
                found[key.text] = self.assigned(key, inner, definition, "attribute")
            else:
                self.unknown(key, "attribute", what, definitions, node)
        return found

    def _attribute_value(self, node: Node, definition: PropertyDefinition) -> Node:
        """The value in an attribute assignment, which may be written beside a description (§3.6.13.2.2). Where the
        attribute is a map or complex, what is written is plain data unless only the value in it fits."""
        if not isinstance(node, Mapping) or "value" not in node.values or not node.values.keys() <= EXTENDED:
            return node
        inner = node.values["value"]
        if self.base(definition.schema) not in {"map", ""} or definition.schema.type not in self.data_types:
            return inner
        if not self.fits(inner, definition.schema):
            return node
        if not self.fits(node, definition.schema):
            return inner
        self.diagnostics.warning(
            "ambiguous-value",
            f'attribute "{definition.name}": this may be a value with a description, or all of it may be the value',
            node.span,
            hint="it is taken as the value; to give a value with a description, move the description to a comment",
        )
        return node

    def fits(self, node: Node, schema: Schema) -> bool:
        """Whether a node can be read as a value of a schema; nothing is reported."""
        kept, self.diagnostics = self.diagnostics, Diagnostics()
        calls_before = len(self.found_calls)
        self.read(node, schema, "it")
        kept, self.diagnostics = self.diagnostics, kept
        del self.found_calls[calls_before:]
        return not kept.has_errors

    def _is_nothing(self, value: Scalar, schema: Schema) -> bool:
        """Whether what is written for a value of a schema says that there is none."""
        if is_null(value) and schema.type != "null":
            return True
        return value.text in NO_VERSION and self.base(schema) == "version"

    def _nothing(self, definition: PropertyDefinition, key: Scalar, part: str) -> Value:
        if definition.required and not definition.has_default:
            self.diagnostics.error(
                "missing-value", f'the required {part} "{key.text}" has no value', key.span, hint="give it a value"
            )
        return None

    def unknown(self, key: Scalar, part: str, what: str, known: MappingType[str, Any], given: Mapping) -> list[str]:
        """Report an assignment to something that is not defined; gives what was probably meant."""
        free = [n for n in known if n not in given.values]
        hint = self.diagnostics.suggestion(key.text, free or known)
        self.diagnostics.error(f"unknown-{part}", f'{what} has no {part} "{key.text}"', key.span, hint=hint)
        return nearest(key.text, free)


def _valid_value(value: Value, constraint: Constraint) -> str:
    operand = constraint.operand
    if constraint.operator != "valid_values" or not isinstance(value, str) or not isinstance(operand, list):
        return ""
    near = nearest(value, [o for o in operand if isinstance(o, str)])
    return f'did you mean "{near[0]}"?' if near else ""


STATUS_HINTS = {
    "deprecated": "look for what replaces it: a later version will not have it",
    "experimental": "it may change or vanish in a later version",
    "unsupported": "its value may have no effect",
}
EXTENDED = {"description", "value"}
UNBOUNDED = "UNBOUNDED"
STRING = Schema("string")
READERS: dict[str, Any] = {
    "string": Values._string,  # noqa: SLF001  (the table of the class's own readers)
    "integer": Values._integer,  # noqa: SLF001
    "float": Values._float,  # noqa: SLF001
    "boolean": Values._boolean,  # noqa: SLF001
    "null": Values._null,  # noqa: SLF001
    "timestamp": Values._timestamp,  # noqa: SLF001
    "version": Values._version,  # noqa: SLF001
    "range": Values._range,  # noqa: SLF001
    "list": Values._list,  # noqa: SLF001
    "": Values._complex,  # noqa: SLF001
    "map": Values._map,  # noqa: SLF001
    **dict.fromkeys(UNITS, Values._scalar_unit),  # noqa: SLF001
}
