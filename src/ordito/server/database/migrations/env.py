"""Runs the migrations on the connection that ``database.py`` hands over."""

from __future__ import annotations

from alembic import context
from sqlalchemy import text

PLAIN = text(
    "SELECT format('ALTER TABLE %I ALTER COLUMN %I TYPE text COLLATE \"C\"', table_name, column_name)"
    " FROM information_schema.columns WHERE table_schema = current_schema() AND data_type = 'text'"
    " AND collation_name IS DISTINCT FROM 'C' AND table_name <> 'alembic_version'"
)
"""What compares the texts of PostgreSQL byte by byte, as SQLite does: lists go on behind a name."""

connection = context.config.attributes["connection"]
context.configure(connection=connection)
with context.begin_transaction():
    context.run_migrations()
    if connection.dialect.name == "postgresql":
        for statement in connection.execute(PLAIN).scalars().all():
            connection.exec_driver_sql(statement)
