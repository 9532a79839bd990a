"""Checks of an ensemble before something is done with it."""

from __future__ import annotations

from ordito.app.errors import JobUnfinished, Refused
from ordito.ensemble.store import Ensemble


def refuse_unfinished(ensemble: Ensemble) -> None:
    """Raise ``JobUnfinished`` if a job of this ensemble was interrupted."""
    if ensemble.unfinished is not None:
        header = ensemble.unfinished.header
        raise JobUnfinished(header.id, header.workflow)


def no_ensemble(shown: str) -> Refused:
    """The refusal for a directory that is not an ensemble."""
    where = "the current directory" if shown == "." else shown
    return Refused(
        "no-ensemble",
        f"{where} is not an ensemble: nothing was ever deployed there",
        "name the ensemble's directory with -e DIR, or deploy a service into this one",
        next_words=("deploy", "SERVICE"),
        purpose="SERVICE is a definitions file, or a folder that contains one",
    )


def edited(ensemble: Ensemble) -> str:
    """The warning about an ensemble whose files were changed by no job."""
    return f"the machine part of {ensemble.layout.manifest} was changed by no job: by hand, or by damage"
