"""The one checker of values by their declared types (§3.3, §3.6.11, §3.7.6): it reads values and finds their faults.

It works on plain data, and gives the place of each fault as a path into the value. It knows nothing about texts:
``model/values.py`` finds the place in a document by the path. The nodes of a document are accepted as data, too; the
text of a single value is read by its type.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from collections.abc import Mapping as MappingType
from functools import partial
from typing import Any

import msgspec

from ordito.base.diagnostics import Diagnostics, Related, Severity
from ordito.base.scalar_units import UNITS
from ordito.base.sensitive import is_sensitive, revealed
from ordito.base.span import Span
from ordito.base.suggest import nearest
from ordito.base.versions import NO_VERSION
from ordito.model.constraints import LENGTHS, equal_values, schema_violation, violation
from ordito.model.data_rules import DataRule, rules_of
from ordito.model.faults import ATTRIBUTE, ENTRY, FIELD, KEY, VALUE, Fault, Path
from ordito.model.primitive_values import (
    EXAMPLES,
    RANGE_USAGE,
    READERS,
    Wrong,
    has_unit_in_another_case,
    range_of,
    scalar_text,
)
from ordito.model.schema import ANY, Constraint, DataType, PropertyDefinition, Schema, fits, shown
from ordito.model.sensitivity import says_sensitive
from ordito.source.nodes import NULLS, Mapping, Node, Scalar, Sequence
from ordito.source.scalars import core_value
from ordito.syntax.expressions import Call, Value, is_static
from ordito.syntax.functions import FORMS, call_in, has_shape, meant_function, read_call

COMPOUND = frozenset({list, dict})
SIMPLE = frozenset({str, int, float, bool, type(None)})
STRING = Schema("string")
MAYBE_NOTHING = frozenset({*NULLS, *NO_VERSION})
"""Texts that may mean that there is no value."""
MOST_RECURRING = 100
"""How many values of one definition are remembered, so that repeated ones are checked once."""
STATUS_HINTS = {
    "deprecated": "look for what replaces it: a later version will not have it",
    "experimental": "it may change or vanish in a later version",
    "unsupported": "its value may have no effect",
}


class _Completion(msgspec.Struct, frozen=True):
    """How the values of definitions are completed: with these defaults, and these must be given."""

    definitions: MappingType[str, PropertyDefinition]
    defaults: dict[str, Value]
    required: tuple[PropertyDefinition, ...]


class _Recurring(msgspec.Struct, frozen=True):
    """Single values that have been read without a word about them, by how they are written: text, and whether that is
    without quotes. Large services say the same of very many nodes."""

    definition: PropertyDefinition
    values: dict[tuple[str, bool], Value]


class Checker:
    """Checks values by their schemas. ``faults`` are those found since they were last taken, ``secrets`` the paths of
    values that must not be shown, ``calls`` the calls inside values, if they are collected."""

    def __init__(self, data_types: MappingType[str, DataType], *, literal: bool = False) -> None:
        self.data_types = data_types
        self.literal = literal
        """Whether data never holds function calls, as in the values of inputs."""
        self.faults: list[Fault] = []
        self.errors = 0
        """How many errors were found so far."""
        self.secrets: list[Path | None] = []
        self.calls: list[Call] | None = None
        self._what = ""
        self._is_quiet = False
        self._rules: dict[str, tuple[DataRule, ...]] = {}
        self._completions: dict[int, _Completion] = {}
        self._recurring: dict[int, _Recurring] = {}
        self._warned: dict[int, PropertyDefinition] = {}
        self._of_calls = Diagnostics()

    def read(
        self,
        data: object,
        schema: Schema,
        what: str,
        declared: Span | None = None,
        metadata: MappingType[str, str] | None = None,
    ) -> Value:
        """The value of data by a schema, None where it does not fit.

        ``what`` names it in messages (``property "port"``), ``declared`` is where its type was declared. A message
        about a value that ``metadata`` or the type marks as sensitive says only that it does not fit.
        """
        self._what = what
        if metadata and says_sensitive(metadata):
            return self._read_quietly(data, schema, None, declared)
        return self._read(data, schema, None, declared)

    def check(self, value: Value, definition: PropertyDefinition, what: str) -> None:
        """Check a value that was read before by the constraints of a definition and the rules of its type."""
        data_type = self.data_types.get(definition.schema.type)
        if data_type is None:
            return
        self._what = what
        if self.is_sensitive(definition):
            with_faults = partial(self._check, value, definition.schema, data_type, None)
            self._quietly(with_faults, None, definition.span)
        else:
            self._check(value, definition.schema, data_type, None)

    def taken(self) -> list[Fault]:
        """The faults that were found; they are removed here."""
        found, self.faults = self.faults, []
        self.secrets.clear()
        return found

    def fits(self, data: object, schema: Schema) -> bool:
        """Whether data is a value of a schema; its faults and calls are not kept."""
        faults, errors, calls = self.faults, self.errors, self.calls
        self.faults, self.calls = [], None
        self.read(data, schema, "it")
        is_fitting = self.errors == errors
        self.faults, self.errors, self.calls = faults, errors, calls
        return is_fitting

    def is_sensitive(self, definition: PropertyDefinition) -> bool:
        """Whether the values of a definition are sensitive, by its metadata or by their type."""
        data_type = self.data_types.get(definition.schema.type)
        return says_sensitive(definition.metadata) or (data_type is not None and data_type.sensitive)

    def base(self, schema: Schema) -> str:
        """The primitive type at the root of a schema's type, "" for complex types."""
        data_type = self.data_types.get(schema.type)
        return data_type.base if data_type is not None else ""

    def _name(self, path: Path | None) -> str:
        """What messages call a part of the value."""
        return self._what if path is None else path.name(self._what)

    def error(self, code: str, path: Path | None, message: str, hint: str = "", **more: Any) -> None:
        """Add an error; ``more`` are further fields of a ``Fault``."""
        self.errors += 1
        self.faults.append(Fault(path, code, message, hint, **more))

    def warning(self, code: str, path: Path | None, message: str, hint: str = "", **more: Any) -> None:
        """Add a warning."""
        self.faults.append(Fault(path, code, message, hint, is_warning=True, **more))

    def _report(self, why: Wrong, data: object, type_name: str, path: Path | None, declared: Span | None) -> None:
        """Say that data is no value of a type."""
        name, hint = self._name(path), why.hint
        related = (Related(f"{type_name} is declared here", declared),) if declared else ()
        if why.reason:
            related = related if hint == RANGE_USAGE else ()
            self.error(why.code, path, f"{name}{why.reason}", hint, related=related)
            return
        written = _single(data)
        if near := meant_function(data):
            hint = f'did you mean the function "{near}"?'
        elif written is not None and not written[1] and hint in EXAMPLES.values():
            hint = f"{hint}, without quotes"
        kind = f'"{written[0]}"' if written is not None else "a list" if isinstance(data, Sequence | list) else "a map"
        message = f"{name}: {kind} is not {'an' if type_name[0] in 'aeiou' else 'a'} {type_name}"
        self.error("bad-value", path, message, hint or EXAMPLES.get(type_name, ""), related=related)

    def _read(self, data: object, schema: Schema, path: Path | None, declared: Span | None) -> Value:
        """How deep data and types are nested is bounded by the loader, so recursion is safe here."""
        kind = type(data)
        if kind is Mapping and call_in(data) and not self._is_data(data, schema, path):  # type: ignore[arg-type]
            return self._call(data, schema, path)  # type: ignore[arg-type]
        data_type = self.data_types.get(schema.type)
        if data_type is None:
            return None
        if data_type.sensitive and not self._is_quiet:
            return self._read_quietly(data, schema, path, declared)
        before, base = self.errors, data_type.base
        reader = READERS.get(base)
        if reader is None:
            value = self._composed(data, schema, data_type, path, declared)
        else:
            written = (data.text, data.plain) if kind is Scalar else _single(data)  # type: ignore[attr-defined]
            found = reader(*written) if written is not None else Wrong()
            if type(found) is Wrong:
                self._report(found, data, schema.type, path, declared)
                return None
            value = found  # type: ignore[assignment]
            if base in UNITS and has_unit_in_another_case(base, written[0], str(value)):  # type: ignore[index]
                message = f"{self._name(path)}: the unit is written {str(value).partition(' ')[2]}"
                self.warning("unit-case", path, message, f"write {value}")
        if self.errors > before:
            return None
        if data_type.constraints or schema.constraints or self._rules_of(data_type):
            self._check(value, schema, data_type, path)
        return value

    def _read_by(self, definition: PropertyDefinition, data: object, path: Path | None) -> Value:
        """Read a value of a definition, without a word about it if it is sensitive."""
        if definition.metadata and says_sensitive(definition.metadata):
            return self._read_quietly(data, definition.schema, path, definition.span)
        return self._read(data, definition.schema, path, definition.span)

    def _read_quietly(self, data: object, schema: Schema, path: Path | None, declared: Span | None) -> Value:
        """Read a value that must not be shown. Functions are no values yet; what is written in them is not shown
        either."""
        self.secrets.append(path)
        if type(data) is Mapping and call_in(data) and not self._is_data(data, schema, path):
            return self._call(data, schema, path)
        return self._quietly(partial(self._read, data, schema, path, declared), path, declared)

    def _quietly(self, read: Callable[[], Value | None], path: Path | None, declared: Span | None) -> Value:
        """Of what is wrong with a sensitive value nothing is said but that it does not fit."""
        faults, errors, was_quiet = self.faults, self.errors, self._is_quiet
        self.faults, self._is_quiet = [], True
        value = read()
        is_wrong = self.errors > errors
        self.faults, self.errors, self._is_quiet = faults, errors, was_quiet
        if not is_wrong:
            return value
        related = (Related("declared here", declared),) if declared else ()
        hint = "the value is not shown, since it is sensitive"
        self.error("bad-value", path, f"{self._name(path)} does not fit what is declared", hint, related=related)
        return None

    def _composed(
        self, data: object, schema: Schema, data_type: DataType, path: Path | None, declared: Span | None
    ) -> Value:
        """Read a value that has parts."""
        base, items = data_type.base, _items(data)
        parts = _parts(data) if items is None else None
        if base == "range":
            found = Wrong(hint=RANGE_USAGE) if items is None else range_of([_single(i) for i in items])
            if not isinstance(found, Wrong):
                return found
            self._report(found, data, schema.type, path, declared)
        elif base == "list":
            if items is not None:
                entry = schema.entry or data_type.entry or STRING
                return [self._read(item, entry, Path(path, n, ENTRY), declared) for n, item in enumerate(items)]
            hint = "write [ ... ] or lines that begin with a dash"
            self._report(Wrong(hint=hint), data, schema.type, path, declared)
        elif base == ANY:
            return self._untyped(data, schema, path)
        elif base == "map":
            if parts is not None:
                return self._map(data, parts, schema, data_type, path, declared)
            self._report(Wrong(), data, schema.type, path, declared)
        else:
            if parts is not None:
                return self._fields(parts, data_type.properties, FIELD, path)
            fields = ", ".join(data_type.properties)
            self._report(Wrong(hint=f"write a map with its fields: {fields}"), data, data_type.name, path, None)
        return None

    def _untyped(self, data: object, schema: Schema, path: Path | None) -> Value:
        """Read a value that may be anything."""
        items = _items(data)
        if items is not None:
            return [self._read(item, schema, Path(path, n, ENTRY), None) for n, item in enumerate(items)]
        parts = _parts(data)
        if parts is not None:
            return {name: self._read(part, schema, Path(path, name, VALUE), None) for name, part in parts.items()}
        return core_value(data) if isinstance(data, Scalar) else data  # type: ignore[return-value]

    def _map(
        self,
        data: object,
        parts: MappingType[str, object],
        schema: Schema,
        data_type: DataType,
        path: Path | None,
        declared: Span | None,
    ) -> Value:
        entry = schema.entry or data_type.entry or STRING
        key_schema = schema.key or data_type.key
        is_text = key_schema is None or self.base(key_schema) == "string"
        # The names of plain data are texts without quotes: of which type they are only a schema says.
        keys: Iterator[Scalar | None] = iter(data.keys) if isinstance(data, Mapping) else iter(())
        found: dict[str, Value] = {}
        for name, value in parts.items():
            key = next(keys, None)
            if key_schema is not None:
                self._read(key or _Unquoted(name), key_schema, Path(path, name, KEY), declared)
            if key is not None and key.plain and is_text and not isinstance(core_value(key), str):
                # YAML takes it for something else than the text that it is here.
                message = f'the key {name} of {self._name(path)} is taken as the text "{name}"'
                self.warning("key-not-text", Path(path, name, KEY), message, f'write "{name}" with quotes')
            found[name] = self._read(value, entry, Path(path, name, VALUE), declared)
        return found

    def attributes(
        self, parts: MappingType[str, object] | None, definitions: MappingType[str, PropertyDefinition], what: str
    ) -> dict[str, Value]:
        """The values that a map gives to attributes, completed with defaults; none of them is required (§3.6.13)."""
        self._what = what
        defaults = self._completion(definitions).defaults
        if parts is None:
            return defaults
        found = dict(defaults)
        for name, data in parts.items():
            definition = definitions.get(name)
            if definition is None:
                self._unknown(name, ATTRIBUTE, definitions, parts, None)
            else:
                found[name] = self._assigned(name, data, definition, ATTRIBUTE, None)
        return found

    def fields(
        self,
        parts: MappingType[str, object] | None,
        definitions: MappingType[str, PropertyDefinition],
        what: str,
        part: str,
        astray: Collection[str] = (),
    ) -> dict[str, Value]:
        """The values that a map gives to definitions, completed with defaults, which alone are shared by all.

        ``part`` is the word for one of them ("property"), ``what`` the name of their owner. A missing required value is
        a fault of the whole, except names that are written in the wrong place (``astray``), which was reported.
        """
        self._what = what
        return self._fields(parts, definitions, part, None, astray)

    def _fields(
        self,
        parts: MappingType[str, object] | None,
        definitions: MappingType[str, PropertyDefinition],
        part: str,
        path: Path | None,
        astray: Collection[str] = (),
    ) -> dict[str, Value]:
        completion = self._completion(definitions)
        found = completion.defaults
        mistaken: set[str] = set()
        if parts is not None:
            found = dict(found)
            for name, data in parts.items():
                definition = definitions.get(name)
                if definition is None:
                    mistaken.update(self._unknown(name, part, definitions, parts, path))
                    continue
                read = self._assigned(name, data, definition, part, path)
                if read is not None or definition.schema.type == "null":
                    found[name] = read
                else:
                    mistaken.add(name)
        for definition in completion.required:
            if definition.name not in found and definition.name not in mistaken and definition.name not in astray:
                related = (Related("declared here", definition.span),) if definition.span else ()
                message = f'{self._name(path)} lacks the required {part} "{definition.name}"'
                hint = f"give it a value of type {definition.schema.type}"
                self.error("missing-value", path, message, hint, related=related)
        return found

    def _completion(self, definitions: MappingType[str, PropertyDefinition]) -> _Completion:
        """How the values of definitions are completed."""
        known = self._completions.get(id(definitions))
        if known is None or known.definitions is not definitions:
            known = _Completion(
                definitions,
                {n: d.default for n, d in definitions.items() if d.has_default},
                tuple(d for d in definitions.values() if d.required and not d.has_default),
            )
            self._completions[id(definitions)] = known
        return known

    def forget(self, definitions: MappingType[str, PropertyDefinition]) -> None:
        """Check definitions again, since their defaults have changed."""
        self._completions.pop(id(definitions), None)

    def _assigned(self, name: str, data: object, definition: PropertyDefinition, part: str, path: Path | None) -> Value:
        """The value that is given to a definition; None for null or where it does not fit."""
        if type(data) is not Scalar:
            return self._read_given(name, data, definition, part, path)
        recurring = self._recurring.get(id(definition))
        if recurring is None or recurring.definition is not definition:
            recurring = self._recurring[id(definition)] = _Recurring(definition, {})
        written = data.text, data.plain
        if written in recurring.values:
            return recurring.values[written]
        before = len(self.faults)
        found = self._read_given(name, data, definition, part, path)
        is_sound = len(self.faults) == before
        if len(recurring.values) < MOST_RECURRING and is_sound and not self.is_sensitive(definition):
            recurring.values[written] = found
        return found

    def _read_given(
        self, name: str, data: object, definition: PropertyDefinition, part: str, path: Path | None
    ) -> Value:
        at = Path(path, name, part)
        if definition.fixed:
            related = (Related("the value is fixed here", definition.span),) if definition.span else ()
            message = f'{part} "{name}" has a fixed value and cannot be assigned'
            self.error("fixed-value", at, message, "remove it", related=related, at_name=True)
            return definition.default
        if definition.status != "supported":
            self.note_status(definition, part, at)
        if self._is_nothing(data, definition.schema):
            if definition.required and not definition.has_default:
                message = f'the required {part} "{name}" has no value'
                self.error("missing-value", at, message, "give it a value", at_name=True)
            return None
        return self._read_by(definition, data, at)

    def _is_nothing(self, data: object, schema: Schema) -> bool:
        """Whether what is given for a value of a schema says that there is none."""
        written = (data.text, data.plain) if type(data) is Scalar else _single(data)
        if written is None or written[0] not in MAYBE_NOTHING:
            return False
        text, plain = written
        if plain and text in NULLS and schema.type != "null":
            return True
        return text in NO_VERSION and self.base(schema) == "version"

    def note_status(self, definition: PropertyDefinition, part: str, path: Path | None) -> None:
        """Warn, once for each definition, where a value is given to one that is not supported (R-3.6.10-4)."""
        if definition.status == "supported" or id(definition) in self._warned:
            return
        self._warned[id(definition)] = definition
        message = f'{part} "{definition.name}" is {definition.status}'
        related = (Related("defined here", definition.span),) if definition.span else ()
        self.warning("status", path, message, STATUS_HINTS.get(definition.status, ""), related=related, at_name=True)

    def _unknown(
        self, name: str, part: str, known: Collection[str], given: Collection[str], path: Path | None
    ) -> list[str]:
        """Say that a value is given to something that is not defined; gives what was probably meant."""
        free = [n for n in known if n not in given]
        message = f'{self._name(path)} has no {part} "{name}"'
        self.error(f"unknown-{part}", Path(path, name, part), message, at_name=True, name=name, known=free or known)
        return nearest(name, free)

    def _rules_of(self, data_type: DataType) -> tuple[DataRule, ...]:
        """The rules that values of a data type must keep."""
        found = self._rules.get(data_type.name)
        if found is None:
            found = self._rules[data_type.name] = rules_of(data_type)
        return found

    def _check(self, value: Value, schema: Schema, data_type: DataType, path: Path | None) -> None:
        """Check a value by the constraints of its type and schema, and the rules of its type."""
        if isinstance(value, Call) or self._breaks_constraint(value, schema, data_type, path):
            return
        for rule in self._rules_of(data_type):
            broken = rule(value)
            if broken:
                at = Path(path, broken.field, FIELD) if broken.field else path
                meant = str(value.get(broken.field)) if broken.known and isinstance(value, dict) else None
                tell = self.warning if broken.is_warning else self.error
                message = f"{self._name(path)}: {broken.problem}"
                tell(broken.code, at, message, broken.hint, name=meant, known=broken.known)

    def _breaks_constraint(self, value: Value, schema: Schema, data_type: DataType, path: Path | None) -> bool:
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
                message = f"{self._name(path)} {wrong}"
                self.error("constraint", path, message, _valid_value(value, constraint), related=related)
                return True
        return False

    def _call(self, node: Mapping, schema: Schema, path: Path | None) -> Value:
        call = read_call(node, self._of_calls, schema)
        if self._of_calls.reported:
            self._take_of_calls()
        if call is None:
            return None
        open_calls: list[Value] = [call] if self.calls is not None else []
        while open_calls:
            part = open_calls.pop()
            if isinstance(part, Call):
                self.note_call(part)
                open_calls.extend(part.arguments)
            elif isinstance(part, list):
                open_calls.extend(part)
        # A result that can never be of the type that is needed (R-4.4.1-3). What refers to something else is compared
        # where that is looked up.
        given = FORMS[call.function].gives
        if given and schema.type in self.data_types and not fits(Schema(given), schema, self.data_types):
            message = f"{self._name(path)} needs {shown(schema)}, but {call.function} gives a {given}"
            self.error("bad-value", path, message, f"use a value of type {schema.type}")
        return call

    def note_call(self, call: Call) -> None:
        """Add a call inside a value, if calls are collected."""
        if self.calls is not None:
            self.calls.append(call)

    def _take_of_calls(self) -> None:
        """Take what is wrong with the form of a call, which is known with its place."""
        for found in self._of_calls:
            tell = self.error if found.severity is Severity.ERROR else self.warning
            tell(found.code, None, found.message, found.hint, span=found.span)
        self._of_calls = Diagnostics()

    def _is_data(self, node: Mapping, schema: Schema, path: Path | None) -> bool:
        """Whether a map that looks like a call is the data that it is in YAML (R-4.3-3).

        It is where a map or a complex value is needed and the function cannot give one, or what stands below its name
        are no arguments; and in every map that is given as an input, where functions have no meaning.
        """
        data_type = self.data_types.get(schema.type)
        if data_type is None or data_type.base not in {"map", ""}:
            return False
        (key,) = node.keys
        gives = FORMS[key.text].gives
        if data_type.base == "":
            return key.text in data_type.properties and bool(gives or self.literal or not has_shape(node))
        if has_shape(node) and not gives and not self.literal:
            return False
        if not self.literal:
            why = f"it gives a {gives}, and a map is needed" if gives else "what follows are no arguments of it"
            message = f'"{key.text}" is a key of a map here and calls no function: {why}'
            self.warning("literal-call", Path(path, key.text, KEY), message)
        return True


class _Unquoted(str):
    """The name of an entry of plain data, as a value that a schema of keys is to read."""

    __slots__ = ()


def _single(data: object) -> tuple[str, bool] | None:
    """How a single value is written; None for what has parts."""
    if type(data) in SIMPLE:
        return scalar_text(data)
    if isinstance(data, Scalar):
        return data.text, data.plain
    if isinstance(data, _Unquoted):
        return str(data), True
    if isinstance(data, Sequence | Mapping | list | MappingType):
        return None
    return scalar_text(data)


def _items(data: object) -> list[Node] | list[object] | None:
    """The entries of a list, None for what is none."""
    if isinstance(data, Sequence):
        return data.items
    return data if isinstance(data, list) else None


def _parts(data: object) -> MappingType[str, object] | None:
    """What a map holds, None for what is none."""
    if isinstance(data, Mapping):
        return data.values
    if isinstance(data, dict | MappingType):
        return data if all(isinstance(name, str) for name in data) else {str(name): v for name, v in data.items()}
    return None


def _valid_value(value: Value, constraint: Constraint) -> str:
    operand = constraint.operand
    if constraint.operator != "valid_values" or not isinstance(value, str) or not isinstance(operand, list):
        return ""
    near = nearest(value, [o for o in operand if isinstance(o, str)])
    return f'did you mean "{near[0]}"?' if near else ""


def misfit(data: object, schema: Schema, what: str, data_types: MappingType[str, DataType]) -> str:
    """Why evaluated data does not meet its declaration, by type and constraints (R-3.6.11-2), "" where it does. For
    data with sensitive parts, the reason shows no details."""
    if is_sensitive(data):
        wrong = misfit(revealed(data), schema, what, data_types)
        return f"{what} does not fit what is declared (the value is not shown, since it is sensitive)" if wrong else ""
    checker = Checker(data_types, literal=True)
    checker.read(data, schema, what)
    return next((f.message for f in checker.faults if not f.is_warning), "")
