UPDATE job SET status = ?2, pr_link = ?3, data = ?4, version = ?5, checked_at = ?6,
  last_started_at = ?7, since = ?6, not_before = 0, missing_since = NULL
WHERE id = ?1
