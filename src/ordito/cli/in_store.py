"""Commands about an ensemble of a store: this process works on a copy of its files, as a worker of its own."""

from __future__ import annotations

import os
import sys

import msgspec

from ordito.app.errors import Refused
from ordito.app.stores import StoreRequest, refuse_without_extra, working_copy
from ordito.base.masking import net
from ordito.cli.exit_codes import ExitCode
from ordito.cli.places import IN_STORE
from ordito.cli.settings import GlobalSettings
from ordito.cli.text_width import one_line
from ordito.ensemble.journal_database import Fenced

WHOLE = frozenset({"jobs show", "jobs logs", "jobs events", "jobs report"})
"""The verbs that want what closed jobs have printed and told."""


def store_request(settings: GlobalSettings, ensemble: str = "", *, whole: bool = False) -> StoreRequest:
    """The store that a command names. Raises ``Refused`` where it names none, or two."""
    refuse_without_extra()
    if not settings.wants_store:
        raise Refused("needs-store", "which store?", "give its address: --store postgresql://[USER@]HOST/DATABASE")
    if settings.store and settings.store_file:
        raise Refused("two-places", "the store is named twice", "give --store or --store-file, not both")
    return StoreRequest(settings.store, settings.store_file, settings.key, ensemble, whole)


def settings_in_store(settings: GlobalSettings, verb: str) -> GlobalSettings:
    """The settings with the directory in which this process works on the ensemble of a store. Raises ``Refused`` and
    ``EnsembleError``."""
    if verb not in IN_STORE:
        raise Refused(
            "not-in-store",
            f"{verb} does not work on an ensemble of a store",
            "export it (`ordito store export NAME DIR`), or leave --store out where it is about no ensemble",
        )
    request = store_request(settings, settings.ensemble, whole=verb in WHOLE)
    return msgspec.structs.replace(settings, copy=working_copy(request, _leave))


def _leave(error: Fenced) -> None:
    """End this process at once, as if it were killed: who has taken the ensemble over goes on with what it has
    started."""
    text = net().text(f"ordito: {error.message}; {error.hint}")
    try:
        print(one_line(text), file=sys.stderr, flush=True)
    finally:
        os._exit(ExitCode.BUSY)
