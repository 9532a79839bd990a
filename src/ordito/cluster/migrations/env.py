"""Runs the migrations on the connection that ``store.py`` hands over."""

from __future__ import annotations

from alembic import context

context.configure(connection=context.config.attributes["connection"], version_table_schema="ordito")
with context.begin_transaction():
    context.run_migrations()
