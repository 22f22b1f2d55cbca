DELETE FROM page_views
WHERE project = ?1 AND day = ?2 AND path NOT IN (
  SELECT path FROM fresh WHERE human IS NOT 0 OR ai IS NOT 0 OR total IS NOT 0
)
