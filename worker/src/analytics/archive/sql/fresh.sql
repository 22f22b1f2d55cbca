WITH RECURSIVE
  -- One row per page. Two staged responses can contain the same page, so max() merges the rows of a
  -- page. Different pages can have the same stored path (see StoredPath), so rows are also grouped
  -- by the original path.
  counted (path, is_prefix, human, ai, total) AS MATERIALIZED (
    SELECT row.value ->> '$.path', coalesce(row.value ->> '$.quillgate.isPrefix', 0),
      max(row.value ->> '$.human'), max(row.value ->> '$.ai'), max(row.value ->> '$.total')
    FROM staging CROSS JOIN json_each(staging.text, '$.views') AS row
    WHERE staging.project = ?1 AND staging.day = ?2
    GROUP BY 1, 2, row.value ->> '$.quillgate.original'
  ),
  -- A sum is NULL if one of its counts is unknown. CROSS JOIN fixes the join order: one scan of
  -- `counted`, with an index lookup in `node` per row.
  page (node, parent, is_prefix, human, ai, total) AS MATERIALIZED (
    SELECT node.id, node.parent, node.is_prefix,
      CASE WHEN count(human) = count(*) THEN sum(human) END,
      CASE WHEN count(ai) = count(*) THEN sum(ai) END,
      CASE WHEN count(total) = count(*) THEN sum(total) END
    FROM counted CROSS JOIN node
      ON node.project = ?1 AND node.path = counted.path AND node.is_prefix = counted.is_prefix
    GROUP BY node.id
  ),
  above (node, human, ai, total) AS (
    SELECT parent, human, ai, total FROM page WHERE is_prefix = 0 AND parent IS NOT NULL
    UNION ALL
    SELECT node, human, ai, total FROM page WHERE is_prefix = 1
    UNION ALL
    SELECT node.parent, above.human, above.ai, above.total
    FROM above CROSS JOIN node ON node.id = above.node
    WHERE node.parent IS NOT NULL AND node.parent <> node.id
  ),
  fresh (node, human, ai, total) AS (
    SELECT node, human, ai, total FROM page WHERE is_prefix = 0
    UNION ALL
    SELECT node,
      CASE WHEN count(human) = count(*) THEN sum(human) END,
      CASE WHEN count(ai) = count(*) THEN sum(ai) END,
      CASE WHEN count(total) = count(*) THEN sum(total) END
    FROM above GROUP BY node
  )
