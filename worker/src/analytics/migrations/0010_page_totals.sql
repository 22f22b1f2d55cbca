ALTER TABLE page ADD COLUMN totals TEXT;
CREATE INDEX page_totals ON page (list, totals, fresh_until);
