CREATE TABLE page (
  list TEXT NOT NULL,
  number INTEGER NOT NULL,
  text TEXT NOT NULL,
  tag TEXT NOT NULL,
  rows INTEGER NOT NULL,
  has_more INTEGER NOT NULL,
  fetched INTEGER NOT NULL,
  fresh_until INTEGER NOT NULL,
  PRIMARY KEY (list, number)
);
CREATE INDEX page_fresh_until ON page (fresh_until);
