/**
 * Self-test of `hono`, `hand` and `quillgate`. It checks that these Workers do the same work:
 * otherwise, a comparison is worthless. Each must reject the same requests before they reach
 * upstream, and forward allowed header fields only. `hono` only reads jobs. The other two must also
 * cache pages, and create jobs idempotently.
 */
import { ALLOWED_ORIGIN, PROJECT, startServer } from "./servers.mjs";

const VIEWS = `/v1/analytics/${PROJECT}/views`;
const JOBS = `/v2/agent/${PROJECT}/job`;
const JOB = `${JOBS}/job_00000000`;
const VALID_BODY = JSON.stringify({ prompt: "Explain it." });

/**
 * A request and the expected status of its response.
 *
 * @typedef {object} Case
 * @property {string} target
 * @property {number} status
 * @property {Record<string, unknown>} [claims] replace those of a valid token
 * @property {string} [authorization] replaces the token
 * @property {Record<string, string>} [headers]
 * @property {string} [method]
 * @property {string} [body] implies POST
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

/** @type {Case[]} the upstream's response depends on the id: see `workers/upstream.mjs` */
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

/** @type {Case[]} the upstream's response depends on the offset */
const LISTINGS = [
  { target: VIEWS, status: 200 },
  { target: `${VIEWS}?dateFrom=2026-01-01&dateTo=2026-02-01&limit=250&offset=500`, status: 200 },
  { target: `${VIEWS}?dateFrom=2026-01-01T00:00:00.5%2B01:00&limit=1`, status: 200 },
  ...[250_000_000, 250_000_250, 250_000_500, 250_000_750, 250_001_000].map((offset) => ({
    target: `${VIEWS}?limit=250&offset=${offset}`,
    status: 502,
  })),
];

/** @type {Case[]} the upstream's response depends on the prompt */
const CREATIONS = [
  { target: JOBS, status: 201, body: VALID_BODY },
  { target: JOBS, status: 502, body: '{"prompt":"truncated"}' },
  { target: JOBS, status: 502, body: '{"prompt":"list"}' },
  { target: JOBS, status: 502, body: '{"prompt":"numeric-id"}' },
];

/**
 * Tests `hono`, `hand` and `quillgate`, and returns Quillgate's deviations from the others.
 *
 * @param {import("./servers.mjs").Bench} bench
 * @returns {Promise<string[]>}
 * @throws when the upstream, `hand` or `hono` fails a check
 */
export async function runSelfTest(bench) {
  console.log("bench: self-test …");
  // Measurements use other processes, which these failing requests cannot slow down.
  const server = await startServer(bench, ["hono", "hand", "quillgate"]);
  const test = async (name, checks) => {
    const gateway = createGateway(bench, server.ports[name]);
    const findings = [];
    for (const check of checks) findings.push(...(await check(gateway)));
    return findings;
  };
  const checks = [checkReads, checkViews, checkCreations];
  try {
    requireNone("upstream", await checkKey(bench));
    requireNone("hono", await test("hono", [checkReads]));
    requireNone("hand", await test("hand", checks));
    return await test("quillgate", checks);
  } finally {
    await server.stop();
  }
}

function requireNone(name, findings) {
  if (findings.length === 0) return;
  throw new Error(`the self-test of ${name} failed:\n  ${findings.join("\n  ")}`);
}

/** Checks that the upstream requires the admin key. */
async function checkKey(bench) {
  const url = `http://127.0.0.1:${bench.upstream.ports.upstream}${JOB}`;
  const send = (headers) => fetch(url, { headers }).then(({ status }) => status);
  const withKey = await send({ authorization: `Bearer ${bench.vars.ADMIN_API_KEY}` });
  const withoutKey = await send({});
  return listFindings({
    [`with the key: ${withKey}`]: withKey !== 200,
    [`without the key: ${withoutKey}`]: withoutKey !== 401,
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

// --- checks, each returns its findings --------------------------------------

async function checkReads(gateway) {
  const now = Math.floor(Date.now() / 1000);
  const rejected = [...tokens(now), ...forgeTokens(gateway.signToken, now), ...BAD_READS];
  return [
    ...(await checkRejections(gateway, rejected)),
    ...(await checkCases(gateway, READS)),
    ...(await checkText(gateway)),
    ...(await checkHeaders(gateway)),
  ];
}

async function checkViews(gateway) {
  return [
    ...(await checkRejections(gateway, BAD_VIEWS)),
    ...(await checkCases(gateway, LISTINGS)),
    ...(await checkCache(gateway)),
  ];
}

async function checkCreations(gateway) {
  return [
    ...(await checkRejections(gateway, BAD_CREATIONS)),
    ...(await checkCases(gateway, CREATIONS)),
    ...(await checkIdempotency(gateway)),
  ];
}

/** Checks that the gateway rejects all cases without a request upstream. */
async function checkRejections(gateway, cases) {
  const before = await gateway.countReceived();
  const findings = await checkCases(gateway, cases);
  const forwarded = (await gateway.countReceived()) - before;
  return forwarded > 0
    ? [...findings, `${forwarded} rejected requests reached upstream`]
    : findings;
}

/** Builds tokens without a valid signature. */
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

/** Checks that the gateway forwards a job verbatim. */
async function checkText(gateway) {
  const response = await gateway.send({ target: `${JOBS}/unknown-members` });
  const text = await response.text();
  return text === '{"status":"queued","more":[1]}' ? [] : [`a job was forwarded as ${text}`];
}

/**
 * Checks that the gateway forwards allowed header fields only, in either direction. It must also
 * return the allowed origin and an id of the request.
 */
async function checkHeaders(gateway) {
  const headers = { origin: ALLOWED_ORIGIN, cookie: "a=b", "x-forwarded-host": "evil.example" };
  const response = await gateway.send({ target: JOB, headers });
  await response.arrayBuffer();
  const { headers: fields } = response;
  const leaked = ["set-cookie", "server"].filter((name) => fields.has(name));
  return listFindings({
    [`forbidden header fields reached upstream: ${response.status}`]: response.status !== 200,
    [`header fields of the upstream were returned: ${leaked.join(", ")}`]: leaked.length > 0,
    "an allowed origin was rejected": fields.get("access-control-allow-origin") !== ALLOWED_ORIGIN,
    "no X-Request-Id": !fields.has("x-request-id"),
  });
}

/** Checks that one key creates one job, and that a response has the budget's header fields. */
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
    [`a creation returned ${first.status}`]: first.status !== 201,
    [`its repetition returned ${again.status}`]: again.text !== first.text || !isReplayed,
    [`another job under the same key returned ${other.status}`]: other.status !== 422,
    "a creation without RateLimit": !hasBudget(first),
  });
}

/**
 * Checks that concurrent requests share one fetch of a page, and that the page is cached with its
 * entity tag. The responses must have the fields of the budget and of the freshness lifetime.
 */
async function checkCache(gateway) {
  // The upstream delays this page.
  const target = `${VIEWS}?limit=250&offset=250001250`;
  const before = await gateway.countReceived();
  const shared = await Promise.all([1, 2, 3, 4].map(() => gateway.send({ target })));
  const texts = await Promise.all(shared.map((response) => response.text()));
  const cached = await gateway.send({ target });
  const text = await cached.text();
  const fetches = (await gateway.countReceived()) - before;
  const etag = cached.headers.get("etag") ?? "";
  const same = await gateway.send({ target, headers: { "if-none-match": etag } });
  await same.arrayBuffer();
  const isHit = /; hit\b/.test(cached.headers.get("cache-status"));
  const hasLifetime = /^private, max-age=\d+$/.test(cached.headers.get("cache-control"));
  return listFindings({
    [`five requests for one page caused ${fetches} requests upstream`]: fetches !== 1,
    "responses for one page differ": texts.some((one) => one !== text),
    "a page was not cached": !isHit,
    "a fetched page without RateLimit": !shared.some(hasBudget),
    "a page without Age or lifetime": !cached.headers.has("age") || !hasLifetime,
    [`a request with the page's entity tag returned ${same.status}`]: same.status !== 304,
  });
}

function hasBudget({ headers }) {
  return headers.has("ratelimit") && headers.has("ratelimit-policy");
}

/** Lists the descriptions of all faults that are `true`. */
function listFindings(faults) {
  return Object.entries(faults).flatMap(([what, isFault]) => (isFault ? [what] : []));
}
