"""The model of a service as plain data, without what is sensitive in it."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import cache
from inspect import get_annotations
from typing import Any, TypeAlias

import msgspec

from ordito.app.requests import ChoiceOptions
from ordito.app.services.chosen import look_at
from ordito.app.services.files import check_files
from ordito.base.collector import paused_collector
from ordito.base.diagnostics import Diagnostic, Diagnostics
from ordito.base.sensitive import SHOWN, Sensitive, replaced, shown
from ordito.base.span import Span
from ordito.model.imperative import Group, Policy
from ordito.model.lifecycle_steps import BlockType, LifecycleStep
from ordito.model.operation import Input
from ordito.model.schema import DataType, PropertyDefinition, Schema
from ordito.model.sensitivity import Mark, Marks, says_sensitive
from ordito.model.service import Capability, NodeTemplate, Output, Relationship, Service
from ordito.syntax.expressions import Call, as_written
from ordito.work.options import HookOptions

TEXT_FUNCTIONS = frozenset({"concat", "join", "token"})
"""Functions whose arguments may be parts of sensitive values."""


class Hidden:
    """Gives replacements for the sensitive fields of a service's structures."""

    def __init__(self, service: Service) -> None:
        self._marks = Marks(service.data_types)

    def instead(self, value: msgspec.Struct) -> Mapping[str, object]:
        """The fields of a structure that contain something sensitive, without it."""
        match value:
            case NodeTemplate():
                return self._of_node(value)
            case Capability() | Relationship():
                return self._values(value, whole=False)
            case PropertyDefinition() if value.has_default:
                return self._field("default", value.default, self._marks.of(value))
            case Input() if value.has_value:
                return self._field("value", value.value, self._marks.by(value.schema, value.metadata))
            case Output():
                return self._field("value", value.value, self._marks.by(value.schema, value.metadata))
            case Service():
                known = value.inner_definitions
                inner = {n: self._hidden(v, self._marks.of(known.get(n))) for n, v in value.inner_inputs.items()}
                return {"inner_inputs": inner}
        return self._of_steps(value)

    def _of_steps(self, value: msgspec.Struct) -> Mapping[str, object]:
        """Like ``instead``, for policies, and for lifecycle steps and their blocks."""
        match value:
            case Policy() | Group():
                return self._properties(value)
            case LifecycleStep() if value.block is not None:
                marks = Marks(value.block.data_types)
                known = {n: marks.of(value.definitions.get(n)) for n in value.config}
                return {"config": {n: self._hidden(v, known[n], marks) for n, v in value.config.items()}}
            case BlockType():
                return {"data_types": _used_types(value)}
        return {}

    def _of_node(self, node: NodeTemplate) -> Mapping[str, object]:
        if not says_sensitive(node.metadata):
            return self._values(node, whole=False)
        capabilities = {
            name: msgspec.structs.replace(c, **self._values(c, whole=True)) for name, c in node.capabilities.items()
        }
        return {**self._values(node, whole=True), "capabilities": capabilities}

    def _values(self, holder: NodeTemplate | Capability | Relationship, *, whole: bool) -> dict[str, object]:
        found: dict[str, object] = {}
        for field, values, definitions in (
            ("properties", holder.properties, holder.definitions),
            ("attributes", holder.attributes, holder.attribute_definitions),
        ):
            marks = {n: Mark(whole=True) if whole else self._marks.of(definitions.get(n)) for n in values}
            if any(mark is not None for mark in marks.values()):
                found[field] = {n: self._hidden(v, marks[n]) for n, v in values.items()}
        return found

    def _properties(self, holder: Policy | Group) -> dict[str, object]:
        """The properties of a policy or group, without sensitive values."""
        known = {n: self._marks.of(holder.definitions.get(n)) for n in holder.properties}
        if all(mark is None for mark in known.values()):
            return {}
        return {"properties": {n: self._hidden(v, known[n]) for n, v in holder.properties.items()}}

    def _field(self, name: str, value: object, mark: Mark | None) -> dict[str, object]:
        return {} if mark is None else {name: self._hidden(value, mark)}

    def _hidden(self, value: object, mark: Mark | None, marks: Marks | None = None) -> object:
        """A value as it is shown; a reference to something sensitive is not sensitive itself."""
        wrapped = replaced((marks or self._marks).wrap(value, mark), _unless_reference)
        return shown(wrapped)


def _used_types(block: BlockType) -> dict[str, DataType]:
    """The data types that the config of a block uses, without those of the language."""
    found: dict[str, DataType] = {}
    waiting: list[Schema | None] = [block.config.schema] if block.config is not None else []
    while waiting:
        schema = waiting.pop()
        declared = block.data_types.get(schema.type) if schema is not None else None
        if schema is None or declared is None:
            continue
        waiting += (schema.entry, schema.key)
        if declared.name not in found and declared.name != declared.base:
            found[declared.name] = declared
            waiting += (declared.entry, declared.key, *(f.schema for f in declared.properties.values()))
    return found


def _unless_reference(value: Sensitive) -> object:
    data = value.reveal()
    return data if isinstance(data, Call) and data.function not in TEXT_FUNCTIONS else SHOWN


# Values of the model as plain data: what JSON knows, in the order of the declarations.
#
# A structure becomes a map of its fields, a set a sorted list, a place the text ``file:line:column``, and a function
# call what TOSCA writes for it. Numbers that JSON does not know are the texts of YAML (``.inf``, ``.nan``).

Leave: TypeAlias = Callable[[str, bool], bool]
"""Whether to leave a field out, by its name and whether it holds places."""


def plain_data(
    value: object,
    leave: Leave = lambda name, places: False,  # noqa: ARG005
    once: Mapping[type, str] = {},
    instead: Callable[[msgspec.Struct], Mapping[str, object]] = lambda value: {},  # noqa: ARG005
) -> Any:
    """A value of the model as plain data. What is shared in the model is shared in the result too.

    A structure of a type in ``once`` is written where it is met first, and later named by the given field. ``instead``
    gives replacements for fields of a structure, by name. There is no recursion, because services may contain each
    other to any depth.
    """
    result: list[Any] = [None]
    known: dict[int, tuple[Any, object]] = {}
    """The result for each value, by id, with the value itself, which must be kept so that its id stays unique."""
    todo: list[tuple[object, Any, Any]] = [(value, result, 0)]
    while todo:
        current, owner, place = todo.pop()
        if id(current) in known:
            name = once.get(type(current))
            owner[place] = known[id(current)][0] if name is None else getattr(current, name)
            continue
        made, parts = _shallow(current, leave, instead)
        owner[place] = made
        if parts:
            known[id(current)] = made, current
            todo.extend((part, made, name) for name, part in reversed(parts))
    return result[0]


def _shallow(
    value: object, leave: Leave, instead: Callable[[msgspec.Struct], Mapping[str, object]]
) -> tuple[Any, list[tuple[Any, object]]]:
    """A value without its parts, and the parts that are to be filled in, by name or index."""
    match value:
        case Span():
            return str(value), []
        case Call():
            return as_written(value), []
        case msgspec.Struct():
            names = [name for name, places in _fields(type(value)) if not leave(name, places)]
            other = instead(value)
            parts: list[tuple[Any, object]] = [
                (name, other[name] if name in other else getattr(value, name)) for name in names
            ]
            return dict.fromkeys(names), parts
        case Mapping():
            return dict.fromkeys(map(str, value)), [(str(name), part) for name, part in value.items()]
        case list() | tuple():
            return [None] * len(value), list(enumerate(value))
        case set() | frozenset():
            return sorted(value), []
    return _single(value), []


def _single(value: object) -> object:
    if isinstance(value, str) and not value.isascii():
        # What the names of files hold beyond UTF-8 cannot be said in JSON.
        return value.encode("utf-8", "replace").decode("utf-8")
    if isinstance(value, float) and not math.isfinite(value):
        return ".nan" if math.isnan(value) else ".inf" if value > 0 else "-.inf"
    if isinstance(value, Sensitive):
        return SHOWN
    return value


@cache
def _fields(kind: type[msgspec.Struct]) -> tuple[tuple[str, bool], ...]:
    """The fields of a structure, each with whether it holds places in files."""
    written = {name: str(hint) for base in reversed(kind.__mro__) for name, hint in get_annotations(base).items()}
    return tuple((name, "Span" in written[name]) for name in kind.__struct_fields__)


# The resolved model of a service as plain data, for other programs.

FORMAT = 1
"""The version of the format: it grows when a field changes its meaning or is removed."""

DEFINITIONS = frozenset({"definitions", "attribute_definitions"})


class CompileRequest(msgspec.Struct, frozen=True):
    """The compilation of a service."""

    service: str = ""
    """The service, see ``chosen_service``."""

    directory: str = "."
    positions: bool = False
    """Whether the places of everything in files are included."""

    values_only: bool = False
    """Whether definitions of properties and attributes are left out."""

    fetch: bool = False
    """Whether URLs that the service names are fetched."""

    choices: ChoiceOptions = ChoiceOptions()
    """What is chosen where the service leaves a choice."""

    hooks: HookOptions = HookOptions()
    """Where lifecycle steps and their blocks are."""


class Compiled(msgspec.Struct, frozen=True):
    """A service without errors as plain data; ``diagnostics`` are warnings and notes, ``sources`` the files from which
    it was read."""

    data: dict[str, object]
    diagnostics: tuple[Diagnostic, ...]
    sources: tuple[str, ...] = ()


def compile_service(request: CompileRequest) -> Compiled:
    """Read a service, and return its resolved model as plain data. Raises ``InvalidDocument``."""
    diagnostics = Diagnostics()
    with paused_collector():
        given, fetch = request.choices, request.fetch
        read = look_at(request.service, request.directory, given, diagnostics, fetch=fetch, hooks=request.hooks)
        check_files(read, diagnostics, required=False)
        data = compiled(read.service, positions=request.positions, values_only=request.values_only)
    return Compiled(data, tuple(diagnostics.sorted()), read.package.sources)


def compiled(service: Service, *, positions: bool = False, values_only: bool = False) -> dict[str, object]:
    """A resolved service as plain data: ``format``, and every field of ``Service`` and of what it holds. A relationship
    is written at its source, and elsewhere named by its key."""

    def leave(name: str, places: bool) -> bool:
        return (places and not positions) or (values_only and name in DEFINITIONS)

    return {"format": FORMAT, **plain_data(service, leave, {Relationship: "key"}, Hidden(service).instead)}
