CREATE VIRTUAL TABLE job_search USING fts5(
  prompt, content='', contentless_delete=1, detail=none, tokenize='trigram case_sensitive 1'
);
CREATE TABLE search_backlog (last INTEGER NOT NULL);
INSERT INTO search_backlog SELECT coalesce(max(row), 0) FROM job;
CREATE INDEX job_subject ON job (subject, created) WHERE listed = 1;
CREATE INDEX job_status ON job (status, created) WHERE listed = 1;
CREATE INDEX job_subject_status ON job (subject, status, created) WHERE listed = 1;
