SELECT revision, forgotten,
  (SELECT count(*) FROM (
    SELECT 1 FROM job INDEXED BY job_revision
    WHERE listed = 1 AND revision > ?1 LIMIT ?2
  )) AS changes,
  (SELECT count(*) FROM (SELECT 1 FROM deleted WHERE revision > ?1 LIMIT ?2)) AS deletions
FROM project
