SELECT json_object(
  'prompt', prompt,
  'author', author,
  'sentAt', strftime('%Y-%m-%dT%H:%M:%S', sent / 1000, 'unixepoch')
    || printf('.%03dZ', sent % 1000)
)
FROM message WHERE job = ? ORDER BY number
