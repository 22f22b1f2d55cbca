WITH
  -- One row per page. Two staged responses can contain the same page, so max() merges the rows of a
  -- page. Different pages can have the same stored path (see `store_path`), so rows are also grouped
  -- by the original path. An earlier version staged prefixes for long paths.
  counted (path, human, ai, total) AS MATERIALIZED (
    SELECT
      CASE WHEN row.value ->> '$.quillgate.isPrefix'
        THEN rtrim(row.value ->> '$.path', '/') || '/…' ELSE row.value ->> '$.path' END,
      max(row.value ->> '$.human'), max(row.value ->> '$.ai'), max(row.value ->> '$.total')
    FROM staging CROSS JOIN json_each(staging.text, '$.views') AS row
    WHERE staging.project = ?1 AND staging.day = ?2
      AND json_type(row.value, '$.path') = 'text'
    GROUP BY 1, row.value ->> '$.quillgate.original'
  ),
  -- A sum is NULL if one of its counts is unknown.
  fresh (path, human, ai, total) AS (
    SELECT path,
      CASE WHEN count(human) = count(*) THEN sum(human) END,
      CASE WHEN count(ai) = count(*) THEN sum(ai) END,
      CASE WHEN count(total) = count(*) THEN sum(total) END
    FROM counted GROUP BY path
  )
