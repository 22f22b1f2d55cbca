/** A simulator of the route of GitHub's API that the gateway uses, on a loopback port. */
import { listen } from "./listen.mjs";

const PULL = /^\/repos\/([\w-]+\/[\w.-]+)\/pulls\/(\d+)$/;

class GitHub {
  #pulls = new Map();
  #fault = null;
  #numbers = 0;
  requests = [];

  static async start() {
    const github = new GitHub();
    return Object.assign(github, await listen((...args) => github.#respond(...args)));
  }

  /** Adds a pull request and returns its link. */
  add(pull = {}, repository = "acme/docs") {
    this.#numbers += 1;
    this.#pulls.set(`${repository}#${this.#numbers}`, pull);
    return `https://github.com/${repository}/pull/${this.#numbers}`;
  }

  set(link, changes) {
    const [, repository, number] = /^https:\/\/github\.com\/(.*)\/pull\/(\d+)$/.exec(link);
    const name = `${repository}#${number}`;
    this.#pulls.set(name, { ...this.#pulls.get(name), ...changes });
  }

  setFault(fault) {
    this.#fault = fault;
  }

  reset() {
    this.requests = [];
    this.#fault = null;
  }

  #respond(request, response) {
    response.on("error", () => {});
    this.requests.push({ path: request.url, headers: request.headers });
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

export const startGitHub = GitHub.start;

function pullBody(number, { state = "open", merged_at = null, draft = false }) {
  const head = { ref: "docs", sha: "0".repeat(40) };
  return { number, state, draft, merged: merged_at !== null, merged_at, head, body: "Fixes it" };
}
