CREATE TABLE page_part (
  tag TEXT NOT NULL,
  part INTEGER NOT NULL,
  text TEXT NOT NULL,
  PRIMARY KEY (tag, part)
);
