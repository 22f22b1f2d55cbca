-- Links each node without a parent to the prefix directly above it. The rtrim expression removes
-- the last segment of the path. If the path contains a NUL, rtrim ignores the characters after the
-- NUL and can return the whole path. The condition on ids then keeps the node from becoming its own
-- parent.
UPDATE node SET parent = (
  SELECT above.id FROM node AS above
  WHERE above.project = ?1 AND above.is_prefix = 1 AND above.id <> node.id AND above.path =
    coalesce(nullif(rtrim(rtrim(node.path, replace(node.path, '/', '')), '/'), ''), '/')
)
WHERE project = ?1 AND parent IS NULL AND path <> '/'
