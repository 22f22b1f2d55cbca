/**
 * Clients of a gateway that do mixed work on the npm package, and hold every answer against what
 * they know: what they did themselves, and what the simulated platform knows.
 */
import { isDeepStrictEqual } from "node:util";
import {
  ApiError,
  Client,
  DecodeError,
  JobWaitTimeoutError,
  QuillgateError,
} from "../../pkg/dist/node.js";
import { Random } from "./random.mjs";
import { findShapeFault } from "./shapes.mjs";

/** What a client does next, by weight. */
const WORK = { read: 40, views: 24, create: 10, message: 6, list: 7, wait: 3, refused: 10 };
/** Between two pieces of a client's work, in milliseconds: up to so many. */
const LONGEST_PAUSE = 50;
/** How long a job may take until its end is known, in milliseconds. */
const WAIT = 30_000;
/** Whole years and months that have ended, so that their views are final. */
const RANGES = Array.from({ length: 36 }, (_, month) => {
  const first = new Date(Date.UTC(2022, month, 1));
  const next = new Date(Date.UTC(2022, month + 1, 1));
  return { dateFrom: first.toISOString().slice(0, 10), dateTo: next.toISOString().slice(0, 10) };
});
const LIMITS = [1, 25, 50, 100, 250];
const UNKNOWN_JOB = "00000000-0000-4000-8000-000000000000";
/** So many faults are described; all are counted. */
const DESCRIBED_FAULTS = 20;
/** A page of the list of jobs, and how many later creations leave a job on the first one. */
const LIST_LIMIT = 100;
const SURELY_LISTED = 60;
const FINAL = ["completed", "failed", "archived"];

/**
 * What all clients know and count together.
 *
 * @typedef {object} Writing what a client asked for, once
 * @property {string} text the prompt or the message; no other has it
 * @property {string} project
 * @property {"done" | "refused" | "unknown"} outcome
 * @property {string} [id] of the job, if it is known
 */
export class Ledger {
  /** Answers by piece of work and status. @type {Record<string, Record<string, number>>} */
  answers = {};
  /** By text. @type {Map<string, Writing>} */
  creations = new Map();
  /** @type {Writing[]} */
  messages = [];
  /** What is known of a job. @type {Map<string, object>} */
  jobs = new Map();
  faultCount = 0;
  /** @type {string[]} */
  faults = [];
  requests = 0;
  created = {};
  #views = new Map();
  #secrets;
  #upstream;

  /** @param {{ upstream: object, secrets: string[] }} parts */
  constructor({ upstream, secrets }) {
    this.#upstream = upstream;
    this.#secrets = secrets;
  }

  /** Something that must not happen. */
  reportFault(text) {
    this.faultCount += 1;
    if (this.faults.length < DESCRIBED_FAULTS) this.faults.push(text);
  }

  count(work, outcome) {
    this.answers[work] ??= {};
    this.answers[work][outcome] = (this.answers[work][outcome] ?? 0) + 1;
  }

  /** Every row of a range, from the platform itself. */
  async viewsOf(projectId, range) {
    const key = `${projectId} ${range.dateFrom}`;
    if (!this.#views.has(key)) {
      this.#views.set(key, this.#upstream.views({ projectId, ...range }));
    }
    return await this.#views.get(key);
  }

  /**
   * Sends a request, and checks the whole answer before the package sees it. An event stream is
   * the package's to check.
   */
  fetch = async (request) => {
    this.requests += 1;
    const response = await fetch(request);
    const { status, headers } = response;
    const contentType = headers.get("content-type");
    if (contentType?.startsWith("text/event-stream") || status === 204) return response;
    const operation = operationOf(request);
    const text = await response.text().catch((error) => {
      this.reportFault(`${status} of ${operation} broke off: ${error.message}`);
      throw error;
    });
    const fault = findShapeFault({ operation, status, contentType, text });
    if (fault) this.reportFault(fault);
    if (this.#secrets.some((secret) => text.includes(secret))) {
      this.reportFault(`${status} of ${operation} contains a secret`);
    }
    return new Response(text, { status, headers });
  };
}

/** The operation of a request to the gateway. */
function operationOf({ method, url }) {
  const { pathname } = new URL(url);
  if (pathname.startsWith("/v1/analytics/")) return "views";
  if (pathname.endsWith("/jobs")) return "list";
  if (method === "POST") return pathname.endsWith("/message") ? "message" : "create";
  return "read";
}

/** One client, which does one thing after another. */
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

  /**
   * @param {{ name: string, seed: number, ledger: Ledger, gatewayUrl: string, token: string,
   *   projects: string[] }} options
   */
  constructor({ name, seed, ledger, gatewayUrl, token, projects }) {
    this.#name = name;
    this.#ledger = ledger;
    this.#random = new Random(seed);
    this.#projects = projects;
    this.#gatewayUrl = gatewayUrl;
    this.#token = token;
    const options = { baseUrl: gatewayUrl, token, fetch: ledger.fetch, logLevel: "off" };
    this.#clients = new Map(
      projects.map((projectId) => [projectId, new Client({ ...options, projectId })]),
    );
  }

  /** Works until `isOver` says so. */
  async run(isOver) {
    while (!isOver()) {
      const work = this.#random.pickWeighted(WORK);
      await this.#do(work, () => this[work]());
      await new Promise((resolve) => setTimeout(resolve, this.#random.below(LONGEST_PAUSE)));
    }
  }

  async #do(work, action) {
    try {
      this.#ledger.count(work, (await action()) ?? "done");
    } catch (error) {
      this.#ledger.count(work, error.status ?? error.constructor.name);
      const fault = faultOf(error);
      if (fault) this.#ledger.reportFault(`${work}: ${fault}`);
    }
  }

  #pickProject() {
    const project = this.#random.pick(this.#projects);
    return { project, client: this.#clients.get(project) };
  }

  /** A text that nobody else sends, and this client once. */
  #nextText(what) {
    this.#serial += 1;
    return `${this.#name} ${what} ${this.#serial}`;
  }

  /** One of its own jobs, or nothing while it has none. */
  #pickJob() {
    return this.#own.length === 0 ? undefined : this.#random.pick(this.#own);
  }

  async create() {
    const { project, client } = this.#pickProject();
    const text = this.#nextText("prompt");
    const writing = { text, project, outcome: "unknown" };
    this.#ledger.creations.set(text, writing);
    this.#ledger.created[project] = (this.#ledger.created[project] ?? 0) + 1;
    const sequence = this.#ledger.created[project];
    const job = await settle(writing, () => client.agentJobs.create({ prompt: text }));
    if (this.#ledger.jobs.has(job.id)) {
      this.#ledger.reportFault(`create: ${job.id} was the answer to two prompts`);
    }
    writing.id = job.id;
    const known = { id: job.id, project, client, createdAt: job.createdAt, sequence, messages: 0 };
    this.#ledger.jobs.set(job.id, known);
    this.#own.push(known);
    this.#see(known, job, known.messages);
  }

  async read() {
    const known = this.#pickJob();
    if (!known) return "none yet";
    const { messages, end } = known;
    const job = await known.client.agentJobs.get(known.id);
    this.#see(known, job, messages);
    // What had ended before this was asked has not begun again without a message.
    if (end && messages === 0 && known.messages === 0 && job.status !== end) {
      this.#ledger.reportFault(`read: ${job.id} was ${end} and is ${job.status}`);
    }
    return undefined;
  }

  async message() {
    const known = this.#pickJob();
    if (!known) return "none yet";
    const text = this.#nextText("message");
    const writing = { text, project: known.project, outcome: "unknown", id: known.id };
    this.#ledger.messages.push(writing);
    known.messages += 1;
    const send = () => known.client.agentJobs.sendMessage(known.id, { prompt: text });
    this.#see(known, await settle(writing, send), known.messages);
    return undefined;
  }

  /** Creates a job and listens to its changes until it has ended. */
  async wait() {
    await this.create();
    const known = this.#own.at(-1);
    try {
      const job = await known.client.agentJobs.wait(known.id, { timeout: WAIT });
      this.#see(known, job, known.messages);
      if (!FINAL.includes(job.status)) {
        this.#ledger.reportFault(`wait: ended with a job that is ${job.status}`);
      }
    } catch (error) {
      if (error instanceof JobWaitTimeoutError) {
        this.#ledger.reportFault(`wait: the end of ${known.id} was not told within ${WAIT} ms`);
      }
      throw error;
    }
  }

  async views() {
    const { project, client } = this.#pickProject();
    const range = this.#random.pick(RANGES);
    const limit = this.#random.pick(LIMITS);
    const all = await this.#ledger.viewsOf(project, range);
    const offset = this.#random.below(all.views.length + 10);
    const page = await client.pageViews.list({ ...range, limit, offset });
    const expected = {
      totals: all.totals,
      views: all.views.slice(offset, offset + limit),
      hasMore: offset + limit < all.views.length,
    };
    const { totals, views, hasMore } = page;
    if (!isDeepStrictEqual(plain({ totals, views, hasMore }), plain(expected))) {
      const where = JSON.stringify({ project, ...range, limit, offset });
      this.#ledger.reportFault(`views: other rows than the platform's for ${where}`);
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
    for (const { id, prompt } of jobs) {
      const known = this.#ledger.jobs.get(id);
      if (known && known.project !== project) {
        this.#ledger.reportFault(`list: ${id} of ${known.project} is listed in ${project}`);
      }
      if (!this.#ledger.creations.has(prompt))
        this.#ledger.reportFault(`list: ${id} has a prompt that nobody sent`);
    }
    const newest = this.#ledger.created[project] ?? 0;
    const missing = mine.find(
      ({ id, sequence }) => newest - sequence < SURELY_LISTED && !ids.includes(id),
    );
    if (missing) this.#ledger.reportFault(`list: ${missing.id} is not listed`);
  }

  /** What has to be refused, and how. */
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
    const isUpstreams = target.endsWith(UNKNOWN_JOB) && isUpstreamFailure(response.status);
    if (response.status !== status && !isUpstreams) {
      this.#ledger.reportFault(`refused: ${target} is ${response.status}, not ${status}`);
    }
    return response.status;
  }

  /** Holds a job as it was answered against what is known of it. */
  #see(known, job, messages) {
    if (job.id !== known.id || job.createdAt !== known.createdAt) {
      this.#ledger.reportFault(`${known.id} was asked for, ${JSON.stringify(job)} answered`);
    }
    if (job.prLink !== null) {
      if (known.prLink !== undefined && known.prLink !== job.prLink) {
        this.#ledger.reportFault(`${job.id} has two pull requests`);
      }
      known.prLink = job.prLink;
    }
    if (messages === 0 && FINAL.includes(job.status)) known.end = job.status;
  }
}

/** Runs a writing and keeps what is known of its outcome. */
async function settle(writing, write) {
  try {
    const job = await write();
    writing.outcome = "done";
    return job;
  } catch (error) {
    const isKnown = error instanceof ApiError && error.problem?.outcome !== "unknown";
    writing.outcome = isKnown ? "refused" : "unknown";
    throw error;
  }
}

/** What an error says that must not be, if anything: an upstream that fails may be said. */
function faultOf(error) {
  if (error instanceof JobWaitTimeoutError) return undefined;
  if (error instanceof DecodeError) return `a success that is none: ${error.message}`;
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

/** Without prototypes, which differ between the package's objects and parsed ones. */
function plain(value) {
  return JSON.parse(JSON.stringify(value));
}

/**
 * Holds what the clients asked for against what the platform was made to do.
 *
 * @param {Ledger} ledger
 * @param {{ id: string, projectId: string, prompt: string, messages: string[],
 *   prLink: string | null }[]} jobs all of the platform's
 */
export function checkWritings(ledger, jobs) {
  const byPrompt = new Map();
  for (const job of jobs) byPrompt.set(job.prompt, [...(byPrompt.get(job.prompt) ?? []), job]);
  for (const { text, project, outcome, id } of ledger.creations.values()) {
    const made = byPrompt.get(text) ?? [];
    if (made.length > 1) ledger.reportFault(`"${text}" made ${made.length} jobs`);
    if (outcome === "done" && (made[0]?.id !== id || made[0].projectId !== project)) {
      ledger.reportFault(`"${text}" was answered with ${id}, and made ${made[0]?.id}`);
    }
    if (outcome === "refused" && made.length > 0) {
      ledger.reportFault(`"${text}" was refused, and made ${made[0].id}`);
    }
  }
  const byId = new Map(jobs.map((job) => [job.id, job]));
  for (const { text, outcome, id } of ledger.messages) {
    const sent = byId.get(id)?.messages.filter((message) => message === text).length ?? 0;
    if (sent > 1) ledger.reportFault(`"${text}" was sent ${sent} times`);
    if (outcome === "done" && sent === 0) ledger.reportFault(`"${text}" was never sent`);
    if (outcome === "refused" && sent > 0) ledger.reportFault(`"${text}" was refused, and sent`);
  }
  for (const { id, prLink } of ledger.jobs.values()) {
    const actual = byId.get(id)?.prLink;
    if (prLink !== undefined && prLink !== actual) {
      ledger.reportFault(`${id} was shown with ${prLink}, and has ${actual}`);
    }
  }
}
