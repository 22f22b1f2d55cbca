CREATE TABLE reservation (
  id INTEGER PRIMARY KEY,
  policy TEXT NOT NULL,
  caller TEXT NOT NULL,
  at INTEGER NOT NULL
);
CREATE INDEX reservation_at ON reservation (at);
CREATE TABLE claim (
  id INTEGER PRIMARY KEY,
  policy TEXT NOT NULL,
  caller TEXT NOT NULL,
  until INTEGER NOT NULL
);
CREATE INDEX claim_caller ON claim (policy, caller);
CREATE TABLE closed (policy TEXT PRIMARY KEY, until INTEGER NOT NULL);
