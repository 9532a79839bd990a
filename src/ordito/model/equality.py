"""When two values of a schema are equal: parts by their declared types, so that 1 KiB is 1024 B inside a list as well
(TOSCA 1.3 §3.6.3, ``equal`` and ``valid_values`` for lists, maps and complex values)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ordito.model.constraints import equal
from ordito.model.schema import DataType, Schema
from ordito.syntax.expressions import Value


def equal_values(one: Value, other: Value, schema: Schema, data_types: Mapping[str, DataType]) -> bool:
    """Whether two evaluated values of a schema are equal. Iterative, since users choose the depth."""
    waiting: list[tuple[Any, Any, Schema | None]] = [(one, other, schema)]
    while waiting:
        a, b, by = waiting.pop()
        if a is b:
            continue
        if type(a) is not type(b):
            data_type = data_types.get(by.type) if by is not None else None
            if data_type is None or data_type.base != "float" or a is None or b is None or a != b:
                return False
            continue
        if isinstance(a, list):
            if len(a) != len(b):
                return False
            entry = _entry(by, data_types)
            waiting.extend((x, y, entry) for x, y in zip(a, b, strict=True))
        elif isinstance(a, dict):
            if a.keys() != b.keys():
                return False
            waiting.extend((a[k], b[k], _field(k, by, data_types)) for k in a)
        elif not _equal_single(a, b, by, data_types):
            return False
    return True


def _equal_single(a: Any, b: Any, schema: Schema | None, data_types: Mapping[str, DataType]) -> bool:
    data_type = data_types.get(schema.type) if schema is not None else None
    return equal(a, b, data_type.base if data_type is not None else "")


def _entry(schema: Schema | None, data_types: Mapping[str, DataType]) -> Schema | None:
    """The schema of the entries of a list or map."""
    if schema is None:
        return None
    data_type = data_types.get(schema.type)
    return schema.entry or (data_type.entry if data_type is not None else None)


def _field(name: str, schema: Schema | None, data_types: Mapping[str, DataType]) -> Schema | None:
    """The schema of what a map or a complex value holds under a name."""
    data_type = data_types.get(schema.type) if schema is not None else None
    if data_type is not None and data_type.base == "":
        definition = data_type.properties.get(name)
        return definition.schema if definition is not None else None
    return _entry(schema, data_types)
