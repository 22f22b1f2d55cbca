/** A simulator of the two routes of GitHub's API that the gateway uses, on a loopback port. */
import { once } from "node:events";
import { createServer } from "node:http";

const PULL = /^\/repos\/([\w-]+\/[\w.-]+)\/pulls\/(\d+)$/;
const CHECKS = /^\/repos\/([\w-]+\/[\w.-]+)\/commits\/([0-9a-f]{40})\/check-runs\?per_page=100$/;

/**
 * @typedef {object} Pull
 * @property {string} [state] defaults to `open`
 * @property {string | null} [merged_at] when it was merged
 * @property {boolean} [draft]
 * @property {[status: string, conclusion: string | null][]} [checks] check runs of its last commit
 *
 * @typedef {object} GitHubFault
 * @property {number} [status]
 * @property {Record<string, string>} [headers]
 * @property {string} [body]
 * @property {boolean} [hang] never respond
 * @property {"pulls" | "checks"} [route] the affected route; defaults to both
 */

/** Starts a simulator without pull requests. */
export async function startGitHub() {
  const github = new GitHub();
  await github.start();
  return github;
}

class GitHub {
  #server = createServer((request, response) => this.#respond(request, response));
  /** @type {Map<string, Pull & { sha: string }>} by name, such as `acme/docs#12` */
  #pulls = new Map();
  /** @type {GitHubFault | null} */
  #fault = null;
  #held = null;
  #numbers = 0;
  /** The received requests: `{ path, headers }`. */
  requests = [];
  url;

  async start() {
    this.#server.listen(0, "127.0.0.1");
    await once(this.#server, "listening");
    this.url = `http://127.0.0.1:${this.#server.address().port}`;
  }

  /** Adds a pull request and returns its link. @param {Pull} [pull] */
  add(pull = {}, repository = "acme/docs") {
    this.#numbers += 1;
    const sha = this.#numbers.toString(16).padStart(40, "0");
    this.#pulls.set(`${repository}#${this.#numbers}`, { ...pull, sha });
    return `https://github.com/${repository}/pull/${this.#numbers}`;
  }

  /** Changes a pull request. @param {string} link @param {Pull} changes */
  set(link, changes) {
    const [, repository, number] = /^https:\/\/github\.com\/(.*)\/pull\/(\d+)$/.exec(link);
    const name = `${repository}#${number}`;
    this.#pulls.set(name, { ...this.#pulls.get(name), ...changes });
  }

  /** Sets the fault of all later responses, or clears it. @param {GitHubFault | null} fault */
  setFault(fault) {
    this.#fault = fault;
  }

  /** Holds all responses until the returned function is called. */
  hold() {
    let release;
    this.#held = new Promise((resolve) => {
      release = resolve;
    });
    return () => {
      this.#held = null;
      release();
    };
  }

  /** Waits until this many requests have arrived. */
  async untilReceived(count) {
    while (this.requests.length < count) await new Promise(setImmediate);
  }

  reset() {
    this.requests = [];
    this.#fault = null;
  }

  async stop() {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, "close");
  }

  async #respond(request, response) {
    response.on("error", () => {});
    this.requests.push({ path: request.url, headers: request.headers });
    await this.#held;
    const route = PULL.test(request.url) ? "pulls" : "checks";
    const fault = this.#fault;
    if (fault !== null && (fault.route ?? route) === route) {
      if (fault.hang) return;
      response.writeHead(fault.status ?? 200, fault.headers);
      return void response.end(fault.body ?? "{}");
    }
    const body = this.#find(request.url);
    response.writeHead(body === null ? 404 : 200, { "content-type": "application/json" });
    response.end(JSON.stringify(body ?? { message: "Not Found" }));
  }

  #find(url) {
    const [, repository, number] = PULL.exec(url) ?? [];
    if (repository !== undefined) {
      const pull = this.#pulls.get(`${repository}#${number}`);
      return pull === undefined ? null : pullBody(Number(number), pull);
    }
    const [, , sha] = CHECKS.exec(url) ?? [];
    const pull = [...this.#pulls.values()].find((one) => one.sha === sha);
    return pull === undefined ? null : checksBody(pull.checks ?? []);
  }
}

function pullBody(number, { state = "open", merged_at = null, draft = false, sha }) {
  const head = { ref: "docs", sha };
  return { number, state, draft, merged: merged_at !== null, merged_at, head, body: "Fixes it" };
}

function checksBody(checks) {
  const run = ([status, conclusion], id) => ({ id, name: `check-${id}`, status, conclusion });
  return { total_count: checks.length, check_runs: checks.map(run) };
}
