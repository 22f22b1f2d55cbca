SELECT day.day, day.fetched, views.human, views.ai, views.total,
  NULL AS visitors_human, NULL AS visitors_ai, NULL AS visitors_total,
  views.node IS NOT NULL AS known
FROM day LEFT JOIN views ON views.day = day.day AND views.node IN (
  SELECT id FROM node
  WHERE project = (SELECT id FROM project WHERE name = ?1) AND path = ?4 AND is_prefix <= ?5
)
WHERE day.project = (SELECT id FROM project WHERE name = ?1)
  AND day.day >= ?2 AND day.day < ?3 AND day.fetched IS NOT NULL
ORDER BY day.day
