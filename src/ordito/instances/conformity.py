"""Whether a value that has been evaluated is what its declaration asks for, by type and constraints (R-3.6.11-2)."""

from __future__ import annotations

from collections.abc import Mapping
from math import isfinite, isnan

from ordito.base.diagnostics import Diagnostics, Severity
from ordito.base.sensitive import is_sensitive, revealed
from ordito.base.span import SourceText, Span
from ordito.model.schema import DataType, Schema
from ordito.model.values import Values
from ordito.source.nodes import Mapping as MappingNode
from ordito.source.nodes import Node, Scalar, Sequence
from ordito.syntax.expressions import Call, Value

NOWHERE = Span(SourceText("", ""), 1, 1, 1, 1)


def misfit(data: object, schema: Schema, what: str, data_types: Mapping[str, DataType]) -> str:
    """Why data does not fit a schema, "" where it does. Of data with sensitive parts nothing more is said."""
    if is_sensitive(data):
        wrong = misfit(revealed(data), schema, what, data_types)
        return f"{what} does not fit what is declared (the value is not shown, since it is sensitive)" if wrong else ""
    diagnostics = Diagnostics()
    values = Values(data_types, diagnostics)
    values.literal = True
    values.read(as_node(None, data, NOWHERE), schema, what)
    return next((d.message for d in diagnostics if d.severity is Severity.ERROR), "")


def as_node(written: Value, data: object, span: Span) -> Node:
    """Data as it would be written: each part at the place of the call in ``written`` that gave it, else at ``span``.

    The depth of evaluated data is bounded, so recursion is safe here.
    """
    if isinstance(written, Call):
        span = written.span
    at = (span.source, span.line, span.column, span.end_line, span.end_column)
    if isinstance(data, list):
        parts: list[Value] = written if isinstance(written, list) else [None] * len(data)
        return Sequence(*at, [as_node(w, d, span) for w, d in zip(parts, data, strict=True)])
    if isinstance(data, Mapping):
        given: Mapping[str, Value] = written if isinstance(written, dict) else {}
        values = {str(k): as_node(given.get(k), v, span) for k, v in data.items()}
        return MappingNode(*at, [Scalar(*at, k, False) for k in values], values)
    if isinstance(data, str):
        return Scalar(*at, data, False)
    if isinstance(data, bool):
        return Scalar(*at, "true" if data else "false", True)
    if isinstance(data, float) and not isfinite(data):
        return Scalar(*at, ".nan" if isnan(data) else ".inf" if data > 0 else "-.inf", True)
    return Scalar(*at, "null" if data is None else str(data), True)
