ALTER TABLE record DROP COLUMN written_at;
