json_object(
  'id', id,
  'status', status,
  'prompt', line,
  'createdBy', subject,
  'createdAt', strftime('%Y-%m-%dT%H:%M:%S', created / 1000, 'unixepoch')
    || printf('.%03dZ', created % 1000),
  'prLink', pr_link,
  'checkedAt', strftime('%Y-%m-%dT%H:%M:%S', checked / 1000, 'unixepoch')
    || printf('.%03dZ', checked % 1000)
)
