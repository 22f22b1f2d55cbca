UPDATE job SET status = ?, pr_link = ?, data = ?, seq = ?, checked = ?,
  began = ?, since = ?, not_before = 0, missing_since = NULL
WHERE id = ?
