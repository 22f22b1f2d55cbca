INSERT INTO job
  (id, listed, subject, prompt_summary, prompt, prompt_lowercase, webhook, created_at, status,
  pr_link, data, version, checked_at, last_started_at, since, webhook_poll, branch, preview_url,
  revision)
VALUES (?1, 1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, 1, ?7, ?7, ?7, ?11, ?12, ?13,
  (SELECT revision + 1 FROM project))
ON CONFLICT (id) DO UPDATE SET listed = 1, subject = excluded.subject,
  prompt_summary = excluded.prompt_summary, prompt = excluded.prompt,
  prompt_lowercase = excluded.prompt_lowercase, webhook = excluded.webhook,
  webhook_poll = excluded.webhook_poll, revision = excluded.revision
