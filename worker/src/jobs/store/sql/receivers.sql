WITH RECURSIVE own (receiver) AS (
  SELECT min(receiver) FROM outbox
  UNION ALL
  SELECT (SELECT min(receiver) FROM outbox WHERE receiver > own.receiver) FROM own
  WHERE receiver IS NOT NULL
)
SELECT receiver, (SELECT min(due) FROM outbox WHERE receiver = own.receiver) AS due
FROM own WHERE receiver IS NOT NULL
