/** A simulated GitHub that signs identity tokens and stores comments. */
import { randomBytes } from "node:crypto";
import { json } from "node:stream/consumers";
import { setTimeout as delay } from "node:timers/promises";
import { listen } from "../harness/listen.mjs";

const POLL_INTERVAL_MS = 10;
const TOKEN_PATH = "/_services/token";
const COMMENTS = /^\/repos\/acme\/docs\/issues\/(\d+)\/comments$/;
const COMMENT = /^\/repos\/acme\/docs\/issues\/comments\/(\d+)$/;
const BOT = { id: 41898282, login: "github-actions[bot]", type: "Bot" };

class Github {
  /** The credential that a step needs to get an identity token. */
  requestToken = randomBytes(24).toString("hex");
  githubToken = `ghs_${randomBytes(18).toString("hex")}`;
  /** The token of {@link person}. */
  personalToken = `ghp_${randomBytes(18).toString("hex")}`;
  person = { id: 5005, login: "alice", type: "User" };
  comments = [];
  /** Every identity token that was signed. */
  tokens = [];
  claims = {};
  tokenFaults = [];
  /** Whether comments are refused, as for a workflow without the permission. */
  refusesComments = false;
  /** Bodies of other responses by path, such as a comparison of commits. Other paths get 404. */
  resources = {};
  reads = [];
  /** Whether all requests except those for identity tokens get no response. */
  hangs = false;

  static async start(issuer) {
    const github = Object.assign(new Github(), { issuer });
    return Object.assign(github, await listen((...args) => github.#respond(...args)));
  }

  /** The variables that the runner sets for a job with `id-token: write`. */
  identityVariables() {
    return {
      ACTIONS_ID_TOKEN_REQUEST_URL: `${this.url}${TOKEN_PATH}?api-version=2.0`,
      ACTIONS_ID_TOKEN_REQUEST_TOKEN: this.requestToken,
    };
  }

  async untilCommented() {
    while (this.comments.length === 0) await delay(POLL_INTERVAL_MS);
  }

  addComment(number, body, user) {
    const comment = { id: 1000 + this.comments.length, number, body, user, writes: [body] };
    this.comments.push(comment);
    return comment;
  }

  async #respond(request, response) {
    const url = new URL(request.url, this.url);
    const content = request.method === "GET" ? undefined : await json(request);
    if (this.hangs && url.pathname !== TOKEN_PATH) return;
    const { status, body } =
      url.pathname === TOKEN_PATH ? this.#token(request, url) : this.#api(request, url, content);
    response.writeHead(status, { "content-type": "application/json" });
    response.end(JSON.stringify(body));
  }

  #token(request, url) {
    if (request.headers.authorization !== `Bearer ${this.requestToken}`) return refuse(401);
    const fault = this.tokenFaults.shift();
    if (fault !== undefined) return refuse(fault);
    const aud = url.searchParams.get("audience");
    const value = this.issuer.mint(this.issuer.githubClaims({ aud, ...this.claims }));
    this.tokens.push(value);
    return { status: 200, body: { value } };
  }

  #api(request, { pathname, searchParams }, content) {
    const user = {
      [`Bearer ${this.githubToken}`]: BOT,
      [`Bearer ${this.personalToken}`]: this.person,
    }[request.headers.authorization];
    if (user === undefined || !request.headers["user-agent"]) return refuse(401);
    if (pathname === "/user") return user === BOT ? refuse(403) : { status: 200, body: user };
    if (this.refusesComments) return refuse(403);

    const issue = COMMENTS.exec(pathname);
    if (issue && request.method === "GET") {
      const [size, page] = ["per_page", "page"].map((name) => Number(searchParams.get(name)));
      const all = this.comments.filter(({ number }) => number === Number(issue[1]));
      return { status: 200, body: all.slice((page - 1) * size, page * size) };
    }
    if (issue && request.method === "POST") {
      return { status: 201, body: this.addComment(Number(issue[1]), content.body, user) };
    }
    if (request.method === "GET" && !COMMENT.test(pathname)) {
      this.reads.push(pathname);
      const body = this.resources[pathname];
      return body === undefined ? refuse(404) : { status: 200, body };
    }
    const [, id] = COMMENT.exec(pathname) ?? [];
    const comment = this.comments.find((other) => other.id === Number(id));
    if (comment && request.method === "GET") return { status: 200, body: comment };
    if (!comment || request.method !== "PATCH") return refuse(404);
    comment.body = content.body;
    comment.writes.push(content.body);
    return { status: 200, body: comment };
  }
}

export const startGithub = Github.start;

function refuse(status) {
  return { status, body: { message: "refused" } };
}
