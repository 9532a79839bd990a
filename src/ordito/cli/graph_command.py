"""What `ordito graph` is about: a service, or with `--workflow` what a workflow would do, which has the words and
options of that workflow's verb."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

from ordito.cli.help import VerbCommand
from ordito.cli.planned import PLANNED, Make, arguments_of, workflow_named

F = TypeVar("F", bound=Callable[..., Any])

OPTION = "--workflow"


def workflow_option(function: F) -> F:
    """The option, for the help: where it is given another command takes over."""
    option = click.option(
        OPTION,
        metavar="W",
        expose_value=False,
        help=f'Show what a workflow would do: {", ".join(PLANNED)}; one of the template as "workflow NAME".',
    )
    return option(function)


class GraphCommand(VerbCommand):
    """The command that shows a service, or the one for the workflow that is named."""

    def __init__(self, of_service: click.Command, make: Make) -> None:
        super().__init__(
            str(of_service.name),
            page=str(of_service.name),
            params=of_service.params,
            callback=of_service.callback,
            help=of_service.help,
            context_settings=of_service.context_settings,
        )
        self._make = make

    def make_context(
        self, info_name: str | None, args: list[str], parent: click.Context | None = None, **extra: Any
    ) -> click.Context:
        """The context of the command that is meant. Raises ``click.UsageError`` where there is no such workflow."""
        workflow, rest = _workflow(args)
        if workflow is None:
            return super().make_context(info_name, args, parent, **extra)
        # One of the template is named by two words, which may well be given as one.
        named, _, own = workflow.partition(" ")
        name, rest = workflow_named(named), [own, *rest] if own else rest
        return self._make(name, arguments_of(name)).make_context(info_name, rest, parent, **extra)


def _workflow(args: list[str]) -> tuple[str | None, list[str]]:
    """The workflow that is named, None for none, and the other words."""
    for place, word in enumerate(args):
        if word == "--":
            break
        if word == OPTION and place + 1 < len(args):
            return args[place + 1], [*args[:place], *args[place + 2 :]]
        if word.startswith(f"{OPTION}="):
            return word.partition("=")[2], [*args[:place], *args[place + 1 :]]
    return None, args
