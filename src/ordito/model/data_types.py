"""Data types, flattened: fields, constraints and entry schemas with inherited ones (§3.7.6). No type may require values
of infinite depth."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

import msgspec

from ordito.base.diagnostics import Diagnostics
from ordito.model.definitions import Definitions
from ordito.model.hierarchy import Hierarchy
from ordito.model.primitive_values import PRIMITIVES
from ordito.model.schema import DataType, PropertyDefinition, Schema
from ordito.model.sensitivity import says_sensitive
from ordito.model.units import Definition
from ordito.syntax import entities
from ordito.syntax.expressions import Call, Value
from ordito.syntax.shapes import is_lost


class DataTypes:
    """Fills ``known``, which holds the primitive types already, with all data types.

    Data types may contain each other in any order, so all are added first, then their fields are read, and then the
    defaults of fields, those of a type before those of fields with that type.
    """

    def __init__(self, known: dict[str, DataType], definitions: Definitions, diagnostics: Diagnostics) -> None:
        self._known = known
        self._definitions = definitions
        self._diagnostics = diagnostics
        self._fields: dict[str, dict[str, PropertyDefinition]] = {}
        self._parents: dict[str, str] = {}

    def flatten(self, hierarchy: Hierarchy) -> None:
        """Flatten the data types of a hierarchy."""
        order = [d for d in hierarchy.order if not self._is_primitive(d)]
        for definition in order:
            self._announce(definition, hierarchy)
        for definition in order:
            self._complete(definition)
        self._forget_endless()
        sizes = Sizes()
        for name in self._contained_first():
            self._inherit_defaults(name)
            self._definitions.settle_defaults(self._fields[name])
            self._check_sizes(self._fields[name], sizes)

    def _forget_endless(self) -> None:
        """Report the types whose values would have no end; of these nothing more is asked for."""
        defaulted: dict[str, dict[str, bool]] = {}
        for name, fields in self._fields.items():
            defaulted[name] = {**defaulted.get(self._parents[name], {}), **self._definitions.unsettled(fields)}
        endless = Endless(self._fields, self._known, defaulted).report(self._diagnostics)
        for name, fields in self._fields.items() if endless else ():
            if name in endless or self._parents[name] in endless:
                endless.add(name)
                self._definitions.forget_defaults(fields)
                for field, definition in fields.items():
                    fields[field] = msgspec.structs.replace(definition, required=False)

    def _check_sizes(self, fields: dict[str, PropertyDefinition], sizes: Sizes) -> None:
        """Refuse defaults that hold each other until they are beyond all measure."""
        for field, definition in fields.items():
            if definition.has_default and sizes.is_too_large(definition.default):
                self._diagnostics.error(
                    "too-large",
                    f'the default of "{field}" is too large, with all defaults that it holds',
                    definition.span,
                    hint=f"at most {MOST_PARTS:,} parts, nested in {MOST_LEVELS} levels",
                )
                fields[field] = msgspec.structs.replace(definition, required=False, has_default=False, default=None)
                self._definitions.forget(fields)

    def _is_primitive(self, definition: Definition) -> bool:
        if definition.name not in PRIMITIVES:
            return False
        self._diagnostics.error(
            "reserved-name",
            f'"{definition.name}" is a type of the language itself and cannot be defined',
            definition.content.span,
            hint="choose another name",
        )
        return True

    def _announce(self, definition: Definition, hierarchy: Hierarchy) -> None:
        written = definition.content
        assert isinstance(written, entities.DataType)
        name = hierarchy.parent(definition) or (written.derived_from.text if written.derived_from else "")
        parent = self._known.get(name)
        self._check(written, definition, parent)
        self._parents[definition.name] = name
        self._fields[definition.name] = {}
        kinds = (definition.name, *(parent.kinds if parent is not None else ()))
        metadata = {key: text.text for key, text in (written.metadata or {}).items()}
        self._known[definition.name] = DataType(
            definition.name,
            kinds,
            parent.base if parent else "",
            self._fields[definition.name],
            sensitive=says_sensitive(metadata) or (parent is not None and parent.sensitive),
        )

    def _complete(self, definition: Definition) -> None:
        written = definition.content
        assert isinstance(written, entities.DataType)
        parent = self._known.get(self._parents[definition.name])
        made = self._known[definition.name]
        fields = self._fields[definition.name]
        inherited = parent.properties if parent else {}
        fields.update(inherited)
        self._definitions.merge(inherited, written.properties, definition.unit, into=fields, what="field")
        constraints = parent.constraints if parent else ()
        entry = self._part(written.entry_schema, parent.entry if parent else None, definition, "entries")
        key = self._part(written.key_schema, parent.key if parent else None, definition, "keys")
        if written.constraints and made.base:
            schema = Schema(definition.name, entry, key)
            own = self._definitions.schemas.constrained(schema, written.constraints, constraints)
            constraints = (*constraints, *own.constraints)
        self._known[definition.name] = msgspec.structs.replace(made, constraints=constraints, entry=entry, key=key)

    def _part(
        self, written: entities.SchemaDefinition | None, inherited: Schema | None, definition: Definition, what: str
    ) -> Schema | None:
        """The schema of entries or keys, which may only be closer than an inherited one."""
        if written is None:
            return inherited
        schemas = self._definitions.schemas
        own = schemas.schema(written, definition.unit)
        if what == "keys":
            schemas.check_key(own, written)
        if inherited is None:
            return own
        name = f'the {what} of data type "{definition.content.name}"'
        return schemas.narrowed(inherited, own, name, written.type.span, None)

    def _check(self, written: entities.DataType, definition: Definition, parent: DataType | None) -> None:
        self._check_fields(written, definition, parent)
        if written.constraints and (parent is None or not parent.base):
            self._diagnostics.error(
                "bad-constraint",
                f'data type "{written.name}" is not derived from a primitive type, so it cannot be constrained',
                written.span,
                hint="put the constraints on its properties",
            )
        for keyname, schema, bases in (
            ("entry_schema", written.entry_schema, {"list", "map"}),
            ("key_schema", written.key_schema, {"map"}),
        ):
            if schema is not None and (parent is None or parent.base not in bases):
                self._diagnostics.error(
                    "bad-schema",
                    f'{keyname} has no meaning for data type "{written.name}"',
                    schema.span,
                    hint=f"only types derived from {' or '.join(sorted(bases))} have one",
                )

    def _check_fields(self, written: entities.DataType, definition: Definition, parent: DataType | None) -> None:
        if written.properties and parent is not None and parent.base:
            self._diagnostics.error(
                "bad-schema",
                f'data type "{written.name}" is derived from {parent.base} and cannot have properties',
                written.span,
                hint="give constraints instead, or derive it from a complex type",
            )
        unit = definition.unit
        if unit.is_bundled or unit.dialect.is_open or written.properties or is_lost(written.properties, ""):
            return
        if written.derived_from is None:
            self._diagnostics.error(
                "empty-data-type",
                f'data type "{written.name}" has neither derived_from nor properties',
                written.span,
                hint="derive it from another type or give it properties",
            )
        elif written.properties is not None and not getattr(written.properties, "lost", None):
            self._diagnostics.error(
                "empty-data-type",
                f'the properties of data type "{written.name}" are empty',
                written.span,
                hint="leave properties out, or name at least one",
            )

    def _inherit_defaults(self, name: str) -> None:
        parent = self._fields.get(self._parents[name], {})
        fields = self._fields[name]
        for field, inherited in parent.items():
            if inherited.has_default and not fields[field].has_default:
                fields[field] = msgspec.structs.replace(fields[field], has_default=True, default=inherited.default)

    def _contained_first(self) -> list[str]:
        """The data types, each after those that it derives from and that its fields hold, as far as these do not
        contain each other."""
        order: list[str] = []
        entered: set[str] = set()
        for start in self._fields:
            path = [(start, self._needed(start))] if start not in entered else []
            entered.add(start)
            while path:
                name, needed = path[-1]
                following = next((n for n in needed if n not in entered), None)
                if following is None:
                    order.append(name)
                    path.pop()
                else:
                    entered.add(following)
                    path.append((following, self._needed(following)))
        return order

    def _needed(self, name: str) -> Iterator[str]:
        if self._parents[name] in self._fields:
            yield self._parents[name]
        for field in self._fields[name].values():
            schema: Schema | None = field.schema
            while schema is not None:
                if schema.type in self._fields:
                    yield schema.type
                schema = schema.entry or self._known[schema.type].entry if schema.type in self._known else None


# Data types whose values would have no end, and defaults that hold each other until they are beyond all measure
# (§3.7.6).

MOST_PARTS = 10_000
"""How many parts the default of one field may have, counted as often as they would be written."""
MOST_LEVELS = 50
"""How deep the default of one field may be nested."""


class Endless:
    """Finds the data types whose values would always hold another value of the same type.

    ``fields`` are the fields of all data types; ``defaulted`` says which of them have a default, and whether that is a
    map, which is completed with the defaults of its own type.
    """

    def __init__(
        self,
        fields: Mapping[str, Mapping[str, PropertyDefinition]],
        known: Mapping[str, DataType],
        defaulted: Mapping[str, Mapping[str, bool]],
    ) -> None:
        self._fields = fields
        self._known = known
        self._defaulted = defaulted

    def report(self, diagnostics: Diagnostics) -> set[str]:
        """Report each cycle once; gives the names of the types in them."""
        found: set[str] = set()
        entered: set[str] = set()
        for start in self._fields:
            path = [(start, self._held(start))] if start not in entered else []
            places = {start: 0}
            entered.add(start)
            while path:
                name, needed = path[-1]
                field, following = next(needed, ("", ""))
                if not following:
                    path.pop()
                    del places[name]
                elif following not in entered:
                    entered.add(following)
                    places[following] = len(path)
                    path.append((following, self._held(following)))
                elif following in places:
                    cycle = [n for n, _ in path[places[following] :]]
                    found.update(cycle)
                    _report([*cycle, following], self._fields[name][field], diagnostics)
        return found

    def _held(self, name: str) -> Iterator[tuple[str, str]]:
        """The fields of a data type that hold a complex value in every value of it, each with the type of that."""
        defaulted = self._defaulted.get(name, {})
        for field, definition in self._fields[name].items():
            kind = definition.schema.type
            if kind in self._fields and not self._known[kind].base and defaulted.get(field, definition.required):
                yield field, kind


def _report(cycle: list[str], field: PropertyDefinition, diagnostics: Diagnostics) -> None:
    diagnostics.error(
        "endless-type",
        f"every value of data type {cycle[0]} would hold another one, without end: {' -> '.join(cycle)}",
        field.span,
        hint=f'write required: false for "{field.name}", without a default, or make it a list',
    )


class Sizes:
    """How large values are, counted as they would be written; parts that several values share are measured once."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[Value, int, int]] = {}

    def is_too_large(self, value: Value) -> bool:
        """Whether a value has too many parts, or is nested too deeply."""
        parts, levels = self._measure(value)
        return parts > MOST_PARTS or levels > MOST_LEVELS

    def _measure(self, value: Value) -> tuple[int, int]:
        """The number of parts of a value, and how deep it is nested. Its parts have been measured, save those that are
        new in it: these were read from a document, whose nesting is bounded."""
        if not isinstance(value, list | dict | Call):
            return 1, 0
        found = self._known.get(id(value))
        if found is None:
            inner: Iterable[Value] = (
                value.values() if isinstance(value, dict) else value if isinstance(value, list) else value.arguments
            )
            measured = [self._measure(v) for v in inner]
            parts = min(1 + sum(p for p, _ in measured), 10 * MOST_PARTS)
            found = self._known[id(value)] = value, parts, 1 + max((d for _, d in measured), default=0)
        return found[1], found[2]
