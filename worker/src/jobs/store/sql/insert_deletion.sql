INSERT INTO deleted (revision, id, at)
SELECT (SELECT revision + 1 FROM project), id, ? FROM job WHERE id = ? AND listed = 1
RETURNING revision AS id, 'deleted' AS name, json_object('id', id) AS data
