"""An ensemble's directory, as the program and as the user sees it."""

from __future__ import annotations

import os
from pathlib import Path

import msgspec

from ordito.ensemble.layout import MANIFEST, Layout


class Place(msgspec.Struct, frozen=True):
    """An ensemble's directory, and how the user calls it, which is what messages should show."""

    layout: Layout
    shown: str

    @property
    def manifest(self) -> str:
        """How its file is called in messages."""
        return os.path.normpath(Path(self.shown) / MANIFEST)


def place_of(directory: str) -> Place:
    """The ensemble in a directory, which need not exist."""
    return Place(Layout(Path(directory)), directory)
