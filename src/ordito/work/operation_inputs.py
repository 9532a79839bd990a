"""The inputs of operations, as far as they are the same for every step that calls one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import cast

import msgspec

from ordito.base.sensitive import is_sensitive, revealed
from ordito.base.text import as_text, shell_name
from ordito.instances.context import Trace
from ordito.instances.evaluate import STATIC
from ordito.model.operation import NODE_VARIABLES, RELATIONSHIP_VARIABLES, Input, Operation
from ordito.model.sensitivity import Marks
from ordito.syntax.expressions import Call, Value, calls, is_static
from ordito.syntax.functions import OF_ENTITIES
from ordito.work.places import ExecutionPlace

OWN_PREFIX = "ORDITO_"
"""The prefix of this program's own variables, which no input may have."""


class OperationInput(msgspec.Struct, frozen=True):
    """An input of an operation: whether its value is ``constant`` and then what it is as a text, None for none.
    ``side`` is the side of a relationship for which its values are given for all instances, "" for operations of nodes;
    ``is_paired`` says that they depend on the instance at the other side, too. ``is_shared`` says that all instances of
    a node have the same value, unless evaluating it turns out to look at instances: then ``is_same`` is False."""

    declared: Input
    constant: bool
    text: str | None
    side: str
    is_paired: bool
    is_shared: bool = False

    def member(self, place: ExecutionPlace) -> str:
        """The instance at a place that has the operation's own value."""
        return place.far if self.side and self.side != place.side else place.instance

    def other(self, place: ExecutionPlace) -> str:
        """The instance at the other end on which the values for all instances depend, "" for none."""
        if not self.is_paired:
            return ""
        return place.instance if self.side != place.side else place.far

    def is_same(self, value: object, trace: Trace) -> bool:
        """Whether a value, with what its evaluation has looked at, is the same for all instances of the node, and no
        secret."""
        return self.is_shared and not trace.reads and not trace.copies and not is_sensitive(value)


class OperationInputs(msgspec.Struct, frozen=True):
    """All inputs of an operation at one side. ``aliases`` are the names that no shell takes, each with one that shells
    do; ``hidden`` those, of both kinds, that reserved variables have."""

    operation: Operation
    inputs: tuple[OperationInput, ...]
    aliases: tuple[tuple[str, str], ...] = ()
    hidden: tuple[str, ...] = ()


def with_given(operation: Operation, given: Mapping[str, object], marks: Marks) -> Operation:
    """An operation with values of inputs that are given for one call: they override the declared ones, or add to them.
    What is declared to be sensitive stays so, whoever gives it."""
    inputs = dict(operation.inputs)
    for name, value in given.items():
        declared = inputs.get(name) or Input(name)
        wrapped = marks.wrap(value, marks.by(declared.schema, declared.metadata))
        # A sensitive value is data as any other: it holds no call.
        inputs[name] = msgspec.structs.replace(declared, has_value=True, value=cast(Value, wrapped))
    return msgspec.structs.replace(operation, inputs=inputs)


def inputs_of(operation: Operation, side: str) -> OperationInputs:
    """What is known of an operation's inputs before any step calls it, at one side of a relationship or on a node."""
    names = list(operation.inputs)
    aliases = tuple((name, shell_name(name)) for name in names if shell_name(name) != name)
    return OperationInputs(
        operation=operation,
        inputs=tuple(_input(declared, side) for declared in operation.inputs.values()),
        aliases=aliases,
        hidden=tuple(_hidden([*names, *(alias for _, alias in aliases)], side)),
    )


def text_of(declared: Input, value: object) -> str:
    """The text of an input's value; the ids that get_nodes_of_type gives are separated by commas, as those in TARGETS
    are (§4.7.1)."""
    written, value = declared.value, revealed(value)
    if isinstance(written, Call) and written.function == "get_nodes_of_type" and isinstance(value, list):
        return ",".join(value)
    return as_text(value)


def _input(declared: Input, side: str) -> OperationInput:
    constant = declared.has_value and is_static(declared.value)
    text = text_of(declared, declared.value) if constant and declared.value is not None else None
    is_shared = declared.has_value and all(call.function in STATIC for call in calls(declared.value))
    return OperationInput(declared, constant, text, *_side(declared.value, side), is_shared)


def _side(value: Value, side: str) -> tuple[str, bool]:
    """The side of a relationship for which an input's values are given for all instances, and whether they depend on
    the instance at the other side: the far side for values of it, else the side the operation runs on."""
    if not side:
        return "", False
    entities = {str(c.arguments[0]) for c in calls(value) if c.function in OF_ENTITIES}
    far_side = "target" if side == "source" else "source"
    if far_side.upper() in entities:
        return far_side, bool(entities & {side.upper(), "SELF"})
    return side, "SELF" in entities


def _hidden(names: Iterable[str], side: str) -> Iterable[str]:
    reserved = RELATIONSHIP_VARIABLES if side else NODE_VARIABLES
    return (name for name in dict.fromkeys(names) if name in reserved or name.startswith(OWN_PREFIX))
