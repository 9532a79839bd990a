"""An ensemble's directory, as the program and as the user sees it."""

from __future__ import annotations

import os
from pathlib import Path

import msgspec

from ordito.ensemble.layout import MANIFEST, Layout
from ordito.ensemble.status import Status
from ordito.instances.records import Snapshot


class Place(msgspec.Struct, frozen=True):
    """An ensemble's directory, and the path by which the user and messages name it. With ``as_it_is``, deployed files
    are used even if they were changed since."""

    layout: Layout
    shown: str
    as_it_is: bool = False

    @property
    def name(self) -> str:
        """How messages call the ensemble as a whole."""
        # Who only names places, as completion does with each key that is pressed, needs no journals.
        from ordito.ensemble.backing import backing_of

        return backing_of(self.layout).shown or self.shown

    def path(self, relative: str) -> str:
        """A path inside the ensemble's directory, relative to the current directory."""
        return os.path.normpath(Path(self.shown) / relative)

    @property
    def manifest(self) -> str:
        """The name of its file in messages."""
        return os.path.normpath(Path(self.shown) / MANIFEST)


class EnsembleState(msgspec.Struct, frozen=True):
    """An ensemble as it was read: its place, what exists, and what was deployed last."""

    place: Place
    snapshot: Snapshot
    status: Status


def place_of(directory: str) -> Place:
    """The ensemble in a directory, which need not exist."""
    return Place(Layout(Path(directory)), directory)


def relative_to(layout: Layout, path: str) -> str:
    """A path relative to the current directory, as a path relative to the ensemble's directory; as it is from the root
    where that is a copy of what a store keeps, of which each machine has one elsewhere."""
    from ordito.ensemble.backing import backing_of

    if backing_of(layout).is_store:
        return str(Path(path).absolute())
    return os.path.relpath(Path(path).absolute(), layout.root)
