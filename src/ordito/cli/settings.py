"""The settings from the options that every verb understands."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence, Set
from enum import StrEnum

import msgspec

from ordito.cli.channel import Color

PROGRAM = os.environ.get("ORDITO_PROGRAM") or "ordito"
"""The program's name in proposed commands: whoever starts it by other words sets the variable."""


ENVIRONMENT_VARIABLE = "ORDITO_ENV"
"""The variable that names the environment to work in, if no option does."""

SERVER_VARIABLE = "ORDITO_SERVER"
"""The variable that names the server to ask, if no option does."""


class Format(StrEnum):
    """How a result is written. Every verb has the first three; only some verbs have the others."""

    TEXT = "text"
    JSON = "json"
    YAML = "yaml"
    GITHUB = "github"
    SARIF = "sarif"
    MERMAID = "mermaid"
    DOT = "dot"
    SVG = "svg"


NOTHING: Mapping[str, str] = {}
NONE: frozenset[str] = frozenset()

NOT_REPEATED = "(value)"
"""Replaces a value that a proposed command does not repeat. It is refused as a value, and unquoted by shells: a command
that is pasted unchanged does nothing."""

LONGEST_REPEATED = 80
"""The longest value, in characters, that a proposed command repeats."""

COMMON_FORMATS = (Format.TEXT, Format.JSON, Format.YAML)


class GlobalSettings(msgspec.Struct, frozen=True):
    """The global options; ``ensemble`` is the given directory, or with a server the name of an ensemble there, "" for
    none; ``environment`` is the environment's name,
    None if none was given; ``hosts`` the inventory's path in the same way. ``arguments`` are those of the whole command
    line."""

    ensemble: str = ""
    """The ensemble's directory as given, "" if it was not."""

    environment: str | None = None
    """The environment's name, None if none was given."""

    server: str | None = None
    """The URL or the name of a server, None if none was given."""

    detach: bool = False
    """With a server, or the workers of a store: whether the command ends once it is queued."""

    wait_approval: float = 0.0
    """With a server: how many seconds to wait for approvals of others."""

    store: str = ""
    """The address of a store, "" if none was given."""

    store_file: str = ""
    """The file with the address of a store, "" if none was given."""

    key: str = ""
    """The file with the key of a store's workers, "" if none was given."""

    copy: str = ""
    """The directory in which this process works on an ensemble of a store."""

    hosts: str | None = None
    """The inventory's path, None if none was given."""

    output: Format = Format.TEXT
    json_events: bool = False
    yes: bool = False
    no_input: bool = False
    quiet: bool = False
    verbose: int = 0
    color: Color = Color.AUTO
    arguments: tuple[str, ...] = ()
    """The whole command line."""

    @property
    def directory(self) -> str:
        """The ensemble's directory."""
        return self.copy or self.ensemble or "."

    @property
    def wants_store(self) -> bool:
        """Whether the ensemble is one of a store."""
        return bool(self.store or self.store_file)

    @property
    def wanted_environment(self) -> str | None:
        """The environment to work in, None if neither an option nor the variable names one."""
        if self.environment is not None:
            return self.environment
        return os.environ.get(ENVIRONMENT_VARIABLE) or None

    @property
    def wanted_server(self) -> str:
        """The server to ask, "" to work on this machine."""
        if self.wants_store:
            return ""
        return self.server if self.server is not None else os.environ.get(SERVER_VARIABLE, "")

    @property
    def chosen(self) -> list[str]:
        """The words that name the same ensemble in a command line."""
        given = (("--server", self.server), ("-e", self.ensemble or None), ("--env", self.environment))
        stored = (("--store", without_password(self.store)), ("--store-file", self.store_file), ("--key", self.key))
        named = [word for option, value in given if value is not None for word in (option, value)]
        named += [word for option, value in stored if value for word in (option, value)]
        return [*named, "--hosts", self.hosts] if self.hosts is not None else named

    def command(self, *words: str) -> str:
        """A command line about the same ensemble, as it is typed."""
        return f"{PROGRAM} {shlex.join([*self.chosen, *words])}"

    def plain_command(self, *words: str) -> str:
        """A command line that is not about an ensemble."""
        return f"{PROGRAM} {shlex.join(words)}"

    def again(self, *more: str, meant: Mapping[str, str] = NOTHING, public: Set[str] = NONE) -> str:
        """This command line again, with something added and misspelt inputs replaced by those ``meant``. Only values of
        ``public`` inputs, known not to be secret, are repeated."""
        words = map(without_password, _without_values(self.arguments, meant, public))
        return f"{PROGRAM} {shlex.join([*words, *more])}"

    def completed(self, text: str) -> str:
        """A text whose commands, written as `ordito VERB ...`, get the options for the same ensemble. Other rooms write
        commands into their messages in this way, without knowing the command line."""
        chosen = "".join(f"{shlex.quote(word)} " for word in self.chosen)
        return COMMAND.sub(lambda _: f"`{PROGRAM} {chosen}", text)


COMMAND = re.compile("`ordito (?!-|login )")
"""The beginning of a command in a message that does not name its ensemble, and is about one."""
INPUT = re.compile(r"(--input=|--attribute=|-[qvy]*[ia])(.*)", re.DOTALL)
"""Options whose values are those of inputs or attributes."""


def _without_values(arguments: Sequence[str], meant: Mapping[str, str], public: Set[str]) -> Iterator[str]:
    """The words of a command line without the values of inputs and attributes that may be secrets."""
    is_value = False
    for argument in arguments:
        found = INPUT.fullmatch(argument)
        if is_value:
            yield _without_value(argument, meant, public)
            is_value = False
        elif found is not None and found[2]:
            yield found[1] + _without_value(found[2], meant, public)
        else:
            is_value = found is not None or argument in {"--input", "--attribute"}
            yield argument


def _without_value(given: str, meant: Mapping[str, str], public: Set[str]) -> str:
    name, equals, value = given.partition("=")
    if name.strip() in public and len(value) <= LONGEST_REPEATED and value.isprintable():
        return given
    return f"{meant.get(name, name)}={NOT_REPEATED}" if equals else NOT_REPEATED


PASSWORD = re.compile(r"((?:^|=)postgres(?:ql)?://[^/@]*?):[^@]*@|([?&]password=)[^&]*", re.IGNORECASE)
"""The password in the address of a store."""


def without_password(word: str) -> str:
    """A word of a command line without the password that the address of a store may hold."""
    return PASSWORD.sub(lambda found: f"{found[1]}@" if found[1] is not None else f"{found[2]}{NOT_REPEATED}", word)


def refused_value(text: str) -> str:
    """The error if a value of a command line is the placeholder of a proposed command, else ""."""
    if text.strip() != NOT_REPEATED:
        return ""
    return f"{NOT_REPEATED} means a value that is not repeated here: write the value itself instead"
