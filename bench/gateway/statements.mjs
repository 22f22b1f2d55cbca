/** Compares the statements of the gateway with those of `same_statements.mjs`. */
import { PROJECT, startServer } from "./servers.mjs";

const PAIR = ["traced_quillgate", "traced_same_statements"];
/** With a window longer than the comparison, the read and written rows do not depend on the time. */
const VARS = { LIMIT_WINDOW_SECONDS: "86400" };
const RANGE = "dateFrom=2026-01-01&dateTo=2026-02-01&limit=250";
const JSON_TYPE = { "content-type": "application/json" };

/** Requests by number. There are enough for the deletions that follow a number of insertions. */
const REQUESTS = {
  create: {
    count: 130,
    build: (at) => [
      `/v2/agent/${PROJECT}/job`,
      { ...JSON_TYPE, "idempotency-key": `key-${at}` },
      '{"prompt":"Explain it."}',
    ],
  },
  "views-uncached": {
    count: 2010,
    build: (at) => [`/v1/analytics/${PROJECT}/views?${RANGE}&offset=${at * 250}`],
  },
};

/** Fails if the Workers differ in a statement, its rows, a transaction or a request. */
export async function checkStatements(bench) {
  console.log("bench: comparing statements …");
  const server = await startServer({ ...bench, vars: { ...bench.vars, ...VARS } }, PAIR);
  try {
    for (const [path, requests] of Object.entries(REQUESTS)) {
      const traces = PAIR.map((name) => trace(server.ports[name], bench.signToken(), requests));
      const [own, its] = await Promise.all(traces);
      const at = own.findIndex((line, index) => line !== its[index]);
      if (at < 0 && own.length === its.length) continue;
      throw new Error(`${path}, step ${at}: the gateway has ${own[at]}, the other ${its[at]}`);
    }
  } finally {
    await server.stop();
  }
}

async function trace(port, token, { count, build }) {
  const send = async (target, fields, body) => {
    const headers = { ...fields, authorization: `Bearer ${token}` };
    const method = body === undefined ? "GET" : "POST";
    const response = await fetch(`http://127.0.0.1:${port}${target}`, { method, headers, body });
    const text = await response.text();
    if (!response.ok) throw new Error(`${target}: ${response.status} ${text}`);
    return text;
  };
  // The first requests also fill caches, such as that of the project's id.
  for (const at of [count, count + 1]) await send(...build(at));
  await send("/trace");
  for (let at = 0; at < count; at++) await send(...build(at));
  return JSON.parse(await send("/trace")).map((line) => JSON.stringify(line));
}
