-- Gives every page that is staged, and every prefix above one, an identifier.
INSERT OR IGNORE INTO node (project, path, is_prefix)
WITH RECURSIVE
  page (path) AS (
    SELECT DISTINCT row.value ->> '$.path'
    FROM staging, json_each(staging.text, '$.views') AS row
    WHERE staging.project = ?1 AND staging.day = ?2
      AND json_type(row.value, '$.path') = 'text'
  ),
  folder (path) AS (
    SELECT coalesce(nullif(rtrim(rtrim(path, replace(path, '/', '')), '/'), ''), '/')
    FROM page WHERE path <> '/'
    UNION
    SELECT coalesce(nullif(rtrim(rtrim(path, replace(path, '/', '')), '/'), ''), '/')
    FROM folder WHERE path <> '/'
  )
SELECT ?1, path, 0 FROM page UNION ALL SELECT ?1, path, 1 FROM folder
