"""Inputs that are outputs of other services: of the ensemble in the folder of that name beside this one's."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import msgspec

from ordito.app.errors import Refused
from ordito.app.inputs.evaluate import computable
from ordito.app.inputs.gathered import GatheredInputs
from ordito.app.output import OutputRequest, output
from ordito.base.diagnostics import Diagnostics
from ordito.base.sensitive import is_sensitive, revealed
from ordito.ensemble.errors import EnsembleError
from ordito.model.schema import PropertyDefinition
from ordito.model.settings import OUTPUT
from ordito.source.nodes import Mapping as MappingNode
from ordito.source.nodes import Scalar, Sequence
from ordito.source.reach import is_reachable


def with_outputs_of_others(
    gathered: GatheredInputs, declared: Mapping[str, PropertyDefinition], directory: str, diagnostics: Diagnostics
) -> GatheredInputs:
    """The values with those of inputs that are outputs of other services and that nobody gives another value;
    ``directory`` is that of the ensemble. What another service does not give is reported."""
    found: dict[str, object] = {}
    secret: set[str] = set()
    for name, definition in declared.items():
        if OUTPUT not in definition.metadata or name in gathered.values:
            continue
        asked, _, wanted = definition.metadata[OUTPUT].partition(" ")
        given = asked if not asked.startswith("@") else _given(asked[1:], gathered, declared)
        try:
            value = _value(given, wanted, directory)
        except (Refused, EnsembleError) as error:
            missing = f"input {asked[1:]} names no service" if not given else f'service "{given}": {error}'
            place = f"deploy it into {beside(directory, given)}" if given else f"give it: -i {asked[1:]}=NAME"
            diagnostics.error(
                "no-capability",
                f'the capability "{wanted}" has no value: {missing}',
                definition.span,
                hint=f"{place}, or give the value: -i '{name}=VALUE'",
            )
            continue
        found[name] = revealed(value)
        if is_sensitive(value):
            secret.add(name)
    if not found:
        return gathered
    return msgspec.structs.replace(
        gathered, values={**gathered.values, **found}, secret=gathered.secret | frozenset(secret)
    )


def beside(directory: str, name: str) -> str:
    """The directory of the ensemble that a service of this name has."""
    own = Path(directory)
    return str(own / name) if "/" in name else str(own.parent / name)


def _value(name: str, wanted: str, directory: str) -> object:
    """An output of another service. Raises ``Refused`` and ``EnsembleError``."""
    place = beside(directory, name)
    if not name or not is_reachable(place):
        raise Refused("unknown-ensemble", "it cannot be reached from here" if name else "")
    return output(OutputRequest(place, wanted)).outputs[wanted]


def _given(name: str, gathered: GatheredInputs, declared: Mapping[str, PropertyDefinition]) -> str:
    value = gathered.values.get(name)
    if value is None and name in declared and declared[name].has_default:
        value = declared[name].default
    data = computable(value) if isinstance(value, Scalar | Sequence | MappingNode) else revealed(value)
    return str(data) if data is not None else ""
