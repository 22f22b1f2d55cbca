/** Sends the same requests to a real gateway and to the fake one, and describes the responses. */

/** Header fields that both gateways must send or both must omit. */
const FIELDS = ["x-request-id", "retry-after", "ratelimit", "location"];
const EXACT = ["content-type", "cache-control", "www-authenticate", "allow", "idempotent-replayed"];
const PROBLEM_VALUES = ["type", "title", "status", "outcome", "violated-policies"];

export async function send(side, path, { method = "GET", json, body, token, ...fields } = {}) {
  const headers = new Headers(fields.headers);
  if (token !== null) headers.set("authorization", `Bearer ${token ?? side.token}`);
  const text = json === undefined ? body : JSON.stringify(json);
  if (text !== undefined) headers.set("content-type", "application/json");
  const url = side.url + path.replace("{project}", side.projectId);
  const response = await side.fetch(new Request(url, { method, headers, body: text ?? null }));
  const received = await response.text();
  return { response, text: received, json: parse(received) };
}

function parse(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Describes what both gateways must have in common: status, headers, and the shape of the body. */
export function describeResponse({ response, json, text }) {
  const isProblem = response.headers.get("content-type") === "application/problem+json";
  // Reports of a gateway may come from its cache.
  const exact = EXACT.filter((name) => name !== "cache-control" || isProblem);
  const values = exact.map((name) => [name, response.headers.get(name)]);
  const present = FIELDS.map((name) => [name, response.headers.has(name)]);
  const isLimited = response.status === 429;
  return {
    status: response.status,
    headers: Object.fromEntries([
      ...values,
      ...present.filter(([name]) => name !== "ratelimit" || isLimited),
    ]),
    body: json === undefined ? text : shapeOf(json),
    problem: isProblem ? problemOf(json) : undefined,
  };
}

function problemOf(problem) {
  const values = PROBLEM_VALUES.map((name) => [name, problem[name]]);
  const errors = problem.errors?.map(({ field, rule }) => ({ field, rule }));
  return { ...Object.fromEntries(values), errors };
}

export function shapeOf(value) {
  if (value === null) return "null";
  if (Array.isArray(value)) return value.length === 0 ? [] : [shapeOf(value[0])];
  if (typeof value !== "object") return typeof value;
  const entries = Object.entries(value).map(([name, each]) => [name, shapeOf(each)]);
  return Object.fromEntries(entries.sort(([one], [other]) => (one < other ? -1 : 1)));
}

export async function readStream(side, path, count) {
  const leave = new AbortController();
  const headers = { authorization: `Bearer ${side.token}`, accept: "text/event-stream" };
  const url = side.url + path.replace("{project}", side.projectId);
  const response = await side.fetch(new Request(url, { headers, signal: leave.signal }));
  let text = "";
  const decoder = new TextDecoder();
  const reader = response.body.getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    text += decoder.decode(value, { stream: true });
    if (text.split("\nevent: ").length > count && text.endsWith("\n\n")) break;
  }
  leave.abort();
  await reader.cancel().catch(() => {});
  const lines = text.split("\n\n").filter((block) => !block.startsWith(":") && block !== "");
  return {
    type: response.headers.get("content-type"),
    events: lines.map((block) => {
      const fields = block.split("\n").map((line) => line.split(/: (.*)/s));
      return fields.map(([name, content]) => [name, describeField(name, content)]);
    }),
  };
}

function describeField(name, content) {
  if (name === "data") return shapeOf(JSON.parse(content));
  return name === "id" ? "number" : content;
}
