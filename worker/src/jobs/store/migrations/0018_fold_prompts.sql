-- Earlier releases indexed prompts in lower case, without folding. Alarms index them again.
UPDATE search_backlog SET last = (SELECT coalesce(max(row), 0) FROM job);
