import assert from "node:assert/strict";
import { assertProblem, JOBS, PROJECT, VIEWS } from "./recorded_gateway.mjs";

export const SESSION_COOKIE = "__Host-quillgate";
/** The prefix of the names of sign-in cookies. */
export const SIGN_IN_COOKIE = "__Host-quillgate-sign-in-";
export const LIST = `/v2/agent/${PROJECT}/jobs`;

/** Returns the current Unix time in seconds, the unit of a JWT's `exp`. */
export const nowInSeconds = () => Math.floor(Date.now() / 1000);

export const READS = [
  VIEWS,
  `${VIEWS}/export?format=csv`,
  `${VIEWS}/daily?dateFrom=2024-01-01&dateTo=2024-02-01`,
  `${VIEWS}/daily/status`,
  `${VIEWS}/daily/backfill?dateFrom=2024-01-01`,
  LIST,
  `${LIST}/events`,
  `${JOBS}/j1`,
  `${JOBS}/j1/events`,
  `${JOBS}/j1/record`,
  `${JOBS}/j1/pull-request`,
  "/healthz?deep",
];
export const WRITES = [
  { method: "POST", target: JOBS, json: { prompt: "x" } },
  { method: "POST", target: `${JOBS}/j1/message`, json: { prompt: "x" } },
  { method: "DELETE", target: `${JOBS}/j1/record` },
  { method: "POST", target: `${VIEWS}/daily/backfill`, json: { dateFrom: "2024-01-01" } },
  { method: "DELETE", target: `/healthz/blocks/create-job?project=${PROJECT}` },
  { method: "DELETE", target: "/healthz/blocks/analytics" },
];

export class Browser {
  constructor(gate, cookie) {
    this.gate = gate;
    this.cookies = new Map(cookie === undefined ? [] : [[SESSION_COOKIE, cookie]]);
  }

  get cookie() {
    return this.cookies.get(SESSION_COOKIE);
  }

  /** Returns the header fields of a request from the gateway's own page. */
  get sameOrigin() {
    return [
      ["Origin", `http://${this.gate.host}`],
      ["Sec-Fetch-Site", "same-origin"],
    ];
  }

  async send({ headers = this.sameOrigin, ...request }) {
    const cookies = [...this.cookies].map(([name, value]) => `${name}=${value}`).join("; ");
    const all = cookies === "" ? headers : [...headers, ["Cookie", cookies]];
    const answer = await this.gate.send({ authorization: null, ...request, headers: all });
    for (const [name, value] of answer.headers) if (name === "set-cookie") this.#store(value);
    return answer;
  }

  #store(setCookie) {
    const [, name, value, lifetime] = /^([^=]+)=([^;]*);.*; Max-Age=(\d+)$/.exec(setCookie);
    if (lifetime === "0") this.cookies.delete(name);
    else this.cookies.set(name, value);
  }

  get(target, options) {
    return this.send({ target, ...options });
  }

  async signIn(token = this.gate.token()) {
    const answer = await this.send({ method: "POST", target: "/session", json: { token } });
    assert.equal(answer.status, 201, answer.text);
    return answer;
  }

  signOut(options) {
    return this.send({ method: "DELETE", target: "/session", ...options });
  }
}

export async function openSession(gate, changes) {
  const browser = new Browser(gate);
  await browser.signIn(gate.token(changes));
  return browser;
}

export async function assertNothingSent(gate, run) {
  const before = await gate.received();
  await run();
  assert.equal((await gate.received()) - before, 0, "requests upstream");
}

/** Asserts that READS, WRITES and `/session` reject the browser's cookie with a 401. */
export async function assertSignedOut(browser, kind = "session-ended") {
  await assertNothingSent(browser.gate, async () => {
    for (const target of ["/session", ...READS]) {
      assertProblem(await browser.get(target), 401, kind);
    }
    for (const request of WRITES) assertProblem(await browser.send(request), 401, kind);
  });
}
