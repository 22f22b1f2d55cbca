/** A gateway in front of the simulated platform, asked byte by byte, and all that it said. */
import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { canaryKey, scanForCanary } from "../harness/canary.mjs";
import { startGateway } from "../harness/gateway.mjs";
import { LOGS } from "../harness/process.mjs";
import { accessClaims, mintToken, newSecret } from "../harness/token.mjs";
import { startUpstream } from "../harness/upstream.mjs";
import { Exchange, requestBytes } from "./raw_http.mjs";

export const PROJECT = "demo-docs";
export const EVERY_SCOPE = "jobs:create jobs:read analytics:read";
export const VIEWS = `/v1/analytics/${PROJECT}/views`;
export const JOBS = `/v2/agent/${PROJECT}/job`;
export const ALLOWED_ORIGIN = "https://docs.example";
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

/**
 * Starts both. `name` names the file in which everything that was received is kept; `prepare` gets
 * the simulator before the gateway starts.
 *
 * @param {string} name
 * @param {{ upstream?: object, gateway?: object, prepare?: (upstream: object) => unknown,
 *   startWith?: typeof startGateway }} [options]
 */
export async function startGate(name, options = {}) {
  const key = canaryKey();
  const secret = newSecret();
  const upstream = await startUpstream({ key, pages: 60, ...options.upstream });
  const settings = {
    upstreamUrl: upstream.url,
    adminKey: key,
    secret,
    allowedOrigins: [ALLOWED_ORIGIN, "http://localhost:5173"],
    ...options.gateway,
  };
  const start = async () => {
    await options.prepare?.(upstream);
    return await (options.startWith ?? startGateway)(settings);
  };
  const gateway = await start().catch(async (error) => {
    await upstream.stop();
    throw error;
  });
  return new Gate(name, { key, secret, upstream, gateway, settings });
}

class Gate {
  #name;
  #answers = [];
  #tokens = new Set();

  constructor(name, parts) {
    this.#name = name;
    Object.assign(this, parts);
    this.host = `127.0.0.1:${this.gateway.port}`;
  }

  /**
   * Ends the Worker at once, as a crash would, and starts it again on what it had stored: the
   * gate must have been started with a `state`.
   */
  async restart() {
    assert.ok(this.settings.state, "without a state nothing is stored");
    const ended = this.gateway;
    await ended.kill();
    const started = await startGateway(this.settings);
    this.gateway = { ...started, log: () => ended.log() + started.log() };
    this.host = `127.0.0.1:${started.port}`;
  }

  /** The claims of a good token, with some changed; `undefined` leaves one out. */
  claims(changes = {}) {
    const grant = { sub: "alice", projects: [PROJECT], scope: EVERY_SCOPE };
    return { ...accessClaims(grant), ...changes };
  }

  /** A signed token: a good one unless its claims are changed. */
  token(changes = {}, secret = this.secret) {
    return this.known(mintToken(this.claims(changes), secret));
  }

  /** A token with any header, signed with HMAC and this hash. */
  tokenOf(header, { claims = this.claims(), hash = "sha256", secret = this.secret } = {}) {
    const text = (part) => (typeof part === "string" ? part : JSON.stringify(part));
    const body = [header, claims].map((part) => Buffer.from(text(part)).toString("base64url"));
    const signed = body.join(".");
    return this.known(`${signed}.${createHmac(hash, secret).update(signed).digest("base64url")}`);
  }

  /** Remembers a token, which then must occur in nothing that the gateway says. */
  known(token) {
    this.#tokens.add(token);
    return token;
  }

  /**
   * The bytes of a request: with a good token unless `authorization` is another, or null for
   * none; with a JSON body when `json` is given.
   */
  bytes({ authorization, json, headers = [], host = this.host, ...rest }) {
    const credential = authorization === undefined ? `Bearer ${this.token()}` : authorization;
    const fields = [
      ["Host", host],
      ...(credential === null ? [] : [["Authorization", credential]]),
      ...(json === undefined ? [] : [["Content-Type", "application/json"]]),
      ...headers,
    ];
    const body = json === undefined ? rest.body : JSON.stringify(json);
    return requestBytes({ ...rest, headers: fields, body });
  }

  /** Sends bytes; the answer is kept for {@link assertDiscreet}. */
  open(bytes, method) {
    const exchange = new Exchange(this.gateway.port, bytes, method);
    this.#answers.push(exchange.answer);
    return exchange;
  }

  /** Sends bytes and reads the whole response. */
  async sendBytes(bytes, method) {
    const exchange = this.open(bytes, method);
    const answer = await exchange.until(({ complete }) => complete);
    exchange.leave();
    return answer;
  }

  /** Sends a request and reads its whole answer. */
  send(options) {
    return this.sendBytes(this.bytes(options), options.method);
  }

  get(target, options = {}) {
    return this.send({ target, ...options });
  }

  post(target, json, options = {}) {
    return this.send({ method: "POST", target, json, ...options });
  }

  /** The requests that the upstream has received since it was last reset. */
  async received() {
    return (await this.upstream.counters()).requests;
  }

  /** Looks again and again until `check` holds for the upstream's counters. */
  async untilCounters(check) {
    for (;;) {
      const counters = await this.upstream.counters();
      if (check(counters)) return counters;
    }
  }

  /** The log's line of a request, as soon as it is there; wrangler decorates that of an error. */
  async logged(id) {
    const pattern = new RegExp(`\\{.*"requestId":"${id}".*\\}`);
    for (;;) {
      const [line] = pattern.exec(this.gateway.log()) ?? [];
      if (line) return JSON.parse(line);
      await new Promise(setImmediate);
    }
  }

  /** Neither the admin key, nor the secret, nor a token is in an answer or in the log. */
  async assertDiscreet() {
    mkdirSync(LOGS, { recursive: true });
    const files = {
      [join(LOGS, `traffic-${this.#name}.bin`)]: Buffer.concat(this.#answers.map(({ raw }) => raw)),
      [join(LOGS, `traffic-${this.#name}.log`)]: Buffer.from(this.gateway.log()),
    };
    for (const [file, content] of Object.entries(files)) {
      assert.ok(content.length > 0, `${file} holds something to search`);
      writeFileSync(file, content);
    }
    const signatures = [...this.#tokens].map((token) => token.split(".").at(-1));
    const secrets = { "admin key": [this.key], secret: [this.secret], token: [...this.#tokens] };
    secrets.signature = signatures.filter((text) => text.length > 20);
    for (const [what, needles] of Object.entries(secrets)) {
      for (const needle of needles) {
        const { hits } = await scanForCanary(needle, Object.keys(files));
        assert.deepEqual(hits, [], `the ${what} occurs in what the gateway said`);
      }
    }
  }

  async stop() {
    await this.gateway.stop();
    await this.upstream.stop();
  }
}

/**
 * Checks a problem: the whole of RFC 9457, and what every answer of the API carries.
 *
 * @param {import("./raw_http.mjs").Answer} answer
 * @param {number} status
 * @param {string} kind the last segment of `type`
 * @returns {Record<string, unknown>} the problem
 */
export function assertProblem(answer, status, kind) {
  assert.deepEqual([answer.status, answer.complete], [status, true], answer.text);
  assert.equal(answer.header("content-type"), "application/problem+json");
  assertCommonHead(answer);
  const problem = answer.json;
  assert.equal(problem.type, `/problems/${kind}`);
  assert.equal(problem.status, status);
  assert.equal(problem.instance, answer.header("x-request-id"));
  for (const member of ["title", "detail"]) assert.ok(problem[member], member);
  return problem;
}

/** Checks a validation problem's one field and rule. */
export function assertInvalid(answer, field, rule) {
  const { errors } = assertProblem(answer, 400, "invalid-request");
  assert.deepEqual(
    errors.map((error) => [error.field, error.rule]),
    [[field, rule]],
  );
}

/** What every answer of the API carries; page views, which are kept, say otherwise. */
export function assertCommonHead(answer, { cacheControl = /^no-store$/, vary = "Origin" } = {}) {
  assert.match(answer.header("cache-control"), cacheControl);
  assert.equal(answer.header("x-content-type-options"), "nosniff");
  assert.equal(answer.header("vary"), vary);
  assert.match(answer.header("x-request-id"), UUID);
}
