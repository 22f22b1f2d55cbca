DELETE FROM views
WHERE day = ?2 AND node IN (SELECT id FROM node WHERE project = ?1) AND node NOT IN (
  SELECT node FROM fresh WHERE human IS NOT 0 OR ai IS NOT 0 OR total IS NOT 0
)
