WITH RECURSIVE
  -- CROSS JOIN keeps the order: each row that is staged is looked up once.
  page (node, parent, human, ai, total) AS MATERIALIZED (
    SELECT node.id, node.parent,
      max(row.value ->> '$.human'), max(row.value ->> '$.ai'), max(row.value ->> '$.total')
    FROM staging CROSS JOIN json_each(staging.text, '$.views') AS row
    CROSS JOIN node ON node.project = ?1 AND node.path = row.value ->> '$.path' AND node.is_prefix = 0
    WHERE staging.project = ?1 AND staging.day = ?2
    GROUP BY node.id
  ),
  above (node, human, ai, total) AS (
    SELECT parent, human, ai, total FROM page WHERE parent IS NOT NULL
    UNION ALL
    SELECT node.parent, above.human, above.ai, above.total
    FROM above CROSS JOIN node ON node.id = above.node WHERE node.parent IS NOT NULL
  ),
  fresh (node, human, ai, total) AS (
    SELECT node, human, ai, total FROM page
    UNION ALL
    SELECT node,
      CASE WHEN count(human) = count(*) THEN sum(human) END,
      CASE WHEN count(ai) = count(*) THEN sum(ai) END,
      CASE WHEN count(total) = count(*) THEN sum(total) END
    FROM above GROUP BY node
  )
