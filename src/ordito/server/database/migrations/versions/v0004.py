"""Who made the tokens of accounts that were made before anybody wrote it down, as far as the audit log tells."""

from __future__ import annotations

from collections.abc import Mapping

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"

MOST_APART = 1.0
"""Seconds by which a token and its row in the audit log differ at most: both have the moment of one request."""

UNKNOWN = (
    "SELECT id, project, owner, name, created FROM token"
    " WHERE project != '' AND (made_by = '' OR made_by LIKE '%/%') ORDER BY created"
)
MADE = (
    "SELECT DISTINCT principal, by FROM audit WHERE action = 'account.token.make' AND outcome = 'done'"
    " AND project = :project AND object = :object AND abs(time - :created) <= :apart"
)
KNOWN = "SELECT id, made_by FROM token WHERE made_by != '' AND made_by NOT LIKE '%/%'"


def upgrade() -> None:
    """Take each maker from the audit log, where it names one user; of any other token nobody knows it."""
    connection = op.get_bind()
    makers = {row.id: row.made_by for row in connection.execute(sa.text(KNOWN))}
    # A token that was made with a token is of who made that one, which is older.
    for row in connection.execute(sa.text(UNKNOWN)).all():
        asked = {"project": row.project, "object": f"{row.owner} {row.name}", "created": row.created}
        found = connection.execute(sa.text(MADE), {**asked, "apart": MOST_APART}).all()
        made_by = _user(found[0].principal, found[0].by, makers) if len(found) == 1 else ""
        if made_by:
            makers[row.id] = made_by
        connection.execute(sa.text("UPDATE token SET made_by = :by WHERE id = :id"), {"by": made_by, "id": row.id})


def _user(principal: str, by: str, makers: Mapping[str, str]) -> str:
    """The user who stands behind a deed, "" where that is not known."""
    return makers.get(by.removeprefix("token "), "") if "/" in principal else principal
