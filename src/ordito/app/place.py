"""An ensemble's directory, as the program and as the user sees it."""

from __future__ import annotations

import os
from pathlib import Path

import msgspec

from ordito.ensemble.layout import MANIFEST, Layout
from ordito.ensemble.status import Status
from ordito.instances.records import Snapshot


class Place(msgspec.Struct, frozen=True):
    """An ensemble's directory, and how the user calls it, which is what messages should show. With ``as_it_is`` files
    that were deployed are used though somebody has changed them since."""

    layout: Layout
    shown: str
    as_it_is: bool = False

    def path(self, relative: str) -> str:
        """A path that is relative to the ensemble's directory, as seen from here."""
        return os.path.normpath(Path(self.shown) / relative)

    @property
    def manifest(self) -> str:
        """How its file is called in messages."""
        return os.path.normpath(Path(self.shown) / MANIFEST)


class EnsembleState(msgspec.Struct, frozen=True):
    """An ensemble as it was read: where it is, what exists, and what was deployed last."""

    place: Place
    snapshot: Snapshot
    status: Status


def place_of(directory: str) -> Place:
    """The ensemble in a directory, which need not exist."""
    return Place(Layout(Path(directory)), directory)


def relative_to(layout: Layout, path: str) -> str:
    """A path that is seen from here, as seen from the ensemble's directory."""
    return os.path.relpath(Path(path).absolute(), layout.root)
