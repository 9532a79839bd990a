"""The page about commands: every verb with its words, options, exit codes and examples."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import click

from ordito.cli.grammar import ALIASES, PURPOSES, VerbGroup, root
from ordito.cli.help import OF_EVERY_VERB, OF_JOBS, OWN, VerbCommand, grouped
from ordito.cli.manual import EVERY_VERB, Example, Manual, exits_of, manual_of
from ordito.cli.planned import PlanCommand
from tools.reference.markdown import MADE, cell, code, joined, table

STORY = Path(__file__).parent / "story.md"
"""What the examples are about; they are executed in the order of the page."""
EXAMPLE_OF_JOBS = "deploy"
END = "<!-- run: ordito undeploy --yes -->"


def document() -> str:
    """The whole page."""
    return joined(_lines())


def _lines() -> Iterator[str]:
    yield STORY.read_text(encoding="utf-8").replace("MADE", MADE)
    deploy = command_of((EXAMPLE_OF_JOBS,))
    options = dict(grouped(deploy.params))
    yield f"## {OF_EVERY_VERB}"
    yield ""
    yield "They stand before or after the verb. `ordito --version` says which version this is."
    yield ""
    yield from _options(options[OF_EVERY_VERB], deploy)
    yield f"## {OF_JOBS}"
    yield ""
    yield "Verbs that begin a job of operations take these as well; where one is different there, the verb says so."
    yield ""
    yield from _options(options[OF_JOBS], deploy)
    usual = {_row(option, deploy) for option in (*options[OF_EVERY_VERB], *options[OF_JOBS])}
    for purpose, verbs in PURPOSES.items():
        yield f"## {purpose}"
        yield ""
        for name in verbs:
            command = command_of((name,))
            if isinstance(command, VerbGroup):
                yield from _group((name,), command, usual)
            else:
                yield from _verb((name,), usual, level=3)
    yield END
    yield ""
    yield "Next: [exit codes](exit-codes.md)."


def _group(words: tuple[str, ...], command: VerbGroup, usual: set[tuple[str, str]]) -> Iterator[str]:
    yield f"### {verb_title(words[0])}"
    yield ""
    yield str(command.help)
    yield ""
    for verb in verbs_of(words, command):
        yield from _verb(verb, usual, level=4)


def verbs_of(words: tuple[str, ...], command: click.Command) -> Iterator[tuple[str, ...]]:
    """The words of a verb, or of all verbs of a group and of the groups in it."""
    if not isinstance(command, VerbGroup):
        yield words
        return
    for verb in command.list_commands(click.Context(command)):
        below = (*words, verb)
        yield from verbs_of(below, command_of(below))


def _verb(words: tuple[str, ...], usual: set[tuple[str, str]], level: int) -> Iterator[str]:
    command, name = command_of(words), " ".join(words)
    manual = manual_of(name)
    yield f"{'#' * level} {verb_title(name)}"
    yield ""
    yield "```text"
    yield f"Usage: {usage(words)}"
    yield "```"
    yield ""
    yield from _help(command)
    also = [alias for alias, verb in ALIASES.items() if words == (verb,)]
    if also:
        yield f"Also called {', '.join(f'`{alias}`' for alias in also)}."
        yield ""
    groups = dict(grouped(command.params))
    others = (option for option in (*groups[OF_JOBS], *groups[OF_EVERY_VERB]) if _row(option, command) not in usual)
    yield from _options([*groups[OWN], *others], command)
    if groups[OF_JOBS]:
        yield f"Besides it takes the [options of jobs](#{_anchor(OF_JOBS)})."
        yield ""
    for example in manual.examples:
        yield from _example(example)
    yield from _exits(command, manual)
    if manual.see:
        yield f"See also: {', '.join(f'[{verb}](#{_anchor(verb_title(verb))})' for verb in manual.see)}."
        yield ""


def command_of(words: tuple[str, ...]) -> click.Command:
    """The command of a verb; of `plan` that for deployments."""
    command: click.Command = root()
    for word in words:
        assert isinstance(command, click.Group)
        found = command.get_command(click.Context(command), word)
        assert found is not None
        command = found
    if isinstance(command, click.Group | VerbCommand):
        return command
    assert isinstance(command, PlanCommand)
    return command.command_for("deploy")


def usage(words: tuple[str, ...]) -> str:
    """How a verb is called."""
    command = command_of(words)
    pieces = command.collect_usage_pieces(click.Context(command))
    return " ".join(["ordito", *words, *(piece for piece in pieces if piece)])


def _help(command: click.Command) -> Iterator[str]:
    for paragraph in str(command.help).replace("\b\n", "").split("\n\n"):
        # Numbered lines stay a list.
        yield paragraph if re.match(r"1\. ", paragraph) else paragraph.replace("\n", " ")
        yield ""


def _options(options: list[click.Option], command: click.Command) -> Iterator[str]:
    if options:
        yield from table(("option", "meaning"), (_row(option, command) for option in options))


def _row(option: click.Option, command: click.Command) -> tuple[str, str]:
    record = option.get_help_record(click.Context(command))
    assert record is not None
    return code(record[0]), cell(record[1])


def _example(example: Example) -> Iterator[str]:
    yield f"{example.say}:"
    yield ""
    if example.needs:
        yield f"`{example.run}`"
        yield ""
        return
    yield from (f"<!-- run: {line} -->" for line in example.given.splitlines())
    yield "```sh"
    yield from example.run.strip().splitlines()
    yield "```"
    yield from (f"<!-- run: {line} -->" for line in example.after.splitlines())
    yield ""


def _exits(command: click.Command, manual: Manual) -> Iterator[str]:
    exits = exits_of(command, manual)
    numbers = ", ".join(str(int(exit_code)) for exit_code in exits if exit_code not in EVERY_VERB)
    always = ", ".join(str(int(exit_code)) for exit_code in EVERY_VERB)
    more = f"{numbers}; and as every verb {always}" if numbers else f"as every verb {always}"
    yield f"[Exit codes](exit-codes.md): {more}."
    yield ""
    own = [f"- {number}: {meaning}" for number, meaning in manual.exits.items()]
    yield from [*own, ""] if own else []


def verb_title(verb: str) -> str:
    """The title of a verb's part of the page."""
    return f"ordito {verb}"


def _anchor(title: str) -> str:
    return re.sub(r"[^\w-]", "", title.lower().replace(" ", "-"))
