"""Which pages of the reference are made from the code, and how."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

from tools.reference import api, commands, environment, events, exit_codes, files, man, profiles, results, settings

ROOT = Path(__file__).parent.parent.parent

PAGES: Mapping[str, Callable[[], str]] = {
    "docs/reference/api.md": api.document,
    "docs/reference/commands.md": commands.document,
    "docs/reference/environment.md": environment.document,
    "docs/reference/events.md": events.document,
    "docs/reference/exit-codes.md": exit_codes.document,
    "docs/reference/file-formats.md": files.document,
    "docs/reference/profiles.md": profiles.index,
    **{f"docs/reference/{one.page}": partial(profiles.document, one.page) for one in profiles.SHOWN},
    "docs/reference/results.md": results.document,
    "docs/reference/settings.md": settings.document,
    "share/man/man1/ordito.1": man.document,
}
"""By their places in the repository."""
