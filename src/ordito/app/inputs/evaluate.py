"""Values of the user's part of `ensemble.yaml`, evaluated when they are read."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING

import msgspec

from ordito.app.inputs.sources import LITERAL, TEMPLATE_MARKS, Sources, kind_of, located
from ordito.base.diagnostics import Diagnostics
from ordito.base.span import Span
from ordito.base.templating.written import WrittenNumber
from ordito.source.nodes import Mapping as MappingNode
from ordito.source.nodes import Node, Scalar, Sequence
from ordito.source.scalars import core_value

if TYPE_CHECKING:
    from ordito.base.templating.sandbox import Sandbox


LONGEST_SHOWN = 60

SHORTEST_HIDDEN = 4
"""Values with fewer characters are not searched for in messages: they may be ordinary words."""


class EvaluatedValues(msgspec.Struct, frozen=True):
    """Values by name, as nodes; the names of those that are made, wholly or in part, from a secret; and the other
    inputs from which each was made, directly or not."""

    values: Mapping[str, Node] = {}
    secret: frozenset[str] = frozenset()
    made_of: Mapping[str, frozenset[str]] = {}


class GivenInput(msgspec.Struct, frozen=True):
    """An input that a command gave, and that is not evaluated: plain data, and whether it is secret."""

    value: object
    secret: bool = False


class TemplateNames(msgspec.Struct, frozen=True):
    """What templates may use besides inputs: environment variables, the environment's name ("" for none), and the
    ensemble's directory and name."""

    variables: Mapping[str, str] = {}
    environment: str = ""
    ensemble: Mapping[str, str] = {}


class _Frame(msgspec.Struct):
    """One value that is being evaluated: whether it failed, whether there is a secret in it, and which inputs are."""

    failed: bool = False
    secret: bool = False
    inputs: set[str] = msgspec.field(default_factory=set)


class _Evaluated(msgspec.Struct, frozen=True):
    """What a value comes to, None where something in it has no value; whether a secret is in it, and which inputs."""

    value: Node | None
    secret: bool
    inputs: frozenset[str]


class UserPartEvaluation:
    """Evaluates values for one command. The depth of documents is bounded when they are read, so it may recurse.

    Each input is evaluated once, and only when it is needed.
    """

    def __init__(self, sources: Sources, names: TemplateNames, diagnostics: Diagnostics) -> None:
        self._sources = sources
        self._names = names
        self._diagnostics = diagnostics
        self._inputs: Mapping[str, Node] = {}
        self._given: Mapping[str, GivenInput] = {}
        self._done: dict[str, _Evaluated] = {}
        self._open: list[str] = []
        self._frame = _Frame()
        self._sandbox: Sandbox | None = None

    def inputs(self, written: Mapping[str, Node], given: Mapping[str, GivenInput]) -> EvaluatedValues:
        """The values of ``written`` inputs; those without a value are reported and left out. Inputs that a command has
        ``given`` are not evaluated, and templates see the given values."""
        self._inputs, self._given = written, given
        return self._all({name: self._input(name) for name in written if name not in given})

    def others(self, written: Mapping[str, Node]) -> EvaluatedValues:
        """Values that templates cannot use, by name."""
        return self._all({name: self._one(node) for name, node in written.items()})

    def _all(self, found: Mapping[str, _Evaluated]) -> EvaluatedValues:
        values = {name: outcome.value for name, outcome in found.items() if outcome.value is not None}
        secret = frozenset(name for name, outcome in found.items() if outcome.secret)
        return EvaluatedValues(values, secret, {name: o.inputs for name, o in found.items() if o.inputs})

    def _input(self, name: str) -> _Evaluated:
        if name not in self._done:
            self._open.append(name)
            self._done[name] = self._one(self._inputs[name])
            self._open.pop()
        return self._done[name]

    def _one(self, node: Node) -> _Evaluated:
        """Evaluate one value; parts of it without a value are reported."""
        with self._framed() as frame:
            value = self._value(node)
        return _Evaluated(None if frame.failed else value, frame.secret, frozenset(frame.inputs))

    @contextmanager
    def _framed(self) -> Iterator[_Frame]:
        before, self._frame = self._frame, _Frame()
        try:
            yield self._frame
        finally:
            self._frame = before

    def _value(self, node: Node) -> Node:
        if isinstance(node, Scalar):
            return self._template(node) if any(mark in node.text for mark in TEMPLATE_MARKS) else node
        kind = kind_of(node)
        if kind and isinstance(node, MappingNode):
            return node.values[LITERAL] if kind == LITERAL else self._elsewhere(node, kind)
        if isinstance(node, Sequence):
            items = [self._value(item) for item in node.items]
            if all(new is old for new, old in zip(items, node.items, strict=True)):
                return node
            return Sequence(node.source, node.line, node.column, node.end_line, node.end_column, items)
        values = {key: self._value(value) for key, value in node.values.items()}
        if all(values[key] is value for key, value in node.values.items()):
            return node
        return MappingNode(node.source, node.line, node.column, node.end_line, node.end_column, node.keys, values)

    def _elsewhere(self, node: MappingNode, kind: str) -> Node:
        found = self._sources.read(node, kind)
        if found is None:
            self._frame.failed = True
            return node
        self._frame.secret = self._frame.secret or found.secret
        return self._value(found.node) if found.written else found.node

    # ------------------------------------------------------------------------------------------------- templates

    def _template(self, node: Scalar) -> Node:
        from ordito.base.templating.sandbox import Unevaluated

        try:
            return located(self._templates().value(node.text), node)
        except Unevaluated as error:
            self._frame.failed = True
            if not error.reported:
                message, hint = error.message, error.hint
                if self._frame.secret or self._quotes_input(f"{message}\n{hint}"):
                    message, hint = "something in it is wrong", "it may contain a secret, so no more is shown"
                self._diagnostics.error(
                    "bad-template", f"{_shown(node.text)} has no value: {message}", _place(node), hint=hint
                )
            return node

    def _quotes_input(self, message: str) -> bool:
        """Whether a message contains the value of an input of this template: that input may be declared sensitive,
        which is not known here."""
        given = (self._given[name].value for name in self._frame.inputs if name in self._given)
        known = (self._done[name].value for name in self._frame.inputs if name in self._done)
        values = [*given, *(computable(node) for node in known if node is not None)]
        return any(
            text in message if len(text) >= SHORTEST_HIDDEN else f'"{text}"' in message or f"'{text}'" in message
            for text in _texts(values)
        )

    def _templates(self) -> Sandbox:
        """The sandbox for templates, imported only when there is a template."""
        if self._sandbox is None:
            from ordito.base.templating.sandbox import Absent, LookedUpValues, Sandbox

            names = self._names
            environment: object = names.environment or Absent("no environment is chosen: choose one with --env NAME")
            self._sandbox = Sandbox(
                {
                    "inputs": LookedUpValues("inputs", "input", self._input_names, self._input_value),
                    "env": LookedUpValues(
                        "env", "environment variable", lambda: names.variables, names.variables.__getitem__
                    ),
                    "environment": environment,
                    "ensemble": dict(names.ensemble),
                }
            )
        return self._sandbox

    def _input_names(self) -> Collection[str]:
        return self._inputs.keys() | self._given.keys()

    def _input_value(self, name: str) -> object:
        """The value of an input for a template."""
        from ordito.base.templating.sandbox import Unevaluated

        self._frame.inputs.add(name)
        if name in self._given:
            given = self._given[name]
            self._frame.secret = self._frame.secret or given.secret
            return given.value
        if name in self._open:
            around = " -> ".join([*self._open[self._open.index(name) :], name])
            raise Unevaluated(f"inputs depend on themselves: {around}", "give one of them a value of its own")
        found = self._input(name)
        self._frame.secret = self._frame.secret or found.secret
        self._frame.inputs |= found.inputs
        if found.value is None:
            raise Unevaluated(f'input "{name}" has no value', reported=True)
        return computable(found.value)


def _texts(value: object) -> Iterator[str]:
    """The texts in data, without empty ones and keys; numbers as written."""
    if isinstance(value, Mapping):
        for item in value.values():
            yield from _texts(item)
    elif isinstance(value, list):
        for item in value:
            yield from _texts(item)
    elif value is not None and not isinstance(value, bool) and (text := str(value)):
        yield text


def _place(node: Scalar) -> Span:
    """The place where the first expression of a template begins, if that can be found; else the whole value."""
    begin = node.column - 1
    for number in range(node.line, node.end_line + 1):
        line = node.source.line(number)
        found = [at for mark in TEMPLATE_MARKS if (at := line.find(mark, begin)) >= 0]
        if found:
            return Span(node.source, number, min(found) + 1, number, len(line) + 1)
        begin = 0
    return node.span


def _shown(text: str) -> str:
    """A template for messages: its first line, shortened."""
    first, *more = text.strip().splitlines() or [""]
    if len(first) > LONGEST_SHOWN or more:
        first = f"{first[:LONGEST_SHOWN]}..."
    return f'"{first}"'


# Values of the user's part as templates compute with them.


class WrittenInt(int, WrittenNumber):
    """A whole number as it was written."""


class WrittenFloat(float, WrittenNumber):
    """A number with a point as it was written."""


def computable(node: Node) -> object:
    """A located value as data, by the YAML 1.2 core schema: the declared type is not known where templates are."""
    if isinstance(node, Sequence):
        return [computable(item) for item in node.items]
    if not isinstance(node, Scalar):
        return {key: computable(value) for key, value in node.values.items()}
    value = core_value(node)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return value
    number = WrittenInt(value) if isinstance(value, int) else WrittenFloat(value)
    number.written = node.text
    return number
