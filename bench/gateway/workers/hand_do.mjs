/**
 * The hand-written gateway with the same budget and the same idempotency record in the same
 * kind of Durable Object: a sliding log in SQLite, reserved before the upstream is asked and
 * settled after, and the answer kept under its key. It keeps no ledger of jobs.
 */
import { DurableObject, env as variables } from "cloudflare:workers";
import { admitted } from "./admission.mjs";
import { forward, send } from "./forward.mjs";
import { problem } from "./rules.mjs";

const LIMIT = Number(variables.CREATE_LIMIT_PER_HOUR);
const WINDOW = Number(variables.LIMIT_WINDOW_SECONDS) * 1000;
const TIMEOUT = Number(variables.UPSTREAM_TIMEOUT_SECONDS) * 1000;
const DAY = 86_400_000;
const POLICY = "create-job";

const TABLES = `
  CREATE TABLE IF NOT EXISTS reservation (
    id INTEGER PRIMARY KEY,
    policy TEXT NOT NULL,
    caller TEXT NOT NULL,
    at INTEGER NOT NULL
  );
  CREATE INDEX IF NOT EXISTS reservation_at ON reservation (policy, at);
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
`;

export default {
  async fetch(request, env) {
    const call = await admitted(request);
    if (call.refused) return call.refused;
    if (call.method !== "POST") return await forward(call);
    const key = request.headers.get("idempotency-key");
    const { id, headers, caller, project, target, body } = call;
    const fingerprint = await fingerprintOf(`${target}\n${body}`);
    const gate = env.GATE.getByName(project);
    const done = await gate.write({ caller, key, fingerprint, target, body });
    Object.assign(headers, done.headers);
    if (done.problem) return problem(done.status, done.problem, id, headers);
    headers["content-type"] = "application/json";
    return new Response(done.body, { status: done.status, headers });
  },
};

async function fingerprintOf(text) {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  return new Uint8Array(digest).toBase64();
}

export class Gate extends DurableObject {
  #sql;

  constructor(state, env) {
    super(state, env);
    this.#sql = state.storage.sql;
    this.#sql.exec(TABLES);
    this.#sql.exec("UPDATE idempotency SET state = 'unknown' WHERE state = 'running'");
  }

  /** Creates a job, unless the key or the budget says otherwise. */
  async write(call) {
    const known = this.#repeated(call);
    if (known) return known;
    const slot = this.#reserve(call.caller);
    if (slot.refused) return slot.refused;
    this.#begin(call);
    const done = this.#carryOut(call, slot);
    this.ctx.waitUntil(done);
    return await done;
  }

  #repeated({ caller, key, fingerprint }) {
    if (key === null) return undefined;
    this.#sql.exec("DELETE FROM idempotency WHERE at <= ?", Date.now() - DAY);
    const lookup = "SELECT * FROM idempotency WHERE caller = ? AND key = ?";
    const [row] = this.#sql.exec(lookup, caller, key).toArray();
    if (!row) return undefined;
    if (row.fingerprint !== fingerprint) return { status: 422, problem: "idempotency-key-reused" };
    if (row.state === "running") return { status: 409, problem: "idempotency-key-in-use" };
    if (row.state === "unknown") return { status: 409, problem: "outcome-unknown" };
    return { status: row.status, headers: { "idempotent-replayed": "true" }, body: row.body };
  }

  #reserve(caller) {
    const now = Date.now();
    const expired = "DELETE FROM reservation WHERE policy = ? AND at <= ?";
    this.#sql.exec(expired, POLICY, now - WINDOW);
    const used = this.#sql
      .exec(
        `SELECT caller, count(*) AS count, min(at) AS oldest FROM reservation
         WHERE policy = ? GROUP BY caller`,
        POLICY,
      )
      .toArray();
    const total = used.reduce((sum, { count }) => sum + count, 0);
    const oldest = used.reduce((least, { oldest }) => Math.min(least, oldest), now);
    const seconds = Math.ceil((oldest + WINDOW - now) / 1000);
    const headers = {
      "ratelimit-policy": `"${POLICY}";q=${LIMIT};w=${WINDOW / 1000}`,
      ratelimit: `"${POLICY}";r=${Math.max(0, LIMIT - total - 1)};t=${seconds}`,
    };
    if (total >= LIMIT) {
      headers["retry-after"] = String(seconds);
      return { refused: { status: 429, problem: "quota-exceeded", headers } };
    }
    const { reservation } = this.#sql
      .exec(
        "INSERT INTO reservation (policy, caller, at) VALUES (?, ?, ?) RETURNING id AS reservation",
        POLICY,
        caller,
        now + TIMEOUT,
      )
      .one();
    return { headers, reservation };
  }

  #begin({ caller, key, fingerprint }) {
    if (key === null) return;
    this.#sql.exec(
      `INSERT OR REPLACE INTO idempotency (caller, key, fingerprint, state, at)
       VALUES (?, ?, ?, 'running', ?)`,
      caller,
      key,
      fingerprint,
      Date.now(),
    );
  }

  async #carryOut({ caller, key, target, body }, { headers, reservation }) {
    const answer = await send("POST", target, body);
    const text = typeof answer === "number" ? undefined : await textOf(answer);
    const settle = "UPDATE reservation SET at = ? WHERE id = ?";
    this.#sql.exec(settle, Date.now(), reservation);
    if (text === undefined) {
      const unknown = "UPDATE idempotency SET state = 'unknown' WHERE caller = ? AND key = ?";
      if (key !== null) this.#sql.exec(unknown, caller, key);
      const status = typeof answer === "number" ? answer : 502;
      return { status, problem: "upstream-unreachable", headers };
    }
    const { status } = answer;
    if (key !== null) {
      this.#sql.exec(
        "UPDATE idempotency SET state = 'done', status = ?, body = ? WHERE caller = ? AND key = ?",
        status,
        text,
        caller,
        key,
      );
    }
    return { status, headers, body: text };
  }
}

/** A success's body, if it is the JSON that was promised. */
async function textOf(answer) {
  if (!answer.ok) return undefined;
  try {
    const text = await answer.text();
    JSON.parse(text);
    return text;
  } catch {
    return undefined;
  }
}
