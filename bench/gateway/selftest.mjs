/**
 * What a comparison is worth: every gateway beside the bare one refuses what the others
 * refuse, before anything gets upstream, and lets through what is good.
 */
import { ALLOWED_ORIGIN, PROJECT } from "./servers.mjs";

const VIEWS = `/v1/analytics/${PROJECT}/views`;
const JOBS = `/v2/agent/${PROJECT}/job`;
const JOB = `${JOBS}/job_00000000`;
const GOOD_BODY = JSON.stringify({ prompt: "Explain it." });

/**
 * A request and the status that answers it.
 *
 * @typedef {object} Case
 * @property {string} target
 * @property {number} status
 * @property {Record<string, unknown>} [claims] changes of a good token's
 * @property {string} [authorization] instead of a token
 * @property {Record<string, string>} [headers]
 * @property {string} [method]
 * @property {string} [body] makes it a POST
 */

/** @type {(now: number) => Case[]} `now` in seconds */
const tokens = (now) => [
  { target: VIEWS, status: 401, authorization: "" },
  { target: VIEWS, status: 401, authorization: "Bearer nonsense" },
  { target: VIEWS, status: 401, claims: { iss: "another" } },
  { target: VIEWS, status: 401, claims: { iat: now - 100, exp: now - 10 } },
  { target: VIEWS, status: 401, claims: { iat: now + 1000, exp: now + 2000 } },
  { target: VIEWS, status: 401, claims: { nbf: now + 1000 } },
  { target: VIEWS, status: 401, claims: { exp: now + 100 * 86_400 } },
  { target: VIEWS, status: 401, claims: { sub: "" } },
  { target: VIEWS, status: 403, claims: { projects: ["other-docs"] } },
  { target: VIEWS, status: 403, claims: { scope: "jobs:read jobs:create" } },
  { target: JOB, status: 403, claims: { scope: "analytics:read" } },
  { target: JOBS, status: 403, claims: { scope: "jobs:read" }, body: GOOD_BODY },
];

/** @type {Case[]} */
const QUERIES = [
  "limit=0",
  "limit=251",
  "limit=1.5",
  "limit=ten",
  "limit=25&limit=25",
  "offset=-1",
  "offset=9007199254740992",
  "dateFrom=yesterday",
  "dateFrom=2026-02-30",
  "dateTo=2026-01-01T25:00",
  "dateFrom=2026-02-01&dateTo=2026-01-01",
  "dateFrom=2026-02-01&dateTo=2026-02-01",
  "key=value",
].map((query) => ({ target: `${VIEWS}?${query}`, status: 400 }));

/** @type {Case[]} */
const REQUESTS = [
  { target: "/v1/analytics", status: 404 },
  { target: `${VIEWS}/`, status: 404 },
  { target: `${VIEWS.replace("v1", "v3")}`, status: 404 },
  { target: VIEWS, status: 405, method: "DELETE" },
  { target: `${JOBS}/a%2Fb`, status: 400 },
  { target: `${JOBS}/a%252Fb`, status: 400 },
  { target: VIEWS, status: 403, headers: { origin: "https://evil.example" } },
  { target: JOBS, status: 415, body: GOOD_BODY, headers: { "content-type": "text/plain" } },
  { target: JOBS, status: 400, body: "{" },
  { target: JOBS, status: 400, body: "[]" },
  { target: JOBS, status: 400, body: '{"prompt":""}' },
  { target: JOBS, status: 400, body: '{"prompt":1}' },
  { target: JOBS, status: 400, body: '{"prompt":"a","model":"b"}' },
  { target: JOBS, status: 413, body: JSON.stringify({ prompt: "a".repeat(140_000) }) },
];

/** @type {Case[]} */
const GOOD = [
  { target: VIEWS, status: 200 },
  { target: `${VIEWS}?dateFrom=2026-01-01&dateTo=2026-02-01&limit=250&offset=500`, status: 200 },
  { target: `${VIEWS}?dateFrom=2026-01-01T00:00:00.5%2B01:00&limit=1`, status: 200 },
  { target: JOB, status: 200 },
  { target: JOBS, status: 201, body: GOOD_BODY },
];

/**
 * Asks the gateways all of it.
 *
 * @param {import("./servers.mjs").Bench} bench
 * @param {import("./servers.mjs").Server} server with `bare`, `hand`, `hono`, `hand-do` and
 *   `quillgate`
 * @throws when one of them does not do what it must
 */
export async function selfTest(bench, server) {
  const gateways = ["hand", "hono", "hand-do", "quillgate"].map((name) => {
    return { name, base: `http://127.0.0.1:${server.ports[name]}` };
  });
  const failures = [await keySwapped(bench, server)];
  for (const gateway of gateways) failures.push(...(await refusing(bench, gateway)));
  const serves = gateways.map((gateway) => serving(bench, gateway));
  failures.push(...(await Promise.all(serves)).flat());
  const found = failures.filter(Boolean);
  if (found.length === 0) return;
  throw new Error(`not every gateway checks what it must:\n  ${found.join("\n  ")}`);
}

/** The upstream answers the bare one, and nobody who has not got its key. */
async function keySwapped(bench, server) {
  const ask = (port) => fetch(`http://127.0.0.1:${port}${JOB}`).then(({ status }) => status);
  const direct = await ask(bench.upstream.ports.upstream);
  const bare = await ask(server.ports.bare);
  if (direct === 401 && bare === 200) return undefined;
  return `bare: ${bare}, and without the key ${direct}`;
}

/** What must be refused, without the upstream's hearing of it. */
async function refusing(bench, { name, base }) {
  const now = Math.floor(Date.now() / 1000);
  const bad = [...tokens(now), ...forged(bench, now), ...QUERIES, ...REQUESTS];
  const before = await received(bench);
  const failures = await Promise.all(bad.map((one) => checked(bench, base, one)));
  const passed = (await received(bench)) - before;
  if (passed > 0) failures.push(`${passed} refused requests went upstream`);
  return failures.map((failure) => failure && `${name}: ${failure}`);
}

/** What must be let through, and how. */
async function serving(bench, { name, base }) {
  const asked = [...GOOD, SLOW].map((one) => checked(bench, base, one));
  const keeps = ["hand-do", "quillgate"].includes(name);
  const failures = await Promise.all([
    ...asked,
    headersKept(bench, base),
    keeps ? idempotent(bench, base) : undefined,
  ]);
  return failures.map((failure) => failure && `${name}: ${failure}`);
}

/** A job that the upstream takes longer to tell of than it may. */
const SLOW = { target: `${JOBS}/slow`, status: 504 };

/** Tokens whose signature is not good, or that want none. */
function forged(bench, now) {
  const [head, payload, signature] = bench.token().split(".");
  const none = Buffer.from('{"alg":"none"}').toString("base64url");
  const grown = JSON.parse(Buffer.from(payload, "base64url").toString());
  const changed = Buffer.from(JSON.stringify({ ...grown, exp: now + 99 })).toString("base64url");
  return [
    bench.token({}, "another secret of at least thirty-two bytes"),
    `${head}.${changed}.${signature}`,
    `${none}.${payload}.`,
    `${none}.${payload}.${signature}`,
    `${head}.${payload}`,
  ].map((token) => ({ target: VIEWS, status: 401, authorization: `Bearer ${token}` }));
}

async function checked(bench, base, one) {
  const response = await send(bench, base, one);
  const type = response.headers.get("content-type");
  await response.arrayBuffer();
  const { target, status, method, body } = one;
  const asked = `${method ?? (body ? "POST" : "GET")} ${target} ${body?.slice(0, 40) ?? ""}`;
  if (response.status !== status) return `${asked}: ${response.status} instead of ${status}`;
  const isProblem = type?.startsWith("application/problem+json") ?? false;
  return isProblem === status >= 400 ? undefined : `${asked}: ${status} as ${type}`;
}

/** Of the header fields, only those that are allowed are passed on, either way. */
async function headersKept(bench, base) {
  const headers = { origin: ALLOWED_ORIGIN, cookie: "a=b", "x-forwarded-host": "evil.example" };
  const response = await send(bench, base, { target: JOB, headers });
  await response.arrayBuffer();
  const given = response.headers;
  const leaked = ["set-cookie", "server"].filter((name) => given.has(name));
  if (response.status !== 200) return `header fields went upstream: ${response.status}`;
  if (leaked.length > 0) return `header fields came back: ${leaked.join(", ")}`;
  if (given.get("access-control-allow-origin") !== ALLOWED_ORIGIN) return "an origin not allowed";
  return given.has("x-request-id") ? undefined : "no request id";
}

/** One key makes one job. */
async function idempotent(bench, base) {
  const headers = { "idempotency-key": "self-test" };
  const create = async (body) => {
    const response = await send(bench, base, { target: JOBS, headers, body });
    return { status: response.status, text: await response.text(), headers: response.headers };
  };
  const first = await create(GOOD_BODY);
  const again = await create(GOOD_BODY);
  const other = await create('{"prompt":"Something else."}');
  const isReplayed = again.headers.get("idempotent-replayed") === "true";
  const isGood = first.status === 201 && again.text === first.text && isReplayed;
  if (!isGood) return `a repetition was answered ${again.status}`;
  if (other.status !== 422) return `a key used again was answered ${other.status}`;
  return first.headers.has("ratelimit") ? undefined : "no RateLimit";
}

function send(bench, base, { target, claims, authorization, headers, method, body }) {
  const token = authorization ?? `Bearer ${bench.token(claims)}`;
  return fetch(base + target, {
    method: method ?? (body === undefined ? "GET" : "POST"),
    headers: {
      ...(token === "" ? {} : { authorization: token }),
      ...(body === undefined ? {} : { "content-type": "application/json" }),
      ...headers,
    },
    body,
  });
}

async function received({ upstream }) {
  const response = await fetch(`http://127.0.0.1:${upstream.ports.upstream}/received`);
  return (await response.json()).received;
}
