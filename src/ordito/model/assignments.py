"""What is assigned to definitions: properties, attributes, inputs and fields, each by its definition, completed with
defaults (§3.6.11, §3.6.13)."""

from __future__ import annotations

from collections.abc import Collection
from collections.abc import Mapping as MappingType
from typing import Any, Protocol

import msgspec

from ordito.base.diagnostics import Diagnostics, Related
from ordito.base.span import Placed
from ordito.base.suggest import nearest
from ordito.base.versions import NO_VERSION
from ordito.model.schema import DataType, PropertyDefinition, Schema
from ordito.model.written import Written
from ordito.source.nodes import NULLS, Mapping, Node, Scalar, is_null
from ordito.syntax.expressions import Value

MAYBE_NOTHING = frozenset({*NULLS, *NO_VERSION})
"""Texts that may say that there is no value."""
MOST_RECURRING = 100
"""How many values of one definition are remembered: those that recur are among the first."""
STATUS_HINTS = {
    "deprecated": "look for what replaces it: a later version will not have it",
    "experimental": "it may change or vanish in a later version",
    "unsupported": "its value may have no effect",
}
EXTENDED = {"description", "value"}


class ReadsValues(Protocol):
    """Who reads single values. Where findings go may change from one value to the next."""

    diagnostics: Diagnostics
    data_types: MappingType[str, DataType]

    def base(self, schema: Schema) -> str:
        """The primitive type at the root of a schema's type, "" for complex types."""

    def is_sensitive(self, definition: PropertyDefinition) -> bool:
        """Whether nothing may be shown of the values of a definition."""

    def read_as(self, definition: PropertyDefinition, node: Node, what: str) -> Value:
        """Read a value of a definition."""

    def fits(self, node: Node, schema: Schema) -> bool:
        """Whether a node can be read as a value of a schema; nothing is reported."""


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


class Assignments:
    """Reads what is assigned to definitions."""

    def __init__(self, values: ReadsValues) -> None:
        self._values = values
        self.written = Written()
        """Where the properties of nodes, capabilities and relationships are written."""
        self._completions: dict[int, _Completion] = {}
        self._warned: dict[int, PropertyDefinition] = {}
        self._recurring: dict[int, _Recurring] = {}

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
        before = self._values.diagnostics.errors
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
            self.written.remember(found, node, is_sound=self._values.diagnostics.errors == before and not is_astray)
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
        self._values.diagnostics.error(
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
        if type(value) is not Scalar:
            return self._read(key, value, definition, part)
        recurring = self._recurring.get(id(definition))
        if recurring is None or recurring.definition is not definition:
            recurring = self._recurring[id(definition)] = _Recurring(definition, {})
        written = value.text, value.plain
        if written in recurring.values:
            return recurring.values[written]
        reported = self._values.diagnostics.reported
        found = self._read(key, value, definition, part)
        is_sound = self._values.diagnostics.reported == reported
        if len(recurring.values) < MOST_RECURRING and is_sound and not self._values.is_sensitive(definition):
            recurring.values[written] = found
        return found

    def _read(self, key: Scalar, value: Node, definition: PropertyDefinition, part: str) -> Value:
        if definition.fixed:
            related = (Related("the value is fixed here", definition.span),) if definition.span else ()
            self._values.diagnostics.error(
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
        return self._values.read_as(definition, value, f'{part} "{key.text}"')

    def note_status(self, definition: PropertyDefinition, part: str, place: Placed) -> None:
        """Warn of what is given a value and is not supported (R-3.6.10-4), once for each definition."""
        if definition.status == "supported" or id(definition) in self._warned:
            return
        self._warned[id(definition)] = definition
        self._values.diagnostics.warning(
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
        if (
            self._values.base(definition.schema) not in {"map", ""}
            or definition.schema.type not in self._values.data_types
        ):
            return inner
        if not self._values.fits(inner, definition.schema):
            return node
        if not self._values.fits(node, definition.schema):
            return inner
        self._values.diagnostics.warning(
            "ambiguous-value",
            f'attribute "{definition.name}": this may be a value with a description, or all of it may be the value',
            node.span,
            hint="it is taken as the value; to give a value with a description, move the description to a comment",
        )
        return node

    def _is_nothing(self, value: Scalar, schema: Schema) -> bool:
        """Whether what is written for a value of a schema says that there is none."""
        if is_null(value) and schema.type != "null":
            return True
        return value.text in NO_VERSION and self._values.base(schema) == "version"

    def _nothing(self, definition: PropertyDefinition, key: Scalar, part: str) -> Value:
        if definition.required and not definition.has_default:
            self._values.diagnostics.error(
                "missing-value", f'the required {part} "{key.text}" has no value', key.span, hint="give it a value"
            )
        return None

    def unknown(self, key: Scalar, part: str, what: str, known: MappingType[str, Any], given: Mapping) -> list[str]:
        """Report an assignment to something that is not defined; gives what was probably meant."""
        free = [n for n in known if n not in given.values]
        hint = self._values.diagnostics.suggestion(key.text, free or known)
        self._values.diagnostics.error(f"unknown-{part}", f'{what} has no {part} "{key.text}"', key.span, hint=hint)
        return nearest(key.text, free)
