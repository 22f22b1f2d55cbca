/**
 * What a comparison is worth: every gateway but the bare one refuses what the others refuse
 * before anything gets upstream, passes on only what may be passed on, and keeps what the others
 * keep.
 */
import { ALLOWED_ORIGIN, PROJECT, startServer } from "./servers.mjs";

const VIEWS = `/v1/analytics/${PROJECT}/views`;
const JOBS = `/v2/agent/${PROJECT}/job`;
const JOB = `${JOBS}/job_00000000`;
const VALID_BODY = JSON.stringify({ prompt: "Explain it." });

/**
 * A request and the status that answers it.
 *
 * @typedef {object} Case
 * @property {string} target
 * @property {number} status
 * @property {Record<string, unknown>} [claims] changes to a valid token's
 * @property {string} [authorization] instead of a token
 * @property {Record<string, string>} [headers]
 * @property {string} [method]
 * @property {string} [body] makes it a POST
 */

/** @type {(now: number) => Case[]} `now` in seconds */
const tokens = (now) => [
  { target: JOB, status: 401, authorization: "" },
  { target: JOB, status: 401, authorization: "Bearer nonsense" },
  { target: JOB, status: 401, claims: { iss: "another" } },
  { target: JOB, status: 401, claims: { iat: now - 100, exp: now - 10 } },
  { target: JOB, status: 401, claims: { iat: now + 1000, exp: now + 2000 } },
  { target: JOB, status: 401, claims: { nbf: now + 1000 } },
  { target: JOB, status: 401, claims: { exp: now + 100 * 86_400 } },
  { target: JOB, status: 401, claims: { sub: "" } },
  { target: JOB, status: 403, claims: { projects: ["other-docs"] } },
  { target: JOB, status: 403, claims: { scope: "analytics:read jobs:create" } },
];

/** @type {Case[]} */
const BAD_READS = [
  { target: "/v2/agent", status: 404 },
  { target: `${JOB}/`, status: 404 },
  { target: `${JOB.replace("v2", "v3")}`, status: 404 },
  { target: JOB, status: 405, method: "DELETE" },
  { target: `${JOB}?key=value`, status: 400 },
  { target: `${JOBS}/a%2Fb`, status: 400 },
  { target: `${JOBS}/a%252Fb`, status: 400 },
  { target: JOB, status: 403, headers: { origin: "https://evil.example" } },
];

/** @type {Case[]} */
const BAD_VIEWS = [
  { target: `${VIEWS}/`, status: 404 },
  { target: VIEWS, status: 405, method: "DELETE" },
  { target: VIEWS, status: 401, authorization: "" },
  { target: VIEWS, status: 403, claims: { projects: ["other-docs"] } },
  { target: VIEWS, status: 403, claims: { scope: "jobs:read jobs:create" } },
  ...[
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
  ].map((query) => ({ target: `${VIEWS}?${query}`, status: 400 })),
];

/** @type {Case[]} */
const BAD_CREATIONS = [
  { target: JOBS, status: 401, authorization: "", body: VALID_BODY },
  { target: JOBS, status: 403, claims: { projects: ["other-docs"] }, body: VALID_BODY },
  { target: JOBS, status: 403, claims: { scope: "jobs:read" }, body: VALID_BODY },
  { target: JOBS, status: 415, body: VALID_BODY, headers: { "content-type": "text/plain" } },
  { target: JOBS, status: 400, body: "{" },
  { target: JOBS, status: 400, body: "[]" },
  { target: JOBS, status: 400, body: '{"prompt":""}' },
  { target: JOBS, status: 400, body: '{"prompt":1}' },
  { target: JOBS, status: 400, body: '{"prompt":"a","model":"b"}' },
  { target: JOBS, status: 413, body: JSON.stringify({ prompt: "a".repeat(140_000) }) },
];

/** @type {Case[]} the upstream's answer depends on the id: see `workers/upstream.mjs` */
const READS = [
  { target: JOB, status: 200 },
  { target: `${JOBS}/empty-object`, status: 200 },
  { target: `${JOBS}/unknown-members`, status: 200 },
  { target: `${JOBS}/slow`, status: 504 },
  ...[
    "truncated",
    "list",
    "null",
    "numeric-id",
    "numeric-status",
    "text-source",
    "numeric-ref",
    "not-json",
    "long",
    "long-chunked",
  ].map((id) => ({ target: `${JOBS}/${id}`, status: 502 })),
];

/** @type {Case[]} the upstream's answer depends on the offset */
const LISTINGS = [
  { target: VIEWS, status: 200 },
  { target: `${VIEWS}?dateFrom=2026-01-01&dateTo=2026-02-01&limit=250&offset=500`, status: 200 },
  { target: `${VIEWS}?dateFrom=2026-01-01T00:00:00.5%2B01:00&limit=1`, status: 200 },
  ...[250_000_000, 250_000_250, 250_000_500, 250_000_750, 250_001_000].map((offset) => ({
    target: `${VIEWS}?limit=250&offset=${offset}`,
    status: 502,
  })),
];

/** @type {Case[]} the upstream's answer depends on the prompt */
const CREATIONS = [
  { target: JOBS, status: 201, body: VALID_BODY },
  { target: JOBS, status: 502, body: '{"prompt":"truncated"}' },
  { target: JOBS, status: 502, body: '{"prompt":"list"}' },
  { target: JOBS, status: 502, body: '{"prompt":"numeric-id"}' },
];

/**
 * Tests every gateway.
 *
 * @typedef {Record<string, string[]>} Deviations by build of the gateway: where it does not do what
 *   its peers do
 *
 * @param {import("./servers.mjs").Bench} bench
 * @returns {Promise<Deviations>}
 * @throws when a peer does not do what it must
 */
export async function runSelfTest(bench) {
  console.log("bench: self-test …");
  // In a process of its own: what fails here must not slow down what is measured.
  const server = await startServer(bench, ["bare", "hono", "hand", "quillgate", "before"]);
  const test = async (name, checks) => {
    const gateway = createGateway(bench, server.ports[name]);
    const findings = [];
    for (const check of checks) findings.push(...(await check(gateway)));
    return findings;
  };
  const checks = [checkReads, checkViews, checkCreations];
  try {
    requireNone("bare", await checkKeys(bench, server));
    requireNone("hono", await test("hono", [checkReads]));
    requireNone("hand", await test("hand", checks));
    return { quillgate: await test("quillgate", checks), before: await test("before", checks) };
  } finally {
    await server.stop();
  }
}

function requireNone(name, findings) {
  if (findings.length === 0) return;
  throw new Error(`${name} does not do what it must:\n  ${findings.join("\n  ")}`);
}

/** The upstream answers the bare gateway, and nobody without its key. */
async function checkKeys(bench, server) {
  const request = (port) => fetch(`http://127.0.0.1:${port}${JOB}`).then(({ status }) => status);
  const direct = await request(bench.upstream.ports.upstream);
  const bare = await request(server.ports.bare);
  return listFindings({
    [`with the key: ${bare}`]: bare !== 200,
    [`without the key: ${direct}`]: direct !== 401,
  });
}

function createGateway(bench, port) {
  const { upstream } = bench.upstream.ports;
  return {
    signToken: bench.signToken,
    async send({ target, claims, authorization, headers, method, body }) {
      const token = authorization ?? `Bearer ${bench.signToken(claims)}`;
      return await fetch(`http://127.0.0.1:${port}${target}`, {
        method: method ?? (body === undefined ? "GET" : "POST"),
        headers: {
          ...(token === "" ? {} : { authorization: token }),
          ...(body === undefined ? {} : { "content-type": "application/json" }),
          ...headers,
        },
        body,
      });
    },
    async countReceived() {
      const response = await fetch(`http://127.0.0.1:${upstream}/received`);
      return (await response.json()).received;
    },
  };
}

// --- the checks, each with what it finds wrong -----------------------------

async function checkReads(gateway) {
  const now = Math.floor(Date.now() / 1000);
  const refused = [...tokens(now), ...forgeTokens(gateway.signToken, now), ...BAD_READS];
  return [
    ...(await checkRefusals(gateway, refused)),
    ...(await checkCases(gateway, READS)),
    ...(await checkText(gateway)),
    ...(await checkHeaders(gateway)),
  ];
}

async function checkViews(gateway) {
  return [
    ...(await checkRefusals(gateway, BAD_VIEWS)),
    ...(await checkCases(gateway, LISTINGS)),
    ...(await checkCache(gateway)),
  ];
}

async function checkCreations(gateway) {
  return [
    ...(await checkRefusals(gateway, BAD_CREATIONS)),
    ...(await checkCases(gateway, CREATIONS)),
    ...(await checkIdempotency(gateway)),
  ];
}

/** What must be refused without a request upstream. */
async function checkRefusals(gateway, cases) {
  const before = await gateway.countReceived();
  const findings = await checkCases(gateway, cases);
  const passed = (await gateway.countReceived()) - before;
  return passed > 0 ? [...findings, `${passed} refused requests went upstream`] : findings;
}

/** Tokens without a valid signature. */
function forgeTokens(signToken, now) {
  const [head, payload, signature] = signToken().split(".");
  const none = Buffer.from('{"alg":"none"}').toString("base64url");
  const claims = JSON.parse(Buffer.from(payload, "base64url").toString());
  const changed = Buffer.from(JSON.stringify({ ...claims, exp: now + 99 })).toString("base64url");
  return [
    signToken({}, "another secret of at least thirty-two bytes"),
    `${head}.${changed}.${signature}`,
    `${none}.${payload}.`,
    `${none}.${payload}.${signature}`,
    `${head}.${payload}`,
  ].map((token) => ({ target: JOB, status: 401, authorization: `Bearer ${token}` }));
}

/** @param {Case[]} cases */
async function checkCases(gateway, cases) {
  const findings = await Promise.all(cases.map((one) => checkCase(gateway, one)));
  return findings.flat();
}

async function checkCase(gateway, request) {
  const response = await gateway.send(request);
  await response.arrayBuffer();
  const { target, status, method, body } = request;
  const type = response.headers.get("content-type") ?? "";
  const what = `${method ?? (body ? "POST" : "GET")} ${target} ${body?.slice(0, 40) ?? ""}`.trim();
  if (response.status !== status) return [`${what}: ${response.status} instead of ${status}`];
  const isProblem = type.startsWith("application/problem+json");
  return isProblem === status >= 400 ? [] : [`${what}: ${status} as ${type}`];
}

/** A job's text is passed on as it is. */
async function checkText(gateway) {
  const response = await gateway.send({ target: `${JOBS}/unknown-members` });
  const text = await response.text();
  return text === '{"status":"queued","more":[1]}' ? [] : [`a job was passed on as ${text}`];
}

/** Only header fields that are allowed are passed on, in either direction. */
async function checkHeaders(gateway) {
  const headers = { origin: ALLOWED_ORIGIN, cookie: "a=b", "x-forwarded-host": "evil.example" };
  const response = await gateway.send({ target: JOB, headers });
  await response.arrayBuffer();
  const received = response.headers;
  const leaked = ["set-cookie", "server"].filter((name) => received.has(name));
  return listFindings({
    [`header fields went upstream: ${response.status}`]: response.status !== 200,
    [`header fields came back: ${leaked.join(", ")}`]: leaked.length > 0,
    "an allowed origin was not allowed":
      received.get("access-control-allow-origin") !== ALLOWED_ORIGIN,
    "no X-Request-Id": !received.has("x-request-id"),
  });
}

/** One key makes one job, and a job costs a slot of the budget. */
async function checkIdempotency(gateway) {
  const headers = { "idempotency-key": "self-test" };
  const create = async (body) => {
    const response = await gateway.send({ target: JOBS, headers, body });
    return { status: response.status, text: await response.text(), headers: response.headers };
  };
  const first = await create(VALID_BODY);
  const again = await create(VALID_BODY);
  const other = await create('{"prompt":"Something else."}');
  const isReplayed = again.headers.get("idempotent-replayed") === "true";
  return listFindings({
    [`a job was answered ${first.status}`]: first.status !== 201,
    [`a repetition was answered ${again.status}`]: again.text !== first.text || !isReplayed,
    [`a key that was used again was answered ${other.status}`]: other.status !== 422,
    "a job without RateLimit": !hasBudget(first),
  });
}

/** A page is fetched once for all, costs a slot, and is kept with its validator. */
async function checkCache(gateway) {
  // The upstream takes its time for this page.
  const target = `${VIEWS}?limit=250&offset=250001250`;
  const before = await gateway.countReceived();
  const shared = await Promise.all([1, 2, 3, 4].map(() => gateway.send({ target })));
  const texts = await Promise.all(shared.map((response) => response.text()));
  const kept = await gateway.send({ target });
  const text = await kept.text();
  const fetches = (await gateway.countReceived()) - before;
  const etag = kept.headers.get("etag") ?? "";
  const same = await gateway.send({ target, headers: { "if-none-match": etag } });
  await same.arrayBuffer();
  const isKept = /; hit\b/.test(kept.headers.get("cache-status"));
  const hasLifetime = /^private, max-age=\d+$/.test(kept.headers.get("cache-control"));
  return listFindings({
    [`five requests for a page made ${fetches} upstream`]: fetches !== 1,
    "one page had several texts": texts.some((one) => one !== text),
    "a page was not kept": !isKept,
    "a fetched page without RateLimit": !shared.some(hasBudget),
    "a page without Age or lifetime": !kept.headers.has("age") || !hasLifetime,
    [`a page that had not changed was answered ${same.status}`]: same.status !== 304,
  });
}

function hasBudget({ headers }) {
  return headers.has("ratelimit") && headers.has("ratelimit-policy");
}

/** Lists the names of what is wrong. */
function listFindings(claims) {
  return Object.entries(claims).flatMap(([what, isWrong]) => (isWrong ? [what] : []));
}
