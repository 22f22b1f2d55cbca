-- Alarms have not folded the prompts up to `search_backlog.last` yet. Searches fold those marked here.
UPDATE job SET prompt_lowercase = ''
WHERE row <= (SELECT last FROM search_backlog)
  AND octet_length(coalesce(prompt, prompt_summary)) > length(coalesce(prompt, prompt_summary));
DROP TABLE job_search;
DROP TABLE search_backlog;
