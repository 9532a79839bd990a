"""Users who sign in by a provider of OpenID Connect."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    """Add what the provider says. Nobody has signed in by one yet."""
    for table in ("member", "session"):
        op.add_column(table, sa.Column("issuer", sa.Text(), server_default="", nullable=False))
    op.create_table(
        "identity",
        sa.Column("issuer", sa.Text(), nullable=False),
        sa.Column("subject", sa.Text(), nullable=False),
        sa.Column("user", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("issuer", "subject"),
        sa.UniqueConstraint("user"),
    )
    op.create_table(
        "provider_login",
        sa.Column("state", sa.LargeBinary(), nullable=False),
        sa.Column("browser", sa.LargeBinary(), nullable=False),
        sa.Column("sealed", sa.LargeBinary(), nullable=False),
        sa.Column("address", sa.Text(), nullable=False),
        sa.Column("expires", sa.Float(), nullable=False),
        sa.PrimaryKeyConstraint("state"),
    )
    op.create_index("provider_login_of_address", "provider_login", ["address"], unique=False)
