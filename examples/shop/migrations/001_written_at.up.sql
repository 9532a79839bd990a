-- When a record was written, as in 2026-11-22T02:45:00Z; nobody knows that of those that are there already.
ALTER TABLE record ADD COLUMN written_at TEXT NOT NULL DEFAULT '';
