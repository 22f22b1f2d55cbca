/** A gateway in front of the simulator. */
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before as runBefore } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { canaryKey, scanForCanary } from "../harness/canary.mjs";
import { fastTime } from "../harness/fast_clock.mjs";
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
/** Matches panics and all other traps of the wasm module. */
const TRAP = /panicked at|RuntimeError/;
/** Matches panics except those that the route for tests causes. */
const UNEXPECTED_PANIC = /panicked at (?!.*\btrap\.rs)/;
/** A shorter part of a token can occur by chance. */
const MIN_SECRET_LENGTH = 20;
const CHECK_INTERVAL_MS = 5;
const REMOVE = { recursive: true, force: true, maxRetries: 5 };
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

/** Starts a simulator and a gateway in front of the simulator. */
export async function startGate(name, options) {
  const gate = new RecordedGateway(name);
  await gate.start(options);
  return gate;
}

let ready = Promise.resolve();

/** Runs hooks one after another. `before` of node:test runs those of a file concurrently. */
export function before(start) {
  runBefore(() => {
    const started = ready.then(start);
    ready = started.catch(() => {});
    return started;
  });
}

/** Returns an entry of `TRUSTED_ISSUERS`. */
export const trustedIssuer = ({ url, jwksUrl }, rules) => ({
  ...{ issuer: url, audience: "quillgate", jwks: jwksUrl, rules },
});

/** Returns the variables of a gateway that trusts one or more issuers. */
export const trust = (issuers, rules) => ({
  TRUSTED_ISSUERS: JSON.stringify([issuers].flat().map((one) => trustedIssuer(one, rules))),
});

/** Runs a server during the tests of a file or suite. */
export function useServer(server) {
  before(() => server.start());
  after(() => server.stop());
  return server;
}

/** Runs a gateway during the tests of a file or suite. `options` can be a function. */
export function useGate(name, options) {
  const gate = new RecordedGateway(name);
  before(async () => gate.start(typeof options === "function" ? await options() : options));
  after(() => gate.stop());
  return gate;
}

export class RecordedGateway {
  #name;
  #answers = [];
  #known = new Set();
  #temporaryState;
  key = canaryKey();
  secret = newSecret();

  constructor(name) {
    this.#name = name;
  }

  /** `stored` keeps the storage for a restart. `prepare` runs before the gateway starts. */
  async start({ clockRate, stored, upstream, gateway, prepare, traps, startWith } = {}) {
    const clock = clockRate > 1 ? { rate: clockRate, epoch: Date.now() } : undefined;
    if (stored) this.#temporaryState = mkdtempSync(join(tmpdir(), `quillgate-${this.#name}-`));
    this.traps = traps;
    this.upstream = await startUpstream({ key: this.key, pages: 60, clockRate, ...upstream });
    this.settings = {
      upstreamUrl: this.upstream.url,
      adminKey: this.key,
      secret: this.secret,
      allowedOrigins: [ALLOWED_ORIGIN, "http://localhost:5173"],
      clock,
      state: this.#temporaryState,
      ...gateway,
    };
    try {
      await prepare?.(this.upstream);
      this.gateway = await (startWith ?? startGateway)(this.settings);
    } catch (error) {
      await this.upstream.stop();
      throw error;
    }
  }

  get host() {
    return `127.0.0.1:${this.gateway.port}`;
  }

  /** The folder of the durable storage. */
  get state() {
    return this.settings.state;
  }

  /** Kills the Worker, as a crash would, and starts it again with its stored state. */
  async restart(meanwhile = async () => {}) {
    assert.ok(this.state, "restart needs a gateway that was started with a `state`");
    const ended = this.gateway;
    await ended.kill();
    await meanwhile();
    const started = await startGateway(this.settings);
    this.gateway = { ...started, log: () => ended.log() + started.log() };
  }

  /** Returns the current time of the gateway's clock in milliseconds. */
  now() {
    const { clock } = this.settings;
    return clock ? fastTime(clock, Date.now()) : Date.now();
  }

  /** Returns the claims of a valid token, with `changes` applied. */
  claims(changes = {}) {
    const grant = { sub: "alice", projects: [PROJECT], scope: EVERY_SCOPE };
    return { ...accessClaims(grant), ...changes };
  }

  /** Returns a signed token with the claims of a valid token, with `changes` applied. */
  token(changes = {}, secret = this.secret) {
    return this.known(mintToken(this.claims(changes), secret));
  }

  /** Adds a token to the secrets that {@link stop} searches for. Returns the token. */
  known(token) {
    this.#known.add(token);
    return token;
  }

  /** Returns the bytes of a request. By default, it has a valid token with changed `claims`. */
  bytes({ authorization, claims, json, headers = [], host = this.host, ...rest }) {
    const credential = authorization === undefined ? `Bearer ${this.token(claims)}` : authorization;
    const fields = [
      ["Host", host],
      ...(credential === null ? [] : [["Authorization", credential]]),
      ...(json === undefined ? [] : [["Content-Type", "application/json"]]),
      ...headers,
    ];
    const body = json === undefined ? rest.body : JSON.stringify(json);
    return requestBytes({ ...rest, headers: fields, body });
  }

  /** Sends bytes and returns the exchange without waiting for the response. */
  open(bytes, method) {
    const exchange = new Exchange(this.gateway.port, bytes, method);
    this.#answers.push(exchange.answer);
    return exchange;
  }

  /** Sends bytes. Returns the response once it is complete or the connection has closed. */
  async sendBytes(bytes, method) {
    const exchange = this.open(bytes, method);
    const answer = await exchange.until(({ complete }) => complete);
    exchange.leave();
    return answer;
  }

  send(options) {
    return this.sendBytes(this.bytes(options), options.method);
  }

  get(target, options = {}) {
    return this.send({ target, ...options });
  }

  /** Returns the JSON of a 200 response. */
  async read(target, options) {
    const answer = await this.get(target, options);
    assert.equal(answer.status, 200, answer.text);
    return answer.json;
  }

  post(target, json, options = {}) {
    return this.send({ method: "POST", target, json, ...options });
  }

  async received() {
    return (await this.upstream.counters()).requests;
  }

  async untilCounters(check) {
    for (;;) {
      const counters = await this.upstream.counters();
      if (check(counters)) return counters;
      await sleep(CHECK_INTERVAL_MS);
    }
  }

  async logged(id) {
    const pattern = new RegExp(`\\{.*"requestId":"${id}".*\\}`);
    for (;;) {
      const [line] = pattern.exec(this.gateway.log()) ?? [];
      if (line) return JSON.parse(line);
      await sleep(CHECK_INTERVAL_MS);
    }
  }

  traffic() {
    return [...this.#answers.map(({ raw }) => raw.toString("latin1")), this.gateway.log()];
  }

  async stop() {
    if (!this.gateway) return;
    await this.gateway.stop();
    await this.upstream.stop();
    if (this.#temporaryState) rmSync(this.#temporaryState, REMOVE);
    assert.doesNotMatch(this.gateway.log(), this.traps ? UNEXPECTED_PANIC : TRAP);
    const traffic = this.traffic().join("\n");
    mkdirSync(LOGS, { recursive: true });
    const file = join(LOGS, `traffic-${this.#name}.bin`);
    writeFileSync(file, traffic, "latin1");
    for (const [what, secret] of Object.entries({ "admin key": this.key, secret: this.secret })) {
      const { hits } = await scanForCanary(secret, [file]);
      assert.deepEqual(hits, [], `a response or the log contains the ${what}`);
    }
    assert.notEqual(this.gateway.log(), "", "the gateway logs");
    for (const token of this.#known) {
      const signature = token.split(".").at(-1);
      const part = signature.length > MIN_SECRET_LENGTH ? signature : token;
      const isFound = part.length > MIN_SECRET_LENGTH && traffic.includes(part);
      assert.ok(!isFound, "a response or the log contains a token");
    }
  }
}

export function assertProblem(answer, status, kind) {
  assert.deepEqual([answer.status, answer.complete], [status, true], answer.text);
  assert.equal(answer.header("content-type"), "application/problem+json");
  assertCommonHead(answer);
  const problem = answer.json;
  assert.equal(problem.type, `/problems/${kind}`);
  assert.equal(problem.status, status);
  assert.equal(problem.instance, answer.header("x-request-id"));
  for (const property of ["title", "detail"]) assert.ok(problem[property], property);
  return problem;
}

export function assertInvalid(answer, field, rule) {
  const { errors } = assertProblem(answer, 400, "invalid-request");
  assert.deepEqual(
    errors.map((error) => [error.field, error.rule]),
    [[field, rule]],
  );
}

export function assertCommonHead(answer, { cacheControl = /^no-store$/, vary = "Origin" } = {}) {
  assert.match(answer.header("cache-control"), cacheControl);
  assert.equal(answer.header("x-content-type-options"), "nosniff");
  assert.equal(answer.header("vary"), vary);
  assert.match(answer.header("x-request-id"), UUID);
}
