"""The options that every verb understands, before or after it, and how verbs are declared."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

import click
import msgspec

from ordito.app.given_choices import GivenChoices
from ordito.app.given_inputs import GivenInputs
from ordito.app.given_part import GivenPart
from ordito.base.allowable import ALLOWABLE, not_allowable
from ordito.cli.channel import Color
from ordito.cli.durations import seconds_of
from ordito.cli.settings import COMMON_FORMATS, Format, GlobalSettings, refused_value
from ordito.work.records import USUAL, JobOptions

F = TypeVar("F", bound=Callable[..., Any])

KEY = "ordito.settings"
ARGUMENTS = "ordito.arguments"
INPUTS = "ordito.inputs"

MOST_ATTEMPTS = 1_000
MOST_PLACES = 10_000
MOST_SECONDS = 604_800.0


def _keep(context: click.Context, parameter: click.Parameter, value: Any) -> None:
    """Remember an option that was given; what stands after the verb comes later and wins."""
    name = parameter.name or ""
    if context.get_parameter_source(name) is click.core.ParameterSource.COMMANDLINE:
        context.meta.setdefault(KEY, {})[name] = value


def _count(context: click.Context, _: click.Parameter, value: int) -> None:
    given = context.meta.setdefault(KEY, {})
    given["verbose"] = given.get("verbose", 0) + value


def global_options(formats: Sequence[Format] = COMMON_FORMATS) -> list[click.Option]:
    """New options for one command: the same for all of them, since they may stand anywhere. Help shows ``formats``;
    any other is accepted here, and refused by a verb that does not write it (it may have stood before the verb)."""

    def option(*names: str, **attributes: Any) -> click.Option:
        return click.Option(names, **{"callback": _keep, "expose_value": False, **attributes})

    return [
        option("-e", "--ensemble", metavar="DIR", help="The ensemble's directory (default: the current one)."),
        option(
            "--env", "environment", metavar="NAME", help='The environment of ensemble.yaml to work in; "" for none.'
        ),
        option("--hosts", metavar="FILE", help='The inventory of hosts; "" for the one that the environment names.'),
        option(
            "-o",
            "--output",
            type=_FormatChoice(formats),
            metavar=f"[{'|'.join(formats)}]",
            help="How results are written.",
        ),
        option("--json", "json_events", is_flag=True, help="Write everything as a stream of JSON objects, one a line."),
        option("-y", "--yes", is_flag=True, help="Go ahead without asking."),
        option("--no-input", is_flag=True, help="Never ask; what would need an answer is refused."),
        option("-q", "--quiet", is_flag=True, help="Show no progress."),
        option("-v", "--verbose", count=True, callback=_count, help="Show what operations print."),
        option("--color", type=click.Choice([str(c) for c in Color]), help="Use color (default: on a terminal)."),
    ]


class _FormatChoice(click.Choice[str]):
    """The formats of a verb. Those of other verbs are taken too, since the verb says more kindly what is wrong."""

    def __init__(self, formats: Sequence[Format]) -> None:
        super().__init__([str(f) for f in formats])

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """The name of a format."""
        return value if value in {str(f) for f in Format} else str(super().convert(value, param, ctx))


def settings_of(context: click.Context) -> GlobalSettings:
    """The settings that the options of a command line give."""
    given: Mapping[str, Any] = context.meta.get(KEY, {})
    known = {name: value for name, value in given.items() if value is not None}
    for name, kind in (("output", Format), ("color", Color)):
        if name in known:
            known[name] = kind(known[name])
    return GlobalSettings(**known, arguments=tuple(context.meta.get(ARGUMENTS, ())))


def completing(params: list[click.Parameter], context: click.Context, page: str = "") -> list[click.Parameter]:
    """The parameters of a command; where a shell asks what can stand in a command line, what asks (``context.obj``) is
    told of each of them. ``page`` is what the manual calls a verb."""
    if context.resilient_parsing and context.obj is not None:
        for parameter in params:
            context.obj(page, parameter)
    return params


def input_options() -> list[click.Option]:
    """New options for values of inputs, for one command; like the global ones they may stand before the verb too."""
    return [
        click.Option(
            ["-i", "--input"],
            metavar="NAME=VALUE",
            multiple=True,
            expose_value=False,
            callback=_keep_texts,
            help="The value of an input, over those of files; may be repeated.",
        ),
        click.Option(
            ["-I", "--inputs"],
            metavar="FILE",
            multiple=True,
            expose_value=False,
            callback=_keep_files,
            help="A YAML file with values of inputs; may be repeated, later ones win.",
        ),
    ]


def inputs_of(context: click.Context) -> GivenInputs:
    """The values of inputs that a command line gives."""
    found: GivenInputs = context.meta.get(INPUTS, GivenInputs())
    return found


def _keep_files(context: click.Context, _: click.Parameter, values: tuple[str, ...]) -> None:
    found = inputs_of(context)
    context.meta[INPUTS] = GivenInputs((*found.files, *values), found.texts)


def _keep_texts(context: click.Context, parameter: click.Parameter, values: tuple[str, ...]) -> None:
    texts: dict[str, str] = {}
    for value in values:
        name, equals, text = value.partition("=")
        if not equals or not name.strip():
            raise click.BadParameter(f'"{value}" is not of the form NAME=VALUE', context, parameter)
        if wrong := refused_value(text):
            raise click.BadParameter(f"{name.strip()}={wrong}", context, parameter)
        texts[name.strip()] = text
    found = inputs_of(context)
    context.meta[INPUTS] = GivenInputs(found.files, {**found.texts, **texts})


class Seconds(click.FloatRange):
    """A number of seconds that can be waited for."""

    name = "seconds"

    def __init__(self) -> None:
        super().__init__(min=0, max=MOST_SECONDS)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """The number; "nan" is none."""
        number = float(super().convert(value, param, ctx))
        if math.isnan(number):
            self.fail(f"{value!r} is not a number of seconds", param, ctx)
        return number


class Duration(click.ParamType):  # type: ignore[type-arg]  # (not generic when it runs)
    """A time as people write it."""

    name = "duration"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """The seconds."""
        seconds = value if isinstance(value, float) else seconds_of(str(value))
        if seconds is None or not 0 < seconds <= MOST_SECONDS:
            self.fail(f'"{value}" is no time of at most a week, such as 90, 90s, 10m or 1h30m', param, ctx)
        return seconds


def wait_lock_option(function: F) -> F:
    """The option of verbs that change an ensemble."""
    return click.option(
        "--wait-lock",
        type=Seconds(),
        metavar="SECONDS",
        default=0.0,
        help="Wait so long for another command that works on the ensemble.",
    )(function)


def allow_large_option(function: F) -> F:
    """The option of verbs that plan a deployment."""
    return click.option(
        "--allow-large",
        is_flag=True,
        help="Plan also more than 200,000 instances, or 100,000 link operations of one requirement.",
    )(function)


def force_option(function: F) -> F:
    """The option of verbs that skip what was done before."""
    return click.option("--force", is_flag=True, help="Skip nothing: carry everything out again, done or not.")(
        function
    )


def allow_changed_option(function: F) -> F:
    """The option of verbs that may remove, or make anew, what was found to be other than it was left."""
    return click.option("--allow-changed", is_flag=True, help="With --yes: lose what somebody else has changed, too.")(
        function
    )


def data_loss_option(function: F) -> F:
    """The option of verbs that may remove what keeps data; the verb gets the names as ``may_lose``."""
    return click.option(
        "--allow-data-loss",
        "may_lose",
        metavar="NODE",
        multiple=True,
        help="The data of this node, or instance, may be lost; may be repeated.",
    )(function)


def part_options(*, verb: str, makes: bool) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """The options of verbs that may be about a part of the service, of which help says what the ``verb`` does; the verb
    of the command line gets them as ``part``. Those that remove something have no ``--skip-new`` (``makes``)."""

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def with_part(
            *arguments: Any, nodes: tuple[str, ...], instances: tuple[str, ...], skip_new: bool = False, **others: Any
        ) -> Any:
            return function(*arguments, part=GivenPart(nodes, instances, skip_new), **others)

        decorated = with_part
        if makes:
            decorated = click.option(
                "--skip-new", is_flag=True, help="Make no instance of which there is nothing yet."
            )(decorated)
        decorated = click.option(
            "--instance", "instances", metavar="ID", multiple=True, help=f"{verb} only this instance; may be repeated."
        )(decorated)
        return click.option(
            "--node", "nodes", metavar="NODE", multiple=True, help=f"{verb} only this node; may be repeated."
        )(decorated)

    return decorate


def fetch_option(function: F) -> F:
    """The option of verbs that read a service."""
    return click.option(
        "--fetch", is_flag=True, help="Fetch what the service names by URLs; nothing is fetched without it."
    )(function)


def choice_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """The options of verbs that read a service which may leave choices; the verb gets them as ``choices``."""

    @functools.wraps(function)
    def with_choices(
        *arguments: Any, inventory: str, substitute: tuple[str, ...], allow: tuple[str, ...], **others: Any
    ) -> Any:
        if wrong := not_allowable(allow):
            raise click.UsageError(f"--allow: {wrong}")
        substitutes: dict[str, str] = {}
        for value in substitute:
            node, equals, name = value.partition("=")
            if not equals or not node.strip() or not name.strip():
                raise click.UsageError(f'--substitute takes NODE=NAME, not "{value}"')
            substitutes[node.strip()] = name.strip()
        return function(*arguments, choices=GivenChoices(inventory, substitutes, allow), **others)

    decorated = click.option(
        "--inventory",
        metavar="FILE",
        default="",
        help="A service template whose nodes exist already: from them, nodes are selected.",
    )(with_choices)
    decorated = click.option(
        "--allow",
        metavar="CODE",
        multiple=True,
        help="Go on with this finding, which is a warning then: " + ", ".join(ALLOWABLE) + "; may be repeated.",
    )(decorated)
    return click.option(
        "--substitute",
        metavar="NODE=NAME",
        multiple=True,
        help="The topology that substitutes a node, where several can; may be repeated.",
    )(decorated)


def commit_option(default: str) -> Callable[[F], F]:
    """The option that says whether a job's files are committed; ``default`` may be "" for what the job says."""
    shown = "auto: if the ensemble is kept in git" if default else "as the job was told when it began"
    return click.option(
        "--commit",
        type=click.Choice(["auto", "always", "never"]),
        default=default or None,
        help=f"Whether the files of the job are committed to git (default: {shown}).",
    )


def _commit_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Options about committing a job's files; they become part of the verb's ``options``."""

    @functools.wraps(function)
    def with_commit(*arguments: Any, options: JobOptions, commit: str, message: str, **others: Any) -> Any:
        options = msgspec.structs.replace(options, commit=commit, message=message)
        return function(*arguments, options=options, **others)

    decorated = click.option(
        "--message", metavar="TEXT", default="", help="The message of the commit, instead of one that is made."
    )(with_commit)
    return commit_option("auto")(decorated)


_ON_FAILURE = "After a failure: carry on with what does not depend on it, or start nothing more (default: continue)."
_ON_FAILURE_MAKING = (
    "After a failure: carry on with what does not depend on it, start nothing more, or also take back what was done"
    " (default: rollback for a scale-out, else continue)."
)


def job_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """The options of verbs that begin a job that cannot be taken back; the verb gets them as ``options`` and
    ``wait_lock``. A rollback is accepted all the same, so that the verb can say more kindly why there is none."""
    return _job_options(function, "[continue|abort]", _ON_FAILURE)


def making_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """The same for verbs whose jobs make something, so that what they did can be taken back."""
    return _job_options(function, "[continue|abort|rollback]", _ON_FAILURE_MAKING)


def _job_options(function: Callable[..., Any], shown: str, on_failure_help: str) -> Callable[..., Any]:
    committing = _commit_options(function)

    @functools.wraps(committing)
    def with_options(
        *arguments: Any,
        parallel: int,
        host_concurrency: int,
        on_failure: str | None,
        attempts: int | None,
        interval: float | None,
        timeout: float | None,
        **others: Any,
    ) -> Any:
        options = JobOptions(parallel, on_failure or USUAL, attempts or 0, interval, host_concurrency, timeout)
        return committing(*arguments, options=options, **others)

    decorated = click.option(
        "--timeout",
        type=Duration(),
        metavar="DURATION",
        help="Cancel the job after this time, as in 90, 90s, 10m or 1h30m; exit code 6.",
    )(with_options)
    decorated = click.option(
        "--interval",
        type=Seconds(),
        metavar="SECONDS",
        help="The pause before the second attempt of an operation, doubled for each further one (default: 1).",
    )(decorated)
    decorated = click.option(
        "--attempts",
        type=click.IntRange(min=1, max=MOST_ATTEMPTS),
        metavar="N",
        help="How often a failing operation is tried in all, if its node says nothing else (default: once, or three"
        " times if it ends with exit code 75).",
    )(decorated)
    decorated = click.option(
        "--on-failure",
        type=click.Choice(["continue", "abort", "rollback"]),
        metavar=shown,
        help=on_failure_help,
    )(decorated)
    decorated = click.option(
        "--parallel",
        type=click.IntRange(min=1),
        metavar="N",
        default=64,
        show_default=True,
        help="Operations at one time.",
    )(decorated)
    decorated = click.option(
        "--host-concurrency",
        type=click.IntRange(min=1, max=MOST_PLACES),
        metavar="N",
        default=1,
        show_default=True,
        help="Operations at one time on a Compute instance whose node does not say it (ordito.concurrency).",
    )(decorated)
    return wait_lock_option(decorated)


def block_service_option(function: F) -> F:
    """The option of verbs about blocks that looks into a service as well; the verb gets its path as ``service``."""
    return click.option(
        "-s", "--service", metavar="SERVICE", default="", help="Look into this service and its catalogues too."
    )(function)
