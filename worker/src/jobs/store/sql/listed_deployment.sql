json_object(
  'statusId', id,
  'status', status,
  'isLive', json(CASE is_live WHEN 1 THEN 'true' WHEN 0 THEN 'false' ELSE 'null' END),
  'summary', CASE WHEN json_valid(data) THEN json_extract(data, '$.summary') END,
  'branch', branch,
  'previewUrl', preview_url,
  'createdBy', subject,
  'createdAt', strftime('%Y-%m-%dT%H:%M:%fZ', created_at / 1000.0, 'unixepoch'),
  'checkedAt', strftime('%Y-%m-%dT%H:%M:%fZ', checked_at / 1000.0, 'unixepoch')
)
