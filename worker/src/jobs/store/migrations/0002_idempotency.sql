CREATE TABLE idempotency (
  caller TEXT NOT NULL,
  key TEXT NOT NULL,
  fingerprint TEXT NOT NULL,
  state TEXT NOT NULL,
  at INTEGER NOT NULL,
  status INTEGER,
  headers TEXT,
  body TEXT,
  PRIMARY KEY (caller, key)
) WITHOUT ROWID;
CREATE INDEX idempotency_at ON idempotency (at);
