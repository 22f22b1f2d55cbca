-- Says of new pages and prefixes which prefix is right above them.
UPDATE node SET parent = (
  SELECT above.id FROM node AS above
  WHERE above.project = ?1 AND above.is_prefix = 1 AND above.path =
    coalesce(nullif(rtrim(rtrim(node.path, replace(node.path, '/', '')), '/'), ''), '/')
)
WHERE project = ?1 AND parent IS NULL AND path <> '/'
