ALTER TABLE project ADD COLUMN polls_paused_until INTEGER;
CREATE TABLE poll_step (
  step_end INTEGER PRIMARY KEY,
  polls INTEGER NOT NULL,
  latest INTEGER NOT NULL
);
