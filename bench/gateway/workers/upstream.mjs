/**
 * Stand-in for Mintlify's API, in a separate workerd. Its valid responses have a fixed size. It
 * requires the admin key, so every gateway must replace the caller's token.
 */

const JSON_HEAD = {
  "content-type": "application/json",
  // A gateway must not forward these.
  server: "platform",
  "set-cookie": "session=platform",
};
/** Header fields of a caller that must not reach upstream. */
const FORBIDDEN = ["cookie", "x-forwarded-host"];
/** The rows of a page. */
const PAGE_ROWS = 250;

const encoder = new TextEncoder();
const page = encoder.encode(JSON.stringify(buildPage()));
const lastPage = encoder.encode(JSON.stringify({ ...buildPage(), hasMore: false }));
const job = encoder.encode(buildJob("job_00000000"));
let received = 0;

export default {
  async fetch(request, env) {
    const { headers, method, url } = request;
    if (headers.get("authorization") !== `Bearer ${env.ADMIN_API_KEY}`) return refuse(401);
    received += 1;
    if (FORBIDDEN.some((name) => headers.has(name))) return refuse(418);
    if (method === "POST") return await createJob(request);
    return url.includes("/views")
      ? await listViews(url)
      : new Response(job, { headers: JSON_HEAD });
  },
};

/** A project such as `rows-1000`, or `delay-50-rows-1000` with milliseconds per page. */
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
  return new Response(page, { headers: JSON_HEAD });
}

async function createJob(request) {
  const { prompt } = JSON.parse(await request.text());
  if (!prompt) return refuse(400);
  const id = `job_${String(received).padStart(8, "0")}`;
  return new Response(buildJob(id), { status: 201, headers: JSON_HEAD });
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
