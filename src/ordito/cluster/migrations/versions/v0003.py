"""Where workers and tenures have their homes, errands to these homes, and the settings of a store."""

from __future__ import annotations

from alembic import op

revision = "0003"
down_revision = "0002"

TABLES = """
ALTER TABLE ordito.worker ADD place ordito.word NOT NULL DEFAULT '';
ALTER TABLE ordito.worker ADD is_off boolean NOT NULL DEFAULT false;
ALTER TABLE ordito.worker ADD is_guarded boolean NOT NULL DEFAULT false;
CREATE INDEX worker_at_place ON ordito.worker (place);
ALTER TABLE ordito.tenure ADD place ordito.word NOT NULL DEFAULT '';
ALTER TABLE ordito.tenure ADD is_guarded boolean NOT NULL DEFAULT false;

CREATE TABLE ordito.errand (
  ensemble ordito.word, job ordito.word, step ordito.word, attempt integer, epoch bigint,
  asked_by ordito.word NOT NULL, place ordito.word NOT NULL, of_epoch bigint NOT NULL, request bytea NOT NULL,
  at timestamptz NOT NULL DEFAULT clock_timestamp(), result bytea,
  PRIMARY KEY (ensemble, job, step, attempt, epoch));
CREATE INDEX errand_open ON ordito.errand (place) WHERE result IS NULL;

CREATE TABLE ordito.setting (name ordito.word PRIMARY KEY, value text NOT NULL)
"""


def upgrade() -> None:
    """Add them."""
    for statement in TABLES.split(";\n"):
        if statement.strip():
            op.execute(statement)
