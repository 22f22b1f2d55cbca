/** Stand-in for the gateway's agent jobs. */
import assert from "node:assert/strict";
import { text } from "node:stream/consumers";
import { after, before, test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { startIssuer } from "../harness/issuer.mjs";
import { listen } from "../harness/listen.mjs";
import { REPOSITORY_ID, WorkflowRun } from "./fixtures.mjs";
import { startGithub } from "./github.mjs";

const PROJECT = "demo-docs";
const JOBS = `/v2/agent/${PROJECT}/job`;
const MAX_WAIT_MS = 60_000;
const POLL_INTERVAL_MS = 10;
/** The gateway's tolerance for an expired identity token. */
const LEEWAY_SECONDS = 60;
const STREAM = { "content-type": "text/event-stream", "cache-control": "no-store" };

/** Returns a function that tests a workflow run with its own GitHub and its own stand-in. */
export function useStandIn() {
  let issuer;
  before(async () => {
    issuer = await startIssuer();
  });
  after(() => issuer?.stop());
  const startRun = async (t) => {
    const github = await startGithub(issuer);
    t.after(() => github.stop());
    const gateway = await StandIn.start(github);
    t.after(() => gateway.stop());
    return new WorkflowRun({ github, gateway });
  };
  return (name, ...rest) => {
    const body = rest.pop();
    test(name, ...rest, async (t) => body(await startRun(t), t));
  };
}

class StandIn {
  #jobs = [];
  #keys = new Map();
  #streams = new Set();
  #faults = [];
  seen = new Set();
  project = PROJECT;
  accessToken = "an-access-token-of-the-gateway";

  static async start(github) {
    const standIn = Object.assign(new StandIn(), { github });
    return Object.assign(standIn, await listen((...args) => standIn.#respond(...args)));
  }

  async jobs() {
    return this.#jobs.map(({ id, prompt, status }) => ({ id, prompt, status }));
  }

  async setJob(id, changes) {
    const job = this.#jobs.find((other) => other.id === id);
    Object.assign(job, changes);
    for (const stream of this.#streams) if (stream.job === job) this.#emit(stream);
  }

  /** Makes the next creation fail with a status, a problem, or what a function writes. */
  async failCreation(fault) {
    this.#faults.push(fault);
  }

  vanish() {
    const { stop } = this;
    this.stop = () => {};
    return stop();
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

  async #respond(request, response) {
    const body = await text(request);
    const refusal = this.#refuse(request.headers.authorization);
    if (refusal) return this.#problem(response, ...refusal);
    const { method, url } = request;
    if (method === "POST" && url === JOBS) return this.#create(request, response, JSON.parse(body));
    const [, id, events] = /^\/job\/([^/]+)(\/events)?$/.exec(url.slice(JOBS.length - 4)) ?? [];
    const job = this.#jobs.find((other) => other.id === id);
    if (method !== "GET" || !job) return this.#problem(response, 404, "not-found", "no such job");
    if (events) return this.#stream(response, job);
    return send(response, 200, describe(job));
  }

  #refuse(authorization = "") {
    const token = authorization.replace(/^Bearer /, "");
    if (token === this.accessToken) return undefined;
    if (!this.github.tokens.includes(token)) return [401, "invalid-token", "it is unknown"];
    this.seen.add(token);
    const { exp, aud, repository_id } = JSON.parse(Buffer.from(token.split(".")[1], "base64url"));
    if ((exp + LEEWAY_SECONDS) * 1000 < Date.now()) return [401, "invalid-token", "it has expired"];
    if (aud !== "quillgate") return [401, "invalid-token", "it is for another audience"];
    if (repository_id === REPOSITORY_ID) return undefined;
    return [403, "identity-not-mapped", "no rule maps this identity"];
  }

  #create(request, response, { prompt }) {
    const fault = this.#faults.shift();
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
    const headers = { "content-type": "application/json" };
    if (isReplayed) headers["idempotent-replayed"] = "true";
    return send(response, 201, describe(this.#keys.get(key)), headers);
  }

  #stream(response, job) {
    const stream = { response, job };
    response.writeHead(200, STREAM).write("retry: 10\n\n");
    this.#streams.add(stream);
    response.on("close", () => this.#streams.delete(stream));
    this.#emit(stream);
  }

  #emit({ response, job }) {
    response.write(`event: job\ndata: ${JSON.stringify(describe(job))}\n\n`);
    if (job.status !== "active") response.end();
  }

  #problem(response, status, kind, detail) {
    const type = "application/problem+json";
    const problem = { type: `/problems/${kind}`, title: kind, status, detail };
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
