"""Which workflow `ordito plan` plans, and other verbs are about.

The first word may name one; otherwise it is the first of the table. Each has arguments and options of its own, those of
the verb that carries it out. Other verbs have an option that names it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import click

from ordito.app.requests import REQUESTS, Request
from ordito.base.suggest import nearest
from ordito.cli.grammar import ALIASES
from ordito.cli.help import VerbCommand
from ordito.cli.settings import PROGRAM
from ordito.ensemble.layout import MANIFEST

PREFIX = "workflow:"
"""The prefix of a word that means a workflow, if there is a file of that name too."""

SERVICES = ("*.yaml", "*.yml", "*.csar", "TOSCA-Metadata")

Make = Callable[[str, type[Request]], click.Command]
"""Makes the command that plans one workflow, from its name and its request."""


class PlanCommand(click.Command):
    """A command for each workflow; the arguments choose one."""

    def __init__(self, make: Make, **attributes: Any) -> None:
        super().__init__("plan", **attributes)
        self._make = make

    def make_context(
        self, info_name: str | None, args: list[str], parent: click.Context | None = None, **extra: Any
    ) -> click.Context:
        """The context of the chosen command. Raises ``click.UsageError`` for an ambiguous word."""
        default = self.command_for(next(iter(REQUESTS)))
        place = _first_word(args, default)
        workflow = _workflow(args, place)
        if not workflow:
            return default.make_context(info_name, args, parent, **extra)
        rest = [*args[:place], *args[place + 1 :]]
        return self.command_for(workflow).make_context(info_name, rest, parent, **extra)

    def command_for(self, workflow: str) -> click.Command:
        """The command that plans a workflow of the table."""
        return self._make(workflow, REQUESTS[workflow])


OWN = "one of the template: workflow NAME"


def _first_word(args: Sequence[str], command: click.Command) -> int:
    """The index of the first argument that is neither an option nor the value of one; the number of arguments if there
    is none."""
    valued = {
        name
        for parameter in command.params
        if isinstance(parameter, click.Option) and not parameter.is_flag and not parameter.count
        for name in parameter.opts
    }
    place = 0
    while place < len(args):
        word = args[place]
        if word in {"--", "-"} or not word.startswith("-"):
            return place + (word == "--")
        place += 1 + _takes_next(word, valued)
    return place


def _takes_next(word: str, valued: set[str]) -> bool:
    """Whether an option's value is the next argument."""
    if word.startswith("--"):
        return word in valued
    letters = word[1:]
    first = next((i for i, letter in enumerate(letters) if f"-{letter}" in valued), None)
    return first == len(letters) - 1


def _workflow(args: Sequence[str], place: int) -> str:
    """The workflow that a word names, "" for none."""
    if place >= len(args) or args[place - 1 : place] == ["--"]:
        return ""
    word = args[place]
    if word.startswith(PREFIX):
        return workflow_named(word[len(PREFIX) :])
    name = ALIASES.get(word, word)
    if name not in REQUESTS:
        _check_misspelt(name, alone=place + 1 == len(args))
        return ""
    alone = all(other.startswith("-") for other in args[place + 1 :])
    if alone and _is_service(Path(word)):
        raise click.UsageError(
            f'"{word}" is a workflow, and there is a file or folder of that name too: write `{PROGRAM} plan '
            f"{PREFIX}{word}` for the workflow, or `{PROGRAM} plan ./{word}` for the service"
        )
    return name


def _check_misspelt(word: str, *, alone: bool) -> None:
    """Refuse a word that names no service and looks like the name of a workflow, or is followed by arguments like
    one."""
    if Path(word).exists() or Path(word).name != word or Path(word).suffix:
        return
    near = nearest(word, REQUESTS)
    if near or not alone:
        there = f'did you mean "{near[0]}"' if near else f"workflows are {', '.join(REQUESTS)} ({OWN})"
        raise click.UsageError(f'there is neither a workflow nor a service "{word}"; {there}{"?" if near else ""}')


def workflow_named(word: str) -> str:
    """The workflow with a name. Raises ``click.UsageError`` if there is none."""
    name = ALIASES.get(word, word)
    if name not in REQUESTS:
        near = nearest(name, REQUESTS)
        meant = f', did you mean "{near[0]}"?' if near else ""
        raise click.UsageError(f'there is no workflow "{name}"{meant}; there are: {", ".join(REQUESTS)} ({OWN})')
    return name


def _is_service(path: Path) -> bool:
    """Whether a path may be a service: a file, or a folder with a file that looks like one."""
    found = (name for pattern in SERVICES for name in path.glob(pattern)) if path.is_dir() else ()
    return path.is_file() or any(name.name != MANIFEST for name in found)


# Verbs with an option that names a workflow: if it is given, the verb has the words and options of that workflow too.

F = TypeVar("F", bound=Callable[..., Any])

OPTION = "--workflow"


def workflow_option(what: str) -> Callable[[F], F]:
    """The option, for the help, which begins with ``what``: if it is given, another command is used."""
    return click.option(
        OPTION,
        metavar="W",
        expose_value=False,
        help=f'{what}: {", ".join(REQUESTS)}; one of the template as "workflow NAME".',
    )


class WorkflowCommand(VerbCommand):
    """The command of a verb without the option, or the one for a named workflow."""

    def __init__(self, without: click.Command, make: Make) -> None:
        super().__init__(
            str(without.name),
            page=without.page if isinstance(without, VerbCommand) else str(without.name),
            params=without.params,
            callback=without.callback,
            help=without.help,
            context_settings=without.context_settings,
        )
        self._make = make

    def make_context(
        self, info_name: str | None, args: list[str], parent: click.Context | None = None, **extra: Any
    ) -> click.Context:
        """The context of the chosen command. Raises ``click.UsageError`` if there is no such workflow."""
        workflow, rest = _option(args)
        if workflow is None:
            return super().make_context(info_name, args, parent, **extra)
        # One of the template is named by two words, which may well be given as one.
        named, _, own = workflow.partition(" ")
        name, rest = workflow_named(named), [*rest, own] if own else rest
        return self.command_for(name).make_context(info_name, rest, parent, **extra)

    def command_for(self, workflow: str) -> click.Command:
        """The command for a workflow of the table."""
        return self._make(workflow, REQUESTS[workflow])


def _option(args: list[str]) -> tuple[str | None, list[str]]:
    """The named workflow, None for none, and the other words."""
    for place, word in enumerate(args):
        if word == "--":
            break
        if word == OPTION and place + 1 < len(args):
            return args[place + 1], [*args[:place], *args[place + 2 :]]
        if word.startswith(f"{OPTION}="):
            return word.partition("=")[2], [*args[:place], *args[place + 1 :]]
    return None, args
