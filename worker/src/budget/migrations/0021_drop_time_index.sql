DROP INDEX IF EXISTS reservation_at;
