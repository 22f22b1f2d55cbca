-- Links each new node to the prefix directly above it. A node is never its own parent: with a NUL in
-- a path, the formula returns the path itself.
UPDATE node SET parent = (
  SELECT above.id FROM node AS above
  WHERE above.project = ?1 AND above.is_prefix = 1 AND above.id <> node.id AND above.path =
    coalesce(nullif(rtrim(rtrim(node.path, replace(node.path, '/', '')), '/'), ''), '/')
)
WHERE project = ?1 AND parent IS NULL AND path <> '/'
