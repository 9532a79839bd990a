"""Who made the tokens of accounts, and so answers for what is asked with them; settings."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    """Add the columns. Nobody knows any more who made what is there already."""
    for table in ("token", "plan", "schedule", "source"):
        op.add_column(table, sa.Column("made_by", sa.Text(), server_default="", nullable=False))
    op.create_table(
        "setting",
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("name"),
    )
