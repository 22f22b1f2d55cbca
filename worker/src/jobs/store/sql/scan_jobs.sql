SELECT row, created_at,
  CASE
    WHEN subject IS NOT coalesce(?4, subject) OR status IS NOT coalesce(?5, status) THEN 0
    WHEN ?6 = '' OR prompt_lowercase = '' THEN 1
    ELSE coalesce(instr(
      coalesce(prompt_lowercase, lower(substr(coalesce(prompt, prompt_summary), 1, ?7))), ?6
    ), 0) > 0
  END AS is_match,
  CASE WHEN ?6 <> '' AND prompt_lowercase = '' THEN
    CAST(substr(CAST(coalesce(prompt, prompt_summary) AS BLOB), 1, 4 * ?7) AS TEXT)
  END AS unfolded
FROM job INDEXED BY job_created
WHERE listed = 1 AND (created_at, row) < (?1, ?2)
ORDER BY created_at DESC, row DESC LIMIT ?3
