SELECT day, fetched, human, ai, total, visitors_human, visitors_ai, visitors_total, 0 AS pages
FROM day
WHERE project = (SELECT id FROM project WHERE name = ?1)
  AND day >= ?2 AND day < ?3 AND fetched IS NOT NULL AND has_page_views >= ?4
ORDER BY day
