-- The daily archive: how often each page was viewed on each day that has ended.
-- Days are numbers: days since 1970-01-01, in UTC. Instants are milliseconds since then.

CREATE TABLE project (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  -- The first day that is wanted.
  first_day INTEGER NOT NULL
);

-- The ledger: what is held of a day, and how far it was fetched since.
CREATE TABLE day (
  project INTEGER NOT NULL,
  day INTEGER NOT NULL,
  -- When it was last fetched whole; NULL when it never was.
  fetched INTEGER,
  pages INTEGER NOT NULL DEFAULT 0,
  -- The whole site's. NULL is a count that the platform did not give.
  human INTEGER,
  ai INTEGER,
  total INTEGER,
  visitors_human INTEGER,
  visitors_ai INTEGER,
  visitors_total INTEGER,
  -- What was fetched since: totals as JSON, and how many pages are staged.
  staged_visitors TEXT,
  staged_totals TEXT,
  staged_pages INTEGER NOT NULL DEFAULT 0,
  -- Requests that failed since one succeeded, until when no further one is sent, and why.
  attempts INTEGER NOT NULL DEFAULT 0,
  retry_at INTEGER NOT NULL DEFAULT 0,
  problem TEXT,
  PRIMARY KEY (project, day)
) WITHOUT ROWID;

-- Pages of a day that is being fetched, as the platform answered them.
CREATE TABLE staging (
  project INTEGER NOT NULL,
  day INTEGER NOT NULL,
  page INTEGER NOT NULL,
  text TEXT NOT NULL,
  PRIMARY KEY (project, day, page)
);

-- A page (is_prefix = 0), or all pages below a path (is_prefix = 1).
CREATE TABLE node (
  id INTEGER PRIMARY KEY,
  project INTEGER NOT NULL,
  path TEXT NOT NULL,
  is_prefix INTEGER NOT NULL,
  -- The prefix right above it; NULL of the root.
  parent INTEGER,
  UNIQUE (project, path, is_prefix)
);

-- A page without views on a day that is held has no row.
CREATE TABLE views (
  node INTEGER NOT NULL,
  day INTEGER NOT NULL,
  human INTEGER,
  ai INTEGER,
  total INTEGER,
  PRIMARY KEY (node, day)
) WITHOUT ROWID;
