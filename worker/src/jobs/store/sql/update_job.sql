UPDATE job SET data = coalesce(?2, data), status = iif(?2 IS NULL, status, ?3),
  pr_link = iif(?2 IS NULL, pr_link, ?4), version = ?5, checked_at = ?6, last_started_at = ?7,
  since = ?8, not_before = ?9, missing_since = ?10, webhook = iif(?11, webhook, NULL),
  webhook_poll = ?12, given_up_start = iif(?13, ?7, NULL)
WHERE id = ?1
