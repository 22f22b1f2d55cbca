/**
 * The platform as the variants see it: answers of a fixed size, for the admin key alone, so
 * that no variant can leave out the swap. It runs in a workerd of its own.
 */

const JSON_HEAD = {
  "content-type": "application/json",
  // None of a platform's own business: the variants must not pass these on.
  server: "platform",
  "set-cookie": "session=platform",
};
/** Header fields of a caller that must not get here. */
const FORBIDDEN = ["cookie", "x-forwarded-host"];

const encoder = new TextEncoder();
const page = encoder.encode(JSON.stringify(pageOfViews()));
const job = encoder.encode(jobNamed("job_00000000"));
/** Requests that had the key, for the self-test. */
let received = 0;

export default {
  async fetch(request, env) {
    const { headers, method, url } = request;
    if (url.endsWith("/received")) return Response.json({ received });
    if (headers.get("authorization") !== `Bearer ${env.ADMIN_API_KEY}`) return refusal(401);
    received += 1;
    if (FORBIDDEN.some((name) => headers.has(name))) return refusal(418);
    if (method === "POST") return await created(request);
    if (url.includes("/views")) return new Response(page, { headers: JSON_HEAD });
    if (url.endsWith("/slow")) await new Promise((resolve) => setTimeout(resolve, 30_000));
    return new Response(job, { headers: JSON_HEAD });
  },
};

async function created(request) {
  const { prompt } = JSON.parse(await request.text());
  if (!prompt) return refusal(400);
  const name = `job_${String(received).padStart(8, "0")}`;
  return new Response(jobNamed(name), { status: 201, headers: JSON_HEAD });
}

function refusal(status) {
  return Response.json({ error: "refused" }, { status });
}

/** 250 rows, some 20 kB. */
function pageOfViews() {
  const views = Array.from({ length: 250 }, (_, at) => {
    const human = 10_000 - 37 * at;
    const ai = 4000 - 13 * at;
    const path = `/guides/chapter-${at % 10}/step-by-step-${at}`;
    return { path, human, ai, total: human + ai };
  });
  return { totals: { human: 1_344_625, ai: 595_375, total: 1_940_000 }, views, hasMore: true };
}

/** A job of 300 bytes. */
function jobNamed(id) {
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
