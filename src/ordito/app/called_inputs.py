"""Values of inputs that a command gives to what it calls: held to what is declared there, where something is."""

from __future__ import annotations

from collections.abc import Mapping

from ordito.app.given_inputs import GivenInputs
from ordito.app.plain_nodes import plain
from ordito.app.spec.inputs import read_given
from ordito.base.diagnostics import Diagnostics, InvalidDocument
from ordito.model.inputs import bind_inputs
from ordito.model.operation import Input
from ordito.model.schema import DataType, PropertyDefinition
from ordito.model.service import Service
from ordito.source.nodes import Mapping as MappingNode
from ordito.source.nodes import Node, Scalar, Sequence


class CalledInputs:
    """The values that one command gives, for any number of operations that declare inputs of their own.

    Raises ``InvalidDocument`` where a file of inputs cannot be read.
    """

    def __init__(self, given: GivenInputs) -> None:
        diagnostics = Diagnostics()
        self._given = read_given(given, diagnostics)
        _raise(diagnostics)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of what is given."""
        return tuple(self._given)

    def plain(self) -> dict[str, object]:
        """What is given, as it was written."""
        return dict(self._given)

    def bound(self, declared: Mapping[str, Input], data_types: Mapping[str, DataType]) -> dict[str, object]:
        """The values for inputs that are declared so; what is declared to be sensitive comes wrapped. A name that is
        not declared is an argument like others, whose value is what was written. Raises ``InvalidDocument``."""
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
