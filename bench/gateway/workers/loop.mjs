/** An export as a plain Worker: it asks for a page, writes its rows, and asks for the next one; no checks, no budget. */
import { buildHead, writeRows } from "./export_rows.mjs";

const PAGE = 250;

const encoder = new TextEncoder();

export default {
  fetch(request, env) {
    const url = new URL(request.url);
    if (!url.pathname.endsWith("/export")) return new Response("ok");
    const query = url.searchParams;
    const format = query.get("format");
    return new Response(streamRows(url, format, env), { headers: buildHead(format) });
  },
};

function streamRows({ pathname, searchParams: query }, format, env) {
  const source = env.UPSTREAM_BASE_URL + pathname.slice(0, -"/export".length);
  const headers = { authorization: `Bearer ${env.ADMIN_API_KEY}` };
  const dates = `dateFrom=${query.get("dateFrom")}&dateTo=${query.get("dateTo")}`;
  let offset = 0;
  const pull = async (controller) => {
    const response = await fetch(`${source}?${dates}&limit=${PAGE}&offset=${offset}`, { headers });
    if (!response.ok) throw new Error(`upstream: ${response.status}`);
    const { views, hasMore } = await response.json();
    const isFirst = offset === 0;
    offset += PAGE;
    controller.enqueue(encoder.encode(writeRows(format, views, isFirst)));
    if (!hasMore) controller.close();
  };
  return new ReadableStream({ type: "bytes", pull }, { highWaterMark: 0 });
}
