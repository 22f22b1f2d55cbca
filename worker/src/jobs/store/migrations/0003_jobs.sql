CREATE TABLE project (id TEXT NOT NULL);
CREATE TABLE job (
  row INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  listed INTEGER NOT NULL,
  subject TEXT,
  line TEXT,
  webhook TEXT,
  created INTEGER NOT NULL,
  status TEXT,
  pr_link TEXT,
  data TEXT,
  seq INTEGER NOT NULL DEFAULT 0,
  checked INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX job_created ON job (listed, created, row);
CREATE INDEX job_webhook ON job (webhook) WHERE webhook IS NOT NULL;
CREATE TABLE event (
  job TEXT NOT NULL,
  seq INTEGER NOT NULL,
  data TEXT NOT NULL,
  PRIMARY KEY (job, seq)
) WITHOUT ROWID;
