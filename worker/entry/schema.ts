/** The tables of a Durable Object, made and changed in numbered steps. */

/**
 * Brings a storage up to date. A step, once released, is never changed: what it has made is
 * out there.
 */
export function migrate(storage: DurableObjectStorage, steps: readonly string[]): void {
  storage.transactionSync(() => {
    storage.sql.exec("CREATE TABLE IF NOT EXISTS migration (done INTEGER NOT NULL)");
    const done = storage.sql.exec<{ done: number }>("SELECT done FROM migration").toArray()[0];
    const from = done?.done ?? 0;
    if (from === steps.length) return;
    for (const step of steps.slice(from)) storage.sql.exec(step);
    storage.sql.exec("DELETE FROM migration");
    storage.sql.exec("INSERT INTO migration (done) VALUES (?)", steps.length);
  });
}
