ALTER TABLE project ADD COLUMN forgotten INTEGER NOT NULL DEFAULT 0;
UPDATE project SET forgotten = coalesce((SELECT min(revision) - 1 FROM deleted), revision);
