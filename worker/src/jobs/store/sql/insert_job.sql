INSERT INTO job
  (id, listed, subject, line, prompt, folded, webhook, created, status, pr_link, data,
  seq, checked, began, since, revision)
VALUES (?, 1, ?, ?, ?, ?, ?, ?, ?, ?, ?, 1, ?, ?, ?, (SELECT revision + 1 FROM project))
ON CONFLICT (id) DO UPDATE SET listed = 1, subject = excluded.subject,
  line = excluded.line, prompt = excluded.prompt, folded = excluded.folded,
  webhook = excluded.webhook, revision = excluded.revision
