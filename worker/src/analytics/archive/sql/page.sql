SELECT stored.day AS day, stored.fetched AS fetched,
  iif(page.path IS NULL, 0, page.human) AS human,
  iif(page.path IS NULL, 0, page.ai) AS ai,
  iif(page.path IS NULL, 0, page.total) AS total,
  NULL AS visitors_human, NULL AS visitors_ai, NULL AS visitors_total, 0 AS pages
FROM stored LEFT JOIN page_views AS page
  ON page.project = stored.project AND page.day = stored.day AND page.path = ?4
