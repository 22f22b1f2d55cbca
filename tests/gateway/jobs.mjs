/** The jobs of a gateway under test: created, moved from state to state, watched, outlived. */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { openEventStream } from "../harness/event_source.mjs";
import { startGateway } from "../harness/gateway.mjs";
import { configWith } from "./config.mjs";
import { EVERY_SCOPE, PROJECT, startGate } from "./gate.mjs";

const SQL_WORKER = fileURLToPath(new URL("fixtures/sql_worker.mjs", import.meta.url));

/** A second project, so with a gate of its own. */
export const OTHER_PROJECT = "empty-docs";

/** As long as no test takes: a job changes when it is told to, and not before. */
const NEVER_MS = 24 * 3600 * 1000;
/** The states in which a job has come to its end. */
const ENDS = ["completed", "failed", "archived"];
/** How often a condition is looked at that nothing announces. */
const LOOK_MS = 20;
/** How long such a condition is waited for, so that a lost one fails its own test. */
const PATIENCE_MS = 60_000;

/**
 * Starts the gateway and the simulator with room for many jobs, and with storage that
 * outlives a restart.
 *
 * @param {string} name as for `startGate`
 * @param {object} [options]
 * @param {Record<string, string>} [options.vars]
 * @param {string[]} [options.projects] those that exist, all of which its token is for
 * @param {string} [options.state] the storage to start on, by default a new one; `stop` removes it
 * @param {string} [options.config] another wrangler configuration
 * @param {(upstream: object) => unknown} [options.prepare] as for `startGate`
 */
export async function startJobs(name, options = {}) {
  const { vars = {}, projects = [PROJECT, OTHER_PROJECT], config, prepare } = options;
  const state = options.state ?? mkdtempSync(join(tmpdir(), "quillgate-jobs-"));
  const all = {
    JOB_POLL_SECONDS: "1",
    UPSTREAM_TIMEOUT_SECONDS: "2",
    CREATE_LIMIT_PER_HOUR: "100000",
    MESSAGE_LIMIT_PER_HOUR: "100000",
    STREAMS_PER_CALLER: "1000",
    ...vars,
  };
  const limits = { createLimit: 100_000, messageLimit: 100_000 };
  const gate = await startGate(name, {
    upstream: { jobDurationMs: NEVER_MS, projects, ...limits },
    gateway: { vars: all, state, config },
    prepare,
  });
  return new Jobs(gate, { vars: all, state, projects });
}

class Jobs {
  #streams = [];
  #token;

  constructor(gate, { vars, state, projects }) {
    Object.assign(this, { gate, vars, state, projects, upstream: gate.upstream });
    this.#token = gate.token({ projects, scope: `${EVERY_SCOPE} gateway:operate` });
  }

  /** A token for everything, and the operator's. */
  get authorization() {
    return `Bearer ${this.#token}`;
  }

  /** The path of a project's jobs, or of one of them. */
  path(id, { project = PROJECT, rest = "" } = {}) {
    return `/v2/agent/${project}/job${id === undefined ? "" : `/${id}`}${rest}`;
  }

  /** Creates a job through the gateway. @returns {Promise<Record<string, unknown>>} */
  async create(prompt = "write it down", { project, headers, authorization } = {}) {
    const answer = await this.gate.post(
      this.path(undefined, { project }),
      { prompt },
      { headers, authorization: authorization ?? this.authorization },
    );
    assert.equal(answer.status, 201, answer.text);
    return answer.json;
  }

  /** Asks the platform itself, past the gateway: a creation, or with an id a follow-up. */
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

  /** Sends a follow-up through the gateway. */
  async followUp(id, prompt = "and more", { project } = {}) {
    const target = this.path(id, { project, rest: "/message" });
    const answer = await this.gate.post(target, { prompt }, { authorization: this.authorization });
    assert.equal(answer.status, 200, answer.text);
    return answer.json;
  }

  /** Reads a target of the gateway with the token for everything. */
  get(target, headers = []) {
    return this.gate.get(target, { headers, authorization: this.authorization });
  }

  /** Opens a stream of a job's changes. */
  watch(id, { project, lastEventId, authorization = this.authorization, headers = {} } = {}) {
    const url = this.gate.gateway.url + this.path(id, { project, rest: "/events" });
    const stream = openEventStream(url, { lastEventId, headers: { authorization, ...headers } });
    this.#streams.push(stream);
    return stream;
  }

  /** Opens a stream of what happens to all jobs of a project. */
  watchAll({ project = PROJECT, lastEventId, authorization = this.authorization } = {}) {
    const url = `${this.gate.gateway.url}/v2/agent/${project}/jobs/events`;
    const stream = openEventStream(url, { lastEventId, headers: { authorization } });
    this.#streams.push(stream);
    return stream;
  }

  /** Opens such a stream and waits until the gateway has it. */
  async watchingAll(options) {
    const stream = this.watchAll(options);
    await stream.opened;
    assert.equal(stream.status, 200, stream.text);
    return stream;
  }

  /** Deletes what is recorded of a job, as an operator. */
  async deleteRecord(id, { project } = {}) {
    const target = this.path(id, { project, rest: "/record" });
    const { authorization } = this;
    const answer = await this.gate.send({ method: "DELETE", target, authorization });
    assert.equal(answer.status, 204, answer.text);
  }

  /** Opens a stream and waits until the job as it is has come. */
  async watching(id, options) {
    const stream = this.watch(id, options);
    await stream.event();
    return stream;
  }

  /** How often the platform was asked for a job, and when in milliseconds. */
  async reads(id) {
    return (await this.upstream.job(id)).reads;
  }

  /**
   * Waits until the platform was asked for a job so many times more: for a watched one, so
   * many intervals have begun since.
   */
  async polls(id, more) {
    const { count } = await this.reads(id);
    return await this.#until(async () => {
      const now = await this.reads(id);
      return now.count >= count + more ? now : undefined;
    }, `${more} more reads of a job`);
  }

  /** What an operator is told of a project's gate. */
  async health(project = PROJECT) {
    const url = `${this.gate.gateway.url}/healthz?deep&project=${project}`;
    const response = await fetch(url, { headers: { authorization: this.authorization } });
    assert.equal(response.status, 200);
    return (await response.json()).project;
  }

  /** Waits until `check` holds for that. */
  async untilHealth(check, project) {
    return await this.#until(async () => {
      const health = await this.health(project);
      return check(health) ? health : undefined;
    }, `the gate's state that ${check} means`);
  }

  /**
   * Finishes every job of the project, which ends all streams and long polls, those of clients
   * too that have left: what is left of one that only closed its side is noticed by the
   * runtime when something is written to it.
   */
  async calm() {
    const open = (await this.upstream.jobs()).filter(({ projectId }) => projectId === PROJECT);
    for (const { id, status } of open) {
      if (!ENDS.includes(status)) await this.upstream.setJob(id, { status: "completed" });
    }
    await this.untilHealth(({ watchers }) => watchers === 0);
  }

  /** Waits until `check` gives something, looking again and again. */
  async #until(check, what) {
    const deadline = performance.now() + PATIENCE_MS;
    for (;;) {
      const found = await check();
      if (found !== undefined) return found;
      assert.ok(performance.now() < deadline, `not within ${PATIENCE_MS} ms: ${what}`);
      await sleep(LOOK_MS);
    }
  }

  /** Ends the Worker by `how`, does `meanwhile`, and starts it again on what it has stored. */
  async restart(how, meanwhile = async () => {}) {
    const { gate } = this;
    const before = gate.gateway;
    await before[how]();
    await meanwhile();
    // On the same port, where clients come back to.
    const now = await startGateway({ ...gate.settings, vars: this.vars, port: before.port });
    gate.gateway = { ...now, log: () => before.log() + now.log() };
  }

  /**
   * Restarts the Worker, and meanwhile runs SQL in a project's object.
   *
   * @param {[string, ...unknown[]][]} statements each a query with its bindings
   * @param {string} [project]
   * @returns {Promise<Record<string, unknown>[]>} the rows of the last statement
   */
  async restartWithSql(statements, project = PROJECT) {
    let rows;
    await this.restart("stop", async () => {
      rows = await runSql(this.state, statements, project);
    });
    return rows;
  }

  /** As of the gate, and nothing secret is in a stream either. */
  async assertDiscreet() {
    await this.gate.assertDiscreet();
    const said = this.#streams.map(({ text }) => text).join("\n");
    for (const secret of [this.gate.key, this.gate.secret, this.#token]) {
      assert.ok(!said.includes(secret), "a stream says a secret");
    }
  }

  async stop() {
    for (const stream of this.#streams) stream.leave();
    await this.gate.stop();
    rmSync(this.state, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** Runs SQL in a project's object while the gateway does not run. */
export async function runSql(state, statements, project) {
  const { config, dispose } = configWith({ path: SQL_WORKER });
  const worker = await startGateway({ config, state });
  try {
    const body = JSON.stringify({ binding: "PROJECT_GATE", name: project, statements });
    const response = await fetch(`${worker.url}/v1/sql`, { method: "POST", body });
    const text = await response.text();
    assert.equal(response.status, 200, text);
    return JSON.parse(text);
  } finally {
    await worker.stop();
    dispose();
  }
}
