json_object(
  'id', id,
  'status', status,
  'prompt', prompt_summary,
  'createdBy', subject,
  'createdAt', strftime('%Y-%m-%dT%H:%M:%S', created_at / 1000, 'unixepoch')
    || printf('.%03dZ', created_at % 1000),
  'prLink', pr_link,
  'checkedAt', strftime('%Y-%m-%dT%H:%M:%S', checked_at / 1000, 'unixepoch')
    || printf('.%03dZ', checked_at % 1000)
)
