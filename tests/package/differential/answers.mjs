/** What a server can answer, good and bad, as `virtual_server.mjs` plays it. */
import { ODD_TEXTS } from "./parameters.mjs";
import { makeBody, makeRecord, NOT_THE_RESULT, rowsOf } from "./results.mjs";

const JSON_TYPE = ["content-type", "application/json"];
const PROBLEM_TYPE = ["content-type", "application/problem+json"];

const ERROR_STATUSES = [
  ...[400, 401, 401, 403, 403, 404, 404, 409, 500],
  ...[
    400, 401, 403, 404, 405, 408, 409, 410, 412, 413, 415, 418, 422, 425, 428, 429, 431, 451, 499,
  ],
  ...[500, 501, 502, 503, 504, 505, 507, 511, 520, 524, 599],
];
const PASSING_STATUSES = [408, 429, 500, 502, 503, 504, 599];
const REDIRECTS = [300, 301, 302, 303, 304, 307, 308, 399];
export const LATENCY = [2, 300];

/** `Retry-After`, in every form and in none. The year of a date is that of `start` or near it. */
function makeRetryAfter(random, start) {
  const at = new Date(start + random.pick([-5000, 0, 900, 2000, 7000, 45_000, 61_000, 86_400_000]));
  const days = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];
  const day = days[at.getUTCDay()];
  const [, date, month, year, clock] = /^\w+, (\d+) (\w+) (\d+) (\S+) GMT$/.exec(at.toUTCString());
  return random.weigh([
    [4, () => String(random.pick([0, 1, 2, 5, 30, 59, 60]))],
    [1, () => random.pick(["61", "120", "86400", "99999999999999999999999", "007", " 3 "])],
    [1, () => at.toUTCString()],
    [1, () => `${day}, ${date}-${month}-${year.slice(2)} ${clock} GMT`],
    [1, () => `${day.slice(0, 3)} ${month} ${date.replace(/^0/, " ")} ${clock} ${year}`],
    [
      2,
      () =>
        random.pick([
          ...[
            "soon",
            "",
            "-1",
            "1.5",
            "1e3",
            "+5",
            "٣",
            "5 s",
            "5, 6",
            "0x10",
            "Infinity",
            "\u00a05",
          ],
          ...["Thu, 31 Feb 2026 00:00:00 GMT", "Thu, 01 Jan 2026 25:00:00 GMT", "Thu, 01 Jan 2026"],
          ...[
            "Thu, 01 Jan 2026 00:00:00 UTC",
            "Thu, 1 Jan 2026 00:00:00 GMT",
            ", 01 Jan 2026 00:00:00 GMT",
          ],
          ...[
            "Thu, 01 jan 2026 00:00:00 GMT",
            "Sat Nov 31 00:00:00 2026",
            "Sun Nov  6 08:49:60 1994",
          ],
          ...[
            "Thursday, 01-Jan-70 00:00:00 GMT",
            "Thursday, 01-Jan-69 00:00:00 GMT",
            "Sun, 06 Nov 1894 08:49:37 GMT",
          ],
          ...[
            "Fri, 31 Dec 9999 23:59:59 GMT",
            "Thu, 01 Mar 2026 00:00:00 GMT x",
            "Thu, 01 GMT 2026 00:00:00 GMT",
          ],
        ]),
    ],
  ]);
}

function makeHeaders(random, start, retryAfter) {
  const headers = [];
  const add = (probability, name, make) => {
    if (random.chance(probability)) headers.push([name, make()]);
  };
  add(0.3, "x-request-id", () => random.pick(["r-1", "01J9Z3K4", "", "a b", "\u00ff"]));
  add(retryAfter, "retry-after", () => toFieldValue(makeRetryAfter(random, start)));
  add(0.15, "ratelimit", () =>
    random.pick([
      '"analytics";r=57;t=12',
      '"analytics"; r=0',
      "r=5",
      '"x";t=5',
      "nonsense",
      ";r=12x",
    ]),
  );
  add(0.05, "set-cookie", () => "a=1");
  add(0.05, "server-timing", () => "total;dur=3");
  add(0.03, "x-secret", () => "not for a log");
  return headers;
}

/** A field's value is bytes: what has other characters cannot be sent. */
function toFieldValue(text) {
  return /^[\u0020-\u007e\u0080-\u00ff]*$/.test(text) ? text : "soon";
}

/** A success with what the operation promises, or nearly. */
export function makeSuccess(random, { result, start, mistakes = 0 }) {
  const status = random.weigh([
    [12, 200],
    [2, 201],
    [1, () => random.pick([202, 203, 206, 207, 226, 299])],
  ]);
  const answer = {
    after: random.duration(...LATENCY),
    status,
    headers: [JSON_TYPE, ...makeHeaders(random, start, 0.08)],
    text: makeBody(random, result, mistakes),
  };
  return random.chance(0.15) ? inPieces(random, answer) : answer;
}

/** The same answer with its body in pieces, some of which may never come. */
function inPieces(random, { text, ...answer }, end) {
  const size = Math.max(1, Math.ceil(text.length / random.integer(1, 4)));
  const chunks = [];
  for (let at = 0; at < text.length; at += size) {
    chunks.push({ text: text.slice(at, at + size), after: random.duration(1, 400) });
  }
  return end === undefined ? { ...answer, chunks } : { ...answer, chunks, end };
}

const LONG = [
  ...[999, 1000, 1001, 1500].map((times) => ({ text: "m", times })),
  ...[998, 999, 1000, 1001].map((times) => ({ text: "🦉", times })),
  { text: "é", times: 1001 },
  { text: "\u0000", times: 1002 },
];

/** A text that a server states. */
function makeStated(random) {
  return random.weigh([
    [
      6,
      () =>
        random.pick(["Invalid project", "Rate limit exceeded", "limit must be at most 250", "no"]),
    ],
    [2, () => random.several(1, 3, () => random.pick([...ODD_TEXTS, "words "])).join("")],
    [1, ""],
    [
      1,
      () => {
        const { text, times } = random.pick(LONG);
        return text.repeat(times) + random.pick(["", "🦉", "end"]);
      },
    ],
    [1.5, () => random.pick([null, 5, true, [], {}, ["text"], { message: { message: "deep" } }])],
  ]);
}

function makeItems(random, member) {
  return random.weigh([
    [
      6,
      () =>
        random.several(0, 4, () =>
          random.chance(0.85)
            ? { [member]: makeStated(random), field: "limit", rule: "page-size" }
            : random.pick([null, "text", 5, [], {}, [[]]]),
        ),
    ],
    [1, () => random.several(19, 24, (_, at) => ({ [member]: `item ${at}` }))],
    [1, () => random.pick([null, "text", 5, {}, { 0: { [member]: "x" }, length: 1 }])],
  ]);
}

/** The body of a refusal: the platform's, a gateway's, a proxy's. */
function makeErrorBody(random, status) {
  return random.weigh([
    [4, () => ({ error: makeStated(random) })],
    [2, () => ({ error: { message: makeStated(random), code: "x" } })],
    [2, () => ({ error: makeStated(random), details: makeItems(random, "message") })],
    [
      5,
      () => ({
        type: random.pick([
          ...["/problems/validation", "about:blank", "/problems/rate-limited", null, 5, ""],
          ...["/problems/idempotency-key-in-use", makeStated],
        ]),
        title: makeStated(random),
        status,
        detail: makeStated(random),
        instance: "r-1",
        ...(random.chance(0.6) && { errors: makeItems(random, "detail") }),
        ...(random.chance(0.3) && { details: makeItems(random, "message") }),
        ...(random.chance(0.1) && {
          outcome: random.pick(["unknown", "known", null, ["unknown"]]),
        }),
      }),
    ],
    [1, () => ({ message: makeStated(random) })],
    [1, () => ({ title: makeStated(random), message: "second" })],
    [1, () => ({ outcome: "unknown", error: makeStated(random) })],
    [1, () => random.pick([null, [], "text", 5, true, {}, [{ error: "x" }]])],
  ]);
}

/** A refusal. */
export function makeRefusal(random, { start, statuses = ERROR_STATUSES }) {
  const status = random.pick(statuses);
  const isProblem = random.chance(0.4);
  const answer = {
    after: random.duration(...LATENCY),
    status,
    headers: [isProblem ? PROBLEM_TYPE : JSON_TYPE, ...makeHeaders(random, start, 0.35)],
    text: random.chance(0.8)
      ? JSON.stringify(makeErrorBody(random, status))
      : random.pick(NOT_THE_RESULT),
  };
  return random.chance(0.06)
    ? inPieces(random, answer, random.pick([undefined, "break", "hang"]))
    : answer;
}

/** A refusal that may pass. */
export function makePassingRefusal(random, { start }) {
  return makeRefusal(random, { start, statuses: PASSING_STATUSES });
}

/** A write whose outcome is not known, or whose earlier attempt still runs. */
export function makeWriteRefusal(random, { start }) {
  const isRunning = random.chance(0.6);
  const problem = isRunning
    ? { type: "/problems/idempotency-key-in-use", title: "still running", status: 409 }
    : { type: "/problems/outcome-unknown", title: "nobody knows", outcome: "unknown" };
  return {
    after: random.duration(...LATENCY),
    status: isRunning ? 409 : random.pick([409, 502, 504, 500, 503]),
    headers: [PROBLEM_TYPE, ...makeHeaders(random, start, 0.5)],
    text: JSON.stringify(problem),
  };
}

export function makeRedirect(random) {
  return {
    after: random.duration(...LATENCY),
    status: random.pick(REDIRECTS),
    headers: [["location", "https://elsewhere.example/"]],
    text: random.pick(["", '{"error":"moved"}', "<html>"]),
  };
}

/** No answer, or not all of one. */
export function makeFailure(random, { result }) {
  const after = random.duration(...LATENCY);
  const refused = {
    $: "error",
    name: "TypeError",
    message: "fetch failed",
    cause: { $: "error", message: "connect ECONNREFUSED", members: { code: "ECONNREFUSED" } },
  };
  return random.weigh([
    [5, () => ({ after, reject: refused })],
    [2, () => ({ after, hang: true })],
    [0.7, () => ({ after, hang: true, deaf: true })],
    [
      2,
      () =>
        inPieces(
          random,
          { after, status: 200, headers: [JSON_TYPE], text: makeBody(random, result).slice(0, -1) },
          random.pick(["break", "break", "hang"]),
        ),
    ],
    [1, () => ({ after, reject: random.pick(ODD_REASONS) })],
    [0.7, () => ({ after, throw: random.pick([refused, ...ODD_REASONS]) })],
  ]);
}

/** What a `fetch` of one's own may reject with. */
const ODD_REASONS = [
  ...["text", null, 0, false, { $: "undefined" }, {}, { message: "no error" }],
  { kind: "validation", message: "not the core's own", field: "x", rule: "text" },
  { kind: "connection", message: "not the core's own", cause: 5 },
  { kind: "timeout", message: "not the core's own", after: 5, expired: true },
  { expired: true, cause: "x" },
  { $: "error", name: "SyntaxError", message: "Unexpected token" },
  { $: "error", message: "with members", members: { kind: "api", status: 503, retryable: true } },
  { $: "DOM exception", message: "aborted by itself", name: "AbortError" },
  { $: "DOM exception", message: "the time ran out", name: "TimeoutError" },
];

/** What a custom `fetch` may give in the place of a `Response`. */
export function makeNoResponse(random) {
  const headers = [["x-request-id", "r-9"]];
  const members = { status: 200, ok: true };
  return {
    after: random.duration(...LATENCY),
    resolve: random.pick([
      ...[null, "text", 5, {}, { status: 200 }, { status: "200", headers: {} }, { $: "undefined" }],
      ...[{ status: 200, headers: { get: "x" } }, { $: "network error" }],
      { $: "response look-alike", members, headers, json: { id: "j", status: "active" } },
      { $: "response look-alike", members, headers },
      { $: "response look-alike", members, headers, broken: true },
      {
        $: "response look-alike",
        members: { status: 404, ok: false },
        headers,
        json: { error: "x" },
      },
      { $: "response look-alike", members: { status: 404, ok: true }, headers, broken: true },
      { $: "response look-alike", members: { status: 503 }, headers },
    ]),
  };
}

// --- lists -----------------------------------------------------------------

/** A list that is answered part by part, as the requests ask for it. */
export function makeList(random, { result, list, start }) {
  const { member, row } = rowsOf(result);
  const isUlid = result === "conversations";
  const members = makeRecord(random, result);
  delete members.nextCursor;
  return {
    after: random.duration(...LATENCY),
    status: 200,
    headers: [JSON_TYPE, ...makeHeaders(random, start, 0)],
    list: {
      by: list.by,
      rows: member,
      row: makeRecord(random, row),
      total: random.pick([0, 1, 3, 7, 10, 20, 45, 45, 300]),
      pageSize: random.pick([1, 2, 5, 10, 20, 1000, 1000, 1000]),
      members,
      cursors: isUlid ? "01J9Z3K4M5N6P7Q8R9S0#" : random.pick(["c-#", "#", "ü/#&?", "#=="]),
    },
  };
}

/** Pages one after another, some of which make no sense. */
export function makePages(random, { result, list, start }) {
  const { member, row } = rowsOf(result);
  const count = random.integer(1, 8);
  const emptyRun = random.chance(0.25);
  return Array.from({ length: count }, (_, at) => {
    const isLast = at === count - 1;
    const page = makeRecord(random, result);
    const rows = emptyRun ? 0 : random.pick([0, 1, 2, 3, 5]);
    page[member] = random.several(rows, rows, () => makeRecord(random, row));
    if (list.by === "cursor") page.nextCursor = makeCursor(random, result, at, isLast);
    if ("hasMore" in page) page.hasMore = random.chance(0.1) ? isLast : !isLast;
    if (random.chance(0.05)) delete page.nextCursor;
    const text = random.chance(0.04) ? makeBody(random, result, 1) : JSON.stringify(page);
    const headers = [JSON_TYPE, ...makeHeaders(random, start, 0.03)];
    return { after: random.duration(...LATENCY), status: 200, headers, text };
  });
}

function makeCursor(random, result, at, isLast) {
  const cursor = (number) =>
    result === "conversations" ? `01J9Z3K4M5N6P7Q8R9S0T1${1000 + number}` : `c${number}`;
  return random.weigh([
    [10, isLast ? null : cursor(at)],
    [0.7, cursor(at)],
    [0.7, () => cursor(random.integer(0, Math.max(0, at - 1)))],
    [0.4, ""],
    [0.4, null],
    [0.3, () => random.pick(["not a ULID", "ü&=/", "\ud800", "🦉"])],
    [0.2, () => random.pick([5, true, {}])],
  ]);
}

// --- jobs ------------------------------------------------------------------

/** A job as it changes, request by request. */
export function makeJobChanges(random, { start }) {
  const statuses = random.several(0, 6, () =>
    random.pick(["active", "active", "active", "queued", null, "", "Completed"]),
  );
  if (random.chance(0.85)) statuses.push(random.pick(["completed", "archived", "failed"]));
  else statuses.push("active");
  const job = makeRecord(random, "job");
  const answers = statuses.map((status) => {
    if (random.chance(0.3)) Object.assign(job, makeRecord(random, "job"));
    const headers = [JSON_TYPE, ...makeHeaders(random, start, 0.15)];
    const text = JSON.stringify({ ...job, status });
    return { after: random.duration(...LATENCY), status: 200, headers, text };
  });
  const faults = random.weigh([
    [6, 0],
    [2, 1],
    [1, () => random.integer(2, 6)],
  ]);
  for (let made = 0; made < faults; made++) {
    const fault = random.weigh([
      [5, () => makePassingRefusal(random, { start })],
      [3, () => makeFailure(random, { result: "job" })],
      [0.7, () => makeRefusal(random, { start })],
      [0.5, () => makeSuccess(random, { result: "job", start, mistakes: 1 })],
    ]);
    answers.splice(random.integer(0, answers.length - 1), 0, fault);
  }
  return answers;
}

/** A gateway's event streams of a job: whole, broken, silent, or none at all. */
export function makeStreams(random, { start }) {
  const streams = random.several(1, 4, () =>
    random.weigh([
      [7, () => makeStream(random)],
      [1, () => makeRefusal(random, { start })],
      [1, () => makeFailure(random, { result: "job" })],
      [0.6, () => makeSuccess(random, { result: "job", start })],
      [0.3, () => makeNoResponse(random)],
      [0.2, () => makeRedirect(random)],
    ]),
  );
  return streams;
}

function makeStream(random) {
  const newline = random.weigh([
    [6, "\n"],
    [1, "\r\n"],
    [1, "\r"],
  ]);
  const events = random.several(0, 5, (_, at) => makeEvent(random, at, newline));
  if (random.chance(0.6)) {
    const status = random.pick(["completed", "archived", "failed"]);
    const job = JSON.stringify({ ...makeRecord(random, "job"), status });
    events.push(["id: last", "event: job", `data: ${job}`, "", ""].join(newline));
  }
  let text = events.join("");
  if (random.chance(0.15)) text = text.slice(0, -random.integer(1, 30));
  const type = random.weigh([
    [10, "text/event-stream"],
    [2, "text/event-stream; charset=utf-8"],
    [0.5, () => random.pick(["text/plain", "application/json", "TEXT/EVENT-STREAM"])],
  ]);
  const answer = {
    after: random.duration(...LATENCY),
    status: random.chance(0.97) ? 200 : random.pick([201, 204, 206]),
    headers: [["content-type", type]],
    text,
  };
  const pieces = inPieces(random, answer, random.pick([undefined, undefined, "break", "hang"]));
  // Heartbeats come every 15 s; a stream that is silent for 45 s is dead.
  for (const chunk of pieces.chunks) {
    if (random.chance(0.2)) chunk.after = random.duration(10_000, 50_000);
  }
  return pieces;
}

function makeEvent(random, at, newline) {
  const job = { ...makeRecord(random, "job"), status: random.pick(["active", "queued", null]) };
  const lines = random.weigh([
    [8, () => [`id: ${at}`, "event: job", `data: ${JSON.stringify(job)}`]],
    [1, () => ["event: job", `data:${JSON.stringify(job)}`, `id:${at}`]],
    [2, [": heartbeat"]],
    [1, () => [`retry: ${random.pick(["0", "10", "5000", "x", "99999999", ""])}`]],
    [
      0.5,
      () => [
        "event: job",
        ...JSON.stringify(job, undefined, 1)
          .split("\n")
          .map((line) => `data: ${line}`),
      ],
    ],
    [0.5, () => [`event: ${random.pick(["other", "", "Job"])}`, "data: {}"]],
    [0.4, () => ["event: job", `data: ${random.pick(["", "{", "null", "5", '{"id":5}', "[]"])}`]],
    [0.3, ["data", "event", "id", ":", "unknown: x"]],
    [
      0.3,
      () => [
        `id: ${random.pick(["a\u0000b", "ü", "", "1 2"])}`,
        "event: job",
        `data: ${JSON.stringify(job)}`,
      ],
    ],
  ]);
  return [...lines, "", ""].join(newline);
}
