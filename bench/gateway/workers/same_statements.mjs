/**
 * A gateway in JavaScript for job creations and for reports of whole pages of views. It has the
 * gateway's migrations, executes the gateway's statements in the same transactions, and sends the
 * same requests upstream. `statements.mjs` compares both. It verifies the token of every request,
 * caches pages only in the organization's object, and writes no log.
 */
import { DurableObject, env } from "cloudflare:workers";
import insertJob from "../../../worker/src/jobs/store/sql/insert_job.sql";
import listedJob from "../../../worker/src/jobs/store/sql/listed_job.sql";
import { decodeSegment, findAccessProblem, findClaimsProblem, isJsonType } from "./rules.mjs";
import { readText, TIMEOUT } from "./upstream_client.mjs";

/* global ORGANIZATION_MIGRATIONS, PROJECT_MIGRATIONS -- inserted by the build */

const WINDOW = Number(env.LIMIT_WINDOW_SECONDS) * 1000;
const FRESH_FOR = Number(env.ANALYTICS_FRESH_SECONDS) * 1000;
const LIMITS = { "create-job": env.CREATE_LIMIT_PER_HOUR, analytics: env.ANALYTICS_LIMIT_PER_HOUR };
const DAY = 86_400_000;
const MAX_BODY = 4 * 1024 * 1024;
const PAGE_ROWS = 250;
const JSON_TYPE = { "content-type": "application/json" };
const BASE64URL = { alphabet: "base64url", omitPadding: true };
const HMAC = { name: "HMAC", hash: "SHA-256" };
const encoder = new TextEncoder();

// --- requests --------------------------------------------------------------

export default {
  async fetch(request) {
    try {
      const { status, headers, body } = await answer(request);
      const common = { "cache-control": "no-store", "x-content-type-options": "nosniff" };
      const all = { ...common, vary: "Origin", "x-request-id": crypto.randomUUID(), ...headers };
      return new Response(body, { status, headers: all });
    } catch (error) {
      return new Response(error, { status: error.cause ?? 500 });
    }
  },
};

function check(isMet, status) {
  if (!isMet) throw new Error("refused", { cause: status });
}

async function answer(request) {
  const { method, url } = request;
  const [, target, area, segment, list, query = ""] =
    /^https?:\/\/[^/]+(\/v\d\/(\w+)\/([^/?]+)\/(\w+))(?:\?(.*))?$/.exec(url) ?? [];
  const scopes = { "POST agent/job": "jobs:create", "GET analytics/views": "analytics:read" };
  const scope = scopes[`${method} ${area}/${list}`];
  check(scope !== undefined && !request.headers.has("origin"), 404);
  const claims = await verifyToken(request.headers.get("authorization"));
  const project = decodeSegment(segment);
  check(project !== undefined && findAccessProblem(claims, project, scope) === undefined, 403);
  const call = { project, caller: `quillgate ${claims.sub}`, subject: claims.sub, target };
  return await (method === "POST" ? createJob(request, call) : listViews(request, call, query));
}

let key;

async function verifyToken(authorization) {
  const [, signed, head, payload, signature] =
    /^Bearer (([\w-]+)\.([\w-]+))\.([\w-]+)$/.exec(authorization ?? "") ?? [];
  check(signed !== undefined, 401);
  const secret = encoder.encode(env.ACCESS_TOKEN_SECRET);
  key ??= await crypto.subtle.importKey("raw", secret, HMAC, false, ["verify"]);
  const bytes = Uint8Array.fromBase64(signature, BASE64URL);
  const isValid = await crypto.subtle.verify(HMAC, key, bytes, encoder.encode(signed));
  const decode = (part) => JSON.parse(atob(part.replaceAll("-", "+").replaceAll("_", "/")));
  check(isValid && decode(head).alg === "HS256", 401);
  const claims = decode(payload);
  check(findClaimsProblem(claims, Date.now() / 1000) === undefined, 401);
  return claims;
}

async function createJob(request, call) {
  const { headers } = request;
  check(isJsonType(headers.get("content-type")), 415);
  check(Number(headers.get("content-length")) <= MAX_BODY, 413);
  const { prompt, ...more } = await request.json();
  check(typeof prompt === "string" && prompt !== "" && Object.keys(more).length === 0, 400);
  const key = headers.get("idempotency-key");
  check(/^[!-~]{1,255}$/.test(key), 400);
  const body = JSON.stringify({ prompt });
  const fingerprint = await hash(`${call.target}\n${body}`);
  const gate = env.PROJECT_GATE.getByName(call.project);
  return await gate.createJob({ ...call, body, prompt, key, fingerprint });
}

async function listViews(_, { caller, target }, query) {
  const { dateFrom, dateTo, limit, offset, ...more } = Object.fromEntries(
    new URLSearchParams(query),
  );
  const isPage = Number(limit) === PAGE_ROWS && /^\d{1,15}$/.test(offset) && offset % limit === 0;
  check(isPage && Date.parse(dateFrom) < Date.parse(dateTo) && Object.keys(more).length === 0, 400);
  const list = `${target}?${new URLSearchParams({ dateFrom, dateTo })}`;
  const gate = env.ORG_GATE.getByName("organisation");
  const { page, cache, ...reply } = await gate.report({ caller, list, number: offset / limit });
  if (!page) return reply;
  const fields = {
    age: String(Math.floor((Date.now() - page.fetched) / 1000)),
    "cache-control": `private, max-age=${Math.floor((page.fresh_until - page.fetched) / 1000)}`,
    "cache-status": `bench; ${cache}`,
    etag: `"${page.tag}"`,
    vary: "Origin, Authorization",
  };
  return { status: 200, headers: { ...fields, ...JSON_TYPE, ...reply.headers }, body: page.text };
}

async function hash(text) {
  const digest = await crypto.subtle.digest("SHA-256", encoder.encode(text));
  return new Uint8Array(digest).toBase64(BASE64URL);
}

// --- upstream --------------------------------------------------------------

async function send(method, target, body) {
  const headers = { accept: "application/json", authorization: `Bearer ${env.ADMIN_API_KEY}` };
  if (body !== undefined) Object.assign(headers, JSON_TYPE);
  const controller = new AbortController();
  const { signal } = controller;
  const timer = setTimeout(() => controller.abort(), TIMEOUT);
  const init = { method, headers, body, redirect: "manual", cache: "no-store", signal };
  try {
    const response = await fetch(env.UPSTREAM_BASE_URL + target, init);
    if (!response.ok) return { status: response.status };
    const text = await readText(response, MAX_BODY);
    return { status: response.status, text, json: JSON.parse(text) };
  } catch {
    return { status: 502 };
  } finally {
    clearTimeout(timer);
  }
}

// --- Durable Objects -------------------------------------------------------

const USAGE = `SELECT count(own.id) AS count, min(own.at) AS oldest, closed.until, closed.probe
  FROM json_each(?1) AS name
  LEFT JOIN closed ON closed.policy = ?2 AND closed.until > ?3
  LEFT JOIN reservation AS own ON own.policy = ?2 AND own.at > ?4 AND (name.value IS NULL
    OR own.caller = name.value
    OR EXISTS (SELECT 1 FROM json_each(nullif(own.ceilings, '')) WHERE value = name.value))
  GROUP BY name.key ORDER BY name.key`;
const RESERVE = `INSERT INTO reservation (policy, caller, at, ceilings) VALUES (?, ?, ?, ?)
  RETURNING id`;
/** The policies whose reservations are deleted, and their windows in milliseconds. */
const SPANS = {
  ...{ "create-job": WINDOW, "send-message": WINDOW, analytics: WINDOW },
  ...{ "create-deployment": 10_000, "create-preview": 60_000 },
};
const SWEEP_RESERVATIONS = "DELETE FROM reservation WHERE policy = ? AND at <= ?";

class Gate extends DurableObject {
  constructor(state, env, migrations) {
    super(state, env);
    const tables = this.run("SELECT 1 FROM sqlite_master WHERE name = 'reservation'");
    if (tables.length === 0) for (const step of migrations) this.run(step);
  }

  run(statement, ...values) {
    return this.ctx.storage.sql.exec(statement, ...values).toArray();
  }

  transaction(run) {
    return this.ctx.storage.transactionSync(run);
  }

  reserve(policy, caller) {
    const now = Date.now();
    const [{ count, oldest, until }] = this.run(USAGE, "[null]", policy, now, now - WINDOW);
    const left = LIMITS[policy] - count - 1;
    if (until !== null || left < 0) return { status: 429 };
    const [{ id }] = this.run(RESERVE, policy, caller, now + TIMEOUT, "[]");
    if (id % 64 === 0) {
      for (const [name, span] of Object.entries(SPANS)) {
        this.run(SWEEP_RESERVATIONS, name, now - span);
      }
    }
    const seconds = Math.ceil(((oldest ?? now) + WINDOW - now) / 1000);
    const headers = {
      "ratelimit-policy": `"${policy}";q=${LIMITS[policy]};w=${WINDOW / 1000}`,
      ratelimit: `"${policy}";r=${left};t=${seconds}`,
    };
    return { id, headers };
  }

  settle(id) {
    this.run("UPDATE reservation SET at = ? WHERE id = ?", Date.now(), id);
  }
}

const FIND_KEY = `SELECT fingerprint, state, at, status, headers, body
  FROM idempotency WHERE caller = ? AND key = ? AND at > ?`;
const INSERT_KEY = `INSERT OR REPLACE INTO idempotency (caller, key, fingerprint, state, at)
  VALUES (?1, ?2, ?3, 'running', ?4)`;
const CONCLUDE_KEY = `UPDATE idempotency
  SET state = 'done', status = ?, headers = ?, body = ? WHERE caller = ? AND key = ?`;
const FIND_JOB = `SELECT row, id, listed, webhook, created_at, status, data, version, checked_at,
  last_started_at, not_before, missing_since, since,
  given_up_start IS last_started_at AS given_up, webhook_poll FROM job WHERE id = ?`;
const INSERT_JOB = `${insertJob}RETURNING revision AS id, 'job' AS name, ${listedJob} AS data`;

export class ProjectGate extends Gate {
  #isKnown = false;

  constructor(state, env) {
    super(state, env, PROJECT_MIGRATIONS);
  }

  async createJob(call) {
    if (!this.#isKnown && this.run("SELECT id FROM project").length === 0) {
      this.run("INSERT INTO project (id) VALUES (?)", call.project);
    }
    this.#isKnown = true;
    const begun = this.transaction(() => this.#begin(call));
    if (begun.id === undefined) return begun;
    const sent = this.#send(call, begun);
    this.ctx.waitUntil(sent);
    return await sent;
  }

  /** Reserves the key and the budget. Returns the response if the request must not be sent. */
  #begin({ caller, key, fingerprint }) {
    const now = Date.now();
    const [known] = this.run(FIND_KEY, caller, key, now - DAY);
    if (known?.state === "done" && known.fingerprint === fingerprint) {
      return { status: known.status, body: known.body, headers: JSON.parse(known.headers) };
    }
    if (known) return { status: 409 };
    this.run(INSERT_KEY, caller, key, fingerprint, now);
    return this.reserve("create-job", caller);
  }

  async #send({ caller, subject, target, body, prompt, key }, { id, headers }) {
    const { status, text, json } = await send("POST", target, body);
    return this.transaction(() => {
      if (typeof json?.id === "string") this.#store(json, subject, prompt);
      this.settle(id);
      this.run(CONCLUDE_KEY, status, JSON.stringify(JSON_TYPE), text ?? null, caller, key);
      return { status, body: text, headers: { ...JSON_TYPE, ...headers } };
    });
  }

  #store(job, subject, prompt) {
    this.run(FIND_JOB, job.id);
    const summary = prompt.trim().split("\n", 1)[0].slice(0, 120);
    const values = [job.id, subject, summary, prompt, null, null, Date.now(), job.status ?? null];
    const rest = [job.prLink ?? null, JSON.stringify(job), null, null, null];
    const [event] = this.run(INSERT_JOB, ...values, ...rest);
    if (event) this.run("UPDATE project SET revision = revision + 1");
  }
}

const FIND_PAGE = `SELECT text, tag, rows, has_more, totals, fetched, fresh_until FROM page
  WHERE list = ? AND number = ?`;
const INSERT_PAGE = `INSERT OR REPLACE INTO page
  (list, number, tag, rows, has_more, totals, fetched, fresh_until, text)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`;
const EXPIRE_PAGES = `UPDATE page SET fresh_until = ?1 WHERE fresh_until > ?1 AND (
  (list = ?2 AND totals IS NULL) OR (list = ?2 AND totals < ?3) OR (list = ?2 AND totals > ?3))`;
const TRIM_PAGES = `DELETE FROM page WHERE rowid <=
  (SELECT rowid FROM page ORDER BY rowid DESC LIMIT 1 OFFSET ?)`;

export class OrgGate extends Gate {
  #pages = new Map();
  #stored = 0;
  #nextSweep = 0;

  constructor(state, env) {
    super(state, env, ORGANIZATION_MIGRATIONS);
    this.#stored = this.#count();
  }

  async report({ caller, list, number }) {
    const key = `${number} ${list}`;
    const page = this.#pages.get(key) ?? this.run(FIND_PAGE, list, number)[0];
    const ttl = Math.floor((page?.fresh_until - Date.now()) / 1000);
    if (ttl > 0) return { page, cache: `hit; ttl=${ttl}` };
    const reservation = this.transaction(() => this.reserve("analytics", caller));
    if (reservation.id === undefined) return reservation;
    const fetched = this.#fetch(key, list, number, reservation);
    this.ctx.waitUntil(fetched);
    return await fetched;
  }

  async #fetch(key, list, number, { id, headers }) {
    const target = `${list}&limit=${PAGE_ROWS}&offset=${number * PAGE_ROWS}`;
    const { status, text, json } = await send("GET", target);
    this.transaction(() => this.settle(id));
    if (!Array.isArray(json?.views)) return { status: status === 200 ? 502 : status };
    const tag = (await hash(text)).slice(0, 22);
    const fetched = Date.now();
    const page = { text, tag, fetched, fresh_until: fetched + FRESH_FOR };
    this.transaction(() => this.#store(list, number, page, json));
    this.#pages.set(key, page);
    if (this.#pages.size > 64) this.#pages.delete(this.#pages.keys().next().value);
    return { page, cache: "fwd=uri-miss; stored", headers };
  }

  #store(list, number, { text, tag, fetched, fresh_until }, { totals, views, hasMore }) {
    const state = JSON.stringify(totals);
    const row = [list, number, tag, views.length, Number(hasMore), state];
    this.run(INSERT_PAGE, ...row, fetched, fresh_until, text);
    this.run(EXPIRE_PAGES, fetched, list, state);
    this.#stored += 1;
    if (this.#stored > 2000) {
      this.run(TRIM_PAGES, 1750);
      this.#stored = this.#count();
    } else if (fetched < this.#nextSweep) return;
    this.#nextSweep = fetched + 60_000;
    this.run("DELETE FROM page WHERE fresh_until <= ?", fetched - DAY);
    this.run("DELETE FROM page_part WHERE tag NOT IN (SELECT tag FROM page)");
  }

  #count() {
    return this.run("SELECT count(*) FROM page")[0]["count(*)"];
  }
}
