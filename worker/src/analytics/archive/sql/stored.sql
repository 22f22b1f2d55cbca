-- MATERIALIZED makes SQLite look up each day in `page_views`.
WITH stored AS MATERIALIZED (
  SELECT project, day, fetched FROM day
  WHERE project = (SELECT id FROM project WHERE name = ?1)
    AND day >= ?2 AND day < ?3 AND fetched IS NOT NULL AND has_page_views
  ORDER BY day
)
