DELETE FROM event WHERE job = ?1 AND version IN (
  SELECT version FROM event WHERE job = ?1 AND version <= ?2 ORDER BY version LIMIT ?3
)
