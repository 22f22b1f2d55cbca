json_object(
  'id', id,
  'status', status,
  'prompt', prompt_summary,
  'createdBy', subject,
  'createdAt', strftime('%Y-%m-%dT%H:%M:%fZ', created_at / 1000.0, 'unixepoch'),
  'prLink', CASE WHEN lower(trim(pr_link)) NOT IN ('', 'null') THEN pr_link END,
  'checkedAt', strftime('%Y-%m-%dT%H:%M:%fZ', checked_at / 1000.0, 'unixepoch')
)
