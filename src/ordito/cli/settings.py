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
    """The global options; ``ensemble`` is the directory as it was given, "" where it was not."""

    ensemble: str = ""
    output: Format = Format.TEXT
    json_events: bool = False
    yes: bool = False
    no_input: bool = False
    quiet: bool = False
    verbose: int = 0
    color: Color = Color.AUTO

    @property
    def directory(self) -> str:
        """The ensemble's directory."""
        return self.ensemble or "."

    def command(self, *words: str) -> str:
        """A command line that does something else with the same ensemble, as one types it."""
        chosen = ["-e", self.ensemble] if self.ensemble else []
        return shlex.join(["ordito", *chosen, *words])
