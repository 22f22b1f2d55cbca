/** A simulator of the route of GitHub's API that the gateway uses, on a loopback port. */
import { once } from "node:events";
import { createServer } from "node:http";

const PULL = /^\/repos\/([\w-]+\/[\w.-]+)\/pulls\/(\d+)$/;

/** Starts a simulator without pull requests. */
export async function startGitHub() {
  const github = new GitHub();
  await github.start();
  return github;
}

class GitHub {
  #server = createServer((request, response) => this.#respond(request, response));
  #pulls = new Map();
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

  /** Adds a pull request and returns its link. */
  add(pull = {}, repository = "acme/docs") {
    this.#numbers += 1;
    this.#pulls.set(`${repository}#${this.#numbers}`, pull);
    return `https://github.com/${repository}/pull/${this.#numbers}`;
  }

  /** Changes a pull request. */
  set(link, changes) {
    const [, repository, number] = /^https:\/\/github\.com\/(.*)\/pull\/(\d+)$/.exec(link);
    const name = `${repository}#${number}`;
    this.#pulls.set(name, { ...this.#pulls.get(name), ...changes });
  }

  /** Sets the fault of all later responses, or clears it. */
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
    const fault = this.#fault;
    if (fault !== null) {
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
    const pull = this.#pulls.get(`${repository}#${number}`);
    return pull === undefined ? null : pullBody(Number(number), pull);
  }
}

function pullBody(number, { state = "open", merged_at = null, draft = false }) {
  const head = { ref: "docs", sha: "0".repeat(40) };
  return { number, state, draft, merged: merged_at !== null, merged_at, head, body: "Fixes it" };
}
