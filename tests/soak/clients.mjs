/** Clients that do mixed work and compare every response with what they know. */
import { isDeepStrictEqual } from "node:util";
import {
  ApiError,
  Client,
  DecodeError,
  JobWaitTimeoutError,
  QuillgateError,
} from "../../pkg/dist/node.js";
import { Random } from "../harness/random.mjs";

/** Kinds of work by their relative frequency. */
const WORK = { read: 40, views: 24, create: 10, message: 6, list: 7, wait: 3, refused: 10 };
/** Longest pause of a client between two pieces of work. */
const MAX_PAUSE_MS = 50;
const WAIT_TIMEOUT_MS = 30_000;
/** Past months, whose page views no longer change. */
const RANGES = Array.from({ length: 36 }, (_, month) => {
  const first = new Date(Date.UTC(2022, month, 1));
  const next = new Date(Date.UTC(2022, month + 1, 1));
  return { dateFrom: first.toISOString().slice(0, 10), dateTo: next.toISOString().slice(0, 10) };
});
const LIMITS = [1, 25, 50, 100, 250];
const UNKNOWN_JOB = "00000000-0000-4000-8000-000000000000";
/** Number of faults with a description; all are counted. */
const MAX_DESCRIBED_FAULTS = 20;
const LIST_LIMIT = 100;
/** A job must be on the first page of the list until this many later creations. */
const MIN_LISTED = 60;
const FINAL_STATUSES = ["completed", "failed", "archived"];
const STATUSES = ["active", ...FINAL_STATUSES];

/** The record that all clients share. */
export class Ledger {
  answers = {};
  /** Creations by prompt. */
  creations = new Map();
  messages = [];
  jobs = new Map();
  faultCount = 0;
  faults = [];
  requests = 0;
  created = {};
  #views = new Map();
  #secrets;
  #upstream;

  constructor({ upstream, secrets }) {
    this.#upstream = upstream;
    this.#secrets = secrets;
  }

  reportFault(text) {
    this.faultCount += 1;
    if (this.faults.length < MAX_DESCRIBED_FAULTS) this.faults.push(text);
  }

  count(work, outcome) {
    this.answers[work] ??= {};
    this.answers[work][outcome] = (this.answers[work][outcome] ?? 0) + 1;
  }

  /** Returns every row of a range, from the simulated API. */
  async readViews(projectId, range) {
    const key = `${projectId} ${range.dateFrom}`;
    if (!this.#views.has(key)) {
      this.#views.set(key, this.#upstream.views({ projectId, ...range }));
    }
    return await this.#views.get(key);
  }

  /** Checks every response except event streams before the package reads it. */
  fetch = async (input, init) => {
    const request = new Request(input, init);
    this.requests += 1;
    const response = await fetch(request);
    const { status, headers } = response;
    const isStream = headers.get("content-type")?.startsWith("text/event-stream");
    if (isStream || status === 204) return response;
    const name = `${status} of ${request.method} ${request.url}`;
    const text = await response.text().catch((error) => {
      this.reportFault(`${name} was cut off: ${error.message}`);
      throw error;
    });
    if (this.#secrets.some((secret) => text.includes(secret))) {
      this.reportFault(`${name} contains a secret`);
    }
    return new Response(text, { status, headers });
  };
}

export class SoakClient {
  #name;
  #ledger;
  #random;
  #clients;
  #projects;
  #gatewayUrl;
  #token;
  #serial = 0;
  #own = [];

  constructor({ name, seed, ledger, gatewayUrl, token, projects }) {
    this.#name = name;
    this.#ledger = ledger;
    this.#random = new Random(seed);
    this.#projects = projects;
    this.#gatewayUrl = gatewayUrl;
    this.#token = token;
    const options = { baseUrl: gatewayUrl, auth: { token }, fetch: ledger.fetch, logLevel: "off" };
    this.#clients = new Map(
      projects.map((projectId) => [projectId, new Client({ ...options, projectId })]),
    );
  }

  /** Works until `isOver` returns true. */
  async run(isOver) {
    while (!isOver()) {
      const work = this.#random.pickWeighted(WORK);
      await this.#do(work, () => this[work]());
      await new Promise((resolve) => setTimeout(resolve, this.#random.below(MAX_PAUSE_MS)));
    }
  }

  async #do(work, action) {
    try {
      this.#ledger.count(work, (await action()) ?? "done");
    } catch (error) {
      this.#ledger.count(work, error.status ?? error.constructor.name);
      const fault = findFault(error);
      if (fault) this.#ledger.reportFault(`${work}: ${fault}`);
    }
  }

  #pickProject() {
    const project = this.#random.pick(this.#projects);
    return { project, client: this.#clients.get(project) };
  }

  /** Returns a string that no client has sent. */
  #makeUniqueText(kind) {
    this.#serial += 1;
    return `${this.#name} ${kind} ${this.#serial}`;
  }

  /** Picks one of the client's jobs, if it has any. */
  #pickJob() {
    return this.#own.length === 0 ? undefined : this.#random.pick(this.#own);
  }

  async create() {
    const { project, client } = this.#pickProject();
    const text = this.#makeUniqueText("prompt");
    const write = { text, project, outcome: "unknown" };
    this.#ledger.creations.set(text, write);
    this.#ledger.created[project] = (this.#ledger.created[project] ?? 0) + 1;
    const sequence = this.#ledger.created[project];
    const job = await recordOutcome(write, () => client.agentJobs.create({ prompt: text }));
    if (this.#ledger.jobs.has(job.id)) {
      this.#ledger.reportFault(`create: ${job.id} was returned for two prompts`);
    }
    write.id = job.id;
    const known = { id: job.id, project, client, createdAt: job.createdAt, sequence, messages: 0 };
    this.#ledger.jobs.set(job.id, known);
    this.#own.push(known);
    this.#checkJob(known, job, known.messages);
  }

  async read() {
    const known = this.#pickJob();
    if (!known) return "none yet";
    const { messages, end } = known;
    const { data: job, response } = await known.client.agentJobs.get(known.id).withResponse();
    this.#checkJob(known, job, messages);
    // While Mintlify fails, the gateway returns the job that it stored last, which may be older.
    if (response.headers.get("cache-status")?.includes("detail=stale")) return "stale";
    // A finished job only starts again after a message.
    if (end && messages === 0 && known.messages === 0 && job.status !== end) {
      this.#ledger.reportFault(`read: ${job.id} changed from ${end} to ${job.status}`);
    }
    return undefined;
  }

  async message() {
    const known = this.#pickJob();
    if (!known) return "none yet";
    const text = this.#makeUniqueText("message");
    const write = { text, project: known.project, outcome: "unknown", id: known.id };
    this.#ledger.messages.push(write);
    known.messages += 1;
    const send = () => known.client.agentJobs.sendMessage(known.id, { prompt: text });
    this.#checkJob(known, await recordOutcome(write, send), known.messages);
    return undefined;
  }

  async wait() {
    await this.create();
    const known = this.#own.at(-1);
    try {
      const job = await known.client.agentJobs.wait(known.id, { timeout: WAIT_TIMEOUT_MS });
      this.#checkJob(known, job, known.messages);
      if (!FINAL_STATUSES.includes(job.status)) {
        this.#ledger.reportFault(`wait: returned a job that is ${job.status}`);
      }
    } catch (error) {
      if (error instanceof JobWaitTimeoutError) {
        const fault = `the end of ${known.id} was not reported within ${WAIT_TIMEOUT_MS} ms`;
        this.#ledger.reportFault(`wait: ${fault}`);
      }
      throw error;
    }
  }

  async views() {
    const { project, client } = this.#pickProject();
    const range = this.#random.pick(RANGES);
    const limit = this.#random.pick(LIMITS);
    const all = await this.#ledger.readViews(project, range);
    const offset = this.#random.below(all.views.length + 10);
    const page = await client.analytics.views({ ...range, limit, offset });
    const expected = {
      totals: all.totals,
      views: all.views.slice(offset, offset + limit),
      hasMore: offset + limit < all.views.length,
    };
    const { totals, views, hasMore } = page;
    if (!isDeepStrictEqual(plain({ totals, views, hasMore }), plain(expected))) {
      const query = JSON.stringify({ project, ...range, limit, offset });
      this.#ledger.reportFault(`views: rows differ from those of the simulated API for ${query}`);
    }
  }

  async list() {
    const { project, client } = this.#pickProject();
    const mine = this.#own.filter((known) => known.project === project);
    const { jobs } = await client.agentJobs.list({ limit: LIST_LIMIT });
    const ids = jobs.map(({ id }) => id);
    if (new Set(ids).size < ids.length) this.#ledger.reportFault("list: a job is listed twice");
    const times = jobs.map(({ createdAt }) => Date.parse(createdAt));
    if (times.some((time, at) => at > 0 && time > times[at - 1])) {
      this.#ledger.reportFault("list: jobs are not listed newest first");
    }
    for (const { id, prompt, createdBy, status } of jobs) {
      if (!createdBy || (status !== null && !STATUSES.includes(status))) {
        this.#ledger.reportFault(`list: ${id} has the caller ${createdBy} and status ${status}`);
      }
      const known = this.#ledger.jobs.get(id);
      if (known && known.project !== project) {
        this.#ledger.reportFault(`list: ${id} of ${known.project} is listed in ${project}`);
      }
      if (!this.#ledger.creations.has(prompt))
        this.#ledger.reportFault(`list: ${id} has a prompt that no client sent`);
    }
    const newest = this.#ledger.created[project] ?? 0;
    const recent = mine.filter(({ sequence }) => newest - sequence < MIN_LISTED);
    const missing = recent.find(({ id }) => !ids.includes(id));
    if (missing) this.#ledger.reportFault(`list: ${missing.id} is not listed`);
  }

  async refused() {
    const { project } = this.#pickProject();
    const views = `/v1/analytics/${project}/views`;
    const token = { authorization: `Bearer ${this.#token}` };
    const [status, target, headers] = this.#random.pick([
      [400, `${views}?limit=0`, token],
      [400, `${views}?dateFrom=yesterday`, token],
      [401, views, {}],
      [401, views, { authorization: "Bearer mint_not_a_token" }],
      [403, "/v1/analytics/another-project/views", token],
      [404, "/v2/agent", token],
      [404, `/v2/agent/${project}/job/${UNKNOWN_JOB}`, token],
    ]);
    const response = await this.#ledger.fetch(new Request(this.#gatewayUrl + target, { headers }));
    const isFromUpstream = target.endsWith(UNKNOWN_JOB) && isUpstreamFailure(response.status);
    if (response.status !== status && !isFromUpstream) {
      this.#ledger.reportFault(`refused: ${target} returned ${response.status}, not ${status}`);
    }
    return response.status;
  }

  /** Compares a returned job with the record of it. */
  #checkJob(known, job, messages) {
    if (job.id !== known.id || job.createdAt !== known.createdAt) {
      const returned = JSON.stringify(job);
      this.#ledger.reportFault(`${known.id} was requested, but ${returned} was returned`);
    }
    const { status, source, model, archivedAt } = job;
    const isWhole = source?.repository && source.ref && model && archivedAt !== undefined;
    if (!isWhole || !STATUSES.includes(status)) {
      this.#ledger.reportFault(`a field is missing or unknown: ${JSON.stringify(job)}`);
    }
    if (job.prLink !== null) {
      if (known.prLink !== undefined && known.prLink !== job.prLink) {
        this.#ledger.reportFault(`${job.id} has two pull requests`);
      }
      known.prLink = job.prLink;
    }
    if (messages === 0 && FINAL_STATUSES.includes(job.status)) known.end = job.status;
  }
}

async function recordOutcome(write, send) {
  try {
    const job = await send();
    write.outcome = "done";
    return job;
  } catch (error) {
    const isKnown = error instanceof ApiError && error.problem?.outcome !== "unknown";
    write.outcome = isKnown ? "refused" : "unknown";
    throw error;
  }
}

/** Describes an error that the gateway must not cause. Reporting an upstream failure is allowed. */
function findFault(error) {
  if (error instanceof JobWaitTimeoutError) return undefined;
  if (error instanceof DecodeError) return `an invalid success: ${error.message}`;
  if (!(error instanceof QuillgateError)) return error.stack;
  if (!(error instanceof ApiError)) return `${error.message} (${error.cause?.message})`;
  const { status, code } = error;
  if (status === 409 && code === "/problems/outcome-unknown") return undefined;
  if (isUpstreamFailure(status) && code !== "/problems/internal") return undefined;
  return `${status} ${code}: ${error.message}`;
}

function isUpstreamFailure(status) {
  return status >= 500;
}

/** Removes prototypes, because the package's objects have their own. */
function plain(value) {
  return JSON.parse(JSON.stringify(value));
}

export function checkWrites(ledger, jobs) {
  const byPrompt = new Map();
  for (const job of jobs) byPrompt.set(job.prompt, [...(byPrompt.get(job.prompt) ?? []), job]);
  for (const { text, project, outcome, id } of ledger.creations.values()) {
    const created = byPrompt.get(text) ?? [];
    if (created.length > 1) ledger.reportFault(`"${text}" created ${created.length} jobs`);
    if (outcome === "done" && (created[0]?.id !== id || created[0].projectId !== project)) {
      ledger.reportFault(`"${text}" returned ${id} but created ${created[0]?.id}`);
    }
    if (outcome === "refused" && created.length > 0) {
      ledger.reportFault(`"${text}" was refused but created ${created[0].id}`);
    }
  }
  const byId = new Map(jobs.map((job) => [job.id, job]));
  for (const { text, outcome, id } of ledger.messages) {
    const sent = byId.get(id)?.messages.filter((message) => message === text).length ?? 0;
    if (sent > 1) ledger.reportFault(`"${text}" was sent ${sent} times`);
    if (outcome === "done" && sent === 0) ledger.reportFault(`"${text}" was never sent`);
    if (outcome === "refused" && sent > 0) ledger.reportFault(`"${text}" was refused but sent`);
  }
  for (const { id, prLink } of ledger.jobs.values()) {
    const actual = byId.get(id)?.prLink;
    if (prLink !== undefined && prLink !== actual) {
      ledger.reportFault(`${id} was returned with ${prLink} but has ${actual}`);
    }
  }
}
