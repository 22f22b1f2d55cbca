-- Lists filter their jobs while they scan them.
DROP INDEX IF EXISTS job_subject;
DROP INDEX IF EXISTS job_status;
DROP INDEX IF EXISTS job_subject_status;
-- Expired keys are deleted once per hour.
DROP INDEX IF EXISTS idempotency_at;
