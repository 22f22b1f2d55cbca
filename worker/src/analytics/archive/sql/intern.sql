-- Inserts a node for every staged page and for each prefix above the page. A page whose path
-- exceeds the limits (see StoredPath) is staged as a prefix, so only prefix nodes are inserted for
-- that page.
INSERT OR IGNORE INTO node (project, path, is_prefix)
WITH RECURSIVE
  page (path, is_prefix) AS (
    SELECT DISTINCT row.value ->> '$.path', coalesce(row.value ->> '$.quillgate.isPrefix', 0)
    FROM staging, json_each(staging.text, '$.views') AS row
    WHERE staging.project = ?1 AND staging.day = ?2
      AND json_type(row.value, '$.path') = 'text'
  ),
  folder (path) AS (
    SELECT coalesce(nullif(rtrim(rtrim(path, replace(path, '/', '')), '/'), ''), '/')
    FROM page WHERE is_prefix = 0 AND path <> '/'
    UNION
    SELECT path FROM page WHERE is_prefix = 1
    UNION
    SELECT coalesce(nullif(rtrim(rtrim(path, replace(path, '/', '')), '/'), ''), '/')
    FROM folder WHERE path <> '/'
  )
SELECT ?1, path, 0 FROM page WHERE is_prefix = 0 UNION ALL SELECT ?1, path, 1 FROM folder
