"""The options that every verb understands, before or after its name."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

import click

from ordito.app.requests import GivenInputs
from ordito.cli.channel import Color
from ordito.cli.settings import COMMON_FORMATS, Format, GlobalSettings, refused_value

F = TypeVar("F", bound=Callable[..., Any])

KEY = "ordito.settings"
ARGUMENTS = "ordito.arguments"
INPUTS = "ordito.inputs"


def keep(context: click.Context, parameter: click.Parameter, value: Any) -> None:
    """Remember an option that was given; one after the verb comes later and wins."""
    name = parameter.name or ""
    if context.get_parameter_source(name) is click.core.ParameterSource.COMMANDLINE:
        context.meta.setdefault(KEY, {})[name] = value


def _count(context: click.Context, _: click.Parameter, value: int) -> None:
    given = context.meta.setdefault(KEY, {})
    given["verbose"] = given.get("verbose", 0) + value


def global_options(formats: Sequence[Format] = COMMON_FORMATS) -> list[click.Option]:
    """New options for one command, the same for all commands, because they may be anywhere. Help shows ``formats``;
    others are accepted here, and refused by a verb that does not write them (they may have been given before the verb).
    """

    def option(*names: str, **attributes: Any) -> click.Option:
        return click.Option(names, **{"callback": keep, "expose_value": False, **attributes})

    return [
        option(
            "-e",
            "--ensemble",
            metavar="DIR",
            help="The ensemble's directory (default: the current one); with a server or a store [PROJECT/]NAME.",
        ),
        option("--server", metavar="URL|NAME", help='The server to ask; "" to work on this machine.'),
        option("--store", metavar="URL", help="The store with the ensemble: postgresql://[USER@]HOST/DATABASE."),
        option("--store-file", metavar="FILE", help="A file with that URL, and the password in it."),
        option("--key", metavar="FILE", help="With a store: the key of its workers, for secrets."),
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
        option(
            "--json", "json_events", is_flag=True, help="Write everything as a stream of JSON objects, one per line."
        ),
        option("-y", "--yes", is_flag=True, help="Go ahead without asking."),
        option("--no-input", is_flag=True, help="Never ask; refuse what needs an answer."),
        option("-q", "--quiet", is_flag=True, help="Show no progress."),
        option("-v", "--verbose", count=True, callback=_count, help="Show what operations print."),
        option("--color", type=click.Choice([str(c) for c in Color]), help="Use color (default: on a terminal)."),
    ]


class _FormatChoice(click.Choice[str]):
    """The formats of a verb. Those of other verbs are accepted too: the message of the verb is clearer."""

    def __init__(self, formats: Sequence[Format]) -> None:
        super().__init__([str(f) for f in formats])

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """The name of a format."""
        return value if value in {str(f) for f in Format} else str(super().convert(value, param, ctx))


def settings_of(context: click.Context) -> GlobalSettings:
    """The settings from the options of a command line."""
    given: Mapping[str, Any] = context.meta.get(KEY, {})
    known = {name: value for name, value in given.items() if value is not None}
    for name, kind in (("output", Format), ("color", Color)):
        if name in known:
            known[name] = kind(known[name])
    return GlobalSettings(**known, arguments=tuple(context.meta.get(ARGUMENTS, ())))


def completing(params: list[click.Parameter], context: click.Context, page: str = "") -> list[click.Parameter]:
    """The parameters of a command. Where a shell completes words, the listener (``context.obj``) is called with
    each of them. ``page`` is what the manual calls a verb."""
    if context.resilient_parsing and context.obj is not None:
        for parameter in params:
            context.obj(page, parameter)
    return params


def input_options() -> list[click.Option]:
    """New options for values of inputs, for one command; like the global ones they may also be before the verb."""
    return [
        click.Option(
            ["-i", "--input"],
            metavar="NAME=VALUE",
            multiple=True,
            expose_value=False,
            callback=_keep_texts,
            help="The value of an input; it wins over files; may be repeated.",
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
    """The values of inputs in a command line."""
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


def block_service_option(function: F) -> F:
    """The option of verbs about blocks that also searches a service; the verb gets its path as ``service``."""
    return click.option(
        "-s", "--service", metavar="SERVICE", default="", help="Search this service and its catalogues too."
    )(function)
