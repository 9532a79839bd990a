"""What makes a value sensitive: the metadata of its definition, or of the node template it belongs to, and its type.

`metadata: {sensitive: true}` marks a property, an attribute, an input, an output, a parameter, a data type with all
types derived from it, or a node template with all its values. Where a field of a data type is sensitive (as the token
of `tosca.datatypes.Credential`), only that part of a value is.
"""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from ordito.base.sensitive import Sensitive
from ordito.model.schema import DataType, PropertyDefinition, Schema
from ordito.source.nodes import Node, Scalar, Sequence

SENSITIVE = "sensitive"


def says_sensitive(metadata: Mapping[str, str]) -> bool:
    """Whether metadata say that what they are about is sensitive."""
    return bool(metadata) and metadata.get(SENSITIVE, "").strip().lower() == "true"


def hide(node: Node) -> None:
    """Have no message show the lines of a node as they are written, save the names of functions and entries."""
    open_nodes: list[Node] = [node]
    while open_nodes:
        current = open_nodes.pop()
        if isinstance(current, Scalar):
            if current.text:
                current.source.hide((current.line, current.column), (current.end_line, current.end_column))
        else:
            open_nodes.extend(current.items if isinstance(current, Sequence) else current.values.values())


class Mark(msgspec.Struct, frozen=True):
    """Which parts of a value are sensitive: all of it, or those that its schema marks."""

    whole: bool
    schema: Schema | None = None


class Marks:
    """Wraps what is sensitive in evaluated data, by what is declared for it."""

    def __init__(self, data_types: Mapping[str, DataType]) -> None:
        self._data_types = data_types
        self._touched: dict[str, bool] = {}

    def of(self, definition: PropertyDefinition | None) -> Mark | None:
        """Which parts of a definition's values are sensitive; None where none are."""
        if definition is None:
            return None
        return self.by(definition.schema, definition.metadata)

    def by(self, schema: Schema | None, metadata: Mapping[str, str]) -> Mark | None:
        """As ``of``, by schema and metadata."""
        if metadata and says_sensitive(metadata):
            return Mark(whole=True)
        return Mark(whole=False, schema=schema) if schema is not None and self._touches(schema) else None

    def of_node(self, metadata: Mapping[str, str], definition: PropertyDefinition | None) -> Mark | None:
        """As ``of``, for a property or attribute of a node template with such metadata."""
        return Mark(whole=True) if says_sensitive(metadata) else self.of(definition)

    def inside(self, mark: Mark | None, place: str | int) -> Mark | None:
        """Which parts are sensitive in the part of a value to which a name or index leads."""
        if mark is None or mark.whole or mark.schema is None:
            return mark
        data_type = self._data_types[mark.schema.type]
        if data_type.sensitive:
            return Mark(whole=True)
        field = data_type.properties.get(str(place))
        if field is not None:
            return self.of(field)
        entry = mark.schema.entry or data_type.entry
        return self.by(entry, {}) if entry is not None else None

    def wrap(self, data: object, mark: Mark | None) -> object:
        """Data with its sensitive parts wrapped; null stays null, and wrapped parts stay wrapped."""
        if mark is None or data is None or isinstance(data, Sensitive):
            return data
        if mark.whole or mark.schema is None:
            return Sensitive(data)
        return self._wrap(data, mark.schema)

    def _wrap(self, data: object, schema: Schema) -> object:
        data_type = self._data_types[schema.type]
        if data_type.sensitive:
            return Sensitive(data)
        mark = Mark(whole=False, schema=schema)
        if isinstance(data, dict):
            return {name: self.wrap(value, self.inside(mark, name)) for name, value in data.items()}
        if isinstance(data, list):
            entry = self.inside(mark, 0)
            return [self.wrap(value, entry) for value in data]
        return data

    def _touches(self, schema: Schema) -> bool:
        """Whether values of a schema have sensitive parts."""
        current: Schema | None = schema
        while current is not None:
            if self._type_touches(current.type):
                return True
            current = current.entry
        return False

    def _type_touches(self, name: str) -> bool:
        known = self._touched.get(name)
        if known is None:
            known = self._touched[name] = self._found(name)
        return known

    def _found(self, name: str) -> bool:
        """Look through a data type, and through all that its fields and entries hold."""
        seen, waiting = {name}, [name]
        while waiting:
            data_type = self._data_types.get(waiting.pop())
            if data_type is None:
                continue
            fields = data_type.properties.values()
            if data_type.sensitive or any(says_sensitive(f.metadata) for f in fields):
                return True
            schemas: list[Schema | None] = [data_type.entry, *(f.schema for f in fields)]
            while schemas:
                schema = schemas.pop()
                if schema is not None:
                    schemas.append(schema.entry)
                    if schema.type not in seen:
                        seen.add(schema.type)
                        waiting.append(schema.type)
        return False
