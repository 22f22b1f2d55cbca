/**
 * Counterpart of the gateway's project object. It has the creation budget, idempotency keys and
 * recorded jobs, but neither event streams nor webhooks.
 */
import { DurableObject, env as variables } from "cloudflare:workers";
import { Budget } from "./budget.mjs";
import { isJob, MAX_JOB } from "./rules.mjs";
import { requestJson } from "./upstream_client.mjs";

const LIMIT = Number(variables.CREATE_LIMIT_PER_HOUR);
/** Time for which a response is stored under its idempotency key, in milliseconds. */
const LIFETIME = 86_400_000;
/** Interval between deletions of expired responses, in milliseconds. */
const SWEEP_INTERVAL = 60_000;
const JOB = { maxBytes: MAX_JOB, isValid: isJob };
const TABLES = `
  CREATE TABLE IF NOT EXISTS idempotency (
    caller TEXT NOT NULL,
    key TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    state TEXT NOT NULL,
    at INTEGER NOT NULL,
    status INTEGER,
    body TEXT,
    PRIMARY KEY (caller, key)
  ) WITHOUT ROWID;
  CREATE INDEX IF NOT EXISTS idempotency_at ON idempotency (at);
  CREATE TABLE IF NOT EXISTS job (
    row INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    subject TEXT NOT NULL,
    created INTEGER NOT NULL,
    data TEXT NOT NULL
  );
  CREATE INDEX IF NOT EXISTS job_created ON job (created, row);
`;

export class ProjectGate extends DurableObject {
  #sql;
  #budget;
  #nextSweep = 0;

  constructor(state, env) {
    super(state, env);
    this.#sql = state.storage.sql;
    this.#sql.exec(TABLES);
    this.#sql.exec("UPDATE idempotency SET state = 'unknown' WHERE state = 'running'");
    this.#budget = new Budget(this.#sql, "create-job", LIMIT);
  }

  /**
   * Creates a job, unless the key or the budget forbids it.
   *
   * @typedef {object} JobResult
   * @property {Record<string, string>} [headers]
   * @property {number} [status]
   * @property {string} [body]
   * @property {import("./upstream_client.mjs").Failure} [failure]
   *
   * @returns {Promise<JobResult>}
   */
  async createJob(call) {
    const replay = this.#findReplay(call);
    if (replay) return replay;
    const slot = this.#budget.reserve(call.caller);
    if (slot.failure) return slot;
    this.#begin(call);
    const sent = this.#send(call, slot);
    // The creation finishes even if the caller disconnects.
    this.ctx.waitUntil(sent);
    return await sent;
  }

  /**
   * Returns the result of an earlier request with the same key, or the failure if the key cannot be
   * used. Returns `undefined` for a request without a key or with a new key.
   */
  #findReplay({ caller, key, fingerprint }) {
    if (key === null) return undefined;
    this.#sweep(Date.now());
    const lookup = "SELECT * FROM idempotency WHERE caller = ? AND key = ?";
    const [row] = this.#sql.exec(lookup, caller, key).toArray();
    if (!row) return undefined;
    const { state, status, body } = row;
    if (row.fingerprint !== fingerprint) return KEY_REUSED;
    if (state === "running") return KEY_IN_USE;
    if (state === "unknown") return OUTCOME_UNKNOWN;
    return { status, body, headers: { "idempotent-replayed": "true" } };
  }

  #begin({ caller, key, fingerprint }) {
    if (key === null) return;
    this.#sql.exec(
      `INSERT INTO idempotency (caller, key, fingerprint, state, at)
       VALUES (?, ?, ?, 'running', ?)`,
      caller,
      key,
      fingerprint,
      Date.now(),
    );
  }

  async #send({ caller, key, target, body }, { headers, reservation }) {
    const result = await requestJson({ method: "POST", target, body }, JOB);
    this.#budget.settle(reservation);
    if (result.failure) {
      const unknown = "UPDATE idempotency SET state = 'unknown' WHERE caller = ? AND key = ?";
      if (key !== null) this.#sql.exec(unknown, caller, key);
      return { failure: result.failure, headers };
    }
    const { response, text, json } = result;
    const { status } = response;
    if (key !== null) {
      this.#sql.exec(
        "UPDATE idempotency SET state = 'done', status = ?, body = ? WHERE caller = ? AND key = ?",
        status,
        text,
        caller,
        key,
      );
    }
    this.#record(caller, json, text);
    return { status, body: text, headers };
  }

  /** Records a new job if it has an id. A known id gets a new subject. */
  #record(subject, { id }, text) {
    if (id == null) return;
    this.#sql.exec(
      `INSERT INTO job (id, subject, created, data) VALUES (?, ?, ?, ?)
       ON CONFLICT (id) DO UPDATE SET subject = excluded.subject`,
      id,
      subject,
      Date.now(),
      text,
    );
  }

  #sweep(now) {
    if (now < this.#nextSweep) return;
    this.#nextSweep = now + SWEEP_INTERVAL;
    this.#sql.exec("DELETE FROM idempotency WHERE at <= ?", now - LIFETIME);
  }
}

const KEY_REUSED = { failure: { status: 422, kind: "idempotency-key-reused" } };
const KEY_IN_USE = { failure: { status: 409, kind: "idempotency-key-in-use" } };
const OUTCOME_UNKNOWN = { failure: { status: 409, kind: "outcome-unknown" } };
