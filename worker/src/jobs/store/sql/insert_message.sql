INSERT INTO message (job, number, prompt, author, sent)
SELECT id, (SELECT coalesce(max(number), 0) + 1 FROM message WHERE job = ?1), ?2, ?3, ?4
FROM job WHERE id = ?1 AND listed = 1
