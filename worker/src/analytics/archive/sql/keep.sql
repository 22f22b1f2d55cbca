SELECT node, ?2, human, ai, total FROM fresh
WHERE human IS NOT 0 OR ai IS NOT 0 OR total IS NOT 0
ON CONFLICT (node, day) DO UPDATE
SET human = excluded.human, ai = excluded.ai, total = excluded.total
WHERE human IS NOT excluded.human OR ai IS NOT excluded.ai OR total IS NOT excluded.total
