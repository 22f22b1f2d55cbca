DELETE FROM event WHERE job = ?1 AND seq IN (
  SELECT seq FROM event WHERE job = ?1 AND seq <= ?2 ORDER BY seq LIMIT ?3
)
