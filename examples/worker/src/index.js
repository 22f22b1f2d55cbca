/** Serves the most viewed pages as JSON. The access token stays in the Worker. */
import { Client, RateLimitError } from "quillgate";

const DAY_MS = 24 * 3600 * 1000;
const DAYS = 28;
const MAX_PAGES = 10;

export default {
  async fetch(request, env) {
    if (new URL(request.url).pathname !== "/") return new Response("not found", { status: 404 });
    const client = new Client({
      baseUrl: env.QUILLGATE_BASE_URL,
      projectId: env.QUILLGATE_PROJECT_ID,
      auth: { token: env.QUILLGATE_TOKEN },
    });
    try {
      const pages = await findMostViewed(client, request.signal);
      return Response.json(pages, { headers: { "cache-control": "public, max-age=3600" } });
    } catch (error) {
      if (!(error instanceof RateLimitError)) throw error;
      const headers = { "retry-after": String(error.retryAfter ?? 60) };
      return new Response("too many requests", { status: 503, headers });
    }
  },
};

async function findMostViewed(client, signal) {
  const [dateFrom, dateTo] = [Date.now() - DAYS * DAY_MS, Date.now()].map((time) => {
    return new Date(time).toISOString().slice(0, 10);
  });
  const rows = await client.analytics.views({ dateFrom, dateTo }, { signal }).all();
  const byViews = rows.toSorted((a, b) => (b.total ?? 0) - (a.total ?? 0));
  return byViews.slice(0, MAX_PAGES).map(({ path, human, ai }) => ({ path, human, ai }));
}
