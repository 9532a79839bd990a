"""The parameters of topologies and workflows: their inputs, and what a topology puts out (§3.6.14, §3.9)."""

from __future__ import annotations

from collections.abc import Mapping as MappingType

from ordito.base.diagnostics import Diagnostics
from ordito.base.span import Placed
from ordito.model.schema import PropertyDefinition
from ordito.model.service import Output
from ordito.model.types import Types
from ordito.model.unit import Unit
from ordito.source.nodes import Mapping
from ordito.syntax.entities import ParameterDefinition
from ordito.syntax.expressions import Value, calls
from ordito.syntax.functions import call_in, has_shape, read_untyped
from ordito.syntax.topology import TopologyTemplate


def read_inputs(
    written: MappingType[str, ParameterDefinition], entry: Unit, types: Types, diagnostics: Diagnostics
) -> dict[str, PropertyDefinition]:
    """The inputs of a topology or a workflow, with their defaults."""
    found: dict[str, PropertyDefinition] = {}
    for name, item in written.items():
        found[name] = types.definitions.parameter(name, item, entry)
        if not _refuse_function(item, found[name], types, diagnostics):
            types.definitions.remember_default(found, name, item)
    with types.values.without_functions():
        types.definitions.settle_defaults(found)
    for definition in found.values():
        for call in calls(definition.default):
            _report_function(definition, call, diagnostics)
    return found


def _refuse_function(
    item: ParameterDefinition, definition: PropertyDefinition, types: Types, diagnostics: Diagnostics
) -> bool:
    """Whether the value of an input that holds a map is a function and could be nothing else; that is reported."""
    node = item.value if item.value is not None else item.default
    if not isinstance(node, Mapping) or not call_in(node) or not has_shape(node):
        return False
    schema = definition.schema
    if types.values.base(schema) not in {"map", ""} or schema.type not in types.data:
        return False
    with types.values.without_functions():
        fits = item.type is not None and types.values.fits(node, schema)
    if not fits:
        _report_function(definition, node, diagnostics)
    return not fits


def _report_function(definition: PropertyDefinition, place: Placed, diagnostics: Diagnostics) -> None:
    what = f'input "{definition.name}"'
    diagnostics.error(
        "bad-value",
        f"{what} has a fixed value, not a function"
        if definition.fixed
        else f"the default of {what} is a value, not a function",
        place.span,
        hint="write the value itself: inputs are known before anything else",
    )


def read_outputs(topology: TopologyTemplate, entry: Unit, types: Types, diagnostics: Diagnostics) -> dict[str, Output]:
    """The outputs of a topology, each with its value, which may hold calls."""
    found: dict[str, Output] = {}
    for name, item in (topology.outputs or {}).items():
        schema = types.definitions.schema(item, entry) if item.type is not None else None
        if item.type is None and types.definitions.is_misspelt(item):
            continue
        node = item.value if item.value is not None else item.default
        if node is None:
            diagnostics.error("missing-keyname", f'output "{name}" lacks "value"', item.span, hint="say what it shows")
            continue
        value: Value = (
            read_untyped(node, diagnostics)
            if schema is None
            else types.values.read(node, schema, f'output "{name}"', item.type.span if item.type else None)
        )
        found[name] = Output(
            name,
            value,
            schema,
            item.description.text if item.description else "",
            {k: v.text for k, v in (item.metadata or {}).items()},
            item.span,
        )
    return found
