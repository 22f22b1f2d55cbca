/** Webhooks that are still to be delivered, after Standard Webhooks. */
import { delivery, nextDelivery } from "./core.js";

export const OUTBOX_TABLES = `
  CREATE TABLE outbox (
    id TEXT PRIMARY KEY,
    url TEXT NOT NULL,
    status TEXT NOT NULL,
    job TEXT NOT NULL,
    moment TEXT NOT NULL,
    attempts INTEGER NOT NULL DEFAULT 0,
    due INTEGER NOT NULL
  ) WITHOUT ROWID;
  CREATE INDEX outbox_due ON outbox (due);
`;

/** How long a receiver may take: 15 to 30 s, says Standard Webhooks. */
const TIMEOUT = 20_000;
/** When what was being sent as the gate ended is sent again: after the time of its first retry. */
const LEASE = TIMEOUT + 5_000;
/** How many are sent at once: as many connections as an invocation may open. */
const AT_ONCE = 6;

type Row = {
  id: string;
  url: string;
  status: string;
  job: string;
  moment: string;
  attempts: number;
};

export class Outbox {
  readonly #sql: SqlStorage;
  /** What is being sent, so that nothing is sent twice at a time. */
  readonly #sending = new Set<string>();

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  /** Tells an address of a job's end, as soon as the alarm comes. */
  add({ url, status, job }: { url: string; status: string; job: string }): void {
    const id = `msg_${crypto.randomUUID().replaceAll("-", "")}`;
    const now = Date.now();
    this.#sql.exec(
      "INSERT INTO outbox (id, url, status, job, moment, due) VALUES (?, ?, ?, ?, ?, ?)",
      id,
      url,
      status,
      job,
      new Date(now).toISOString(),
      now,
    );
  }

  /** When the next is due, in milliseconds; `null` when there is none. */
  due(): number | null {
    return this.#sql.exec<{ due: number | null }>("SELECT min(due) AS due FROM outbox").one().due;
  }

  /** How many are waiting. */
  waiting(): number {
    return this.#sql.exec<{ count: number }>("SELECT count(*) AS count FROM outbox").one().count;
  }

  /** Begins to send what is due; each ends by itself, so that none holds up another. */
  deliver(): Promise<void>[] {
    const now = Date.now();
    const rows = this.#sql
      .exec<Row>("SELECT * FROM outbox WHERE due <= ? ORDER BY due LIMIT ?", now, AT_ONCE)
      .toArray()
      .filter(({ id }) => !this.#sending.has(id));
    return rows.map((row) => {
      // Should the gate end meanwhile, it is sent again after that.
      this.#sql.exec("UPDATE outbox SET due = ? WHERE id = ?", now + LEASE, row.id);
      this.#sending.add(row.id);
      return this.#deliverOne(row).finally(() => this.#sending.delete(row.id));
    });
  }

  async #deliverOne(row: Row): Promise<void> {
    const { status, retryAfter } = await sent(row);
    const attempts = row.attempts + 1;
    const wait = nextDelivery(attempts, status, retryAfter, Math.random(), Date.now());
    if (wait < 0) {
      this.#sql.exec("DELETE FROM outbox WHERE id = ?", row.id);
      const delivered = status >= 200 && status < 300;
      if (!delivered) console.error(JSON.stringify({ webhook: row.id, givenUp: true, status }));
      return;
    }
    const again = "UPDATE outbox SET attempts = ?, due = ? WHERE id = ?";
    this.#sql.exec(again, attempts, Date.now() + wait, row.id);
  }
}

/** Sends one; no answer is status 0. */
async function sent({ id, url, status, job, moment }: Row) {
  const seconds = Math.floor(Date.now() / 1000);
  const { body, signature } = delivery(id, seconds, moment, status, job);
  try {
    const response = await fetch(url, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        "user-agent": "quillgate/0.1.0",
        "webhook-id": id,
        "webhook-timestamp": String(seconds),
        "webhook-signature": signature,
      },
      body,
      // A redirect could lead anywhere: it is a failure.
      redirect: "manual",
      signal: AbortSignal.timeout(TIMEOUT),
    });
    await response.body?.cancel();
    return { status: response.status, retryAfter: response.headers.get("retry-after") ?? "" };
  } catch {
    return { status: 0, retryAfter: "" };
  }
}
