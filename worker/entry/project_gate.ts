/**
 * The gate of one project: its budgets, its idempotency keys, the ledger of its jobs and
 * those who watch them. One Durable Object a project, so that what it decides is exact.
 */
import { DurableObject } from "cloudflare:workers";
import { BUDGET_TABLES, Budget } from "./budget.js";
import type { Answer, Before, ReplyRead, Settings, Write } from "./core.js";
import { isTerminal, jobTarget, repeat, settingsOf } from "./core.js";
import type { Env } from "./env.js";
import type { JobEvent, JobRow } from "./ledger.js";
import { LEDGER_TABLES, Ledger } from "./ledger.js";
import { OUTBOX_TABLES, Outbox } from "./outbox.js";
import type { Reported } from "./report.js";
import { withHeaders, withInstance } from "./report.js";
import { migrate } from "./schema.js";
import type { Asked, JsonOutcome } from "./upstream.js";
import { askJson, breakerWord } from "./upstream.js";

const IDEMPOTENCY_TABLES = `
  CREATE TABLE idempotency (
    caller TEXT NOT NULL,
    key TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    state TEXT NOT NULL,
    at INTEGER NOT NULL,
    status INTEGER,
    headers TEXT,
    body TEXT,
    PRIMARY KEY (caller, key)
  ) WITHOUT ROWID;
  CREATE INDEX idempotency_at ON idempotency (at);
`;

const STEPS = [BUDGET_TABLES, IDEMPOTENCY_TABLES, LEDGER_TABLES, OUTBOX_TABLES];

/** How long an answer is kept under its idempotency key: a day. */
const KEPT = 86_400_000;
/** How often those that were kept longer are dropped. */
const FORGETTING = 60_000;
/** The longest wait between two looks at a job while the upstream fails. */
const LONGEST_PAUSE = 60_000;
/** How long after its creation the upstream may not know a job yet. */
const NOT_YET = 60_000;
/** How seldom a job is looked at that only a webhook waits for. */
const UNWATCHED_PAUSE = 15_000;

/** A request with what is passed on of its head. */
export interface Call {
  /** The request's id. */
  id: string;
  project: string;
  traceparent: string;
}

/** What to list of the ledger. */
export interface ListCall extends Call {
  limit: number;
  before: Before | null;
}

/** What is kept under an idempotency key. */
type KeyRow = {
  caller: string;
  key: string;
  fingerprint: string;
  state: "running" | "done" | "unknown";
  at: number;
  status: number | null;
  headers: string | null;
  body: string | null;
};

/** A request that is carried out, and what was kept under its key before. */
interface Begun {
  write: Write;
  earlier?: KeyRow;
}

export class ProjectGate extends DurableObject<Env> {
  readonly #sql: SqlStorage;
  readonly #settings: Settings;
  readonly #budget: Budget;
  readonly #ledger: Ledger;
  readonly #outbox: Outbox;
  /** Looks at a job that are under way, so that many watchers share one. */
  readonly #looks = new Map<string, Promise<JsonOutcome>>();
  /** How often the upstream has failed in a row to tell of a job. */
  readonly #failures = new Map<string, number>();
  /** How many follow-ups were answered, so that a look that began before one is not believed. */
  readonly #written = new Map<string, number>();
  #nextForgetting = 0;

  constructor(state: DurableObjectState, env: Env) {
    super(state, env);
    this.#settings = settingsOf(env);
    migrate(state.storage, STEPS);
    this.#sql = state.storage.sql;
    this.#budget = new Budget(this.#sql, this.#settings);
    this.#ledger = new Ledger(this.#sql);
    this.#outbox = new Outbox(this.#sql);
    // Whatever an earlier instance was carrying out, nobody waits for any more.
    this.#sql.exec("UPDATE idempotency SET state = 'unknown' WHERE state = 'running'");
  }

  // --- writing -------------------------------------------------------------

  /** Carries out a request that writes, unless its key or the budget says otherwise. */
  async write(call: Call, write: Write): Promise<Reported> {
    this.#ledger.belongsTo(call.project);
    const known = this.#repeated(call, write);
    if (known) return { answer: known, report: {} };
    const slot = this.#budget.reserve(write, call.id);
    const { headers } = slot;
    const report = { budgetLeft: slot.left };
    if (slot.answer) return { answer: withHeaders(slot.answer, headers), report };
    const begun = this.#begin(write);
    const done = this.#carryOut(call, begun, slot.reservation, headers).catch((error) => {
      // Nobody knows how far it came: the key must not stay in use, nor be free.
      this.#end(begun, "unknown");
      throw error;
    });
    // The caller may leave; what was begun is brought to its end.
    this.ctx.waitUntil(done);
    const { answer, exchange } = await done;
    return { answer, report: { ...report, upstream: exchange } };
  }

  /** The answer that the idempotency key leads to; nothing when there is work to do. */
  #repeated({ id }: Call, write: Write): Answer | undefined {
    if (write.key === null) return undefined;
    const now = Date.now();
    this.#forgetOld(now);
    const row = this.#stored(write.caller, write.key);
    if (!row) return undefined;
    const { fingerprint, state, at, status } = row;
    const stored = { fingerprint, state, live: state === "running", at, status };
    const asked = { id, stored, fingerprint: write.fingerprint, force: write.force, now };
    const verdict = repeat(asked);
    if ("answer" in verdict) return verdict.answer;
    if (verdict.do !== "replay") return undefined;
    return {
      status: row.status ?? 500,
      headers: { ...JSON.parse(row.headers ?? "{}"), "idempotent-replayed": "true" },
      body: row.body,
    };
  }

  /** Drops the keys that have outlived their day, now and then. */
  #forgetOld(now: number): void {
    if (now < this.#nextForgetting) return;
    this.#nextForgetting = now + FORGETTING;
    this.#sql.exec("DELETE FROM idempotency WHERE at <= ?", now - KEPT);
  }

  #stored(caller: string, key: string): KeyRow | undefined {
    return this.#sql
      .exec<KeyRow>("SELECT * FROM idempotency WHERE caller = ? AND key = ?", caller, key)
      .toArray()[0];
  }

  /** Writes down that a request is carried out. */
  #begin(write: Write): Begun {
    const { key, caller, fingerprint } = write;
    if (key === null) return { write };
    // Only where it is forced is there one still.
    const earlier = write.force ? this.#stored(caller, key) : undefined;
    this.#sql.exec(
      `INSERT OR REPLACE INTO idempotency (caller, key, fingerprint, state, at)
       VALUES (?, ?, ?, 'running', ?)`,
      caller,
      key,
      fingerprint,
      Date.now(),
    );
    return earlier ? { write, earlier } : { write };
  }

  async #carryOut(
    { id, traceparent }: Call,
    begun: Begun,
    reservation: number,
    headers: Record<string, string>,
  ) {
    const { write } = begun;
    const { target, body } = write;
    const asked: Asked = { id, method: "POST", target, body, traceparent };
    const outcome = await askJson(this.#settings, asked);
    const { reading, exchange } = outcome;
    if (reading.closedFor !== null) this.#budget.close(write.policy, reading.closedFor);
    if (reading.settled === "forget") this.#budget.release(reservation);
    else this.#budget.settle(reservation);
    const answer = reading.answer ?? success(exchange.status ?? 200, outcome.text);
    this.#end(begun, reading.settled, answer);
    if (outcome.json) await this.#created(write, outcome.json).catch(noteBroken);
    return { answer: withHeaders(answer, headers), exchange };
  }

  /** Keeps what became of a request under its key. */
  #end({ write, earlier }: Begun, settled: ReplyRead["settled"], answer?: Answer): void {
    const { key, caller } = write;
    if (key === null) return;
    const kept = [caller, key] as const;
    if (settled === "forget" && earlier) {
      // This attempt did nothing; what is not known of the one before is still not known.
      this.#restore(earlier);
    } else if (settled === "forget") {
      this.#sql.exec("DELETE FROM idempotency WHERE caller = ? AND key = ?", ...kept);
    } else if (settled === "unknown" || !answer) {
      const unknown = "UPDATE idempotency SET state = 'unknown' WHERE caller = ? AND key = ?";
      this.#sql.exec(unknown, ...kept);
    } else {
      this.#sql.exec(
        `UPDATE idempotency SET state = 'done', status = ?, headers = ?, body = ?
         WHERE caller = ? AND key = ?`,
        answer.status,
        JSON.stringify(answer.headers),
        answer.body,
        ...kept,
      );
    }
  }

  #restore({ caller, key, fingerprint, state, at, status, headers, body }: KeyRow): void {
    this.#sql.exec(
      `INSERT OR REPLACE INTO idempotency
       (caller, key, fingerprint, state, at, status, headers, body) VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
      caller,
      key,
      fingerprint,
      state,
      at,
      status,
      headers,
      body,
    );
  }

  /** A job was created, or set to work again by a follow-up. */
  async #created(write: Write, job: Record<string, unknown>): Promise<void> {
    const id = write.job ?? textOf(job, "id");
    if (id === null) return;
    if (write.job === null) {
      this.#ledger.add({ ...write, id }, seenOf(job));
      // Nobody can wait for a job that is just created but a webhook.
      if (write.webhook === null) return;
    } else {
      this.#written.set(id, (this.#written.get(id) ?? 0) + 1);
      this.#record(id, job);
    }
    await this.#schedule();
  }

  // --- the ledger ----------------------------------------------------------

  /** A page of the ledger as JSON, newest first, its unfinished jobs as they are now. */
  async list(call: ListCall): Promise<Reported> {
    const stale = this.#ledger.page(call.limit, call.before).filter((job) => this.#isDue(job));
    await Promise.all(stale.map((job) => this.#look(call, job.id)));
    if (stale.length > 0) await this.#schedule();
    const body = JSON.stringify(this.#ledger.listed(call.limit, call.before));
    return { answer: success(200, body), report: {} };
  }

  #isDue({ id, status, checked }: JobRow): boolean {
    return !isFinished(status) && Date.now() >= checked + this.#pause(id, this.#settings.poll);
  }

  /** The wait between two looks at a job, longer while the upstream fails to tell of it. */
  #pause(job: string, usual: number): number {
    const failures = Math.min(this.#failures.get(job) ?? 0, 6);
    return Math.min(usual * 2 ** failures, Math.max(usual, LONGEST_PAUSE));
  }

  /** Asks the upstream for a job; those who ask meanwhile get the same answer. */
  #look(call: Call, job: string): Promise<JsonOutcome> {
    const under = this.#looks.get(job);
    if (under) return under;
    const look = this.#looked(call, job).finally(() => this.#looks.delete(job));
    this.#looks.set(job, look);
    return look;
  }

  async #looked({ id, project, traceparent }: Call, job: string): Promise<JsonOutcome> {
    const asked: Asked = { id, method: "GET", target: jobTarget(project, job), traceparent };
    const written = this.#written.get(job) ?? 0;
    const outcome = await askJson(this.#settings, asked);
    if (outcome.json) {
      this.#failures.delete(job);
      // Older than what a follow-up has answered meanwhile: the next look tells.
      if ((this.#written.get(job) ?? 0) === written) this.#record(job, outcome.json);
      else this.#ledger.checked(job);
    } else {
      if (this.#ledger.job(job)) this.#failures.set(job, (this.#failures.get(job) ?? 0) + 1);
      this.#ledger.checked(job);
      if (outcome.exchange.status === 404) this.#missed(job);
    }
    return outcome;
  }

  /** A job that the upstream does not know. Shortly after its creation it may just not yet. */
  #missed(job: string): void {
    const row = this.#ledger.job(job);
    if (!row || Date.now() - row.created < NOT_YET) return;
    this.#ledger.forgetWebhook(job);
    // Whoever comes back is told 404.
    for (const socket of this.ctx.getWebSockets(job)) socket.close(1000, "gone");
  }

  /** Writes down how a job is; what has changed is told to its watchers. */
  #record(id: string, job: Record<string, unknown>): void {
    const seen = seenOf(job);
    const { status } = seen;
    const event = this.#ledger.record(id, seen);
    if (!event) return;
    this.#tell(id, event);
    if (!isFinished(status)) return;
    const webhook = this.#ledger.webhookOf(id);
    if (webhook) this.#outbox.add({ url: webhook, status: status ?? "", job: event.data });
  }

  /** Tells a job's watchers of a change, and lets them go when it is the last. */
  #tell(id: string, event: JobEvent): void {
    for (const socket of this.ctx.getWebSockets(id)) {
      // One that is just being closed takes nothing any more: who comes back gets it.
      if (socket.readyState !== WebSocket.OPEN) continue;
      socket.send(JSON.stringify(event));
      if (event.finished) socket.close(1000, "finished");
    }
  }

  // --- watching ------------------------------------------------------------

  /**
   * Opens a WebSocket on which a job's changes are told: `/watch?job&after`, with `call` for
   * the rest. Answers otherwise with the {@link Answer} as JSON.
   */
  override async fetch(request: Request): Promise<Response> {
    const { searchParams } = new URL(request.url);
    const job = searchParams.get("job") ?? "";
    const after = searchParams.has("after") ? Number(searchParams.get("after")) : null;
    const call = JSON.parse(searchParams.get("call") ?? "{}") as Call;
    this.#ledger.belongsTo(call.project);
    const refused = await this.#upToDate(call, job, after);
    if (refused) return Response.json(refused, { status: 409 });
    const events = this.#ledger.events(job, after);
    const finished = isFinished(this.#ledger.job(job)?.status ?? null);
    if (finished && events.length === 0) {
      return Response.json({ status: 204, headers: {}, body: null }, { status: 409 });
    }
    const [outside, inside] = Object.values(new WebSocketPair()) as [WebSocket, WebSocket];
    this.ctx.acceptWebSocket(inside, [job]);
    for (const event of events) inside.send(JSON.stringify(event));
    if (finished) inside.close(1000, "finished");
    await this.#schedule();
    return new Response(null, { status: 101, webSocket: outside });
  }

  /** Looks at a job whose state is not known as of this interval; gives why it cannot. */
  async #upToDate(call: Call, job: string, after: number | null): Promise<Answer | undefined> {
    const row = this.#ledger.job(job);
    const isNew = row === undefined || row.seq === 0;
    // A finished job may have been set to work again from elsewhere; who comes back to
    // one only asks whether there is more.
    const ask = isFinished(row?.status ?? null) ? after === null : true;
    const old = row !== undefined && Date.now() - row.checked >= this.#settings.poll;
    if (!isNew && !(ask && old)) return undefined;
    const { json, reading } = await this.#look(call, job);
    // What is known of a job is still good when the upstream fails for a moment.
    if (json || (!isNew && reading.failure) || !reading.answer) return undefined;
    return withInstance(reading.answer, call.id);
  }

  override async webSocketMessage(): Promise<void> {}

  override async webSocketClose(socket: WebSocket): Promise<void> {
    socket.close();
  }

  override async webSocketError(): Promise<void> {}

  /** Looks at the jobs that somebody waits for, and sends the webhooks that are due. */
  override async alarm(): Promise<void> {
    const call = { id: crypto.randomUUID(), traceparent: newTraceparent() };
    const due = this.#waitedFor().filter(({ at }) => at <= Date.now());
    const work = [
      ...due.map(({ job, project }) => this.#look({ ...call, project }, job)),
      ...this.#outbox.deliver(),
    ];
    // What takes its time must not hold up the rest, as the next alarm waits for this one.
    for (const one of work) this.ctx.waitUntil(one.then(() => this.#schedule()));
    await this.#schedule();
  }

  /** Every job that somebody waits for, and when it is to be looked at next. */
  #waitedFor(): { job: string; project: string; at: number }[] {
    const project = this.#ledger.project();
    const watched = new Set(this.ctx.getWebSockets().flatMap((ws) => this.ctx.getTags(ws)));
    const jobs = [
      ...[...watched].map((job) => ({ job, pause: this.#settings.poll })),
      ...this.#ledger
        .awaited()
        .filter((job) => !watched.has(job))
        .map((job) => ({ job, pause: Math.max(this.#settings.poll, UNWATCHED_PAUSE) })),
    ];
    return jobs.map(({ job, pause }) => {
      // A look under way tells when it ends; this is for a gate that ends before.
      if (this.#looks.has(job)) return { job, project, at: Date.now() + this.#settings.timeout };
      const checked = this.#ledger.job(job)?.checked ?? 0;
      return { job, project, at: checked + this.#pause(job, pause) };
    });
  }

  /** Sets the alarm for what comes next; without watchers and webhooks it is not set again. */
  async #schedule(): Promise<void> {
    const due = [...this.#waitedFor().map(({ at }) => at), this.#outbox.due()];
    const next = Math.min(...due.filter((at) => at !== null));
    if (Number.isFinite(next)) await this.ctx.storage.setAlarm(Math.max(next, Date.now() + 1));
  }

  // --- health --------------------------------------------------------------

  /** What an operator is told. */
  health() {
    const { createLimit, messageLimit } = this.#settings;
    return {
      breaker: breakerWord(),
      budgets: {
        "create-job": this.#budget.state("create-job", createLimit),
        "send-message": this.#budget.state("send-message", messageLimit),
      },
      watchers: this.ctx.getWebSockets().length,
      webhooksWaiting: this.#outbox.waiting(),
    };
  }
}

function success(status: number, body: string): Answer {
  return { status, headers: { "content-type": "application/json" }, body };
}

/** The ledger failed. The answer is the upstream's, and known: it is given all the same. */
function noteBroken(error: unknown): void {
  console.error(JSON.stringify({ operator: `the ledger failed: ${String(error)}` }));
}

/** What counts of a job as the upstream tells it. */
function seenOf(job: Record<string, unknown>) {
  return { status: textOf(job, "status"), prLink: textOf(job, "prLink"), job };
}

function textOf(job: Record<string, unknown>, name: string): string | null {
  const value = job[name];
  return typeof value === "string" ? value : null;
}

function isFinished(status: string | null): boolean {
  return status !== null && isTerminal(status);
}

/** A trace of its own: no caller has asked for this very request. */
function newTraceparent(): string {
  const hex = (length: number) => {
    const bytes = crypto.getRandomValues(new Uint8Array(length));
    return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
  };
  return `00-${hex(16)}-${hex(8)}-00`;
}
