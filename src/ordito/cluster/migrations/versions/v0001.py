"""The first tables."""

from __future__ import annotations

from alembic import op

revision = "0001"
down_revision = None

PARTITIONS = 16
"""Tables that grow with the number of ensembles are spread over so many, by ensemble."""

# Texts are compared byte by byte, as SQLite compares them: the order of rows is the same in both.
TABLES = """
CREATE DOMAIN ordito.word AS text COLLATE "C";

CREATE TABLE ordito.project (
  id ordito.word PRIMARY KEY, weight integer NOT NULL DEFAULT 1, most_jobs integer NOT NULL DEFAULT 0,
  labels jsonb NOT NULL DEFAULT '{}');

CREATE TABLE ordito.worker (
  id ordito.word PRIMARY KEY, name ordito.word NOT NULL, machine ordito.word NOT NULL, boot ordito.word NOT NULL,
  pool ordito.word NOT NULL, reaches text[] NOT NULL, slots integer NOT NULL, version text NOT NULL,
  formats int4range NOT NULL, state ordito.word NOT NULL DEFAULT 'ready',
  started timestamptz NOT NULL DEFAULT clock_timestamp(), lease_until timestamptz NOT NULL) WITH (fillfactor = 50);

CREATE TABLE ordito.ensemble (
  id ordito.word PRIMARY KEY, project ordito.word NOT NULL, name ordito.word NOT NULL,
  labels jsonb NOT NULL DEFAULT '{}', epoch bigint NOT NULL DEFAULT 0, holder ordito.word,
  item ordito.word NOT NULL DEFAULT '', job ordito.word NOT NULL DEFAULT '', tree ordito.word NOT NULL DEFAULT '',
  status ordito.word NOT NULL DEFAULT '', last_change ordito.word NOT NULL DEFAULT '',
  journal_format integer NOT NULL DEFAULT 0, instances integer NOT NULL DEFAULT 0,
  UNIQUE (project, name)) WITH (fillfactor = 50);
CREATE INDEX ensemble_of_holder ON ordito.ensemble (holder) WHERE holder IS NOT NULL;

CREATE TABLE ordito.tenure (
  ensemble ordito.word, epoch bigint, worker ordito.word NOT NULL, machine ordito.word NOT NULL,
  boot ordito.word NOT NULL, runner ordito.word NOT NULL, began timestamptz NOT NULL DEFAULT clock_timestamp(),
  ended timestamptz, why ordito.word NOT NULL DEFAULT '', PRIMARY KEY (ensemble, epoch));

CREATE TABLE ordito.item (
  id ordito.word PRIMARY KEY, project ordito.word NOT NULL, ensemble ordito.word NOT NULL, kind ordito.word NOT NULL,
  request bytea NOT NULL, class ordito.word NOT NULL DEFAULT 'normal', by ordito.word NOT NULL DEFAULT '',
  at timestamptz NOT NULL DEFAULT clock_timestamp(), state ordito.word NOT NULL DEFAULT 'waiting',
  delivery integer NOT NULL DEFAULT 0, cancel ordito.word NOT NULL DEFAULT '', job ordito.word NOT NULL DEFAULT '',
  outcome bytea);
CREATE INDEX item_of_ensemble ON ordito.item (ensemble, at);
CREATE INDEX item_open ON ordito.item (state, at) WHERE state <> 'done';

CREATE TABLE ordito.meta (ensemble ordito.word, key ordito.word, value bytea NOT NULL, PRIMARY KEY (ensemble, key));

CREATE TABLE ordito.job (
  ensemble ordito.word, id ordito.word, origin ordito.word NOT NULL DEFAULT '', header bytea NOT NULL,
  plan bytea NOT NULL, state ordito.word NOT NULL DEFAULT 'open',
  began timestamptz NOT NULL DEFAULT clock_timestamp(), ended timestamptz, summary text NOT NULL DEFAULT '',
  record ordito.word NOT NULL DEFAULT '', PRIMARY KEY (ensemble, id));

CREATE TABLE ordito.steps (
  ensemble ordito.word, job ordito.word, chunk bigint, body bytea NOT NULL, PRIMARY KEY (ensemble, job, chunk));
CREATE TABLE ordito.edges (
  ensemble ordito.word, job ordito.word, chunk bigint, body bytea NOT NULL, PRIMARY KEY (ensemble, job, chunk));
CREATE TABLE ordito.previous (
  ensemble ordito.word, job ordito.word, id ordito.word, kind ordito.word NOT NULL, body bytea NOT NULL,
  PRIMARY KEY (ensemble, job, id));

CREATE TABLE ordito.record (
  ensemble ordito.word, job ordito.word, number bigint, epoch bigint NOT NULL, body bytea NOT NULL,
  PRIMARY KEY (ensemble, job, number)) PARTITION BY HASH (ensemble);
CREATE TABLE ordito.event (
  ensemble ordito.word, job ordito.word, number bigint, lines bytea NOT NULL,
  PRIMARY KEY (ensemble, job, number)) PARTITION BY HASH (ensemble);

CREATE SEQUENCE ordito.instance_number;
CREATE TABLE ordito.instance (
  ensemble ordito.word, number bigint NOT NULL DEFAULT nextval('ordito.instance_number'), id ordito.word,
  body bytea NOT NULL, PRIMARY KEY (ensemble, id)) PARTITION BY HASH (ensemble);
CREATE SEQUENCE ordito.link_number;
CREATE TABLE ordito.link (
  ensemble ordito.word, number bigint NOT NULL DEFAULT nextval('ordito.link_number'), id ordito.word,
  body bytea NOT NULL, PRIMARY KEY (ensemble, id)) PARTITION BY HASH (ensemble);
CREATE TABLE ordito.attribute (
  ensemble ordito.word, entity ordito.word, name ordito.word, value bytea NOT NULL,
  PRIMARY KEY (ensemble, entity, name)) PARTITION BY HASH (ensemble);
CREATE TABLE ordito.output (
  ensemble ordito.word, entity ordito.word, operation ordito.word, body bytea NOT NULL,
  PRIMARY KEY (ensemble, entity, operation)) PARTITION BY HASH (ensemble);

CREATE TABLE ordito.notice (
  ensemble ordito.word, number bigint GENERATED ALWAYS AS IDENTITY, body bytea NOT NULL,
  job ordito.word NOT NULL DEFAULT '', said text NOT NULL DEFAULT '', state ordito.word NOT NULL DEFAULT 'waiting',
  PRIMARY KEY (ensemble, number));
CREATE TABLE ordito.firing (
  ensemble ordito.word, number bigint GENERATED ALWAYS AS IDENTITY, notice bigint NOT NULL,
  policy ordito.word NOT NULL, trigger ordito.word NOT NULL, part integer NOT NULL DEFAULT 0,
  job ordito.word NOT NULL DEFAULT '', said text NOT NULL DEFAULT '', state ordito.word NOT NULL,
  PRIMARY KEY (ensemble, number));
CREATE INDEX firing_of_notice ON ordito.firing (ensemble, notice);
CREATE TABLE ordito.evaluation (
  ensemble ordito.word, policy ordito.word, trigger ordito.word, entity ordito.word, number bigint,
  body bytea NOT NULL, PRIMARY KEY (ensemble, policy, trigger, entity, number));

CREATE TABLE ordito.blob (
  digest ordito.word PRIMARY KEY, size bigint NOT NULL, body bytea, place ordito.word NOT NULL DEFAULT '',
  used timestamptz NOT NULL DEFAULT clock_timestamp());
ALTER TABLE ordito.blob ALTER body SET STORAGE EXTERNAL;
CREATE TABLE ordito.tree (
  digest ordito.word, path ordito.word, blob ordito.word NOT NULL, mode integer NOT NULL, PRIMARY KEY (digest, path));
CREATE TABLE ordito.sealed_key (
  ensemble ordito.word, pool ordito.word, body bytea NOT NULL, PRIMARY KEY (ensemble, pool));
CREATE TABLE ordito.log_chunk (
  day date NOT NULL DEFAULT current_date, ensemble ordito.word, job ordito.word, number bigint, body bytea NOT NULL,
  PRIMARY KEY (ensemble, job, number, day)) PARTITION BY RANGE (day);
CREATE TABLE ordito.log_chunk_other PARTITION OF ordito.log_chunk DEFAULT;
"""

# Chunks of logs go by day, so that old ones are dropped whole: whoever takes an ensemble makes the tables of the day
# and the next one.
DAY = """
CREATE FUNCTION ordito.make_log_day(wanted date) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE format('CREATE TABLE IF NOT EXISTS ordito.log_chunk_%s PARTITION OF ordito.log_chunk '
                 'FOR VALUES FROM (%L) TO (%L)', to_char(wanted, 'YYYYMMDD'), wanted, wanted + 1);
END $$
"""

SPREAD = ("record", "event", "instance", "link", "attribute", "output")


def upgrade() -> None:
    """Make the tables."""
    for statement in TABLES.split(";\n"):
        if statement.strip():
            op.execute(statement)
    op.execute(DAY)
    for table in SPREAD:
        for part in range(PARTITIONS):
            values = f"FOR VALUES WITH (MODULUS {PARTITIONS}, REMAINDER {part})"
            op.execute(f"CREATE TABLE ordito.{table}_{part} PARTITION OF ordito.{table} {values}")
