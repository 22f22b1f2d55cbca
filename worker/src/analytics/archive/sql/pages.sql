-- Scans `node` in path order through its unique index, so that LIMIT ends the query early. CROSS
-- JOIN keeps SQLite from reading `views` first.
SELECT node.path AS path,
  CASE WHEN count(views.human) = count(*) THEN sum(views.human) END AS human,
  CASE WHEN count(views.ai) = count(*) THEN sum(views.ai) END AS ai,
  CASE WHEN count(views.total) = count(*) THEN sum(views.total) END AS total
FROM node CROSS JOIN views ON views.node = node.id AND views.day >= ?2 AND views.day < ?3
WHERE node.project = (SELECT id FROM project WHERE name = ?1)
  AND node.is_prefix = 0 AND node.path > ?4
GROUP BY node.path
ORDER BY node.path
LIMIT ?5
