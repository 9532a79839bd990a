"""What dispatch needs to know of items, workers and pools."""

from __future__ import annotations

from alembic import op

revision = "0002"
down_revision = "0001"

TABLES = """
ALTER TABLE ordito.item ADD pool ordito.word NOT NULL DEFAULT '';
ALTER TABLE ordito.item ADD worker ordito.word NOT NULL DEFAULT '';
ALTER TABLE ordito.item ADD takeovers integer NOT NULL DEFAULT 0;
ALTER TABLE ordito.item ADD since timestamptz NOT NULL DEFAULT clock_timestamp();
ALTER TABLE ordito.item ADD progress text NOT NULL DEFAULT '';

CREATE INDEX item_waiting ON ordito.item (pool, class, project, at) WHERE state = 'waiting';
CREATE INDEX item_queued ON ordito.item (pool, class, project) WHERE state = 'queued';
CREATE INDEX item_queued_of_project ON ordito.item (project) WHERE state = 'queued';
CREATE INDEX item_queued_of_ensemble ON ordito.item (ensemble) WHERE state = 'queued';
CREATE INDEX item_of_worker ON ordito.item (worker) WHERE state = 'queued' AND worker <> '';

ALTER TABLE ordito.worker ADD cleared boolean NOT NULL DEFAULT false;
CREATE INDEX worker_uncleared ON ordito.worker (lease_until) WHERE NOT cleared;

CREATE TABLE ordito.pool (name ordito.word PRIMARY KEY, is_held boolean NOT NULL DEFAULT false);
CREATE TABLE ordito.turn (
  pool ordito.word, class ordito.word, project ordito.word NOT NULL DEFAULT '', credit integer NOT NULL DEFAULT 0,
  PRIMARY KEY (pool, class))
"""


def upgrade() -> None:
    """Add them."""
    for statement in TABLES.split(";\n"):
        if statement.strip():
            op.execute(statement)
