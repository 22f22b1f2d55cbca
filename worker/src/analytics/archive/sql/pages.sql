-- The first pages of the list are among the first pages of each day, so each day is read up to its
-- own page at that position. A blob is greater than any text.
SELECT page.path AS path,
  CASE WHEN count(page.human) = count(*) THEN sum(page.human) END AS human,
  CASE WHEN count(page.ai) = count(*) THEN sum(page.ai) END AS ai,
  CASE WHEN count(page.total) = count(*) THEN sum(page.total) END AS total
FROM stored CROSS JOIN page_views AS page
  ON page.project = stored.project AND page.day = stored.day
  AND page.path >= ?4 AND page.path < coalesce((
    SELECT path FROM page_views AS next
    WHERE next.project = stored.project AND next.day = stored.day AND next.path >= ?4
    ORDER BY path LIMIT 1 OFFSET ?5
  ), x'')
GROUP BY page.path
ORDER BY page.path
LIMIT ?5
