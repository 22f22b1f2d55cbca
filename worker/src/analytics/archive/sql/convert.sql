-- Copies a day from the tables of an earlier version. A prefix also counted the pages below it whose
-- paths were too long or too deep for a row of their own. The difference to the sum of the rows
-- below the prefix becomes the row `<prefix>/…`.
INSERT OR REPLACE INTO page_views (project, day, path, human, ai, total)
WITH
  old AS MATERIALIZED (
    SELECT node.id, node.parent, node.path, node.is_prefix, views.human, views.ai, views.total
    FROM node CROSS JOIN views ON views.node = node.id AND views.day = ?2
    WHERE node.project = ?1
  ),
  below (prefix, human, ai, total) AS MATERIALIZED (
    SELECT parent,
      CASE WHEN count(human) = count(*) THEN sum(human) END,
      CASE WHEN count(ai) = count(*) THEN sum(ai) END,
      CASE WHEN count(total) = count(*) THEN sum(total) END
    FROM old WHERE parent <> id GROUP BY parent
  )
SELECT ?1, ?2, path, human, ai, total FROM old WHERE is_prefix = 0
UNION ALL
SELECT ?1, ?2, rtrim(old.path, '/') || '/…',
  old.human - iif(below.prefix IS NULL, 0, below.human),
  old.ai - iif(below.prefix IS NULL, 0, below.ai),
  old.total - iif(below.prefix IS NULL, 0, below.total)
FROM old LEFT JOIN below ON below.prefix = old.id
WHERE old.is_prefix = 1 AND (
  old.human IS NOT iif(below.prefix IS NULL, 0, below.human)
  OR old.ai IS NOT iif(below.prefix IS NULL, 0, below.ai)
  OR old.total IS NOT iif(below.prefix IS NULL, 0, below.total)
)
