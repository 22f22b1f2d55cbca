/**
 * What a step asks of GitHub: the tokens of its identity, which an issuer of the tests signs, and the
 * comments of a pull request.
 */
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:http";
import { startIssuer } from "../harness/issuer.mjs";

const TOKEN_PATH = "/_services/token";
const COMMENTS = /^\/repos\/acme\/docs\/issues\/(\d+)\/comments$/;
const COMMENT = /^\/repos\/acme\/docs\/issues\/comments\/(\d+)$/;
/** The account that the token of a run writes as. */
const BOT = { id: 41898282, login: "github-actions[bot]", type: "Bot" };

/** Starts both on loopback ports. */
export async function startGithub() {
  const github = new Github(await startIssuer());
  await github.start();
  return github;
}

class Github {
  #server = createServer((request, response) => this.#answer(request, response));
  /** What a step has to show to get a token. */
  requestToken = randomBytes(24).toString("hex");
  /** The token of a run, and who it writes as. */
  githubToken = `ghs_${randomBytes(18).toString("hex")}`;
  /** Somebody's own token. */
  personalToken = `ghp_${randomBytes(18).toString("hex")}`;
  person = { id: 5005, login: "alice", type: "User" };
  /** Every token that was ever signed. */
  issued = [];

  constructor(issuer) {
    this.issuer = issuer;
    this.reset();
  }

  async start() {
    this.#server.listen(0, "127.0.0.1");
    await once(this.#server, "listening");
    this.url = `http://127.0.0.1:${this.#server.address().port}`;
  }

  /** Forgets comments, tokens and faults. */
  reset() {
    /** @type {{ id: number, number: number, body: string, user: object, writes: string[] }[]} */
    this.comments = [];
    /** Every token that was signed since the last reset. */
    this.tokens = [];
    /** Claims of the tokens to come; see `githubClaims` of the issuer. */
    this.claims = {};
    /** The statuses that the next requests for a token are answered with. */
    this.tokenFaults = [];
    /** Whether comments are refused, as a workflow without the permission sees it. */
    this.refusesComments = false;
    /** Whether nothing about comments is answered. */
    this.hangs = false;
    this.requests = [];
  }

  /** What the runner tells a job that has `id-token: write`. */
  identityVariables() {
    return {
      ACTIONS_ID_TOKEN_REQUEST_URL: `${this.url}${TOKEN_PATH}?api-version=2.0`,
      ACTIONS_ID_TOKEN_REQUEST_TOKEN: this.requestToken,
    };
  }

  /** Waits until there is a comment. */
  async untilCommented() {
    while (this.comments.length === 0) await new Promise(setImmediate);
  }

  /** A comment that somebody else has written. */
  addComment(number, body, user) {
    const comment = { id: 1000 + this.comments.length, number, body, user, writes: [body] };
    this.comments.push(comment);
    return comment;
  }

  async stop() {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, "close");
    await this.issuer.stop();
  }

  async #answer(request, response) {
    const url = new URL(request.url, this.url);
    this.requests.push(`${request.method} ${url.pathname}`);
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    const content = chunks.length > 0 ? JSON.parse(Buffer.concat(chunks)) : undefined;
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
    this.issued.push(value);
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

    const ofIssue = COMMENTS.exec(pathname);
    if (ofIssue && request.method === "GET") {
      const [size, page] = ["per_page", "page"].map((name) => Number(searchParams.get(name)));
      const all = this.comments.filter(({ number }) => number === Number(ofIssue[1]));
      return { status: 200, body: all.slice((page - 1) * size, page * size) };
    }
    if (ofIssue && request.method === "POST") {
      return { status: 201, body: this.addComment(Number(ofIssue[1]), content.body, user) };
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

function refuse(status) {
  return { status, body: { message: "refused" } };
}
