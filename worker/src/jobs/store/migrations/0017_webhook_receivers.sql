-- The origin of the address. The host ends at the first slash or question mark.
ALTER TABLE outbox ADD COLUMN receiver TEXT GENERATED ALWAYS AS (
  lower(substr(url, 1,
    instr(url, '://') + 1 + instr(replace(substr(url, instr(url, '://') + 3), '?', '/') || '/', '/')))
) VIRTUAL;
DROP INDEX outbox_due;
CREATE INDEX outbox_receiver ON outbox (receiver, due);
