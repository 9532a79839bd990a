"""Values of inputs, checked against what a service declares, and which of them an ensemble remembers."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

import msgspec

from ordito.app.inputs.gathered import GatheredInputs, plain, read_given
from ordito.app.requests import GivenInputs
from ordito.base.diagnostics import Diagnostics, InvalidDocument
from ordito.base.sensitive import Sensitive, revealed
from ordito.base.sensitive import is_sensitive as has_sensitive_parts
from ordito.instances.context import Context, EvaluationError, Nothing
from ordito.instances.evaluate import Evaluator
from ordito.instances.records import Snapshot
from ordito.model.inputs import bind_inputs, is_sensitive
from ordito.model.operation import Input
from ordito.model.schema import DataType, PropertyDefinition
from ordito.model.sensitivity import Marks
from ordito.model.service import Service
from ordito.source.nodes import Mapping as MappingNode
from ordito.source.nodes import Node, Scalar, Sequence
from ordito.syntax.expressions import is_static
from ordito.work.records import GivenValue


class BoundInputs(msgspec.Struct, frozen=True):
    """The values of all inputs; ``asked`` are those of this command, ``given`` those that an ensemble remembers."""

    inputs: dict[str, object]
    asked: dict[str, object]
    given: dict[str, GivenValue]


def bind_given(
    service: Service, gathered: GatheredInputs, diagnostics: Diagnostics, *, had: Collection[str] | None = ()
) -> BoundInputs:
    """Check gathered values against the declared inputs.

    Values from secrets are never shown in messages and not remembered: a secret is looked up each time. Values in
    ensemble.yaml for inputs that the service no longer has are left out if they are in ``had``, the inputs of the last
    deployment; None stands for all that are written, if the last deployment was of another service.
    """
    kept = {name: value for name, value in gathered.kept.items() if name in service.inputs}
    for name, value in kept.items():
        if _is_default(value, service.inputs[name]):
            continue  # It would be the same if nobody had given it.
        diagnostics.note(
            "remembered-input",
            f'input "{name}" has the value of an earlier command{_shown(value, service.inputs[name])}',
            service.inputs[name].span,
            hint=f"give it with -i {name}=VALUE to change it, or write another value in ensemble.yaml;"
            f" --forget-input {name} forgets it",
        )
    forgotten = (gathered.kept.keys() - kept.keys()) | set(_left_out(service, gathered, had, diagnostics))
    values = {name: value for name, value in gathered.values.items() if name not in forgotten}
    bound: dict[str, object] = dict(bind_inputs(service, values, diagnostics, quiet=secret_inputs(service, gathered)))
    _evaluate_defaults(service, bound, diagnostics)
    now = {name: bound[name] for name in gathered.asked if name in bound}
    new = {n: GivenValue(value, _written(gathered, n, service), gathered.environment) for n, value in now.items()}
    # What is written in ensemble.yaml anyway need not be remembered.
    told = {name for name, given in new.items() if given.over is not None and given.value == given.over}
    return BoundInputs(bound, now, {name: given for name, given in {**kept, **new}.items() if name not in told})


def _evaluate_defaults(service: Service, bound: dict[str, object], diagnostics: Diagnostics) -> None:
    """Give inputs whose defaults are functions, as those of blueprints may be, the values that these have."""
    open_ones = [name for name, value in bound.items() if not is_static(value)]  # type: ignore[arg-type]
    if not open_ones or diagnostics.has_errors:
        return
    evaluator = Evaluator(service, Snapshot(), bound)
    for name in open_ones:
        try:
            found = evaluator.evaluate(bound[name], Context())  # type: ignore[arg-type]
        except EvaluationError as error:
            diagnostics.error("bad-value", f'input "{name}": {error.message}', error.span, hint=error.hint)
            continue
        if isinstance(found, Nothing):
            diagnostics.error("missing-input", f'input "{name}": {found.reason}', service.inputs[name].span)
        bound[name] = found


def _is_default(value: GivenValue, definition: PropertyDefinition) -> bool:
    return value.over is None and definition.has_default and revealed(value.value) == definition.default


def _left_out(
    service: Service, gathered: GatheredInputs, had: Collection[str] | None, diagnostics: Diagnostics
) -> Iterator[str]:
    """The inputs that are written for an earlier version of the service, or another one, and that this one does not
    have."""
    for name, node in gathered.written.items():
        if name not in service.inputs and name not in gathered.asked and (had is None or name in had):
            diagnostics.warning(
                "input-left-out",
                f'service "{service.name}" no longer has an input "{name}": its value is ignored',
                node.span,
                hint="remove it from ensemble.yaml when nothing that is deployed has this input any more",
            )
            yield name


def secret_inputs(service: Service, gathered: GatheredInputs) -> frozenset[str]:
    """The inputs that no message shows, besides those that are declared sensitive: values from secrets, and values made
    from inputs that are sensitive, or of a type with sensitive parts."""
    marks = Marks(service.data_types)
    declared = {name for name, definition in service.inputs.items() if marks.of(definition) is not None}
    return gathered.secret | {name for name, inputs in gathered.made_of.items() if not declared.isdisjoint(inputs)}


def _written(gathered: GatheredInputs, name: str, service: Service) -> object:
    """The value of an input in the ensemble, wrapped if it is sensitive."""
    value = plain(gathered.written.get(name))
    return Sensitive(value) if value is not None and is_sensitive(service.inputs[name]) else value


def _shown(value: GivenValue, definition: PropertyDefinition) -> str:
    hidden = is_sensitive(definition) or has_sensitive_parts(value.value)
    return "" if hidden else f", {msgspec.json.encode(value.value).decode()}"


# Values of inputs that a command gives to what it calls: held to what is declared there, where something is.


class CalledInputs:
    """The values that one command gives, for any number of operations with inputs of their own. The constructor raises
    ``InvalidDocument`` if a file of inputs cannot be read."""

    def __init__(self, given: GivenInputs) -> None:
        diagnostics = Diagnostics()
        self._given = read_given(given, diagnostics)
        _raise(diagnostics)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the given inputs."""
        return tuple(self._given)

    def plain(self) -> dict[str, object]:
        """The given values, as written."""
        return dict(self._given)

    def bound(self, declared: Mapping[str, Input], data_types: Mapping[str, DataType]) -> dict[str, object]:
        """The values for declared inputs; sensitive ones are wrapped. A name that is not declared is passed on as well,
        with the value as written. Raises ``InvalidDocument``."""
        definitions = {name: d for name, i in declared.items() if (d := _definition(i, data_types)) is not None}
        topology = Service("", "", (), definitions, {}, {}, {}, {}, data_types)
        diagnostics = Diagnostics()
        typed = {name: value for name, value in self._given.items() if name in definitions}
        bound: Mapping[str, object] = bind_inputs(topology, typed, diagnostics)
        _raise(diagnostics)
        return {name: bound[name] if name in typed else _plain(value) for name, value in self._given.items()}


def _definition(declared: Input, data_types: Mapping[str, DataType]) -> PropertyDefinition | None:
    schema = declared.schema
    if schema is None or schema.type not in data_types:
        return None
    # Whether a value must be there is seen where it is known what the template gives.
    return PropertyDefinition(declared.name, schema, required=False, metadata=declared.metadata, span=declared.span)


def _plain(value: object) -> object:
    if isinstance(value, Scalar | Sequence | MappingNode):
        node: Node = value
        return plain(node)
    return value


def _raise(diagnostics: Diagnostics) -> None:
    if diagnostics.has_errors:
        raise InvalidDocument(diagnostics.sorted())
