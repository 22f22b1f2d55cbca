ALTER TABLE project ADD COLUMN revision INTEGER NOT NULL DEFAULT 0;
ALTER TABLE job ADD COLUMN prompt TEXT;
ALTER TABLE job ADD COLUMN folded TEXT;
ALTER TABLE job ADD COLUMN since INTEGER;
ALTER TABLE job ADD COLUMN revision INTEGER NOT NULL DEFAULT 0;
ALTER TABLE event ADD COLUMN since INTEGER;
CREATE INDEX job_revision ON job (revision) WHERE listed = 1;
CREATE INDEX job_unfinished ON job (began) WHERE listed = 1 AND coalesce(status, '') NOT IN ('completed', 'failed', 'archived');
CREATE TABLE message (
  job TEXT NOT NULL,
  number INTEGER NOT NULL,
  prompt TEXT NOT NULL,
  author TEXT NOT NULL,
  sent INTEGER NOT NULL,
  PRIMARY KEY (job, number)
) WITHOUT ROWID;
CREATE TABLE deleted (
  revision INTEGER PRIMARY KEY,
  id TEXT NOT NULL,
  at INTEGER NOT NULL
);
