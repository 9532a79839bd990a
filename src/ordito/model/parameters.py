"""The parameters of topologies and workflows: their inputs, and what a topology puts out (§3.6.14, §3.9)."""

from __future__ import annotations

from collections.abc import Mapping

from ordito.base.diagnostics import Diagnostics
from ordito.model.schema import PropertyDefinition
from ordito.model.service import Output
from ordito.model.types import Types
from ordito.model.unit import Unit
from ordito.syntax.entities import ParameterDefinition
from ordito.syntax.expressions import Value, calls
from ordito.syntax.functions import read_untyped
from ordito.syntax.topology import TopologyTemplate


def read_inputs(
    written: Mapping[str, ParameterDefinition], entry: Unit, types: Types, diagnostics: Diagnostics
) -> dict[str, PropertyDefinition]:
    """The inputs of a topology or a workflow, with their defaults."""
    found: dict[str, PropertyDefinition] = {}
    for name, item in written.items():
        found[name] = types.definitions.parameter(name, item, entry)
        types.definitions.remember_default(found, name, item)
    types.values.literal = True
    types.definitions.settle_defaults(found)
    types.values.literal = False
    for definition in found.values():
        for call in calls(definition.default):
            diagnostics.error(
                "bad-value",
                f'the default of input "{definition.name}" is a value, not a function',
                call.span,
                hint="inputs are known before anything else",
            )
    return found


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
