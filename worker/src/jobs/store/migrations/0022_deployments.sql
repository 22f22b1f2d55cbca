-- The name of a `Resource`.
ALTER TABLE project ADD COLUMN resource TEXT NOT NULL DEFAULT 'job';
ALTER TABLE job ADD COLUMN branch TEXT;
ALTER TABLE job ADD COLUMN preview_url TEXT;
ALTER TABLE job ADD COLUMN is_live INTEGER;
