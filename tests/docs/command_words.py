"""Commands that a page only mentions: the grammar of the command line must know them."""

from __future__ import annotations

import re
import shlex

import click

from ordito.app.requests import REQUESTS
from ordito.cli.grammar import root
from ordito.cli.planned import PlanCommand

PROGRAMS = ("ordito ", "./run ordito ")
PLACEHOLDER = re.compile(r"^(\.\.\.|\[.*|.*\]|[A-Z][A-Z0-9_.]*(\.\.\.)?)$")
ASSIGNED = 2


def wrong(text: str) -> str:
    """What is wrong with a command that begins with ``ordito``; empty where nothing is, or it is another command."""
    program = next((each for each in PROGRAMS if text.startswith(each)), None)
    if program is None:
        return ""
    try:
        words = shlex.split(text[len(program) :])
    except ValueError as error:
        return f"it cannot be read: {error}"
    command: click.Command = root()
    context = click.Context(command, info_name="ordito")
    given = 0
    at = 0
    while at < len(words):
        word = words[at]
        at += 1
        if word.startswith("-") and word != "-":
            found, problem = _option(command, word)
            if problem:
                return problem
            at += found
        elif isinstance(command, click.Group):
            if PLACEHOLDER.match(word):
                return ""
            below = command.get_command(context, word)
            if below is None:
                return f'there is no verb "{word}"'
            command = below
            if isinstance(command, PlanCommand):
                command, at = _planned(command, words, at)
        else:
            given += word != "..."
    return _too_many(command, given)


def _planned(command: PlanCommand, words: list[str], at: int) -> tuple[click.Command, int]:
    """The command that plans what the next word names, and the place behind it; else that for deploying."""
    word = words[at] if at < len(words) else ""
    if word in REQUESTS:
        return command.command_for(word), at + 1
    return command.command_for("deploy"), at + (word == "WORKFLOW")


def _option(command: click.Command, word: str) -> tuple[int, str]:
    """How many words follow an option, and what is wrong with it."""
    name, equals, _ = word.partition("=")
    for option in (each for each in command.params if isinstance(each, click.Option)):
        if name in (*option.opts, *option.secondary_opts):
            return (0 if equals or option.is_flag or option.count else option.nargs), ""
        short = [each for each in option.opts if len(each) == ASSIGNED and word.startswith(each)]
        if short and not word.startswith("--"):
            return 0, ""
    if name in ("--help", "-h"):
        return 0, ""
    return 0, f'"{command.name}" has no option {name}'


def _too_many(command: click.Command, given: int) -> str:
    arguments = [each for each in command.params if isinstance(each, click.Argument)]
    if isinstance(command, click.Group) or any(each.nargs < 0 for each in arguments):
        return ""
    most = sum(each.nargs for each in arguments)
    return f'"{command.name}" takes {most} arguments at most' if given > most else ""
