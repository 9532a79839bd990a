"""The page for `man ordito`, in the macros of man(7)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

import click

from ordito.cli.grammar import ABOUT, ALIASES, PURPOSES
from ordito.cli.help import OF_EVERY_VERB, OF_JOBS, OWN, grouped
from ordito.cli.manual import MEANINGS, Manual, manual_of
from tools.reference.commands import command_of, usage, verbs_of
from tools.reference.environment import variables

FILES = {
    "service.yaml": "a service template",
    "ensemble.yaml": "what is deployed here: your part, and below it the status",
    "hosts.yaml": "the inventory of hosts",
    "lifecycle.yaml": "lifecycle steps, beside the service",
    "secrets.yaml": "sealed secrets; the key is .ordito/key",
    "jobs/, jobs.tsv": "what was done",
    ".ordito/": "what git does not keep: the journal, logs, locks",
}
ABOUT_OPTIONS = {
    OF_EVERY_VERB: "They stand before or after the verb.",
    OF_JOBS: "Verbs that begin a job of operations take these.",
}


def document() -> str:
    """The whole page."""
    return "\n".join(_lines()) + "\n"


def _lines() -> Iterator[str]:
    yield '.\\" Made by: python -m tools.reference'
    yield '.TH ORDITO 1 "" "Ordito" "User Commands"'
    yield from (".SH NAME", "ordito \\- deploy services that are described in TOSCA")
    yield from (".SH SYNOPSIS", ".B ordito", ".RI [ OPTIONS ]", ".I VERB", ".RI [ ARGUMENTS ]")
    yield ".SH DESCRIPTION"
    yield from _paragraphs(ABOUT)
    deploy = command_of(("deploy",))
    options = dict(grouped(deploy.params))
    for title, about in ABOUT_OPTIONS.items():
        yield f".SH {title.upper()}"
        yield _text(about)
        yield from _options(options[title], deploy)
    for purpose, verbs in PURPOSES.items():
        yield f".SH VERBS: {purpose.upper()}"
        for name in verbs:
            for words in verbs_of((name,), command_of((name,))):
                yield from _verb(words)
    yield ".SH EXIT STATUS"
    yield from _list((str(int(code)), f"{meaning.when} {meaning.cure}") for code, meaning in MEANINGS.items())
    yield ".SH ENVIRONMENT"
    yield from _list(variables()["program"].items())
    yield ".SH FILES"
    yield from _list(FILES.items())
    yield ".SH SEE ALSO"
    yield from (".BR ssh (1),", ".BR git (1),", ".BR podman (1),", ".BR ansible\\-playbook (1)")


def _verb(words: tuple[str, ...]) -> Iterator[str]:
    name = " ".join(words)
    command, manual = command_of(words), manual_of(name)
    yield f".SS {_text(usage(words))}"
    yield from _paragraphs(str(command.help).replace("\b\n", ""))
    also = [alias for alias, verb in ALIASES.items() if words == (verb,)]
    if also:
        yield ".PP"
        yield _text(f"Also called {', '.join(also)}.")
    yield from _options(dict(grouped(command.params))[OWN], command)
    yield from _examples(manual)


def _examples(manual: Manual) -> Iterator[str]:
    for example in manual.examples:
        yield ".PP"
        yield _text(f"{example.say}:")
        yield ".PP"
        yield ".RS 4"
        yield ".nf"
        yield from (_text(line) for line in example.run.splitlines())
        yield ".fi"
        yield ".RE"


def _options(options: list[click.Option], command: click.Command) -> Iterator[str]:
    records = (option.get_help_record(click.Context(command)) for option in options)
    yield from _list(record for record in records if record is not None)


def _list(pairs: Iterable[tuple[str, str]]) -> Iterator[str]:
    for name, meaning in pairs:
        yield ".TP"
        yield f".B {_text(name)}"
        yield _text(meaning)


def _paragraphs(text: str) -> Iterator[str]:
    for place, paragraph in enumerate(text.split("\n\n")):
        if place:
            yield ".PP"
        numbered = re.split(r"\n(?=\d\. )", paragraph)
        for line in numbered:
            if len(numbered) > 1 and line is not numbered[0]:
                yield ".br"
            yield _text(" ".join(line.split()))


def _text(text: str) -> str:
    """A text as it stands in a line: what roff would read as its own is escaped, and marks of Markdown are left out."""
    plain = text.replace("`", "").replace("*degraded*", "degraded")
    escaped = plain.replace("\\", "\\e").replace("-", "\\-")
    return f"\\&{escaped}" if escaped.startswith((".", "'")) else escaped
