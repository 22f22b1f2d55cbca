ALTER TABLE job ADD COLUMN given_up_start INTEGER;
-- Earlier releases gave up a job by clearing `webhook_poll`.
UPDATE job SET given_up_start = last_started_at
WHERE webhook IS NOT NULL AND webhook_poll IS NULL
  AND coalesce(status, '') NOT IN ('completed', 'failed', 'archived');
