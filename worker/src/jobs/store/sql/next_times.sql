SELECT
  (SELECT min(last_started_at) FROM job WHERE webhook_poll IS NULL) AS oldest,
  (SELECT at FROM deleted ORDER BY revision LIMIT 1) AS oldest_deletion,
  (
    SELECT min(webhook_poll) FROM job
    WHERE webhook_poll IS NOT NULL AND id NOT IN (SELECT value FROM json_each(?1))
  ) AS next_poll,
  EXISTS (
    SELECT 1 FROM job
    WHERE webhook_poll IS NOT NULL AND id IN (SELECT value FROM json_each(?1))
  ) AS is_polling
