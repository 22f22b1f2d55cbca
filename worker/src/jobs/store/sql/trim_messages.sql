DELETE FROM message WHERE job = ?1 AND number IN (
  SELECT number FROM (
    SELECT number, row_number() OVER latest AS place,
      sum(octet_length(prompt)) OVER latest AS bytes
    FROM message WHERE job = ?1 WINDOW latest AS (ORDER BY number DESC)
  ) WHERE place > ?2 OR bytes > ?3
)
