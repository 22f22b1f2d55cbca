-- The daily archive stores the views of each page on each finished day, in UTC. A day is the number
-- of days since 1970-01-01. A time is the Unix time in milliseconds.

CREATE TABLE project (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  -- The first day to archive.
  first_day INTEGER NOT NULL
);

-- The last complete fetch of each day, and the progress of the next fetch.
CREATE TABLE day (
  project INTEGER NOT NULL,
  day INTEGER NOT NULL,
  -- The time of the last complete fetch. NULL if the day was never fetched completely.
  fetched INTEGER,
  -- The number of upstream pages in the last complete fetch.
  pages INTEGER NOT NULL DEFAULT 0,
  -- The views and visitors of the whole site. NULL if Mintlify did not return the count.
  human INTEGER,
  ai INTEGER,
  total INTEGER,
  visitors_human INTEGER,
  visitors_ai INTEGER,
  visitors_total INTEGER,
  -- The progress of the next fetch: visitor totals and view totals as JSON, and the number of
  -- pages in the table `staging`.
  staged_visitors TEXT,
  staged_totals TEXT,
  staged_pages INTEGER NOT NULL DEFAULT 0,
  -- The number of requests that have failed since the last success, the earliest time of the next
  -- request, and the problem of the last failure (NULL after a success).
  attempts INTEGER NOT NULL DEFAULT 0,
  retry_at INTEGER NOT NULL DEFAULT 0,
  problem TEXT,
  PRIMARY KEY (project, day)
) WITHOUT ROWID;

-- The upstream pages of days whose fetch is in progress. `page` counts from 0. `text` is the JSON
-- of the page, with paths in their stored form.
CREATE TABLE staging (
  project INTEGER NOT NULL,
  day INTEGER NOT NULL,
  page INTEGER NOT NULL,
  text TEXT NOT NULL,
  PRIMARY KEY (project, day, page)
);

-- A page of the site (is_prefix = 0), or all pages below a path (is_prefix = 1).
CREATE TABLE node (
  id INTEGER PRIMARY KEY,
  project INTEGER NOT NULL,
  path TEXT NOT NULL,
  is_prefix INTEGER NOT NULL,
  -- The node of the prefix directly above. NULL for `/`, and while the prefix above has no row.
  parent INTEGER,
  UNIQUE (project, path, is_prefix)
);

-- The views of a page or prefix on an archived day. A page or prefix whose counts are all 0 has no
-- row.
CREATE TABLE views (
  node INTEGER NOT NULL,
  day INTEGER NOT NULL,
  human INTEGER,
  ai INTEGER,
  total INTEGER,
  PRIMARY KEY (node, day)
) WITHOUT ROWID;
