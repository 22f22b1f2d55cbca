SELECT ?1, ?2, path, human, ai, total FROM fresh
WHERE human IS NOT 0 OR ai IS NOT 0 OR total IS NOT 0
ON CONFLICT (project, day, path) DO UPDATE
SET human = excluded.human, ai = excluded.ai, total = excluded.total
WHERE human IS NOT excluded.human OR ai IS NOT excluded.ai OR total IS NOT excluded.total
