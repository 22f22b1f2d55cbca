UNION ALL
SELECT day, fetched,
  CASE WHEN count(human) = count(*) THEN sum(human) END,
  CASE WHEN count(ai) = count(*) THEN sum(ai) END,
  CASE WHEN count(total) = count(*) THEN sum(total) END,
  NULL, NULL, NULL, count(*)
FROM (
  -- CROSS JOIN reads the days in order, so LIMIT cuts off the last ones. A blob is greater than any
  -- text.
  SELECT stored.day, stored.fetched, page.human, page.ai, page.total
  FROM stored CROSS JOIN page_views AS page
    ON page.project = stored.project AND page.day = stored.day
    AND page.path >= ?5 AND page.path < coalesce(?6, x'')
  LIMIT ?7
)
GROUP BY day
ORDER BY day
