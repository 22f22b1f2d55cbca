/**
 * An export in JavaScript by hand, with the checks and objects of `hand`: each page goes through the
 * organisation's budget and is stored, and the next one is asked for while one is written.
 */
import { admit } from "./admission.mjs";
import { buildHead, writeRows } from "./export_rows.mjs";
import hand from "./hand.mjs";

export { OrgGate, ProjectGate } from "./hand.mjs";

const PAGE = 250;
const encoder = new TextEncoder();

export default {
  async fetch(request, env) {
    const url = new URL(request.url);
    if (!url.pathname.endsWith("/export")) return await hand.fetch(request, env);
    url.pathname = url.pathname.slice(0, -"/export".length);
    const format = url.searchParams.get("format");
    url.searchParams.delete("format");
    const { refusal, call } = await admit(new Request(url, request));
    if (refusal) return refusal;
    const headers = { ...call.headers, ...buildHead(format) };
    return new Response(streamRows(call, format, env), { headers });
  },
};

function streamRows({ caller, target }, format, env) {
  const gate = env.ORG_GATE.getByName("organisation");
  const ask = (offset) => {
    const asked = gate.listViews({ caller, target: `${target}&limit=${PAGE}&offset=${offset}` });
    // What goes wrong is heard of when the page is needed.
    asked.then(undefined, () => {});
    return asked;
  };
  let offset = 0;
  let next = ask(offset);
  const pull = async (controller) => {
    const { failure, page } = await next;
    if (failure) throw new Error(`no page: ${failure.status}`);
    const { views, hasMore } = JSON.parse(page.text);
    const isFirst = offset === 0;
    offset += PAGE;
    if (hasMore) next = ask(offset);
    controller.enqueue(encoder.encode(writeRows(format, views, isFirst)));
    if (!hasMore) controller.close();
  };
  return new ReadableStream({ type: "bytes", pull }, { highWaterMark: 0 });
}
