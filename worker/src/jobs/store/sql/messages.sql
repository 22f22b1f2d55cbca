SELECT json_object(
  'prompt', prompt,
  'author', author,
  'sentAt', strftime('%Y-%m-%dT%H:%M:%fZ', sent / 1000.0, 'unixepoch')
)
FROM message WHERE job = ? ORDER BY number
