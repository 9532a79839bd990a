"""What an operation gave: its outputs, and the attributes they are mapped to (§3.6.15, §4.6.1)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

import msgspec

from ordito.base.sensitive import Sensitive, is_sensitive, opened, revealed
from ordito.instances.context import Context, EvaluationError, Nothing
from ordito.instances.entities import Entity, NodeEntity
from ordito.instances.evaluate import Evaluator
from ordito.instances.hosting import far_ends
from ordito.instances.records import end_id
from ordito.model.checking import misfit
from ordito.model.mappings import mapped_capability
from ordito.model.schema import DataType, PropertyDefinition, Schema
from ordito.model.sensitivity import Mark, says_sensitive
from ordito.model.service import Capability, NodeTemplate, Relationship
from ordito.syntax.expressions import Value
from ordito.work.invocation import Outcome
from ordito.work.places import ExecutionPlace
from ordito.work.plan import OperationCall, Step

Attributes = dict[str, dict[str, object]]


class WrongValue(Exception):
    """An output does not fit the attribute that it is mapped to; the text says why."""


class GivenValues(msgspec.Struct, frozen=True):
    """What the outputs of an operation change, in the form in which a ``Delta`` has it."""

    attributes: Attributes = {}
    outputs: dict[str, dict[str, Mapping[str, object]]] = {}


class AttributeHolder(msgspec.Struct, frozen=True):
    """Something whose attribute an output is written to: the id under which it is recorded, and what it declares."""

    id: str
    declares: NodeTemplate | Relationship
    context: Context


def given(
    evaluator: Evaluator, place: ExecutionPlace, step: Step, call: OperationCall, outcome: Outcome
) -> GivenValues:
    """What the outputs of a successful operation change. Raises ``WrongValue`` if a declared output is missing or does
    not fit its attribute: then the operation has failed."""
    attributes: Attributes = {}
    for name, path in place.operation.outputs.items():
        if name not in outcome.outputs:
            where = ".".join(str(p) for p in path)
            raise WrongValue(f'the operation gave no output "{name}", which is mapped to {where}')
        _write_mapped(evaluator, place, step, name, outcome.outputs[name], attributes)
    kept = {name: outcome.outputs[name] for name in call.outputs if name in outcome.outputs}
    return GivenValues(attributes, {_self_id(place, step): {call.name: kept}} if call.outputs else {})


def notified(evaluator: Evaluator, place: ExecutionPlace, step: Step, values: Mapping[str, object]) -> Attributes:
    """What the outputs of a notification change: those that came. Raises ``WrongValue`` if one does not fit its
    attribute."""
    attributes: Attributes = {}
    for name, value in values.items():
        _write_mapped(evaluator, place, step, name, value, attributes)
    return attributes


def _write_mapped(
    evaluator: Evaluator, place: ExecutionPlace, step: Step, name: str, value: object, attributes: Attributes
) -> None:
    """Write an output to the place that its mapping names."""
    path = place.operation.outputs[name]
    for holder in _holders(evaluator, place, step, str(path[0])):
        try:
            _write(evaluator, holder, path[1:], value, attributes)
        except WrongValue as wrong:
            where = ".".join(str(p) for p in path[1:])
            raise WrongValue(f'output "{name}" does not fit attribute "{where}" of {holder.id}: {wrong}') from None


def workflow_output(evaluator: Evaluator, entity: Entity, path: tuple[str | int, ...], value: object) -> Attributes:
    """What an output of a workflow changes: the attribute of an instance or a link to which ``path`` leads (§3.8.7).
    Raises ``WrongValue`` where it does not fit."""
    declares = entity.template if isinstance(entity, NodeEntity) else entity.relationship
    attributes: Attributes = {}
    try:
        _write(evaluator, AttributeHolder(entity.id, declares, entity.context), path, value, attributes)
    except WrongValue as wrong:
        where = ".".join(str(p) for p in path)
        raise WrongValue(f'it does not fit attribute "{where}" of {entity.id}: {wrong}') from None
    return attributes


def set_by_itself(
    evaluator: Evaluator, place: ExecutionPlace, step: Step, values: Mapping[str, Mapping[str, object]]
) -> Attributes:
    """What the attributes change that an operation has set by itself, by SELF, SOURCE or TARGET. Raises ``WrongValue``
    for one that its node must declare and does not, and for one that does not fit."""
    attributes: Attributes = {}
    for entity, changed in values.items():
        if place.relationship is None and entity != "SELF":
            raise WrongValue(f"it has set attributes of {entity}, and belongs to no relationship")
        for holder in _holders(evaluator, place, step, entity):
            for name, value in changed.items():
                declared = _attribute(holder.declares, (name,)).definition is not None
                if not declared and not (isinstance(holder.declares, NodeTemplate) and holder.declares.is_open):
                    raise WrongValue(f'it has set "{name}" of {holder.id}, which has no such attribute')
                if value is None or not declared:
                    whole = mark_of(evaluator, holder.declares, None)
                    hidden = Sensitive(value) if whole is not None and value is not None else value
                    attributes.setdefault(holder.id, {})[name] = hidden
                    continue
                try:
                    _write(evaluator, holder, (name,), value, attributes)
                except WrongValue as wrong:
                    raise WrongValue(f'it has set "{name}" of {holder.id}: {wrong}') from None
    return attributes


BUILT_IN = frozenset({"tosca_id", "tosca_name", "state"})
"""Attributes that are not found out: they show what is recorded."""


def found_values(evaluator: Evaluator, place: ExecutionPlace, outcome: Outcome) -> Mapping[str, object]:
    """The attributes of an instance that a check or discovery has found: outputs that are mapped to some, and those
    with the name of an attribute and of no input, which they would only repeat. Nothing has to be found. Raises
    ``WrongValue`` for what does not fit its attribute."""
    node = evaluator.service.nodes[place.node]
    holder = AttributeHolder(place.instance, node, place.context)
    names = {n for n in node.attribute_definitions if n not in place.operation.inputs and n not in BUILT_IN}
    paths: dict[str, tuple[str | int, ...]] = {n: (n,) for n in names}
    paths |= {name: path[1:] for name, path in place.operation.outputs.items()}
    found: Attributes = {}
    for name in sorted(outcome.outputs):
        if name in paths:
            try:
                _write(evaluator, holder, paths[name], outcome.outputs[name], found)
            except WrongValue as wrong:
                raise WrongValue(f'output "{name}" does not fit an attribute of {place.instance}: {wrong}') from None
    return found.get(place.instance, {})


class _Attribute(msgspec.Struct, frozen=True):
    """The attribute of a holder, or of a capability of it, to which a path leads: by which ``key`` it is recorded, what
    is declared for it, what the template says, and the rest of the path, which leads into its value."""

    key: str
    definition: PropertyDefinition | None
    written: Value
    nested: tuple[str | int, ...]


def _attribute(declares: NodeTemplate | Relationship, path: tuple[str | int, ...]) -> _Attribute:
    capability = mapped_capability(declares, path) if isinstance(declares, NodeTemplate) else None
    prefix, rest = (f"{path[0]}::", path[1:]) if capability is not None else ("", path)
    of: NodeTemplate | Relationship | Capability = capability or declares
    name = str(rest[0])
    definition = of.attribute_definitions.get(name) or of.definitions.get(name)
    return _Attribute(f"{prefix}{name}", definition, of.attributes.get(name, of.properties.get(name)), rest[1:])


def _write(
    evaluator: Evaluator, holder: AttributeHolder, path: tuple[str | int, ...], value: object, attributes: Attributes
) -> None:
    attribute = _attribute(holder.declares, path)
    key, nested = attribute.key, attribute.nested
    data_types = evaluator.service.data_types
    schema = _schema(evaluator, attribute.definition, nested)
    mark = mark_of(evaluator, holder.declares, attribute.definition, nested)
    # Of what is sensitive in part, no message may show the other part either: it is not known yet which is which.
    hidden = Sensitive(value) if mark is not None else value
    fitting = fitted(hidden, schema, data_types)
    if schema is not None and not isinstance(fitting, list | dict):
        wrong = misfit(fitting, schema, "it", data_types)
        if wrong:
            raise WrongValue(wrong)
    if mark is not None and not isinstance(value, Sensitive):
        fitting = evaluator.marks.wrap(revealed(fitting), mark)
    changed = attributes.setdefault(holder.id, {})
    if nested:
        current = changed.get(key)
        if current is None:
            current = _current(evaluator, holder, key, attribute.written)
        # What was sensitive as a whole stays so, with what is put into it.
        inner, was_whole = opened(current)
        fitting = placed(inner, nested, fitting)
        fitting = Sensitive(fitting) if was_whole else fitting
    changed[key] = fitting


def sensitive_outputs(evaluator: Evaluator, place: ExecutionPlace, step: Step) -> set[str]:
    """The outputs of an operation that are mapped to something sensitive, as a whole or in part."""
    found: set[str] = set()
    for name, path in place.operation.outputs.items():
        for holder in _holders(evaluator, place, step, str(path[0])):
            attribute = _attribute(holder.declares, path[1:])
            if mark_of(evaluator, holder.declares, attribute.definition, attribute.nested) is not None:
                found.add(name)
    return found


def sensitive_findings(evaluator: Evaluator, place: ExecutionPlace) -> set[str]:
    """The outputs of something that looks at an instance which have the names of sensitive attributes."""
    node = evaluator.service.nodes[place.node]
    return {name for name, d in node.attribute_definitions.items() if mark_of(evaluator, node, d) is not None}


def mark_of(
    evaluator: Evaluator,
    declares: NodeTemplate | Relationship,
    definition: PropertyDefinition | None,
    nested: Iterable[str | int] = (),
) -> Mark | None:
    """What is sensitive of the place inside an attribute that names and indexes lead to."""
    if isinstance(declares, NodeTemplate) and says_sensitive(declares.metadata):
        return Mark(whole=True)
    mark = evaluator.marks.of(definition)
    for place in nested:
        mark = evaluator.marks.inside(mark, place)
    return mark


def _schema(evaluator: Evaluator, definition: PropertyDefinition | None, nested: Iterable[str | int]) -> Schema | None:
    """The type of the place inside an attribute that names and indexes lead to, if it is declared."""
    schema = definition.schema if definition else None
    for place in nested:
        if schema is None:
            return None
        declared = evaluator.service.data_types.get(schema.type)
        if declared is not None and str(place) in declared.properties:
            schema = declared.properties[str(place)].schema
        else:
            schema = schema.entry or (declared.entry if declared else None)
    return schema


def _current(evaluator: Evaluator, holder: AttributeHolder, key: str, written: Value) -> object:
    """The value that an attribute has now: as recorded, else as the template says."""
    recorded = evaluator.snapshot.attributes.get(holder.id, {})
    if key in recorded:
        return recorded[key]
    try:
        value = evaluator.evaluate(written, holder.context)
    except EvaluationError as error:
        raise WrongValue(f"its present value cannot be evaluated: {error}") from None
    return None if isinstance(value, Nothing) else value


def _holders(evaluator: Evaluator, place: ExecutionPlace, step: Step, entity: str) -> list[AttributeHolder]:
    """What SELF, SOURCE or TARGET stands for in a mapping. For an operation that runs once for several far instances
    the peer is all of them."""
    relationship = place.relationship
    if relationship is None:
        return [AttributeHolder(place.instance, evaluator.service.nodes[place.node], place.context)]
    if entity == "SELF":
        return [AttributeHolder(_self_id(place, step), relationship, place.context)]
    node = relationship.source if entity == "SOURCE" else relationship.target
    ids: Iterable[str] = (place.instance,)
    if entity.lower() != place.side:
        is_of_one = step.link or (relationship.is_hosting and place.side == "source")
        near = evaluator.snapshot.instances[place.instance]
        ids = (place.far,) if is_of_one else far_ends(evaluator.snapshot, relationship, place.side, near)
    template = evaluator.service.nodes[node]
    return [AttributeHolder(i, template, Context(node=node, instance=i)) for i in ids if i]


def _self_id(place: ExecutionPlace, step: Step) -> str:
    """The id under which attributes and outputs of an operation's own entity are recorded."""
    if place.relationship is None:
        return place.instance
    return step.link or end_id(place.relationship.key, place.instance, place.side)


# Outputs as attribute values: of the declared type, and put where the mapping says (§3.6.15).


def typed(value: object, schema: Schema | None, data_types: Mapping[str, DataType]) -> object:
    """An output as a value of a type: texts, which is what shells give, are read as the type asks.

    Simple types are checked, of lists and maps whether they are one. Raises ``WrongValue``.
    """
    if schema is None:
        return value
    declared = data_types.get(schema.type)
    base = declared.base if declared and declared.base else schema.type
    reader = READERS.get("map" if declared and not declared.base else base)
    return value if reader is None else reader(value)


def fitted(value: object, schema: Schema | None, data_types: Mapping[str, DataType]) -> object:
    """As ``typed``, for values that may be sensitive: as a whole, or in parts. Nothing of them is said."""
    if not is_sensitive(value):
        return typed(value, schema, data_types)
    try:
        plain = typed(revealed(value), schema, data_types)
    except WrongValue:
        raise WrongValue("it is not what is declared (the value is not shown, since it is sensitive)") from None
    return Sensitive(plain) if isinstance(value, Sensitive) else value


def fitting(value: object, schema: Schema, data_types: Mapping[str, DataType]) -> object:
    """As ``fitted``, held to all that the schema says. Raises ``WrongValue``."""
    found = fitted(value, schema, data_types)
    if wrong := misfit(found, schema, "it", data_types):
        raise WrongValue(wrong)
    return found


def placed(current: object, path: Sequence[str | int], value: object) -> object:
    """A value with ``value`` put at the place inside it to which names and indexes lead; everything else is kept.

    Maps are made where there is nothing yet, and one more entry may be added at the end of a list. Raises
    ``WrongValue``.
    """
    if not path:
        return value
    root: list[object] = [_opened(current, path[0])]
    holder: object = root
    at: str | int = 0
    for place in path:
        inner = _opened(_get(holder, at), place)
        _set(holder, at, inner)
        holder, at = inner, place
    _set(holder, at, value)
    return root[0]


def _opened(current: object, place: str | int) -> object:
    """A copy of a container into which something is put at a place."""
    if isinstance(current, list):
        return list(current)
    if isinstance(current, Mapping):
        return dict(current)
    if current is None:
        return [] if isinstance(place, int) else {}
    raise WrongValue(f'there is no place "{place}" in a single value')


def _get(holder: object, place: str | int) -> object:
    if isinstance(holder, list):
        index = _index(holder, place)
        return holder[index] if index < len(holder) else None
    assert isinstance(holder, dict)
    return holder.get(str(place))


def _set(holder: object, place: str | int, value: object) -> None:
    if isinstance(holder, list):
        index = _index(holder, place)
        holder[index : index + 1] = [value]
    else:
        assert isinstance(holder, dict)
        holder[str(place)] = value


def _index(holder: list[object], place: str | int) -> int:
    index = place if isinstance(place, int) else int(place) if place.isdecimal() else -1
    if not 0 <= index <= len(holder):
        raise WrongValue(f'"{place}" is no place in a list of {len(holder)} entries')
    return index


# ----------------------------------------------------------------------------------------------- readers by type


def _text(value: object) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return str(value)
    raise WrongValue("it is no text")


def _integer(value: object) -> int:
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    text = value.strip() if isinstance(value, str) else ""
    digits = text[1:] if text[:1] in {"-", "+"} else text
    if digits.isascii() and digits.isdecimal() and len(digits) < MOST_DIGITS:
        return int(text)
    raise WrongValue(f'"{_shown(value)}" is no integer')


def _float(value: object) -> float:
    if isinstance(value, str | int | float) and not isinstance(value, bool):
        try:
            return float(value)
        except (ValueError, OverflowError):
            raise WrongValue(f'"{_shown(value)}" is no number') from None
    raise WrongValue(f'"{_shown(value)}" is no number')


def _boolean(value: object) -> bool:
    if isinstance(value, bool):
        return value
    flags = {"true": True, "false": False}
    word = value.strip().lower() if isinstance(value, str) else ""
    if word in flags:
        return flags[word]
    raise WrongValue(f'"{_shown(value)}" is neither true nor false')


def _list(value: object) -> list[object]:
    data = _parsed(value)
    if isinstance(data, list):
        return data
    raise WrongValue(f'"{_shown(value)}" is no list in JSON')


def _map(value: object) -> dict[str, object]:
    data = _parsed(value)
    if isinstance(data, dict):
        return data
    raise WrongValue(f'"{_shown(value)}" is no map in JSON')


def _parsed(value: object) -> object:
    if not isinstance(value, str):
        return value
    try:
        return msgspec.json.decode(value)
    except msgspec.DecodeError:
        return None


def _shown(value: object) -> str:
    text = str(value)
    return text if len(text) <= MOST_SHOWN else f"{text[:MOST_SHOWN]}..."


MOST_DIGITS = 1_000
MOST_SHOWN = 60

READERS: Mapping[str, Callable[[object], object]] = {
    "string": _text,
    "integer": _integer,
    "float": _float,
    "boolean": _boolean,
    "list": _list,
    "map": _map,
}
