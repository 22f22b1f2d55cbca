SELECT json_object(
  'at', strftime('%Y-%m-%dT%H:%M:%fZ', since / 1000.0, 'unixepoch'),
  'status', status,
  'prLink', pr_link
)
FROM (
  SELECT *, row_number() OVER own AS place, lag(status) OVER own AS past_status,
    lag(pr_link) OVER own AS past_link
  FROM (
    SELECT version, since, status,
      CASE WHEN lower(trim(link)) NOT IN ('', 'null') THEN link END AS pr_link
    FROM (
      SELECT version, since, json_extract(data, '$.status') AS status,
        json_extract(data, '$.prLink') AS link FROM event WHERE job = ?1
      UNION ALL SELECT version, since, status, pr_link AS link FROM job WHERE id = ?1
    )
  ) WINDOW own AS (ORDER BY version)
)
WHERE place = 1 OR status IS NOT past_status OR pr_link IS NOT past_link ORDER BY version
