"""Values of inputs as they are given: in the ensemble, in files, on the command line, and in earlier commands."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from ordito.app.given_inputs import GivenInputs
from ordito.app.located import plain
from ordito.base.diagnostics import Diagnostics
from ordito.model.inputs import bind_inputs, is_sensitive
from ordito.model.schema import PropertyDefinition
from ordito.model.service import Service
from ordito.source.nodes import Mapping as MappingNode
from ordito.source.nodes import Node, is_null
from ordito.source.package import load_file
from ordito.work.records import GivenValue


class BoundInputs(msgspec.Struct, frozen=True):
    """The values of all inputs; ``asked`` are those of this command, ``given`` what an ensemble is to remember."""

    inputs: dict[str, object]
    asked: dict[str, object]
    given: dict[str, GivenValue]


def bind_given(
    service: Service,
    written: Mapping[str, Node],
    remembered: Mapping[str, GivenValue],
    given: GivenInputs,
    diagnostics: Diagnostics,
) -> BoundInputs:
    """Bring together what the ensemble says (``written``), what earlier commands said, and what this one says.

    What a command says wins over what is written, for as long as that stays as it was at the time.
    """
    asked = read_given(given, diagnostics)
    kept = {
        name: value
        for name, value in remembered.items()
        if name not in asked and name in service.inputs and value.over == plain(written.get(name))
    }
    for name, value in kept.items():
        diagnostics.note(
            "remembered-input",
            f'input "{name}" has the value of an earlier command{_shown(value, service.inputs[name])}',
            service.inputs[name].span,
            hint=f"give it with -i {name}=VALUE to change it, or write another value in ensemble.yaml",
        )
    values = {**written, **{name: value.value for name, value in kept.items()}, **asked}
    bound: dict[str, object] = dict(bind_inputs(service, values, diagnostics))
    now = {name: bound[name] for name in asked if name in bound}
    new = {name: GivenValue(value, plain(written.get(name))) for name, value in now.items()}
    return BoundInputs(bound, now, {**kept, **new})


def _shown(value: GivenValue, definition: PropertyDefinition) -> str:
    return "" if is_sensitive(definition) else f", {msgspec.json.encode(value.value).decode()}"


def given_values(
    written: Mapping[str, Node], remembered: Mapping[str, GivenValue], given: GivenInputs
) -> dict[str, object]:
    """The values that ``bind_given`` brings together, before the service that they are for is known. Nothing is
    reported here."""
    kept = {n: value.value for n, value in remembered.items() if value.over == plain(written.get(n))}
    return {**written, **kept, **read_given(given, Diagnostics())}


def read_given(given: GivenInputs, diagnostics: Diagnostics) -> dict[str, object]:
    """The values of one command, by input: located nodes and texts."""
    values: dict[str, object] = {}
    for path in given.files:
        values.update(_read_file(path, diagnostics))
    values.update(given.texts)
    return values


def _read_file(path: str, diagnostics: Diagnostics) -> Mapping[str, object]:
    document = load_file(path, diagnostics)
    if document is None or is_null(document.root):
        return {}
    if not isinstance(document.root, MappingNode):
        diagnostics.error(
            "bad-value",
            f"a file of inputs holds a map of names and values, not {document.root.kind}",
            document.root.span,
            hint="write one input a line, as in: port: 8080",
        )
        return {}
    return document.root.values
