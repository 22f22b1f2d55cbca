/** Stand-in for the gateway's agent jobs. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import { setTimeout as delay } from "node:timers/promises";
import { REPOSITORY_ID } from "./fixtures.mjs";

const PROJECT = "demo-docs";
const JOBS = `/v2/agent/${PROJECT}/job`;
const MAX_WAIT_MS = 60_000;
const POLL_INTERVAL_MS = 10;
/** The gateway's tolerance for an expired identity token. */
const LEEWAY_SECONDS = 60;
const STREAM = { "content-type": "text/event-stream", "cache-control": "no-store" };

export async function startStandIn(github) {
  const standIn = new StandIn(github);
  await standIn.start();
  return standIn;
}

class StandIn {
  #server = createServer((request, response) => this.#respond(request, response));
  #github;
  #jobs = [];
  #keys = new Map();
  #streams = new Set();
  #faults = [];
  #held;
  #port;
  /** The identity tokens that it has received. */
  seen = new Set();
  project = PROJECT;
  accessToken = "an-access-token-of-the-gateway";

  constructor(github) {
    this.#github = github;
  }

  async start() {
    this.#server.listen(0, "127.0.0.1");
    await once(this.#server, "listening");
    this.url = `http://127.0.0.1:${this.#server.address().port}`;
  }

  /** Returns every job, oldest first. */
  async jobs() {
    return this.#jobs.map(({ id, prompt, status }) => ({ id, prompt, status }));
  }

  /** Changes a job and notifies its event streams. */
  async setJob(id, changes) {
    const job = this.#jobs.find((other) => other.id === id);
    Object.assign(job, changes);
    for (const stream of this.#streams) if (stream.job === job) this.#emit(stream);
  }

  /** Makes the next creation fail. For a deployment or a preview, `fault` must be a function. */
  async failCreation(fault) {
    this.#faults.push(fault);
  }

  /** Breaks every connection and refuses new ones until {@link comeBack}. */
  async vanish() {
    this.#port = this.#server.address().port;
    const closed = once(this.#server, "close");
    this.#server.close();
    this.#server.closeAllConnections();
    await closed;
  }

  async comeBack() {
    this.#server.listen(this.#port, "127.0.0.1");
    await once(this.#server, "listening");
  }

  async loseCreation() {
    this.#faults.push("unknown");
  }

  /** Carries out the next creation, but withholds the response until `release` is called. */
  async holdCreation() {
    const arrived = deferred();
    const released = deferred();
    this.#held = { arrived, released };
    return { arrived: arrived.promise, release: released.resolve };
  }

  /** Ends every stream, as the gateway does when a token expires, until the condition holds. */
  async endStreamsUntil(check) {
    const deadline = performance.now() + MAX_WAIT_MS;
    while (!check()) {
      assert.ok(performance.now() < deadline, `the condition fails after ${MAX_WAIT_MS} ms`);
      for (const { response } of this.#streams) response.end();
      await delay(POLL_INTERVAL_MS);
    }
  }

  async stop() {
    if (!this.#server.listening) return;
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, "close");
  }

  async #respond(request, response) {
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    const refusal = this.#refuse(request.headers.authorization);
    if (refusal) return this.#problem(response, ...refusal);
    const { method, url } = request;
    if (method === "POST" && url === JOBS) {
      return this.#create(request, response, JSON.parse(Buffer.concat(chunks)));
    }
    if (method === "POST" && url.startsWith("/v1/project/")) return this.#faults.shift()(response);
    const [, id, events] = /^\/job\/([^/]+)(\/events)?$/.exec(url.slice(JOBS.length - 4)) ?? [];
    const job = this.#jobs.find((other) => other.id === id);
    if (method !== "GET" || !job) return this.#problem(response, 404, "not-found", "no such job");
    if (events) return this.#stream(response, job);
    return send(response, 200, describe(job));
  }

  #refuse(authorization = "") {
    const token = authorization.replace(/^Bearer /, "");
    if (token === this.accessToken) return undefined;
    if (!this.#github.tokens.includes(token)) return [401, "invalid-token", "it is unknown"];
    this.seen.add(token);
    const { exp, aud, repository_id } = JSON.parse(Buffer.from(token.split(".")[1], "base64url"));
    if ((exp + LEEWAY_SECONDS) * 1000 < Date.now()) return [401, "invalid-token", "it has expired"];
    if (aud !== "quillgate") return [401, "invalid-token", "it is for another audience"];
    if (repository_id === REPOSITORY_ID) return undefined;
    return [403, "identity-not-mapped", "no rule maps this identity"];
  }

  async #create(request, response, { prompt }) {
    const fault = this.#faults.shift();
    if (fault === "unknown") {
      return this.#problem(response, 502, "upstream-failed", "no answer", { outcome: "unknown" });
    }
    if (typeof fault === "function") return fault(response);
    if (typeof fault === "object") return this.#problem(response, ...fault);
    if (fault !== undefined) return this.#problem(response, fault, "refused", "it was refused");
    const key = request.headers["idempotency-key"];
    const isReplayed = this.#keys.has(key);
    if (!isReplayed) {
      const job = { id: `job_${this.#jobs.length + 1}`, prompt, status: "active", prLink: null };
      this.#jobs.push(job);
      this.#keys.set(key, job);
    }
    if (this.#held) {
      const { arrived, released } = this.#held;
      this.#held = undefined;
      arrived.resolve();
      await released.promise;
    }
    const headers = { "content-type": "application/json" };
    if (isReplayed) headers["idempotent-replayed"] = "true";
    return send(response, 201, describe(this.#keys.get(key)), headers);
  }

  #stream(response, job) {
    const stream = { response, job, sent: 0 };
    response.writeHead(200, STREAM).write("retry: 10\n\n");
    this.#streams.add(stream);
    response.on("close", () => this.#streams.delete(stream));
    this.#emit(stream);
  }

  #emit({ response, job }) {
    response.write(`event: job\ndata: ${JSON.stringify(describe(job))}\n\n`);
    if (job.status !== "active") response.end();
  }

  #problem(response, status, kind, detail, more = {}) {
    const type = "application/problem+json";
    const problem = { type: `/problems/${kind}`, title: kind, status, detail, ...more };
    send(response, status, problem, { "content-type": type, "x-request-id": "request-1" });
  }
}

function describe({ id, status, prLink }) {
  const source = { repository: "acme/docs", ref: "main" };
  return { id, status, prLink, source, createdAt: "2026-11-01T12:00:00.000Z" };
}

function send(response, status, body, headers = { "content-type": "application/json" }) {
  response.writeHead(status, headers).end(JSON.stringify(body));
}

/** `Promise.withResolvers`, which Node.js 20 lacks. */
function deferred() {
  const parts = {};
  parts.promise = new Promise((resolve, reject) => Object.assign(parts, { resolve, reject }));
  return parts;
}
