/**
 * Stand-in for Mintlify's API, in a separate workerd. Its valid responses have a fixed size. It
 * requires the admin key, so every gateway must replace the caller's token. A job's id, a prompt or
 * an offset selects an invalid or unusual response for the self-test.
 */

const JSON_HEAD = {
  "content-type": "application/json",
  // A gateway must not forward these.
  server: "platform",
  "set-cookie": "session=platform",
};
/** Header fields of a caller that must not reach upstream. */
const FORBIDDEN = ["cookie", "x-forwarded-host"];
/** Longer than a gateway's timeout, in milliseconds. */
const JOB_DELAY = 30_000;
/** Long enough for concurrent requests to arrive, in milliseconds. */
const PAGE_DELAY = 200;

/** The rows of a page. */
const PAGE_ROWS = 250;

const encoder = new TextEncoder();
const page = encoder.encode(JSON.stringify(buildPage()));
const lastPage = encoder.encode(JSON.stringify({ ...buildPage(), hasMore: false }));
const job = encoder.encode(buildJob("job_00000000"));
/** Exceeds the 64 kB that a gateway accepts for a job. */
const longJob = JSON.stringify({ id: "job_long", note: "n".repeat(70_000) });

/** Responses by a job's id or a prompt. */
const JOBS = {
  "empty-object": () => new Response("{}", { headers: JSON_HEAD }),
  "unknown-members": () => new Response('{"status":"queued","more":[1]}', { headers: JSON_HEAD }),
  truncated: () => new Response('{"id":"job_1",', { headers: JSON_HEAD }),
  list: () => new Response("[]", { headers: JSON_HEAD }),
  null: () => new Response("null", { headers: JSON_HEAD }),
  "numeric-id": () => new Response('{"id":5}', { headers: JSON_HEAD }),
  "numeric-status": () => new Response('{"status":5}', { headers: JSON_HEAD }),
  "text-source": () => new Response('{"source":"acme/docs"}', { headers: JSON_HEAD }),
  "numeric-ref": () => new Response('{"source":{"ref":1}}', { headers: JSON_HEAD }),
  "not-json": () => new Response(job, { headers: { "content-type": "text/html" } }),
  long: () => new Response(longJob, { headers: JSON_HEAD }),
  "long-chunked": () => new Response(new Blob([longJob]).stream(), { headers: JSON_HEAD }),
};
/** Responses by the last parameter of a query. */
const PAGES = {
  "offset=250000000": "[]",
  "offset=250000250": '{"views":[],"totals":{}}',
  "offset=250000500": '{"totals":{},"hasMore":false}',
  "offset=250000750": '{"views":[],"hasMore":false}',
  "offset=250001000": '{"views":',
};
const SLOW_PAGE = "offset=250001250";

/** Number of requests with the key, for the self-test and for the ids of new jobs. */
let received = 0;

export default {
  async fetch(request, env) {
    const { headers, method, url } = request;
    if (url.endsWith("/received")) return Response.json({ received });
    if (headers.get("authorization") !== `Bearer ${env.ADMIN_API_KEY}`) return refuse(401);
    received += 1;
    if (FORBIDDEN.some((name) => headers.has(name))) return refuse(418);
    if (method === "POST") return await createJob(request);
    return url.includes("/views") ? await listViews(url) : await readJob(url);
  },
};

/**
 * Matches a finite list. The project's name contains the number of rows, such as `rows-1000`, and
 * optionally a delay in milliseconds, such as `delay-50-rows-1000`.
 */
const FINITE_LIST = /\/(?:delay-(\d+)-)?rows-(\d+)\/views\?.*&offset=(\d+)$/;

async function listViews(url) {
  const list = FINITE_LIST.exec(url);
  if (list !== null) {
    const [, delay, rows, from] = list;
    if (delay) await pause(Number(delay));
    if (Number(from) + PAGE_ROWS >= Number(rows)) {
      return new Response(lastPage, { headers: JSON_HEAD });
    }
  }
  const offset = url.slice(url.lastIndexOf("&") + 1);
  if (offset === SLOW_PAGE) await pause(PAGE_DELAY);
  return new Response(PAGES[offset] ?? page, { headers: JSON_HEAD });
}

async function readJob(url) {
  const id = url.slice(url.lastIndexOf("/") + 1);
  if (id === "slow") await pause(JOB_DELAY);
  return JOBS[id]?.() ?? new Response(job, { headers: JSON_HEAD });
}

async function createJob(request) {
  const { prompt } = JSON.parse(await request.text());
  if (!prompt) return refuse(400);
  const id = `job_${String(received).padStart(8, "0")}`;
  return JOBS[prompt]?.() ?? new Response(buildJob(id), { status: 201, headers: JSON_HEAD });
}

function pause(milliseconds) {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}

function refuse(status) {
  return Response.json({ error: "refused" }, { status });
}

/** Builds 250 rows, about 20 kB. */
function buildPage() {
  const views = Array.from({ length: PAGE_ROWS }, (_, at) => {
    const human = 10_000 - 37 * at;
    const ai = 4000 - 13 * at;
    const path = `/guides/chapter-${at % 10}/step-by-step-${at}`;
    return { path, human, ai, total: human + ai };
  });
  return { totals: { human: 1_344_625, ai: 595_375, total: 1_940_000 }, views, hasMore: true };
}

/** Builds a job of 300 bytes. */
function buildJob(id) {
  const text = JSON.stringify({
    id,
    status: "active",
    source: { repository: "acme/documentation", ref: "main" },
    model: "a-large-language-model-of-some-vendor",
    prLink: null,
    createdAt: "2026-04-01T12:00:00.000Z",
    archivedAt: null,
    note: "",
  });
  return text.replace('"note":""', `"note":"${"n".repeat(300 - text.length)}"`);
}
