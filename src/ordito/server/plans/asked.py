"""What can be asked for by a plan: a struct for each workflow, made from the fields of its request. No option is
written down twice."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from functools import reduce
from operator import or_
from types import GenericAlias
from typing import Annotated, Any, Literal, get_args, get_origin

import msgspec

from ordito.app.requests import DescriptionRequest, MoveRequest, Request, ScaleRequest
from ordito.app.work_items import KINDS, RETRY, AskedRequest
from ordito.base.options import NO, Argument, Declared, Option, declared
from ordito.base.portion import Portion, portion_of
from ordito.server.names import Text
from ordito.server.problems import ApiProblem
from ordito.server.route import Fields
from ordito.work.options import JobOptions

ASK, AUTO = "ask", "auto"
EXACT, LATEST = "exact", "latest"

LOCAL = frozenset({"fetch", "node_id"})
"""The fields of requests that a server does not take, besides all paths of files."""

NAMES_KEY = "x-names"
"""The word of a schema that says what a field names: some of ``NAMED_THINGS``."""

MAIN_KEY = "x-main"
"""The word of a schema that says that a field is what its request is about."""

NAMED_THINGS = ("node", "instance", "input")
_words = re.compile(r"[A-Z]+").findall

MOST_INPUTS = 1_000

Inputs = Annotated[dict[str, Any], msgspec.Meta(max_length=MOST_INPUTS)]

InputTexts = Annotated[
    dict[str, str],
    msgspec.Meta(
        max_length=MOST_INPUTS, description="Values as on a command line: the type of an input says what they mean."
    ),
]


class _PlanAsked(Fields, frozen=True):
    """What is asked for."""


def _leaves(kind: type[msgspec.Struct], without: Collection[str]) -> Iterator[Declared]:
    """The fields of a request that can be asked for, also those of its groups."""
    for field in declared(kind):
        if field.group is not None:
            yield from _leaves(field.group, without)
        elif field.by is not None and field.name not in {*LOCAL, *without} and not field.by.is_path:
            yield field


def _name(field: Declared) -> str:
    """The name of a field: that of its option, or of its argument."""
    return field.by.flag.lstrip("-").replace("-", "_") if isinstance(field.by, Option) else field.name


def _kind(field: Declared, wording: Mapping[str, str]) -> Any:
    """The type of a field in JSON."""
    by = field.by
    kind: Any = field.kind
    if field.kind is Portion:
        kind = int | str
    elif isinstance(by, Option) and by.choices:
        kind = Literal.__getitem__((*by.choices, *([NO] if by.opposite and field.kind is str else ())))
    elif get_origin(field.kind) is Mapping:
        kind = GenericAlias(dict, get_args(field.kind))
    least = by.least if by is not None else None
    most = by.most if isinstance(by, Option) else None
    said: dict[str, Any] = {name: value for name, value in (("ge", least), ("le", most)) if value is not None}
    if help_of := _help(field, wording):
        said["description"] = help_of
    if more := _more(field):
        said["extra_json_schema"] = more
    return Annotated[kind, msgspec.Meta(**said)] if said else kind


def _more(field: Declared) -> dict[str, Any]:
    """What else forms are to know of a field."""
    by, found = field.by, dict[str, Any]()
    if by is not None and (names := [name for name in NAMED_THINGS if name.upper() in _words(by.metavar)]):
        found[NAMES_KEY] = names
    if isinstance(by, Argument):
        found[MAIN_KEY] = True
    return found


def _help(field: Declared, wording: Mapping[str, str]) -> str:
    """What is said of a field: what help says of its option, as far as that is not about a command line."""
    by = field.by
    if isinstance(by, Argument):
        return by.help
    if by is None:
        return ""
    said = by.help.format(**wording) if "{" in by.help else by.help
    for words in ("; may be repeated", "With --yes: "):
        said = said.replace(words, "")
    return said[:1].upper() + said[1:]


def _default(field: Declared) -> Any:
    return "" if field.kind is Portion else field.default


def _struct(name: str, kind: type[Request]) -> type[_PlanAsked]:
    fields: list[Any] = []
    for field in _leaves(kind, kind.without):
        is_required, typed = field.default is msgspec.NODEFAULT, _kind(field, kind.wording)
        fields.append((_name(field), typed) if is_required else (_name(field), typed, _default(field)))
    if "inputs" in kind.__struct_fields__:
        fields.append(("inputs", Inputs, msgspec.field(default_factory=dict)))
        fields.append(("input_texts", InputTexts, msgspec.field(default_factory=dict)))
    if issubclass(kind, DescriptionRequest):
        fields.append(("package", Text, ""))
    return msgspec.defstruct(  # type: ignore[return-value]
        f"Asked{''.join(map(str.capitalize, name.split('-')))}",
        fields,
        bases=(_PlanAsked,),
        namespace={"__doc__": kind.__doc__},
        tag_field="workflow",
        tag=name,
        frozen=True,
        kw_only=True,
    )


class AskedRetry(_PlanAsked, frozen=True, tag_field="workflow", tag=RETRY):
    """To carry out what a job has not done."""

    job: Annotated[str, msgspec.Meta(description="The job, or the beginning of its id; nothing for the latest.")] = ""
    allow_data_loss: Annotated[
        tuple[str, ...], msgspec.Meta(description="Nodes and instances whose data may be lost.")
    ] = ()


class AskedSkip(_PlanAsked, frozen=True, tag_field="workflow", tag="skip"):
    """To carry out what a job has not done, without a step that somebody has done by hand."""

    job: Annotated[str, msgspec.Meta(description="The job, or the beginning of its id.")]
    step: Annotated[str, msgspec.Meta(description="The id of the step that was done by hand.")]


_STRUCTS: Mapping[str, type[_PlanAsked]] = {name: _struct(name, kind) for name, kind in KINDS.items() if name != RETRY}

ASKED_UPGRADE: Any = _STRUCTS["upgrade"]
"""What an upgrade is asked for by."""

ASKED_ROLLBACK: Any = _STRUCTS["rollback"]
"""What going back to an earlier revision is asked for by."""

WORKFLOWS = (*_STRUCTS, RETRY, "skip")
"""The names of what can be asked for."""

ASKED: Any = reduce(or_, (*_STRUCTS.values(), AskedRetry, AskedSkip))
"""Any of them; the field ``workflow`` says which."""


_HELP = {field.name: field.by.help for field in declared(JobOptions) if isinstance(field.by, Option)}


class AskedOptions(Fields, frozen=True):
    """How the job runs."""

    parallel: Annotated[int, msgspec.Meta(ge=1, le=10_000, description=_HELP["parallel"])] = 64
    on_failure: Annotated[
        Literal["usual", "continue", "abort", "rollback"],
        msgspec.Meta(description="What a failure does to the rest; usual: what the workflow does."),
    ] = "usual"
    attempts: Annotated[int, msgspec.Meta(ge=0, le=1_000, description=_HELP["attempts"])] = 0
    interval: Annotated[Annotated[float, msgspec.Meta(ge=0)] | None, msgspec.Meta(description=_HELP["interval"])] = None
    host_concurrency: Annotated[int, msgspec.Meta(ge=1, le=10_000, description=_HELP["host_concurrency"])] = 1
    timeout: Annotated[
        Annotated[float, msgspec.Meta(gt=0)] | None,
        msgspec.Meta(description="Seconds after which the job is cancelled."),
    ] = None
    message: Annotated[Text, msgspec.Meta(description=_HELP["message"])] = ""


def job_options(asked: AskedOptions) -> JobOptions:
    """The options of a job that are asked for."""
    return JobOptions(**msgspec.structs.asdict(asked))


def kind_of(asked: Any) -> str:
    """Which of ``WORKFLOWS`` is asked for."""
    return str(type(asked).__struct_config__.tag)


def _check(request: Request) -> None:
    """Refuse what a command line would not take either. Raises ``ValueError``."""
    if isinstance(request, MoveRequest):
        request.of_words({"names": request.names, "everything": request.everything})
    elif isinstance(request, ScaleRequest):
        counted = (f"{name}={count}" for name, count in request.counts.items())
        request.of_words({"names": (*request.names, *counted), "delta": request.delta})


def request_of(asked: Any, environment: str | None) -> AskedRequest:
    """What is asked for, as a work item has it. Raises ``ApiProblem`` for what makes no sense."""
    if isinstance(asked, AskedRetry):
        fields: dict[str, object] = {"job": asked.job, "may_lose": asked.allow_data_loss}
        return AskedRequest(RETRY, fields, {}, environment)
    if isinstance(asked, AskedSkip):
        return AskedRequest(RETRY, {"job": asked.job, "by_hand": asked.step}, {}, environment)
    name = kind_of(asked)
    kind = KINDS[name]
    try:
        found = _grouped(kind, asked, kind.without)
        _check(msgspec.convert(msgspec.to_builtins(found), kind))
    except (msgspec.ValidationError, ValueError) as error:
        raise ApiProblem(
            "malformed", f"this cannot be asked of {name}: {error}", f"see what it takes: `ordito {name} --help`"
        ) from None
    inputs, texts = dict(getattr(asked, "inputs", {})), dict(getattr(asked, "input_texts", {}))
    return AskedRequest(name, msgspec.to_builtins(found), inputs, environment, texts)


def asked_again(workflow: str, asked: AskedRequest) -> dict[str, object]:
    """What ``request_of`` was made from, but for inputs and for what was not given: the request of a ``workflow``.
    Raises ``msgspec.ValidationError`` for what cannot be asked so any more."""
    if workflow in (RETRY, "skip"):
        words = {"job": "job", "by_hand": "step", "may_lose": "allow_data_loss"}
        return {"workflow": workflow, **{words[name]: value for name, value in asked.fields.items() if value}}
    kind = KINDS[workflow]
    return {"workflow": workflow, **dict(_flat(msgspec.convert(asked.fields, kind), kind.without))}


def is_secret_name(value: object) -> bool:
    """Whether the value of an input is the name of a secret, which may be shown."""
    return isinstance(value, dict) and value.keys() == {"secret"} and isinstance(value["secret"], str)


def _flat(request: msgspec.Struct, without: Collection[str]) -> Iterator[tuple[str, object]]:
    """The fields of a request that were asked for, with the names that they have there."""
    own = {field.name for field in _leaves(type(request), without)}
    for field in declared(type(request)):
        value = getattr(request, field.name)
        if field.group is not None:
            yield from _flat(value, without)
        elif field.name in own and value != field.default:
            yield _name(field), str(value) if field.kind is Portion else value


def _grouped(kind: type[msgspec.Struct], asked: Any, without: Collection[str]) -> dict[str, object]:
    """The fields of a request, those of a group below its name. Raises ``ValueError``."""
    found: dict[str, object] = {}
    own = {field.name for field in _leaves(kind, without)}
    for field in declared(kind):
        if field.group is not None:
            values = _grouped(field.group, asked, without)
            if values:
                found[field.name] = values
        elif field.name in own and (value := getattr(asked, _name(field))) != _default(field):
            found[field.name] = _value(field, value)
    return found


def _value(field: Declared, value: object) -> object:
    if field.kind is not Portion:
        return value
    portion = portion_of(str(value))
    if portion is None:
        raise ValueError(f'{_name(field)}: "{value}" is neither a number of instances from 1 on nor a percentage')
    return portion
