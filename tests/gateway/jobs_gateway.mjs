import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after } from "node:test";
import { fileURLToPath } from "node:url";
import { openEventStream } from "../harness/event_source.mjs";
import { startGateway } from "../harness/gateway.mjs";
import { until } from "./analytics_requests.mjs";
import { before, EVERY_SCOPE, PROJECT, RecordedGateway } from "./recorded_gateway.mjs";
import { configWith } from "./wrangler_config.mjs";

const SQL_WORKER = fileURLToPath(new URL("workers/sql.mjs", import.meta.url));

/** A second project. Each project has its own Durable Object. */
export const OTHER_PROJECT = "empty-docs";

/** Speed of the clock of a gateway for jobs, so that tests do not wait for polling intervals. */
export const CLOCK_RATE = 5;
/** This job duration is longer than any test, so that jobs change only when a test changes them. */
const NEVER_MS = 24 * 3600 * 1000;
/** Returns a check of an event with a job of this status. */
export const isNow =
  (status) =>
  ({ data }) =>
    JSON.parse(data).status === status;

/** Starts a gateway and a simulator with limits that allow many jobs. */
export async function startJobs(name, options) {
  const jobs = new Jobs(name);
  await jobs.start(options);
  return jobs;
}

/** Runs a gateway with many jobs during the tests of a file or suite. `options` can be a function. */
export function useJobs(name, options) {
  const jobs = new Jobs(name);
  before(async () => jobs.start(typeof options === "function" ? await options() : options));
  after(() => jobs.stop());
  return jobs;
}

export const WEBHOOK_SECRET = `whsec_${Buffer.alloc(32, 7).toString("base64")}`;

/** Returns the variables of a gateway that sends webhooks to these receivers. */
export const webhookVars = (...receivers) => ({
  WEBHOOK_SECRET,
  WEBHOOK_HOSTS: receivers.map(({ host }) => host).join(","),
});

export const hook = (url) => [["Webhook-Url", url]];
export const keyed = (key) => [["Idempotency-Key", key]];
export const idsOf = (listed) => listed.map(({ id }) => id);

/** Undoes migration 22, so that a test can restore an earlier schema. */
export const UNDO_DEPLOYMENTS = [
  "ALTER TABLE project DROP COLUMN resource",
  "ALTER TABLE job DROP COLUMN branch",
  "ALTER TABLE job DROP COLUMN preview_url",
  "ALTER TABLE job DROP COLUMN is_live",
].map((sql) => [sql]);

class Jobs {
  #streams = [];
  #token;

  constructor(name) {
    this.gate = new RecordedGateway(name);
  }

  /** The default token covers all `projects`. `state` is the storage folder, which `stop` removes. */
  async start({
    projects = [PROJECT, OTHER_PROJECT],
    clockRate = CLOCK_RATE,
    state = mkdtempSync(join(tmpdir(), "quillgate-jobs-")),
    ...options
  } = {}) {
    const vars = {
      JOB_POLL_SECONDS: "1",
      JOB_POLLS_PER_HOUR: "100000",
      UPSTREAM_TIMEOUT_SECONDS: String(4 * clockRate),
      CREATE_LIMIT_PER_HOUR: "100000",
      MESSAGE_LIMIT_PER_HOUR: "100000",
      STREAMS_PER_CALLER: "1000",
      ...options.vars,
    };
    const limits = { createLimit: 100_000, messageLimit: 100_000, ...options.upstream };
    const { config, prepare, traps } = options;
    await this.gate.start({
      upstream: { jobDurationMs: NEVER_MS, projects, ...limits },
      gateway: { vars, state, config },
      clockRate,
      traps,
      prepare,
    });
    Object.assign(this, { vars, state, projects, upstream: this.gate.upstream });
    this.#token = this.gate.token({ projects, scope: `${EVERY_SCOPE} gateway:operate` });
  }

  /** Returns the `Authorization` value of the default token. */
  get authorization() {
    return `Bearer ${this.#token}`;
  }

  /** Returns the path of the job `id`. Without an id, returns the path for creating jobs. */
  path(id, { project = PROJECT, rest = "" } = {}) {
    return `/v2/agent/${project}/job${id === undefined ? "" : `/${id}`}${rest}`;
  }

  /** Creates a job, or sends a follow-up to the job `id`. Returns the response. */
  send(prompt, { id, project, headers, authorization = this.authorization } = {}) {
    const target = this.path(id, { project, rest: id === undefined ? "" : "/message" });
    return this.gate.post(target, { prompt }, { headers, authorization });
  }

  async create(prompt = "document the API", options = {}) {
    const answer = await this.send(prompt, options);
    assert.equal(answer.status, 201, answer.text);
    return answer.json;
  }

  async createMany(count, prompt, options) {
    const ids = [];
    for (let at = 0; at < count; at += 1) ids.push((await this.create(prompt, options)).id);
    return ids;
  }

  /** Bypasses the gateway: creates a job at the simulator, or sends a follow-up to the job `id`. */
  async directly(prompt, { id, project } = {}) {
    const rest = id === undefined ? "" : "/message";
    const response = await fetch(this.upstream.url + this.path(id, { project, rest }), {
      method: "POST",
      headers: { authorization: `Bearer ${this.gate.key}`, "content-type": "application/json" },
      body: JSON.stringify({ prompt }),
    });
    assert.ok(response.ok, String(response.status));
    return await response.json();
  }

  async followUp(id, prompt = "and more", options = {}) {
    const answer = await this.send(prompt, { id, ...options });
    assert.equal(answer.status, 200, answer.text);
    return answer.json;
  }

  get(target, headers = []) {
    return this.gate.get(target, { headers, authorization: this.authorization });
  }

  read(target, { authorization = this.authorization } = {}) {
    return this.gate.read(target, { authorization });
  }

  /** Returns a page of a project's job list. */
  list(query = {}, { project = PROJECT, authorization } = {}) {
    const target = `/v2/agent/${project}/jobs?${new URLSearchParams(query)}`;
    return this.read(target, { authorization });
  }

  /** Opens an event stream, which {@link stop} closes. */
  openStream(path, { lastEventId, authorization = this.authorization, headers } = {}) {
    const url = this.gate.gateway.url + path;
    const stream = openEventStream(url, { lastEventId, headers: { authorization, ...headers } });
    this.#streams.push(stream);
    return stream;
  }

  watch(id, { project, ...options } = {}) {
    return this.openStream(this.path(id, { project, rest: "/events" }), options);
  }

  /** Opens a stream for all jobs of a project, and waits for the head of its response. */
  async watchingAll({ project = PROJECT, ...options } = {}) {
    const stream = this.openStream(`/v2/agent/${project}/jobs/events`, options);
    await stream.opened;
    assert.equal(stream.status, 200, stream.text);
    return stream;
  }

  watchMany(count, id, options) {
    return Promise.all(Array.from({ length: count }, () => this.watching(id, options)));
  }

  /** Changes a job upstream, and waits until each of the streams has its new status. */
  async change(id, fields, ...streams) {
    await this.upstream.setJob(id, fields);
    await Promise.all(streams.map((stream) => stream.event(isNow(fields.status))));
  }

  /** Finishes a job upstream, and waits for the end of a stream of the job. */
  async finish(id, { project, status = "completed", ...fields } = {}) {
    const stream = await this.watching(id, { project });
    await this.change(id, { status, ...fields }, stream);
    await stream.ended;
    return stream;
  }

  async deleteRecord(id, { project } = {}) {
    const target = this.path(id, { project, rest: "/record" });
    const { authorization } = this;
    const answer = await this.gate.send({ method: "DELETE", target, authorization });
    assert.equal(answer.status, 204, answer.text);
  }

  async watching(id, options) {
    const stream = this.watch(id, options);
    await stream.event();
    return stream;
  }

  /** Returns the number of the gateway's reads of the job upstream, and their times (`at`). */
  async reads(id) {
    return (await this.upstream.job(id)).reads;
  }

  async untilReads(id, more) {
    const { count } = await this.reads(id);
    return await until(async () => {
      const now = await this.reads(id);
      return now.count >= count + more && now;
    });
  }

  /** Waits for polling intervals, measured by the reads of a new job, usually of another project. */
  async waitIntervals(count = 2, project = OTHER_PROJECT) {
    const { id } = await this.create("tick", { project });
    const clock = await this.watching(id, { project });
    await this.untilReads(id, count);
    clock.leave();
  }

  /** Returns the job as Mintlify does, without the simulator's own fields. */
  async upstreamJob(id) {
    const { projectId, prompt, messages, reads, ...job } = await this.upstream.job(id);
    return job;
  }

  async health(project = PROJECT) {
    return (await this.read(`/healthz?deep&project=${project}`)).project;
  }

  async untilHealth(check, project) {
    return await until(async () => {
      const health = await this.health(project);
      return check(health) && health;
    });
  }

  /** Ends the Worker, runs `meanwhile`, and starts the Worker again with its stored state. */
  async restart(how, meanwhile = async () => {}) {
    const { gate } = this;
    const before = gate.gateway;
    await before[how]();
    await meanwhile();
    // Clients reconnect to the same port.
    const now = await startGateway({ ...gate.settings, vars: this.vars, port: before.port });
    gate.gateway = { ...now, log: () => before.log() + now.log() };
  }

  /** Restarts the Worker. While it is stopped, runs SQL in a project's Durable Object. */
  async restartWithSql(statements, project = PROJECT) {
    let rows;
    await this.restart("stop", async () => {
      rows = await runSql(this.state, statements, project);
    });
    return rows;
  }

  /** Stops as `RecordedGateway.stop`, and asserts that no event stream contains a secret. */
  async stop() {
    if (!this.state) return;
    for (const stream of this.#streams) stream.leave();
    await this.gate.stop();
    rmSync(this.state, { recursive: true, force: true, maxRetries: 5 });
    const received = this.#streams.map(({ text }) => text).join("\n");
    for (const secret of [this.gate.key, this.gate.secret, this.#token]) {
      assert.ok(!received.includes(secret), "a stream contains a secret");
    }
  }
}

/** Runs SQL in a Durable Object, by default a project's, while the gateway is stopped. */
export async function runSql(state, statements, name, binding = "PROJECT_GATE") {
  const worker = await startGateway({ config: configWith({ path: SQL_WORKER }), state });
  try {
    const body = JSON.stringify({ binding, name, statements });
    const response = await fetch(`${worker.url}/v1/sql`, { method: "POST", body });
    const text = await response.text();
    assert.equal(response.status, 200, text);
    return JSON.parse(text);
  } finally {
    await worker.stop();
  }
}
