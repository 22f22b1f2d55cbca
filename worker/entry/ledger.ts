/** The ledger: every job created through the gateway, and every change seen of a job. */
import { type Before, cursor, isTerminal } from "./core.js";

export const LEDGER_TABLES = `
  CREATE TABLE project (id TEXT NOT NULL);
  CREATE TABLE job (
    row INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    listed INTEGER NOT NULL,
    subject TEXT,
    line TEXT,
    webhook TEXT,
    created INTEGER NOT NULL,
    status TEXT,
    pr_link TEXT,
    data TEXT,
    seq INTEGER NOT NULL DEFAULT 0,
    checked INTEGER NOT NULL DEFAULT 0
  );
  CREATE INDEX job_created ON job (listed, created, row);
  CREATE INDEX job_webhook ON job (webhook) WHERE webhook IS NOT NULL;
  CREATE TABLE event (
    job TEXT NOT NULL,
    seq INTEGER NOT NULL,
    data TEXT NOT NULL,
    PRIMARY KEY (job, seq)
  ) WITHOUT ROWID;
`;

/** A job as it is kept. */
export type JobRow = {
  row: number;
  id: string;
  subject: string | null;
  line: string | null;
  created: number;
  status: string | null;
  pr_link: string | null;
  data: string | null;
  seq: number;
  checked: number;
};

/** A change of a job: its number, counted from 1, and the job as JSON. */
export type JobEvent = { seq: number; data: string; finished: boolean };

/** A job that a caller has created. */
interface NewJob {
  id: string;
  subject: string;
  line: string;
  webhook: string | null;
}

/** What the upstream tells of a job. */
interface Seen {
  status: string | null;
  prLink: string | null;
  job: Record<string, unknown>;
}

export class Ledger {
  readonly #sql: SqlStorage;
  #project: string | undefined;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  /** Remembers the project: an alarm, unlike a request, does not say it. */
  belongsTo(project: string): void {
    if (this.project() !== "") return;
    this.#sql.exec("INSERT INTO project (id) VALUES (?)", project);
    this.#project = project;
  }

  /** The project; empty as long as no request has named it. */
  project(): string {
    this.#project ??= this.#sql.exec<{ id: string }>("SELECT id FROM project").toArray()[0]?.id;
    return this.#project ?? "";
  }

  /** Writes down a job that was just created, and how it is. */
  add({ id, subject, line, webhook }: NewJob, { status, prLink, job }: Seen): void {
    const now = Date.now();
    // Who was told its id elsewhere may be watching it already.
    this.#sql.exec(
      `INSERT INTO job (id, listed, subject, line, webhook, created, status, pr_link, data, seq, checked)
       VALUES (?, 1, ?, ?, ?, ?, ?, ?, ?, 1, ?)
       ON CONFLICT (id) DO UPDATE SET listed = 1, subject = excluded.subject,
         line = excluded.line, webhook = excluded.webhook`,
      id,
      subject,
      line,
      webhook,
      now,
      status,
      prLink,
      JSON.stringify(job),
      now,
    );
  }

  /** Writes down how a job is; gives the event when that is a change. */
  record(id: string, { status, prLink, job }: Seen): JobEvent | undefined {
    const now = Date.now();
    const data = JSON.stringify(job);
    const row = this.job(id);
    if (!row) {
      // A job that was created elsewhere: it can be watched, and is not listed.
      const insert = "INSERT INTO job (id, listed, created) VALUES (?, 0, ?)";
      this.#sql.exec(insert, id, now);
    }
    if (row?.data === data) {
      this.checked(id);
      return undefined;
    }
    const seq = (row?.seq ?? 0) + 1;
    if (row?.data) this.#past(row.id, row.seq, row.data);
    this.#sql.exec(
      "UPDATE job SET status = ?, pr_link = ?, data = ?, seq = ?, checked = ? WHERE id = ?",
      status,
      prLink,
      data,
      seq,
      now,
      id,
    );
    return { seq, data, finished: status !== null && isTerminal(status) };
  }

  /** Keeps how a job was before: its present state is in its own row. */
  #past(id: string, seq: number, data: string): void {
    this.#sql.exec("INSERT INTO event (job, seq, data) VALUES (?, ?, ?)", id, seq, data);
  }

  /** Remembers when a job was last looked at. */
  checked(id: string): void {
    this.#sql.exec("UPDATE job SET checked = ? WHERE id = ?", Date.now(), id);
  }

  job(id: string): JobRow | undefined {
    return this.#sql.exec<JobRow>("SELECT * FROM job WHERE id = ?", id).toArray()[0];
  }

  /** The address that wants to hear of a job's end. */
  webhookOf(id: string): string | null {
    const rows = this.#sql.exec<{ webhook: string | null }>(
      "SELECT webhook FROM job WHERE id = ?",
      id,
    );
    return rows.toArray()[0]?.webhook ?? null;
  }

  /** Lets nobody wait for a job's end any more. */
  forgetWebhook(id: string): void {
    this.#sql.exec("UPDATE job SET webhook = NULL WHERE id = ?", id);
  }

  /** The unfinished jobs whose end a webhook waits for. */
  awaited(): string[] {
    const rows = this.#sql.exec<{ id: string; status: string | null }>(
      "SELECT id, status FROM job WHERE webhook IS NOT NULL",
    );
    const isOpen = (status: string | null) => status === null || !isTerminal(status);
    return rows
      .toArray()
      .filter(({ status }) => isOpen(status))
      .map(({ id }) => id);
  }

  /**
   * The changes after the one with this number, or the last one alone when none is named or
   * no such change was ever told.
   */
  events(id: string, after: number | null): JobEvent[] {
    const row = this.job(id);
    if (!row?.data) return [];
    const from = after === null || after > row.seq ? row.seq - 1 : after;
    const past = this.#sql
      .exec<{ seq: number; data: string }>(
        "SELECT seq, data FROM event WHERE job = ? AND seq > ? ORDER BY seq",
        id,
        from,
      )
      .toArray();
    const all = from < row.seq ? [...past, { seq: row.seq, data: row.data }] : past;
    return all.map(({ seq, data }) => ({ seq, data, finished: hasFinished(data) }));
  }

  /** Jobs created through the gateway, newest first. */
  page(limit: number, before: Before | null): JobRow[] {
    const { created, row } = before ?? { created: Number.MAX_SAFE_INTEGER, row: 0 };
    return this.#sql
      .exec<JobRow>(
        `SELECT * FROM job WHERE listed = 1 AND (created, row) < (?, ?)
         ORDER BY created DESC, row DESC LIMIT ?`,
        created,
        row,
        limit,
      )
      .toArray();
  }

  /** A page as it is answered. */
  listed(limit: number, before: Before | null) {
    const rows = this.page(limit + 1, before);
    const shown = rows.slice(0, limit);
    const last = shown.at(-1);
    return {
      jobs: shown.map((job) => ({
        id: job.id,
        status: job.status,
        prompt: job.line,
        createdBy: job.subject,
        createdAt: new Date(job.created).toISOString(),
        prLink: job.pr_link,
        checkedAt: new Date(job.checked).toISOString(),
      })),
      nextCursor: last && rows.length > limit ? cursor(last) : null,
    };
  }
}

function hasFinished(data: string): boolean {
  const { status } = JSON.parse(data) as { status?: unknown };
  return typeof status === "string" && isTerminal(status);
}
