"""Evaluation of values: intrinsic functions are evaluated when a value is needed (TOSCA 1.3 chapter 4).

A function is a generator that requests the values of its arguments and of everything it refers to; one loop runs all
generators with an explicit stack. So a chain of references may have any length, and a cycle of references is found and
reported with every value in it.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from itertools import islice

from ordito.base.sensitive import Sensitive, is_sensitive, revealed
from ordito.base.span import Span
from ordito.base.text import as_text, is_plain
from ordito.instances.context import (
    Answer,
    ArtifactCopy,
    Ask,
    Context,
    EvaluationError,
    NeedsInput,
    NeedsInstance,
    Nothing,
    Path,
    Steps,
    Trace,
    is_in_place,
    own_copy,
)
from ordito.instances.entities import Entities, Entity, LinkEntity, NodeEntity
from ordito.instances.lookup import Lookup
from ordito.instances.records import Data, Snapshot, end_id
from ordito.model.operation import interface_named
from ordito.model.sensitivity import Marks
from ordito.model.service import Service
from ordito.syntax.expressions import Call, Value, is_static
from ordito.syntax.functions import BLUEPRINT

LOCAL_FILE = "LOCAL_FILE"

MOST_OPEN_VALUES = 100_000
"""How many values may wait for each other, so that memory is bounded for any document."""


class Evaluator:
    """Evaluates the values of a service with its existing instances.

    ``inputs`` are the topology's inputs, bound and checked. ``root`` is the absolute path of the folder with the
    artifacts; ``scratch`` represents an operation's own folder in the paths of artifacts that are copied for it. With
    ``partial``, a required input may have no value: a value that needs it raises ``NeedsInput``, and one that only
    instances have raises ``NeedsInstance``.
    """

    def __init__(
        self,
        service: Service,
        snapshot: Snapshot,
        inputs: Mapping[str, object],
        *,
        root: str = "",
        scratch: str = "",
        partial: bool = False,
    ) -> None:
        self.service = service
        self.snapshot = snapshot
        self.inputs = {**service.inner_inputs, **inputs} if service.inner_inputs else inputs
        self.root = root
        self.scratch = scratch
        self.partial = partial
        self.entities = Entities(service, snapshot)
        self.marks = Marks(service.data_types)
        self.is_open = next((node.is_open for node in service.nodes.values()), False)
        """Whether the service was written as a blueprint."""
        self._known = KnownValues()
        self._as_of = len(snapshot.changes)

    def evaluate(self, value: Value, context: Context, trace: Trace | None = None) -> Data | Nothing:
        """The data that a value gives, or ``Nothing`` where it has none.

        The values that were read are added to ``trace``. Raises ``EvaluationError`` where it cannot be evaluated.
        """
        if isinstance(value, str | int | float) or value is None:
            return value
        if trace is not None:
            return self._run(Ask(value, context), trace, KnownValues())
        # Nobody asks what was looked at, so what earlier evaluations found is used as long as nothing has changed.
        now = len(self.snapshot.changes)
        if self._as_of != now:
            self._as_of, self._known = now, KnownValues()
        return self._run(Ask(value, context), Trace(), self._known)

    def _run(self, first: Ask, trace: Trace, known: KnownValues) -> Answer:
        lookup = Lookup(self.entities, trace, self.marks)
        stack: list[tuple[Steps, Ask]] = []
        names: dict[tuple[object, ...], str] = {}
        asked: Ask | None = first
        answer: Answer = None
        while True:
            if asked is not None:
                if asked.key is not None and asked.key in known.answers:
                    answer = known.answers[asked.key]
                elif isinstance(asked.value, Call) or (
                    isinstance(asked.value, list | dict) and not is_static(asked.value)
                ):
                    _open(names, asked)
                    stack.append((self._steps(asked.value, asked.context, lookup, known), asked))
                    answer = None
                else:
                    answer = asked.value
            if not stack:
                return answer
            steps, waiting = stack[-1]
            try:
                asked = steps.send(answer)
            except StopIteration as end:
                stack.pop()
                asked, answer = None, end.value
                if waiting.key is not None:
                    del names[waiting.key]
                    known.answers[waiting.key] = answer

    def _steps(
        self, value: Call | list[Value] | dict[str, Value], context: Context, lookup: Lookup, known: KnownValues
    ) -> Steps:
        if isinstance(value, Call):
            if self.partial and value.function not in STATIC and value.function != "get_artifact":
                raise NeedsInstance("this is known only at run time", value.span)
            return FUNCTIONS[value.function](self, value, context, lookup)
        return _list(value, context, known) if isinstance(value, list) else _map(value, context, known)


# ------------------------------------------------------------------------------------------------- containers


def _list(value: list[Value], context: Context, known: KnownValues) -> Steps:
    found: list[object] = []
    for entry in value:
        data = yield Ask(entry, context)
        if isinstance(data, Nothing):
            return data
        found.append(data)
    return known.bounded(found)


def _map(value: dict[str, Value], context: Context, known: KnownValues) -> Steps:
    found: dict[str, object] = {}
    for key, entry in value.items():
        data = yield Ask(entry, context)
        if isinstance(data, Nothing):
            return data
        found[key] = data
    return known.bounded(found)


# ------------------------------------------------------------------------------------------------------- text


def _concat(evaluator: Evaluator, call: Call, context: Context, _: Lookup) -> Steps:
    """Parts of a text, one after the other; in blueprints what is no text becomes that which Python makes of it."""
    texts: list[str] = []
    secret = False
    for argument in call.arguments:
        data = yield Ask(argument, context)
        if isinstance(data, Nothing):
            return data
        if isinstance(data, Sensitive):
            data, secret = data.reveal(), True
        texts.append(_text(data, call) if not evaluator.is_open or isinstance(data, str) else str(data))
    joined = _joined("", texts, call)
    return Sensitive(joined) if secret else joined


def _join(_: Evaluator, call: Call, context: Context, __: Lookup) -> Steps:
    items = yield Ask(call.arguments[0], context)
    if isinstance(items, Nothing):
        return items
    delimiter: Answer = ""
    if len(call.arguments) > 1:
        delimiter = yield Ask(call.arguments[1], context)
    if isinstance(delimiter, Nothing):
        return delimiter
    secret = is_sensitive([items, delimiter])
    items, delimiter = revealed(items), revealed(delimiter)
    if not isinstance(items, list):
        raise EvaluationError(f"the first argument of join is a list, and this is {_kind(items)}", call.span)
    joined = _joined(_text(delimiter, call), [_text(item, call) for item in items], call)
    return Sensitive(joined) if secret else joined


def _token(_: Evaluator, call: Call, context: Context, __: Lookup) -> Steps:
    found: list[Answer] = []
    for argument in call.arguments:
        data = yield Ask(argument, context)
        if isinstance(data, Nothing):
            return data
        found.append(data)
    secret = is_sensitive(found)
    text, separators, index = (revealed(data) for data in found)
    if not isinstance(index, int) or isinstance(index, bool) or index < 0:
        raise EvaluationError("the index of token is a whole number of at least 0", call.span)
    characters = _text(separators, call)
    if not characters:
        raise EvaluationError("token needs at least one separator character", call.span)
    parts = [_text(text, call)]
    for character in dict.fromkeys(characters):
        parts = [piece for part in parts for piece in part.split(character)]
    if index >= len(parts):
        raise EvaluationError(f"token finds {len(parts)} parts, and none with the index {index}", call.span)
    return Sensitive(parts[index]) if secret else parts[index]


def _joined(delimiter: str, texts: list[str], call: Call) -> str:
    """Texts put together, as far as that does not become too large."""
    if sum(map(len, texts)) + len(delimiter) * len(texts) > MOST_SIZE:
        raise EvaluationError(f"a text becomes longer than {MOST_SIZE:,} characters", call.span, "join less")
    return delimiter.join(texts)


def _text(data: Answer, call: Call) -> str:
    if not is_plain(data):
        raise EvaluationError(f"{call.function} joins texts, and this is {_kind(data)}", call.span)
    return as_text(data)


def _kind(data: Answer) -> str:
    if data is None:
        return "null"
    if isinstance(data, list):
        return "a list"
    if isinstance(data, Sensitive):
        return "a sensitive value"
    return "a map" if isinstance(data, dict) else "a single value"


# ------------------------------------------------------------------------------------------- only in blueprints


def _evaluated(call: Call, context: Context) -> Generator[Ask, Answer, list[Answer] | Nothing]:
    """The arguments of a function, each evaluated."""
    found: list[Answer] = []
    for argument in call.arguments:
        data = yield Ask(argument, context)
        if isinstance(data, Nothing):
            return data
        found.append(data)
    return found


def _merge(_: Evaluator, call: Call, context: Context, __: Lookup) -> Steps:
    """One map of several, of which the later ones win."""
    found = yield from _evaluated(call, context)
    if isinstance(found, Nothing):
        return found
    merged: dict[str, object] = {}
    for data in found:
        part = revealed(data)
        if not isinstance(part, Mapping):
            raise EvaluationError(f"merge takes maps, and this is {_kind(part)}", call.span)
        merged.update(part)
    return Sensitive(merged) if is_sensitive(found) else merged


def _of_text(_: Evaluator, call: Call, context: Context, __: Lookup) -> Steps:
    """What is done with a text."""
    found = yield from _evaluated(call, context)
    if isinstance(found, Nothing):
        return found
    plain = [revealed(data) for data in found]
    name = call.function.removeprefix(BLUEPRINT)
    whole = {"string_replace": 3, "string_split": 2}.get(name)
    for position, data in enumerate(plain):
        needed = int if position == whole else str
        if not isinstance(data, needed) or isinstance(data, bool):
            what = "a whole number" if needed is int else "a text"
            raise EvaluationError(f"argument {position + 1} of {name} is {what}, not {_kind(data)}", call.span)
    try:
        made = TEXTS[name](*plain)
    except IndexError:
        raise EvaluationError(f"string_split finds fewer parts than {plain[2]}", call.span) from None
    except ValueError as error:
        raise EvaluationError(f"{name}: {error}", call.span) from None
    return Sensitive(made) if is_sensitive(found) else made


TEXTS: Mapping[str, Callable[..., object]] = {
    "string_find": str.find,
    "string_replace": str.replace,
    "string_split": lambda text, separator, *at: text.split(separator)[at[0]] if at else text.split(separator),
    "string_lower": str.lower,
    "string_upper": str.upper,
}


def _of_all_instances(evaluator: Evaluator, call: Call, context: Context, lookup: Lookup) -> Steps:
    """A runtime property of all instances of a node, as a list; or several of them, as a map by instance."""
    path = yield from _path(call, context)
    if isinstance(path, Nothing):
        return path
    name, *rest = path
    template = evaluator.service.template(str(name))
    if template is None:
        entity = evaluator.entities.find(str(name), context, call.span, lookup.trace)
        if not isinstance(entity, NodeEntity):
            return [] if isinstance(entity, Nothing) else {}
        template = entity.template
    lookup.trace.reads.add(f"#{template.name}")
    listed: list[object] = []
    by_id: dict[str, object] = {}
    for instance in evaluator.entities.listed(template.name):
        entity = NodeEntity(template, instance)
        if call.function.endswith("list"):
            value = yield from lookup.attribute(entity, tuple(rest), call.span)
            listed.append(None if isinstance(value, Nothing) else value)
            continue
        of_instance: dict[str, object] = {}
        for one in rest:
            value = yield from lookup.attribute(entity, (one,), call.span)
            of_instance[str(one)] = None if isinstance(value, Nothing) else value
        by_id[instance] = of_instance
    return listed if call.function.endswith("list") else by_id


def _of_services(_: Evaluator, call: Call, __: Context, ___: Lookup) -> Steps:
    """What other services give."""
    yield from ()
    name = call.function.removeprefix(BLUEPRINT)
    raise EvaluationError(f"{name} asks other services, which is not possible yet", call.span, "give it as an input")


# ----------------------------------------------------------------------------------------------------- values


def _get_input(evaluator: Evaluator, call: Call, context: Context, lookup: Lookup) -> Steps:
    path = yield from _path(call, context)
    if isinstance(path, Nothing):
        return path
    name, *rest = path
    inputs = context.inputs if name in context.inputs else evaluator.inputs
    if name not in inputs:
        definition = evaluator.service.inputs.get(str(name))
        if definition is None:
            of = next((w.name for w in evaluator.service.workflows.values() if name in w.inputs), None)
            said = f'input "{name}" of workflow "{of}" has no value' if of else f'there is no input named "{name}"'
            raise EvaluationError(said, call.span)
        if evaluator.partial and definition.required:
            raise NeedsInput(f'input "{name}" has no value yet', call.span)
        return Nothing(f'input "{name}" has no value')
    value = inputs[str(name)]
    definition = None
    if inputs is evaluator.inputs:
        service = evaluator.service
        definition = service.inputs.get(str(name)) or service.inner_definitions.get(str(name))
    if (evaluator.service.inner_inputs or evaluator.is_open) and isinstance(value, Call | list | dict):
        # An input of a topology that stands for a node may take the node's property, one of a blueprint another input.
        value = yield Ask(value, context, f"input {name}", ("input", name, context.node, context.instance))
        if isinstance(value, Nothing):
            return value
    value = evaluator.marks.wrap(value, evaluator.marks.of(definition))
    return lookup.nested(value, tuple(rest), path, _own(evaluator, context), call.span, "input")


def _get_property(evaluator: Evaluator, call: Call, context: Context, lookup: Lookup) -> Steps:
    arguments = yield from _path(call, context)
    if isinstance(arguments, Nothing):
        return arguments
    name, *path = arguments
    if name == "HOST":
        return (yield from lookup.property_of_hosts(_hosted(evaluator, call, context), tuple(path), call.span))
    entity = evaluator.entities.find_template(str(name), context, call.span, lookup.trace)
    entity = evaluator.entities.declaring(entity, str(path[0]), str(name))
    return (yield from lookup.property(entity, tuple(path), call.span))


def _get_attribute(evaluator: Evaluator, call: Call, context: Context, lookup: Lookup) -> Steps:
    arguments = yield from _path(call, context)
    if isinstance(arguments, Nothing):
        return arguments
    name, *path = arguments
    if name == "HOST":
        return (yield from lookup.attribute_of_hosts(_hosted(evaluator, call, context), tuple(path), call.span))
    entity = evaluator.entities.find(str(name), context, call.span, lookup.trace)
    if isinstance(entity, Nothing):
        return entity
    entity = evaluator.entities.declaring(entity, str(path[0]), str(name))
    return (yield from lookup.attribute(entity, tuple(path), call.span))


def _get_operation_output(evaluator: Evaluator, call: Call, context: Context, lookup: Lookup) -> Steps:
    name, interface, operation, output = (str(a) for a in call.arguments)
    if name == "HOST":
        raise EvaluationError("HOST cannot be used in get_operation_output", call.span, "use the node's name")
    yield from ()
    entity = evaluator.entities.find(name, context, call.span, lookup.trace)
    if isinstance(entity, Nothing):
        return entity
    holder = entity.template if isinstance(entity, NodeEntity) else entity.relationship
    found = interface_named(holder.interfaces, interface)
    if found is None or operation not in found.operations:
        raise EvaluationError(f"{entity} has no operation {interface}.{operation}", call.span)
    key = f"{found.name}.{operation}"
    for holder_id in _output_holders(entity):
        lookup.trace.reads.add(holder_id)
        outputs = evaluator.snapshot.outputs.get(holder_id, {}).get(key)
        if outputs is not None:
            return outputs[output] if output in outputs else Nothing(f'{key} of {entity.id} gave no output "{output}"')
    return Nothing(f"{key} of {entity.id} has not been carried out")


def _get_nodes_of_type(evaluator: Evaluator, call: Call, _: Context, lookup: Lookup) -> Steps:
    """The ids of all instances of nodes of a type, or of one derived from it."""
    yield from ()
    found: list[object] = []
    for name in evaluator.entities.nodes_of_type(str(call.arguments[0])):
        lookup.trace.reads.add(f"#{name}")
        found.extend(evaluator.entities.listed(name))
    return found


def _get_artifact(evaluator: Evaluator, call: Call, context: Context, lookup: Lookup) -> Steps:
    arguments = yield from _path(call, context)
    if isinstance(arguments, Nothing):
        return arguments
    name, artifact_name, *rest = arguments
    entity: Entity | None
    if name == "HOST":
        hosts = islice(evaluator.entities.chain(_hosted(evaluator, call, context)), 1, None)
        entity = next((host for host in hosts if lookup.artifact(host, str(artifact_name)) is not None), None)
    else:
        entity = evaluator.entities.find_template(str(name), context, call.span, lookup.trace)
    artifact = lookup.artifact(entity, str(artifact_name)) if entity else None
    if artifact is None or entity is None:
        raise EvaluationError(f'{entity or "no host"} has no artifact "{artifact_name}"', call.span)
    in_place = artifact.file if "://" in artifact.file else f"{evaluator.root}/{artifact.file}"
    if not rest:
        if not evaluator.scratch or in_place == artifact.file or is_in_place(artifact):
            return in_place
        own = own_copy(evaluator.scratch, artifact.file)
        lookup.trace.copies[own] = None
        return own.path
    location = str(rest[0])
    remove = _flag(rest[1], call) if len(rest) > 1 else location == LOCAL_FILE
    if location == LOCAL_FILE:
        if not remove and in_place != artifact.file:
            return in_place
        base = artifact.file.rpartition("/")[2]
        location = f"{evaluator.scratch}{_folder(entity)}/{artifact.name}/{base}"
    lookup.trace.copies[ArtifactCopy(artifact.file, location, remove)] = None
    return location


def _folder(entity: Entity) -> str:
    return "artifacts" if isinstance(entity, NodeEntity) else "artifacts/relationship"


def _flag(written: str | int, call: Call) -> bool:
    flags = {"true": True, "false": False}
    if written not in flags:
        raise EvaluationError(f'the last argument of get_artifact is true or false, not "{written}"', call.span)
    return flags[str(written)]


def _path(call: Call, context: Context) -> Generator[Ask, Answer, Path | Nothing]:
    """The arguments of a function that takes names and indexes, those evaluated that are calls."""
    found: list[str | int] = []
    for argument in call.arguments:
        part: Answer = argument
        if isinstance(argument, Call):
            part = yield Ask(argument, context)
        if isinstance(part, Nothing):
            return part
        if isinstance(part, bool):
            found.append("true" if part else "false")
        elif isinstance(part, str | int):
            found.append(part)
        else:
            raise EvaluationError(f"{call.function} takes names and indexes, and this is {_kind(part)}", call.span)
    return tuple(found)


def _own(evaluator: Evaluator, context: Context) -> Entity | None:
    if context.relationship is not None:
        return LinkEntity(context.relationship, context.source, context.target)
    return NodeEntity(evaluator.service.require(context.node), context.instance) if context.node else None


def _hosted(evaluator: Evaluator, call: Call, context: Context) -> NodeEntity:
    if context.relationship is not None or not context.node:
        raise EvaluationError(
            "HOST means the hosts of a node, and there is no node here",
            call.span,
            "use SOURCE or TARGET, or the node's name",
        )
    return NodeEntity(evaluator.service.require(context.node), context.instance)


def _output_holders(entity: Entity) -> tuple[str, ...]:
    if isinstance(entity, NodeEntity):
        return (entity.instance,)
    key = entity.relationship.key
    return entity.id, end_id(key, entity.source, "source"), end_id(key, entity.target, "target")


def _open(names: dict[tuple[object, ...], str], asked: Ask) -> None:
    """Note that a value is being evaluated. Raises ``EvaluationError`` where it is already."""
    if asked.key is not None:
        if asked.key in names:
            raise _cycle(names, asked)
        names[asked.key] = asked.name
        if len(names) > MOST_OPEN_VALUES:
            raise EvaluationError("too many values wait for each other", _span(asked.value))


def _cycle(names: Mapping[tuple[object, ...], str], asked: Ask) -> EvaluationError:
    """Every value of a circle, the one first that was asked for first."""
    keys = list(names)
    circle = [names[k] for k in keys[keys.index(asked.key or ()) :]]
    return EvaluationError(f"a value depends on itself: {' -> '.join([*circle, circle[0]])}", _span(asked.value))


def _span(value: Value) -> Span | None:
    return value.span if isinstance(value, Call) else None


Function = Callable[[Evaluator, Call, Context, Lookup], Steps]

FUNCTIONS: Mapping[str, Function] = {
    "concat": _concat,
    "join": _join,
    "token": _token,
    "get_input": _get_input,
    "get_property": _get_property,
    "get_attribute": _get_attribute,
    "get_operation_output": _get_operation_output,
    "get_nodes_of_type": _get_nodes_of_type,
    "get_artifact": _get_artifact,
    f"{BLUEPRINT}merge": _merge,
    **dict.fromkeys((f"{BLUEPRINT}{name}" for name in TEXTS), _of_text),
    **dict.fromkeys(
        (
            f"{BLUEPRINT}{name}"
            for name in ("get_capability", "get_environment_capability", "get_group_capability", "get_consumers")
        ),
        _of_services,
    ),
    **dict.fromkeys((f"{BLUEPRINT}get_attributes_{what}" for what in ("list", "dict")), _of_all_instances),
}

STATIC = frozenset(
    {"concat", "join", "token", "get_input", "get_property", f"{BLUEPRINT}merge", *(f"{BLUEPRINT}{n}" for n in TEXTS)}
)
"""The functions whose results depend only on the document and its inputs."""


# Values that an evaluation knows already, and how large values may become.

MOST_SIZE = 16_000_000
"""How many characters a value may have as a text: functions can double a value in each of a hundred lines."""

MOST_DEPTH = 100
"""How deep lists and maps may be nested, as in documents, so that readers of values may recurse."""


class KnownValues:
    """The results of evaluations as long as nothing changes, by the key of the request, and the sizes of lists and maps
    in them."""

    __slots__ = ("_sizes", "answers")

    def __init__(self) -> None:
        self.answers: dict[tuple[object, ...], object] = {}
        self._sizes: dict[int, tuple[object, int, int]] = {}
        """By id: a list or map (kept, so that its id stays its own), its size, and how deep it is nested."""

    def bounded(self, made: list[object] | dict[str, object]) -> list[object] | dict[str, object]:
        """The given list or map, whose entries are bounded. Raises ``EvaluationError`` where it is too large."""
        self._size(made)
        return made

    def _size(self, value: object) -> None:
        """Find out about how many characters a value has; its parts are counted as often as they occur in it."""
        open_values: list[object] = [value]
        while open_values:
            current = open_values[-1]
            if not isinstance(current, list | dict) or id(current) in self._sizes:
                open_values.pop()
                continue
            parts = _parts(current)
            unknown = [p for p in parts if isinstance(p, list | dict) and id(p) not in self._sizes]
            if unknown:
                open_values.extend(unknown)
                continue
            inner = [self._sizes[id(p)] for p in parts if isinstance(p, list | dict)]
            size = 2 + sum(_length(p) for p in parts) + sum(i[1] for i in inner)
            depth = 1 + max((i[2] for i in inner), default=0)
            if size > MOST_SIZE:
                raise EvaluationError(f"a value becomes larger than {MOST_SIZE:,} characters")
            if depth > MOST_DEPTH:
                raise EvaluationError(f"lists and maps are nested more than {MOST_DEPTH} levels deep")
            self._sizes[id(current)] = (current, size, depth)
            open_values.pop()


def _parts(value: list[object] | dict[str, object]) -> list[object]:
    return list(value.values()) if isinstance(value, dict) else value


def _length(value: object) -> int:
    if isinstance(value, Sensitive):
        return len(str(value.reveal()))
    if isinstance(value, list | dict):
        return 0
    return len(value) + 2 if isinstance(value, str) else 8
