"""Which pages of the reference are made from the code, and how."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from tools.reference import commands, environment, events, exit_codes

FOLDER = Path(__file__).parent.parent.parent / "docs" / "reference"

PAGES: Mapping[str, Callable[[], str]] = {
    "commands.md": commands.document,
    "environment.md": environment.document,
    "events.md": events.document,
    "exit-codes.md": exit_codes.document,
}
