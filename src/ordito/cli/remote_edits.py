"""Verbs that change records by hand, given to a server: the change is described there, asked about here, and made."""

from __future__ import annotations

from typing import Any

import msgspec

from ordito.app.errors import Declined, Refused
from ordito.cli.conversation import CliConversation
from ordito.cli.remote import ensemble_of
from ordito.cli.session import Session
from ordito.client.changes import do
from ordito.results.answer import UseCase
from ordito.results.by_hand import EditAsked, ReviewedEdit
from ordito.results.findings import diagnostic_of
from ordito.results.records import EditData


def edit_there(
    session: Session,
    change: UseCase[Any, Any],
    asked: EditAsked,
    wait_lock: float,
    commit: str,
) -> EditData:
    """Have records changed, after asking. Raises ``Declined``, ``NobodyToAsk``, ``Refused`` and ``ServerError``."""
    refuse_commit(commit)
    ensemble = ensemble_of(session.settings, session.verb)
    found = do(ensemble, change, asked, wait_lock=wait_lock)
    if isinstance(found, ReviewedEdit):
        session.diagnostics([diagnostic_of(one) for one in found.diagnostics])
        if not CliConversation(session).confirm(found.intent, found.lines, asks=found.asks):
            raise Declined
        found = do(ensemble, change, msgspec.structs.replace(asked, seen=found.digest), wait_lock=wait_lock)
    assert isinstance(found, EditData)
    return found


def refuse_commit(commit: str) -> None:
    """Refuse to say whether files are committed. Raises ``Refused``."""
    if commit not in ("", "auto"):
        hint = "leave it out: the ensemble says whether its files are committed"
        raise Refused("local-only", "--commit and --no-commit are not for servers", hint)
