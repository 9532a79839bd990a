"""The options of a command line, made from the fields of requests and of groups of options (`base/options.py`)."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import partial, wraps
from typing import Any, TypeVar, get_args

import click
import msgspec

from ordito.app.requests import DeployRequest, DescriptionRequest, GivenInputs, Request
from ordito.base.options import NO, Argument, Declared, Option, declared
from ordito.base.portion import Portion, portion_of
from ordito.cli.durations import seconds_of
from ordito.cli.options import keep
from ordito.cli.session import Session
from ordito.cli.settings import PROGRAM
from ordito.work.options import USUAL, JobOptions

F = TypeVar("F", bound=Callable[..., Any])
M = TypeVar("M")
Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]
Wording = Mapping[str, str]

MOST_SECONDS = 604_800.0
NO_WORDING: Wording = {}


class Seconds(click.FloatRange):
    """A number of seconds to wait."""

    name = "seconds"

    def __init__(self) -> None:
        super().__init__(min=0, max=MOST_SECONDS)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """The number; "nan" is not accepted."""
        number = float(super().convert(value, param, ctx))
        if math.isnan(number):
            self.fail(f"{value!r} is not a number of seconds", param, ctx)
        return number


class Duration(click.ParamType):  # type: ignore[type-arg]  # (not generic when it runs)
    """A duration as people write it."""

    name = "duration"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """The seconds."""
        seconds = value if isinstance(value, float) else seconds_of(str(value))
        if seconds is None or not 0 < seconds <= MOST_SECONDS:
            self.fail(f'"{value}" is not a time of at most a week, such as 90, 90s, 10m or 1h30m', param, ctx)
        return seconds


class PortionType(click.ParamType):  # type: ignore[type-arg]  # (not generic when it runs)
    """A number of instances, or a percentage."""

    name = "portion"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Portion:
        """The number or percentage."""
        found = value if isinstance(value, Portion) else portion_of(str(value))
        if found is None:
            self.fail(f'"{value}" is neither a number of instances from 1 on nor a percentage such as 25%', param, ctx)
        return found


def takes(kind: type[Request]) -> Decorator:
    """Add the arguments and options of a request; the verb gets it as ``request``."""
    takes_inputs = "inputs" in kind.__struct_fields__

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(function)
        def with_request(session: Session, **others: Any) -> Any:
            inputs = others.pop("inputs") if takes_inputs else GivenInputs()
            given = _given(kind, others, kind.without, inputs)
            request = _checked(partial(kind.of_words, given))
            if isinstance(request, DescriptionRequest):
                request = _saved_plan(request, session)
            return function(session, request=request, **others)

        return _with_params(with_request, _parameters(kind, kind.wording, kind.without))

    return decorate


def group(kind: type[msgspec.Struct], name: str, *, without: Collection[str] = ()) -> Decorator:
    """Add the options of a group; the verb gets it as ``name``."""

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(function)
        def with_group(session: Session, **others: Any) -> Any:
            given = _given(kind, others, without, GivenInputs())
            return function(session, **{name: _checked(partial(kind, **given))}, **others)

        return _with_params(with_group, _parameters(kind, NO_WORDING, without))

    return decorate


def single(kind: type[msgspec.Struct], name: str) -> Decorator:
    """A single option of a request or of a group: a flag or a list of words."""
    field = next(field for field in declared(kind) if field.name == name)
    return lambda function: _with_params(function, list(_parameter(field, NO_WORDING)))


def _with_params(function: Callable[..., Any], params: Sequence[click.Parameter]) -> Callable[..., Any]:
    known: list[click.Parameter] = getattr(function, "__click_params__", [])
    function.__click_params__ = [*known, *reversed(params)]  # type: ignore[attr-defined]
    return function


def _parameters(kind: type[msgspec.Struct], wording: Wording, without: Collection[str]) -> list[click.Parameter]:
    """The parameters of a command line, in the order of the fields."""
    return [p for field in _leaves(kind, without) for p in _parameter(field, wording)]


def _leaves(kind: type[msgspec.Struct], without: Collection[str]) -> Iterator[Declared]:
    """The fields that a command line sets, including those of groups."""
    for field in declared(kind):
        if field.group is not None:
            yield from _leaves(field.group, without)
        elif field.name not in without and (isinstance(field.by, Option) or _is_word(field)):
            yield field


def _is_word(field: Declared) -> bool:
    return isinstance(field.by, Argument) and field.by.is_read


def _parameter(field: Declared, wording: Wording) -> Iterator[click.Parameter]:
    by = field.by
    if isinstance(by, Argument):
        yield click.Argument(
            [field.name],
            metavar=wording.get(field.name, by.metavar) or None,
            nargs=-1 if field.is_several else 1,
            required=by.is_required,
            type=_type(field),
        )
        return
    assert by is not None
    text = by.help.format(**wording) if "{" in by.help else by.help
    if field.kind is bool:
        flag = f"{by.flag}/{by.opposite}" if by.opposite else by.flag
        shown = by.shows_default
        yield click.Option([flag, field.name], is_flag=True, default=field.default, help=text, show_default=shown)
        return
    yield click.Option(
        [by.flag, field.name],
        type=_type(field),
        metavar=by.metavar.format(**wording) or None,
        multiple=field.is_several,
        default=field.default if by.shows_default else None,
        show_default=by.shows_default,
        help=text,
    )
    if by.opposite:
        yield click.Option([by.opposite, _opposite(field)], is_flag=True, help=by.opposite_help)


def _opposite(field: Declared) -> str:
    return f"no_{field.name}"


def _type(field: Declared) -> Any:
    """The click parameter of a field."""
    by = field.by
    if isinstance(by, Option):
        if by.choices:
            return click.Choice(by.choices)
        if by.unit:
            return Seconds() if by.unit == "seconds" else Duration()
    if field.kind is Portion:
        return PortionType()
    if field.kind is int or int in get_args(field.kind):
        least, most = (by.least if by is not None else None), (by.most if isinstance(by, Option) else None)
        return int if least is most is None else click.IntRange(min=least, max=most)
    return None


def _given(
    kind: type[msgspec.Struct], others: dict[str, Any], without: Collection[str], inputs: GivenInputs
) -> dict[str, object]:
    """The values of fields in a command line, taken out of the parameters of click. Raises ``click.UsageError``."""
    found: dict[str, object] = {}
    for field in declared(kind):
        if field.kind is GivenInputs:
            forgotten = () if "forgotten" in without else others.pop("forgotten")
            found[field.name] = _checked(partial(GivenInputs, inputs.files, inputs.texts, forgotten=forgotten))
        elif field.group is not None:
            values = _given(field.group, others, without, inputs)
            found[field.name] = _checked(partial(field.group, **values))
        elif field.name not in without and field.name in others:
            value = _value(field, others)
            if value is not None:
                found[field.name] = value
    return found


def _value(field: Declared, others: dict[str, Any]) -> object:
    value: object = others.pop(field.name)
    by = field.by
    if isinstance(by, Option) and by.opposite and field.kind is not bool and others.pop(_opposite(field)):
        if value:
            raise click.UsageError(f"{by.flag} and {by.opposite} exclude each other")
        return NO
    if isinstance(by, Option) and field.is_several and not isinstance(field.default, tuple):
        assert isinstance(value, tuple)
        return dict(_pair(by, text) for text in value)
    return value


def _pair(by: Option, text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals or not name.strip() or not value.strip():
        raise click.UsageError(f'{by.flag} takes {by.metavar}, not "{text}"')
    return name.strip(), value.strip()


def _checked(make: Callable[[], M]) -> M:
    """The made object, if it makes sense. Raises ``click.UsageError``."""
    try:
        return make()
    except ValueError as error:
        raise click.UsageError(str(error)) from None


def _saved_plan(request: DescriptionRequest, session: Session) -> Request:
    """The request to carry out a saved plan, if the service is the file of one. Raises ``click.UsageError`` for options
    that a saved plan does not take, and ``Refused``."""
    from ordito.app.saved_plan import SavedPlanRequest, is_saved_plan, read_saved_plan

    path = request.service
    if not path or not is_saved_plan(path):
        return request
    if not isinstance(request, DeployRequest):
        raise click.UsageError(f"{path} is a saved plan: `{PROGRAM} apply {path}` carries it out")
    context = click.get_current_context()
    deciding = {p.name for p in _parameters(type(request), request.wording, request.without)}
    refused = [
        p.opts[0]
        for p in context.command.params
        if isinstance(p, click.Option)
        and p.name in deciding
        and context.get_parameter_source(p.name or "") is click.core.ParameterSource.COMMANDLINE
    ]
    if not request.inputs.is_empty:
        refused.append("-i and -I")
    if session.settings.environment is not None:
        refused.append("--env")
    if refused:
        raise click.UsageError(
            f"{path} is a saved plan, which is carried out as it is: leave out {', '.join(refused)}, or plan again with"
            " it"
        )
    return SavedPlanRequest(path, read_saved_plan(path))


# How a job runs: the same options for every verb that begins one.

ON_FAILURE = {
    "on_failure": "After a failure: continue with what does not depend on it, or start nothing more"
    " (default: continue).",
    "on_failure_values": "[continue|abort]",
}
ON_FAILURE_MAKING = {
    "on_failure": "After a failure: continue with what does not depend on it, start nothing more, or also undo"
    " what was done (default: rollback for a scale-out, else continue).",
    "on_failure_values": "[continue|abort|rollback]",
}
"""The same for jobs that create something, which can be rolled back."""
IN_GIT = "auto: if the ensemble is kept in git"
AS_BEGUN = "as given when the job began"


def job_options(wording: Wording = ON_FAILURE) -> Decorator:
    """The options of verbs that begin a job; the verb gets them as ``options`` and ``wait_lock``. All of them accept a
    rollback, so that the verb itself can explain why there is none."""
    return lambda function: wait_lock_option(how_jobs_run(wording)(_with_params(function, _at_server())))


def how_jobs_run(wording: Wording = ON_FAILURE, *, without: Collection[str] = ()) -> Decorator:
    """The options that say how a job runs; the verb gets them as ``options``."""

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(function)
        def with_options(session: Session, **others: Any) -> Any:
            given = {"on_failure": USUAL, **_given(JobOptions, others, without, GivenInputs())}
            return function(session, options=JobOptions(**given), **others)  # type: ignore[arg-type]

        return _with_params(with_options, _parameters(JobOptions, {**wording, "commits": IN_GIT}, without))

    return decorate


def _at_server() -> list[click.Parameter]:
    """The options that only a server knows; they are kept with the settings."""
    kept: dict[str, Any] = {"expose_value": False, "callback": keep}
    return [
        click.Option(["--detach"], is_flag=True, help="At a server, or for workers of a store: only queue it.", **kept),
        click.Option(
            ["--wait-approval"],
            type=Duration(),
            metavar="DURATION",
            help="At a server: wait so long for others who approve; else the exit code is 9.",
            **kept,
        ),
    ]


def commit_option(default: str = IN_GIT) -> Decorator:
    """Only the option that says whether a job's files are committed; ``default`` is its default in the help. Without
    the option the verb gets "", unless the default is "auto"."""

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(function)
        def with_commit(session: Session, *, commit: str | None, **others: Any) -> Any:
            return function(session, commit=commit or ("auto" if default == IN_GIT else ""), **others)

        field = next(field for field in declared(JobOptions) if field.name == "commit")
        return _with_params(with_commit, list(_parameter(field, {"commits": default})))

    return decorate


def wait_lock_option(function: F) -> F:
    """Add the option of verbs that change an ensemble."""
    return click.option(
        "--wait-lock",
        type=Seconds(),
        metavar="SECONDS",
        default=0.0,
        help="How long to wait for another command that works on the ensemble.",
    )(function)
