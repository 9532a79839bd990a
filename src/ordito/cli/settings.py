"""What the options say that every verb understands."""

from __future__ import annotations

import shlex
from enum import StrEnum

import msgspec

from ordito.cli.channel import Color


class Format(StrEnum):
    """How a result is written."""

    TEXT = "text"
    JSON = "json"
    YAML = "yaml"


class Settings(msgspec.Struct, frozen=True):
    """The global options; ``ensemble`` is the directory as it was given, "" where it was not. ``arguments`` are those
    of the whole command line."""

    ensemble: str = ""
    output: Format = Format.TEXT
    json_events: bool = False
    yes: bool = False
    no_input: bool = False
    quiet: bool = False
    verbose: int = 0
    color: Color = Color.AUTO
    arguments: tuple[str, ...] = ()

    @property
    def directory(self) -> str:
        """The ensemble's directory."""
        return self.ensemble or "."

    def command(self, *words: str) -> str:
        """A command line that does something else with the same ensemble, as one types it."""
        chosen = ["-e", self.ensemble] if self.ensemble else []
        return shlex.join(["ordito", *chosen, *words])

    def again(self, *more: str) -> str:
        """This very command line once more, with something added."""
        return shlex.join(["ordito", *self.arguments, *more])

    def completed(self, text: str) -> str:
        """A text in which every command of Ordito, written as `ordito VERB ...`, is about the same ensemble."""
        if not self.ensemble:
            return text
        return text.replace("`ordito ", f"`ordito -e {shlex.quote(self.ensemble)} ")
