-- One row per page and day replaces the tables `node` and `views`. The archive's next runs copy the
-- earlier days, one day at a time, because a statement of a migration must end within 30 seconds.
-- The run that copies the last day drops `node` and `views`.

-- The views of a page on an archived day. A page whose counts are all 0 has no row.
CREATE TABLE page_views (
  project INTEGER NOT NULL,
  day INTEGER NOT NULL,
  path TEXT NOT NULL,
  human INTEGER,
  ai INTEGER,
  total INTEGER,
  PRIMARY KEY (project, day, path)
) WITHOUT ROWID;

-- 1 if the views of the day's pages are in `page_views`.
ALTER TABLE day ADD COLUMN has_page_views INTEGER NOT NULL DEFAULT 0;
