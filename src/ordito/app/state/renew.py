"""Deployed files that were changed since: restoring them, or accepting them as they are."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import msgspec

from ordito.app.ensemble_checks import no_ensemble
from ordito.app.errors import Refused
from ordito.app.place import Place, place_of
from ordito.app.proposal import pins_in_use
from ordito.app.services.pinned import kept_places
from ordito.base.text import listed
from ordito.ensemble.pin_restore import renew as put_back
from ordito.ensemble.pins import accept_changes, all_pins
from ordito.ensemble.store import Ensemble, open_ensemble

MOST_NAMED = 10


class RenewRequest(msgspec.Struct, frozen=True):
    """The ensemble whose files are restored; ``as_they_are`` keeps changed files, which count as deployed from now on;
    ``wait_lock`` is in seconds."""

    directory: str
    as_they_are: bool = False
    wait_lock: float = 0.0


class Renewed(msgspec.Struct, frozen=True):
    """The files that were restored, and those that were accepted: paths relative to the current directory."""

    renewed: tuple[str, ...] = ()
    accepted: tuple[str, ...] = ()


def renew(request: RenewRequest) -> Renewed:
    """Restore deployed files from the service, from another pin with the same content, or from the history of the
    ensemble in git; also while a job waits to be resumed. Raises ``Refused`` if the original of a file is not found,
    after the others have been restored; ``Locked`` and ``EnsembleError``."""
    place = place_of(request.directory)
    if not place.layout.exists and not place.layout.private.exists():
        raise no_ensemble(place.name)
    with open_ensemble(request.directory, command="state renew", wait_lock=request.wait_lock) as ensemble:
        renewed: list[str] = []
        kept: list[str] = []
        for digest in _pins(place, ensemble):
            if request.as_they_are:
                kept += _shown(place, digest, accept_changes(place.layout, digest))
                continue
            done, left = put_back(place.layout, digest, _folders(place, ensemble))
            renewed += _shown(place, digest, done)
            kept += _shown(place, digest, left)
        if request.as_they_are:
            return Renewed(accepted=tuple(kept))
        if kept:
            raise Refused(
                "cannot-renew",
                f"{len(renewed)} files were restored; no original was found of {listed(kept, MOST_NAMED)}",
                "the present service, other pins, and the history of the ensemble in git were searched; restore the"
                " files by hand, or accept them as they are",
                next_words=("state", "renew", "--as-they-are"),
                purpose="accept these files as they are",
            )
        return Renewed(tuple(renewed))


def _pins(place: Place, ensemble: Ensemble) -> list[str]:
    """The digests of the pins, those in use first."""
    used = list(pins_in_use(ensemble.status))
    if ensemble.unfinished is not None:
        header = ensemble.unfinished.header
        used += [header.service, *(form.service for form in header.forms.values())]
    there = all_pins(place.layout)
    return [*dict.fromkeys(digest for digest in (*used, *there) if digest in there)]


def _folders(place: Place, ensemble: Ensemble) -> Iterator[Path]:
    """The folders in which the deployed service may be."""
    status = ensemble.status
    unfinished = ensemble.unfinished
    for main in dict.fromkeys((status.main, unfinished.header.main if unfinished is not None else "")):
        if main:
            yield from kept_places(place, main)


def _shown(place: Place, digest: str, files: tuple[str, ...]) -> list[str]:
    return [place.path(f"{place.layout.artifacts.name}/{digest}/{file}") for file in files]
