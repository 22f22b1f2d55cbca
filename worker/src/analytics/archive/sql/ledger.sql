UPDATE day SET
  fetched = ?3, pages = ?4,
  human = staged_totals ->> '$.human',
  ai = staged_totals ->> '$.ai',
  total = staged_totals ->> '$.total',
  visitors_human = staged_visitors ->> '$.human',
  visitors_ai = staged_visitors ->> '$.ai',
  visitors_total = staged_visitors ->> '$.total',
  staged_visitors = NULL, staged_totals = NULL, staged_pages = 0, has_page_views = 1,
  attempts = 0, problem = NULL
WHERE project = ?1 AND day = ?2
