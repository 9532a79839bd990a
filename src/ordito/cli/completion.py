"""Completion of words in a shell: the script that ``ordito completion SHELL`` prints asks which words are possible.

The grammar says which verbs and options there are. Names of instances and so on are taken from the files of the
ensemble, without loading the modules that read them.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping

import click
from click.shell_completion import CompletionItem

from ordito.cli import known_names
from ordito.cli.exit_codes import ExitCode
from ordito.cli.options import settings_of

VARIABLE = "_ORDITO_COMPLETE"
"""The script sets it when it asks; the words of the command line are then in variables of their own."""
PROGRAM = "ordito"
FILES, FOLDERS = "file", "dir"
WORKFLOW = "W"

Names = Callable[[click.Context], Iterable[str]]


def script(shell: str) -> str:
    """The script for a shell."""
    from click.shell_completion import get_completion_class

    from ordito.cli.grammar import root

    kind = get_completion_class(shell)
    assert kind is not None
    return kind(root(), {}, PROGRAM, VARIABLE).source()


def complete(instruction: str) -> int:
    """Write the possible words to standard output; a line that makes no sense has none."""
    from click.shell_completion import shell_complete

    from ordito.cli.grammar import root

    try:
        shell_complete(root(), {"obj": know}, PROGRAM, VARIABLE, instruction)
    except (click.ClickException, click.exceptions.Exit):
        return ExitCode.USAGE
    return ExitCode.DONE


class NameWord(click.types.StringParamType):
    """A text that is the name of something; a shell offers the existing names."""

    def __init__(self, names: Names) -> None:
        self._names = names

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        """The names with this beginning that were not given already."""
        given = ctx.params.get(param.name or "")
        known = set(given) if isinstance(given, tuple) else set()
        return [CompletionItem(n) for n in self._names(ctx) if n.startswith(incomplete) and n not in known]


class PathWord(click.types.StringParamType):
    """A text that is a path, of a file or only of a folder; ``words`` are possible instead."""

    def __init__(self, kind: str, words: Names = lambda _: ()) -> None:
        self._kind = kind
        self._words = words

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        """That the shell completes paths itself, which must come first in bash, and the words."""
        words = [CompletionItem(word) for word in self._words(ctx) if word.startswith(incomplete)]
        return [CompletionItem(incomplete, type=self._kind), *words]


class Revisions(click.IntRange):
    """The number of a revision."""

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        """The numbers of the revisions."""
        found = known_names.revisions(settings_of(ctx).directory)
        return [CompletionItem(number) for number in found if number.startswith(incomplete)]


def _of_ensemble(*sources: Callable[[str], Iterable[str]]) -> Names:
    return lambda context: [n for source in sources for n in source(settings_of(context).directory)]


def _hosts(context: click.Context) -> Iterable[str]:
    settings = settings_of(context)
    return known_names.hosts(settings.hosts or os.path.join(settings.directory, "hosts.yaml"))  # noqa: PTH118


def _workflows(_: click.Context) -> Iterable[str]:
    from ordito.app.requests import REQUESTS

    return REQUESTS


_Type = NameWord | PathWord
_THINGS = _of_ensemble(known_names.nodes, known_names.instances)
_BY_METAVAR: Mapping[str, _Type] = {
    "ABOUT": NameWord(_THINGS),
    "DIR": PathWord(FOLDERS),
    "FILE": PathWord(FILES),
    "FQN": NameWord(lambda _: known_names.blocks()),
    "INSTANCE": NameWord(_of_ensemble(known_names.instances)),
    "INSTANCE|NODE": NameWord(_THINGS),
    "JOB": NameWord(_of_ensemble(known_names.jobs)),
    "MODULE": PathWord(FILES),
    "NEW": PathWord(FILES),
    "NODE": NameWord(_of_ensemble(known_names.nodes)),
    "NODE|INSTANCE": NameWord(_THINGS),
    "NODE|NODE=N": NameWord(_of_ensemble(known_names.nodes)),
    "OLD": NameWord(_of_ensemble(known_names.nodes)),
    "PATH": PathWord(FILES),
    "SERVICE": PathWord(FILES),
    "ARCHIVE": PathWord(FILES),
    WORKFLOW: NameWord(_workflows),
}
"""The types of parameters, by what the help calls them."""
_OF_VERBS: Mapping[tuple[str, str], _Type] = {
    ("hosts", "NAME"): NameWord(_hosts),
    ("run", "OPERATION"): NameWord(_of_ensemble(known_names.operations)),
    ("output", "NAME"): NameWord(_of_ensemble(known_names.outputs)),
    ("package", "DIR"): PathWord(FILES),
    ("plan", "SERVICE"): PathWord(FILES, _workflows),
    ("secrets", "NAME"): NameWord(_of_ensemble(known_names.secrets)),
    ("state", "NEW"): NameWord(lambda _: ()),
}
"""The types of parameters of single verbs, or of groups of them."""
_OPTIONS: Mapping[str, _Type] = {
    "environment": NameWord(_of_ensemble(known_names.environments)),
    "forgotten": NameWord(_of_ensemble(known_names.given)),
    "input": NameWord(lambda c: (f"{name}=" for name in known_names.inputs(settings_of(c).directory))),
    "instances": NameWord(_of_ensemble(known_names.instances)),
    "types": NameWord(_of_ensemble(known_names.types)),
}
"""The types of options, by the names of their parameters."""


def know(page: str, parameter: click.Parameter) -> None:
    """Give a parameter of a verb that takes any text the words that are possible for it."""
    if parameter.name == "revision" and isinstance(parameter.type, click.IntRange):
        parameter.type = Revisions(parameter.type.min, parameter.type.max)
    if not isinstance(parameter.type, click.types.StringParamType):
        return
    metavar = (parameter.metavar or (parameter.name or "").upper()).strip("[].")
    of_verb = _OF_VERBS.get((page.partition(" ")[0], metavar)) if isinstance(parameter, click.Argument) else None
    found = _OPTIONS.get(parameter.name or "") or of_verb or _BY_METAVAR.get(metavar)
    if found is not None:
        parameter.type = found
