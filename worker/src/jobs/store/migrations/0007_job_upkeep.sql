ALTER TABLE job ADD COLUMN began INTEGER NOT NULL DEFAULT 0;
ALTER TABLE job ADD COLUMN not_before INTEGER NOT NULL DEFAULT 0;
ALTER TABLE job ADD COLUMN webhook_poll INTEGER;
UPDATE job SET began = unixepoch() * 1000, webhook_poll = CASE
  WHEN webhook IS NOT NULL
    AND coalesce(status, '') NOT IN ('completed', 'failed', 'archived') THEN 0 END;
DROP INDEX job_webhook;
CREATE INDEX job_webhook_poll ON job (webhook_poll) WHERE webhook_poll IS NOT NULL;
CREATE INDEX job_began ON job (began) WHERE webhook_poll IS NULL;
