-- Links each new node to the prefix directly above it. The expression with rtrim returns the path
-- without its last segment. For a path with a NUL it returns the path itself, so the query excludes
-- the node as its own parent.
UPDATE node SET parent = (
  SELECT above.id FROM node AS above
  WHERE above.project = ?1 AND above.is_prefix = 1 AND above.id <> node.id AND above.path =
    coalesce(nullif(rtrim(rtrim(node.path, replace(node.path, '/', '')), '/'), ''), '/')
)
WHERE project = ?1 AND parent IS NULL AND path <> '/'
