SELECT day, fetched, human, ai, total, visitors_human, visitors_ai, visitors_total, 1 AS known
FROM day
WHERE project = (SELECT id FROM project WHERE name = ?1)
  AND day >= ?2 AND day < ?3 AND fetched IS NOT NULL
ORDER BY day
