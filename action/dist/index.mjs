// Made by scripts/action.mjs from action/src and the npm package quillgate: do not edit.
var __defProp = Object.defineProperty;
var __getOwnPropNames = Object.getOwnPropertyNames;
var __esm = (fn, res, err) => function __init() {
  if (err) throw err[0];
  try {
    return fn && (res = (0, fn[__getOwnPropNames(fn)[0]])(fn = 0)), res;
  } catch (e2) {
    throw err = [e2], e2;
  }
};
var __export = (target, all) => {
  for (var name in all)
    __defProp(target, name, { get: all[name], enumerable: true });
};

// pkg/dist/generated/tables.js
var TABLES;
var init_tables = __esm({
  "pkg/dist/generated/tables.js"() {
    "use strict";
    TABLES = {
      "agentJobs.list": { rows: "jobs", columns: ["id", "status", "prompt", "createdBy", "createdAt", "prLink", "checkedAt"] },
      "analytics.views": { rows: "views", columns: ["path", "human", "ai", "total"] },
      "analytics.visitors": { rows: "visitors", columns: ["path", "human", "ai", "total"] },
      "analytics.feedback": { rows: "feedback", columns: ["id", "path", "comment", "createdAt", "source", "status", "helpful", "contact", "code", "filename", "lang"] },
      "analytics.searches": { rows: "searches", columns: ["searchQuery", "hits", "ctr", "topClickedPage", "lastSearchedAt"] },
      "analytics.conversations": { rows: "conversations", columns: ["id", "timestamp", "query", "response", "responseType", "sources", "resolutionStatus", "queryCategory", "pageUrl"] }
    };
  }
});

// pkg/dist/json_text.js
function compact(json) {
  let kept = "";
  let begin = 0;
  for (let at = 0; at < json.length; at++) {
    const code = json.charCodeAt(at);
    if (code === QUOTE)
      at = endString(json, at) - 1;
    else if (code <= SPACE) {
      kept += json.slice(begin, at);
      begin = at + 1;
    }
  }
  return kept + json.slice(begin);
}
function readMembers(json) {
  const members = /* @__PURE__ */ new Map();
  for (let at = 1; at < json.length - 1; at++) {
    const colon = endString(json, at);
    const end = endValue(json, colon + 1);
    members.set(readString(json.slice(at, colon)), json.slice(colon + 1, end));
    at = end;
  }
  return members;
}
function readElements(json) {
  const elements = [];
  for (let at = 1; at < json.length - 1; at++) {
    const end = endValue(json, at);
    elements.push(json.slice(at, end));
    at = end;
  }
  return elements;
}
function readString(json) {
  return json.includes("\\") ? JSON.parse(json) : json.slice(1, -1);
}
function endString(json, begin) {
  for (let end = begin + 1; ; end++) {
    end = json.indexOf('"', end);
    let escapes = end;
    while (json.charCodeAt(escapes - 1) === BACKSLASH2)
      escapes--;
    if ((end - escapes) % 2 === 0)
      return end + 1;
  }
}
function endValue(json, begin) {
  let depth = 0;
  for (let at = begin; ; at++) {
    const code = json.charCodeAt(at);
    if (depth === 0 && at > begin && (code === COMMA || CLOSE.includes(code)))
      return at;
    if (code === QUOTE)
      at = endString(json, at) - 1;
    else if (OPEN.includes(code))
      depth++;
    else if (CLOSE.includes(code))
      depth--;
  }
}
var SPACE, QUOTE, COMMA, BACKSLASH2, OPEN, CLOSE;
var init_json_text = __esm({
  "pkg/dist/json_text.js"() {
    "use strict";
    SPACE = 32;
    QUOTE = 34;
    COMMA = 44;
    BACKSLASH2 = 92;
    OPEN = [91, 123];
    CLOSE = [93, 125];
  }
});

// pkg/dist/export_format.js
function writeHeader(list2) {
  return BYTE_ORDER_MARK + writeRecord(tableOf(list2).columns);
}
function writeRows(list2, format, body) {
  const { rows: member2, columns } = tableOf(list2);
  const rows = readElements(readMembers(compact(body)).get(member2));
  if (format === "ndjson")
    return rows.map((row) => `${row}
`).join("");
  const paths = columns.map((column) => column.split("."));
  return rows.map((row) => {
    const members = readMembers(row);
    return writeRecord(paths.map((path) => writeValue(findValue(members, path))));
  }).join("");
}
function tableOf(list2) {
  return TABLES[list2];
}
function findValue(members, [name, ...rest]) {
  const value2 = members.get(name);
  if (rest.length === 0 || value2 === void 0)
    return value2;
  return value2.startsWith("{") ? findValue(readMembers(value2), rest) : void 0;
}
function writeValue(json) {
  if (json === void 0 || json === "null")
    return "";
  if (!json.startsWith('"'))
    return json;
  const text3 = readString(json);
  return /^[=+\-@＝＋－＠\t\r\n]/.test(text3) ? `'${text3}` : text3;
}
function writeRecord(cells) {
  return `${cells.map(quote).join(",")}\r
`;
}
function quote(cell) {
  return /[",;\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell;
}
var BYTE_ORDER_MARK;
var init_export_format = __esm({
  "pkg/dist/export_format.js"() {
    "use strict";
    init_tables();
    init_json_text();
    BYTE_ORDER_MARK = "\uFEFF";
  }
});

// pkg/dist/export.js
var export_exports = {};
__export(export_exports, {
  pull: () => pull
});
async function pull(controller2, stream, source2, options, left, tools) {
  const { signal } = left;
  let pieces = piecesOf.get(controller2);
  if (pieces === void 0) {
    refuse2(source2, options, tools.ValidationError);
    const begun = readPieces(source2, options, left, tools);
    signal.addEventListener("abort", () => begun.return());
    piecesOf.set(controller2, begun);
    pieces = begun;
  }
  let piece;
  do {
    if (signal.aborted)
      throw signal.reason;
    piece = (await pieces.next()).value ?? void 0;
    if (piece === void 0)
      throw signal.reason;
    if (piece.text !== "")
      controller2.enqueue(new TextEncoder().encode(piece.text));
    stream.cursor = piece.cursor;
  } while (piece.text === "" && piece.cursor !== null);
  if (piece.cursor === null) {
    controller2.close();
    await pieces.return();
  }
}
async function* readPieces(source2, options, left, { List: List2, follow: follow2, sleep: sleep2 }) {
  const { name, site, transport } = source2;
  const { format } = options;
  const callOptions = { ...source2.options, signal: left.signal };
  let { cursor, wait: patience = 0 } = options;
  let header = format === "csv" && cursor === void 0 ? writeHeader(name) : "";
  let body = "";
  const carrier = {
    run: (work, ...rest) => transport.run((sender) => work(keepBodies(sender, (text3) => body = text3)), ...rest),
    callOptions: (call) => transport.callOptions(call)
  };
  const leave = [source2.options.signal, options.signal].map((signal) => follow2(left, signal));
  try {
    for (; ; ) {
      const params = cursor === void 0 ? source2.params : { cursor };
      const list2 = new List2(carrier, name, params, callOptions, site);
      try {
        for await (const page of list2.pages()) {
          yield { text: header + writeRows(name, format, body), cursor: page.cursor };
          header = "";
          cursor = page.cursor;
        }
        return;
      } catch (error) {
        const wait = left.signal.aborted ? Number.NaN : readWait(error);
        if (!(wait <= patience))
          throw error;
        patience -= wait;
        await sleep2(wait, left.signal);
      }
    }
  } finally {
    for (const end of leave)
      end();
  }
}
function refuse2(source2, options, ErrorClass) {
  for (const [name, value2] of Object.entries(options ?? {})) {
    if (value2 !== void 0 && !OPTIONS.includes(name)) {
      const field = name.slice(0, 32);
      throw new ErrorClass(`${field} is not an option`, field, "unknown");
    }
  }
  const { format, wait = 0, cursor } = options ?? {};
  if (format !== "csv" && format !== "ndjson") {
    throw new ErrorClass("format must be one of csv, ndjson", "format", "one-of");
  }
  if (!(Number.isInteger(wait) && wait >= 0 && wait <= LONGEST_WAIT)) {
    const rule = `must be an integer of milliseconds from 0 to ${LONGEST_WAIT}`;
    throw new ErrorClass(`wait ${rule}`, "wait", "milliseconds");
  }
  if (cursor === null) {
    throw new ErrorClass("cursor must be that of an export that is not over", "cursor", "text");
  }
  for (const [name, value2] of cursor ? Object.entries(source2.params) : []) {
    const goesOn = cursor[name];
    if (value2 == null || typeof value2 === "object" || POSITIONS.includes(name))
      continue;
    if (value2 !== goesOn) {
      throw new ErrorClass(`cursor is that of a list with another ${name}`, "cursor", "text");
    }
  }
}
function keepBodies(sender, keep) {
  return {
    ...sender,
    async send(...request) {
      const response = await sender.send(...request);
      const { status, headers, ok } = response;
      if (status < 200 || status > 299)
        return response;
      const text3 = await response.text();
      const json = async () => {
        const body = JSON.parse(text3);
        keep(text3);
        return body;
      };
      return { status, headers, ok, json };
    }
  };
}
function readWait(error) {
  const { status, retryAfter } = error;
  if (status !== 429 || retryAfter == null)
    return Number.NaN;
  return Math.max(LEAST_WAIT, Math.ceil(retryAfter * 1e3));
}
var OPTIONS, LONGEST_WAIT, LEAST_WAIT, POSITIONS, piecesOf;
var init_export = __esm({
  "pkg/dist/export.js"() {
    "use strict";
    init_export_format();
    OPTIONS = ["format", "cursor", "signal", "wait"];
    LONGEST_WAIT = 864e5;
    LEAST_WAIT = 1e3;
    POSITIONS = ["limit", "offset", "page", "cursor"];
    piecesOf = /* @__PURE__ */ new WeakMap();
  }
});

// pkg/dist/event_stream.js
var LONGEST_LINE, EventParser;
var init_event_stream = __esm({
  "pkg/dist/event_stream.js"() {
    "use strict";
    LONGEST_LINE = 1 << 20;
    EventParser = class {
      #rest = "";
      #data = [];
      #event = "";
      /** `id` as last seen, to resume after. */
      id = "";
      /** How long the server asks to wait before connecting again, in milliseconds. */
      retry;
      /** Begins another stream: an event that the one before left unfinished is none. */
      restart() {
        this.#rest = "";
        this.#data = [];
        this.#event = "";
      }
      /** Takes in a chunk; gives the events that it completes. */
      push(chunk) {
        const lines = (this.#rest + chunk).split(/\r\n|\n|\r(?!$)/);
        this.#rest = lines.pop();
        if (this.#rest.length > LONGEST_LINE)
          throw new TypeError("a line of the event stream is too long");
        return lines.flatMap((line) => this.#line(line) ?? []);
      }
      #line(line) {
        if (line === "")
          return this.#dispatch();
        const colon = line.indexOf(":");
        if (colon === 0)
          return void 0;
        const field = colon < 0 ? line : line.slice(0, colon);
        const value2 = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
        if (field === "data")
          this.#data.push(value2);
        else if (field === "event")
          this.#event = value2;
        else if (field === "id" && !value2.includes("\0"))
          this.id = value2;
        else if (field === "retry" && /^\d{1,7}$/.test(value2))
          this.retry = Number(value2);
        return void 0;
      }
      #dispatch() {
        const data = this.#data.join("\n");
        const event = this.#event || "message";
        this.#data = [];
        this.#event = "";
        return data === "" ? void 0 : { event, data, id: this.id };
      }
    };
  }
});

// pkg/dist/job_record.js
async function readRecord(transport, id, options, site, tools) {
  let body;
  let response;
  const through = (sender) => ({
    ...sender,
    async send(request, ...rest) {
      const target = `${request.target}/record`;
      const received = await sender.send({ ...request, target }, ...rest);
      const { status, headers, ok } = received;
      const json = async () => {
        body = await received.json();
        response = received;
        return body;
      };
      return { status, headers, ok, json };
    }
  });
  const read2 = async () => {
    await transport.call("agentJobs.get", { id }, options, through);
    return { data: decodeRecord(body, response, tools), response };
  };
  return transport.run(read2, site, options.signal);
}
function decodeRecord(body, response, tools) {
  const refuse3 = (where, rule) => {
    throw tools.toDecodeError(where, `must be ${rule}`, response);
  };
  const text3 = (value2, where) => typeof value2 === "string" ? value2 : refuse3(where, "text");
  const textOrNull2 = (value2, where) => value2 == null ? null : text3(value2, where);
  const texts = (value2, where, names2) => {
    if (typeof value2 !== "object" || value2 === null)
      return refuse3(where, "an object");
    const own = value2;
    const copied = names2.map((name) => [name, textOrNull2(own[name], `${where}.${name}`)]);
    return Object.fromEntries(copied);
  };
  const list2 = (value2, where, names2) => {
    if (!Array.isArray(value2))
      return refuse3(where, "an array");
    return value2.map((item, at) => texts(item, `${where}[${at}]`, names2));
  };
  const record = body;
  const job = texts(record.job, "job", JOB);
  return {
    job: { ...job, id: text3(job.id, "job.id") },
    prompt: textOrNull2(record.prompt, "prompt"),
    messages: list2(record.messages, "messages", ["prompt", "author", "sentAt"]),
    changes: list2(record.changes, "changes", ["at", "status", "prLink"])
  };
}
var JOB;
var init_job_record = __esm({
  "pkg/dist/job_record.js"() {
    "use strict";
    JOB = [
      "id",
      "status",
      "prompt",
      "createdBy",
      "createdAt",
      "prLink",
      "checkedAt"
    ];
  }
});

// pkg/dist/list_stream.js
async function* streamList(transport, options, site, { follow: follow2, sleep: sleep2 }) {
  const left = new AbortController();
  const { signal } = left;
  const leave = follow2(left, options.signal);
  const parser = new EventParser();
  try {
    for (let failures = 0; ; failures++) {
      let asked = 0;
      const watchdog = new Watchdog(signal, follow2);
      parser.restart();
      try {
        const call = { ...options, signal: watchdog.signal };
        const response = await openStream(transport, "agentJobs.list", {}, parser.id, call);
        if (!isStream(response))
          await takePage(transport, async () => response);
        failures = -1;
        for await (const event of readEvents(response, parser, watchdog)) {
          const change = await readChange(transport, event);
          if (change !== void 0)
            yield change;
        }
      } catch (error) {
        if (signal.aborted)
          throw signal.reason;
        const isLast = failures + 1 === MOST_FAILURES;
        if (isLast && !isOwn(error))
          await takePage(transport, () => Promise.reject(error));
        if (isLast || !mayPass(error))
          throw error;
        asked = 1e3 * (error.retryAfter ?? 0);
      } finally {
        watchdog.end();
      }
      const usual = (parser.retry ?? USUAL_RETRY) * 2 ** Math.max(failures, 0);
      await sleep2(Math.max(usual, asked), signal);
    }
  } catch (error) {
    await transport.run(() => Promise.reject(error), site, options.signal);
  } finally {
    leave();
    left.abort();
  }
}
function isOwn(error) {
  return BRAND2 in error;
}
function mayPass(error) {
  const { status = 0 } = error;
  return !isOwn(error) || status === 429 || status >= 500;
}
function takePage(transport, answer) {
  const options = { maxRetries: 0 };
  return transport.call("agentJobs.list", {}, options, (sender) => ({ ...sender, send: answer }));
}
async function readChange(transport, { event, data }) {
  if (event === "reset")
    return { reset: true };
  if (event !== "job" && event !== "deleted")
    return void 0;
  const { jobs } = await takePage(transport, async () => new Response(`{"jobs":[${data}]}`));
  const job = jobs[0];
  return event === "job" ? { job } : { deleted: job.id };
}
var MOST_FAILURES, BRAND2;
var init_list_stream = __esm({
  "pkg/dist/list_stream.js"() {
    "use strict";
    init_event_stream();
    init_job_stream();
    MOST_FAILURES = 5;
    BRAND2 = /* @__PURE__ */ Symbol.for("quillgate.error");
  }
});

// pkg/dist/job_stream.js
var job_stream_exports = {};
__export(job_stream_exports, {
  USUAL_RETRY: () => USUAL_RETRY,
  Watchdog: () => Watchdog,
  isStream: () => isStream,
  openStream: () => openStream,
  readEvents: () => readEvents,
  readRecord: () => readRecord,
  streamChanges: () => streamChanges,
  streamList: () => streamList
});
async function* streamChanges(transport, watch, id, call, tools) {
  const expiry = new AbortController();
  const timer = setTimeout(() => expiry.abort(), watch.time);
  const { signal } = expiry;
  const leave = tools.follow(expiry, call.signal);
  const connect2 = (lastEventId, signal2) => openStream(transport, "agentJobs.get", { id }, lastEventId, { ...call, signal: signal2 });
  const events = streamJobEvents(connect2, signal, tools);
  try {
    for (let next = await events.next(); ; next = await events.next()) {
      if (next.done) {
        transport.mayStream = next.value;
        return;
      }
      const change = watch.tell(next.value);
      if (change !== void 0)
        yield change;
      if (change?.done)
        return;
    }
  } catch (error) {
    if (expiry.signal.aborted && !call.signal.aborted)
      throw watch.expire();
    throw error;
  } finally {
    clearTimeout(timer);
    leave();
    expiry.abort();
    await events.return(true);
  }
}
async function* streamJobEvents(connect2, signal, { follow: follow2, sleep: sleep2 }) {
  const parser = new EventParser();
  let streamed = false;
  for (let breaks = 0; breaks < MOST_BREAKS; breaks++) {
    if (streamed)
      await sleep2(parser.retry ?? USUAL_RETRY, signal);
    const watchdog = new Watchdog(signal, follow2);
    parser.restart();
    try {
      const response = await connect2(parser.id, watchdog.signal);
      if (!isStream(response)) {
        await response.body?.cancel();
        return streamed;
      }
      streamed = true;
      for await (const { event, data } of readEvents(response, parser, watchdog)) {
        if (event !== "job")
          continue;
        breaks = -1;
        yield JSON.parse(data);
      }
    } catch (error) {
      if (signal.aborted)
        throw error;
      if (!streamed)
        return false;
    } finally {
      watchdog.end();
    }
  }
  return streamed;
}
async function openStream(transport, operation, params, lastEventId, options) {
  const { signal, ...rest } = options;
  const { url, headers } = await transport.build(operation, params, rest);
  headers.accept = "text/event-stream";
  if (lastEventId !== "")
    headers["last-event-id"] = lastEventId;
  const init = { headers, redirect: "manual", signal: signal ?? null };
  const request = new Request(`${url}/events`, init);
  const { fetch: fetch2 = globalThis.fetch } = (await transport.sender()).options;
  return await fetch2(request);
}
function isStream(response) {
  const type = response.headers.get("content-type") ?? "";
  return response.status === 200 && type.startsWith("text/event-stream") && response.body !== null;
}
async function* readEvents(response, parser, watchdog) {
  const reader = response.body.getReader();
  const decoder = new TextDecoder();
  for (; ; ) {
    const { done, value: value2 } = await reader.read();
    if (done)
      return;
    watchdog.fed();
    yield* parser.push(decoder.decode(value2, { stream: true }));
  }
}
var LONGEST_SILENCE, USUAL_RETRY, MOST_BREAKS, Watchdog;
var init_job_stream = __esm({
  "pkg/dist/job_stream.js"() {
    "use strict";
    init_event_stream();
    init_job_record();
    init_list_stream();
    LONGEST_SILENCE = 45e3;
    USUAL_RETRY = 3e3;
    MOST_BREAKS = 3;
    Watchdog = class {
      #controller = new AbortController();
      #leave;
      #timer;
      constructor(outer, follow2) {
        this.#leave = follow2(this.#controller, outer);
        this.fed();
      }
      get signal() {
        return this.#controller.signal;
      }
      fed() {
        clearTimeout(this.#timer);
        this.#timer = setTimeout(() => this.#controller.abort(), LONGEST_SILENCE);
      }
      end() {
        clearTimeout(this.#timer);
        this.#leave();
        this.#controller.abort();
      }
    };
  }
});

// pkg/dist/daily_views.js
var daily_views_exports = {};
__export(daily_views_exports, {
  readDailyViews: () => readDailyViews
});
function readDailyViews(transport, params, options, site, makeErrors) {
  const { path, prefix, group, limit, cursor, ...shared } = params ?? {};
  const query = Object.entries({ path, prefix, group, limit, cursor }).filter(([, value2]) => value2 !== void 0).map(([name, value2]) => `&${name}=${encodeURIComponent(String(value2))}`).join("");
  let body;
  let response;
  const through = (sender) => ({
    ...sender,
    async send(request, ...others) {
      const target = request.target.replace("/views?", "/views/daily?") + query;
      const received = await sender.send({ ...request, target }, ...others);
      const { status, headers, ok } = received;
      if (status < 200 || status > 299)
        return received;
      const json = async () => {
        body = await received.json();
        response = received;
        return NO_VIEWS;
      };
      return { status, headers, ok, json };
    }
  });
  const read2 = async () => {
    for (const field of ["dateFrom", "dateTo"]) {
      if (shared[field] === void 0)
        throw makeErrors.toRequiredError(field);
    }
    await transport.call("analytics.views", shared, options, through);
    const data = decodeSeries(body, (where, rule) => {
      throw makeErrors.toDecodeError(where, `must be ${rule}`, response);
    });
    return { data, response };
  };
  return transport.run(read2, site, options.signal);
}
function decodeSeries(body, refuse3) {
  const list2 = (value2, where) => Array.isArray(value2) ? value2 : refuse3(where, "an array");
  const text3 = (value2, where) => typeof value2 === "string" ? value2 : refuse3(where, "text");
  const count2 = (value2, where) => Number.isSafeInteger(value2) && value2 >= 0 ? value2 : refuse3(where, "an integer from 0 to 2^53 - 1");
  const countOrNull2 = (value2, where) => value2 == null ? null : count2(value2, where);
  const texts = (value2, where) => list2(value2, where).map((item, at) => text3(item, `${where}[${at}]`));
  const object2 = (value2, where) => typeof value2 === "object" && value2 !== null ? value2 : refuse3(where, "an object");
  const totals = (value2, where) => {
    const { human, ai, total } = object2(value2, where);
    return {
      human: countOrNull2(human, `${where}.human`),
      ai: countOrNull2(ai, `${where}.ai`),
      total: countOrNull2(total, `${where}.total`)
    };
  };
  const group = (value2, at) => {
    const where = `views[${at}]`;
    const { date, days, missing: missing2, visitors } = object2(value2, where);
    return {
      date: text3(date, `${where}.date`),
      ...totals(value2, where),
      days: count2(days, `${where}.days`),
      missing: texts(missing2, `${where}.missing`),
      visitors: visitors == null ? null : totals(visitors, `${where}.visitors`)
    };
  };
  const { views, missing, nextCursor } = object2(body, "the body");
  return {
    views: list2(views, "views").map(group),
    missing: texts(missing, "missing"),
    nextCursor: nextCursor == null ? null : text3(nextCursor, "nextCursor")
  };
}
var NO_VIEWS;
var init_daily_views = __esm({
  "pkg/dist/daily_views.js"() {
    "use strict";
    NO_VIEWS = { totals: {}, views: [], hasMore: false };
  }
});

// action/src/cancellation.ts
var SIGNAL_CODES = { SIGINT: 130, SIGTERM: 143, SIGBREAK: 149 };
var controller = new AbortController();
for (const [name, code] of Object.entries(SIGNAL_CODES)) {
  process.on(name, () => {
    if (controller.signal.aborted) process.exit();
    process.exitCode = code;
    controller.abort(new Error("the step was cancelled"));
  });
}
var cancellation = controller.signal;

// pkg/dist/byte_text.js
var ALONE = 90;
var DIGITS = 92;
var FIRST = 35;
var BACKSLASH = 92;
var IN_ITS_PLACE = 33;
function decodeBytes(text3) {
  const bytes = new Uint8Array(text3.length);
  let length = 0;
  let from = 0;
  for (let at = 0; at < text3.length; at++) {
    const code = text3.charCodeAt(at);
    const digit = (code === IN_ITS_PLACE ? BACKSLASH : code) - FIRST;
    if (from === 0 && digit >= ALONE) {
      from = ALONE + (digit - ALONE) * DIGITS;
    } else {
      bytes[length++] = from + digit;
      from = 0;
    }
  }
  return bytes.subarray(0, length);
}

// pkg/dist/core_text.js
var core_text_default = "#}*}<}6$###$~($>})$}H#})%}H}H#})&}H}H}H#})'}H}H}H}H#})%}H}H$}H})&}H}H}H$}H})(}H}H}H}H}H#})%}H}G#})'}H}H}H}H$}H})'}H}H}H}G#})&}H}H}G#})(}H}H}H}E}E$}H})#$}H}))}H}H}H}H}H}H#})$}H$}H})&}H}G}G#})#$}E})(}H}H}H}G}E#})*}H}H}H}H}G}G}E#})'}H}G}G}G#})(}H}H}G}G}E#})(}H}H}H}H}G#})*}H}H}H}G}G}G}E#})(}H}H}H}H}H$}H})&}H}G}H#})%}H}H$}G})(}H}H}H}G}H#%H)$}*$}*#($}*$}+#3$}*$},#'$}*$}-##$}*$}.#&$}*$}/#$&};}:./4#%%%)%$,0,%*5-&1$%'%$#(#'$6*-$%-&$)%$&70.'*%$+)$,$&&2%&'89&21%&)$(*##'&%(%($&*(:#'&;#()*+##+'$)<+#=######''#$/(&$#4),$}H$d}I}I~-#.*@*$}0%#$}1#w$}2#}?$}3#z$}4#T$}5#}.$}6#}2/$P-}d~1$}:~j7%(}H&}GF#d}i&}4E(G#C&~i*D.d-D,%c%c%c%c%}H%}H%c%c%c%c%c%c%c%c%c%c%c%c%c%c%c%c%c%cC$d,p'cC$h0$C$P#~V}ccD,.d(D$C#L&#e%t0:C,d%}41+$%/&'()*+.C#P#}m$E$d/i0/C(d~]$}3C$d%}=K%~)}hc32C(K%~a$D$C(K%~]$E%d}I}I}I}I}Ai07C(C(L%~e$Z%~U$C(C$Y%~Q$C(C%Y%~M$%c%c%cC#K%}i$E$d&n0#%cC$P#}Y}Qcd$}41&#%&$.C(d~=#}3C(d~M$}33<C(e&Z&}y%C(d&]#~e%C(e#Z&}q%C(d#]#}i%C(e%Z&}a%C(e~M~A&Z&}Y%C(d#]#}U%C(d%Y%}Q%C(e~M~A&Z&}I%C(e#Z&~]$C(C(L&sZ&~%%C(C(L&{Z&~-%C(C(L&})Z&~5%C(C(L&}1Z&~=%/9.C(C(L%~U$Z&~-%C(C(L%~M$Z&~%%C(e%Z&}y%C(d&]#~e%C(e#Z&}q%C(d#]#}i%C(e%Z&}a%C(e~M~A&Z&}Y%C(d#]#}U%C(d%Y%}Q%C(e~M~A&Z&}I%C(e#Z&~]$/8.C(d~=#}3C(d~M$}3C.3HC(K%wD$C(K%sE%d}I}I}I}I}Ai08C(C(L%}1Z&~=%C(C(L%})Z&~5%C(C(L%{Z&~-%C(C$Y%~)%C(C%Y%~%%C(e&Z&}y%C(d&]#~e%C(e#Z&}q%C(d#]#}i%C(e%Z&}a%C(e~M~A&Z&}Y%C(d#]#}U%C(d%Y%}Q%C(e~M~A&Z&}I%C(e#Z&~]$/7.C(d~=#}3d}y}c~-#d~-}c~-#d*3Qd$e~l~l~l~l2%}G%cC(K%sd}P}I}I}I}Aj'cC(C(L&{Z&}Q&C(C(L&sE-Z&}I&C-}pd}I}I}I}I}Aj0$C(d}I&}33}3e~-~[~Z#/%.C(d,Y%}Q&C(d~*}R~-#Y%}M&C(d}O}I}I}I}AY%}I&.C(C(L&}Q&Z&}a&C(C(L&}I&Z&}Y&C(d~=#}3d~-}c~-#d*C(d}Y&}3d~5}c~-#30C(K%sd$i'cC(K%wD$C(d~M$}33}=/9.C(L&{.E-C-e~l~l~l~l2}#>}pd$d#3'C(d#]#~]%C(e#Z&~=%C(d#Y%~5%C(e~=2Z&~-%C(e}HC-C.}EE-C-C.w>Z&~%%C(e$Z&}y%C(d&]#~e%C(e#Z&}q%C(d#]#}i%C(e%Z&}a%C(e~M~A&Z&}Y%C(d#]#}U%C(d%Y%}Q%C(e~M~A&Z&}I%C(e#Z&~]$C(C(L%~U$Z&~U%C(C(L%~M$Z&~M%/6.C(d$]#3d#/4.C(d~]$}3d}Q}d~-#d}a}d~-#d-3Qd}I}I}I}I}AD$C(K%~]$E)d}P}I}I}I}Ai0+C(K%~e$D*C(K%~a$D+C)d#q0*C)d~l~l~l~l*}:d%}41%)*+.C(d+}3d~l~l&C%C%d~l~l&r>3MC(R$-D%C(R$+D)C(d~]$}3E$C.3Ve$D-%cC(L&~]$e$t'cC$C(L&~e$E/3})d)d#C(K%~a$C(K%~e$3'C$3}8/$.e#D-.C(C/Z&CC(C-Z&;C(C%^$7C(C)^$5C(d']#3d#/2.C(e#Z&;C(d%^$5C(d']#3d#/1.C(e#Z&;C(d&^$5C(d']#3d#/0.C(e#Z&;C(d)^$5C(d']#3d#//.C(d(]#3d#/..C(d~]$}33,C(K%~e$D$C(L&~]$E-e%t0/C(C(K%}U%Y%WC(C(L%}M%Z%OC(C(L%~i$Z%GC(C$Y%CC(C-Z&;C(d#]#3d#/-.C+D)C*D+C(K%~i$D*.C+}vC*}veC}O}MD-C)D$.C(C$Y%}Y&C(C-Z%}]&C(d~]$}3d}Q}d~-#d}k}d~-#d*3QC-eC}Q}pD)C%}vD/C-}pD%C(%}HC(K%~]$d}P}I}I}I}Ai'cC(d,Y%{C(d~*}R~-#Y%wC(d}O}I}I}I}AY%sd%/$.C(C(L&~e$Z&{C(C(L&~]$E-Z&sd%C(P#wC-}pd}N}I}I}I}Aj>.]#KC(C)Y%GC(C/Z&;C(d%]#3C(C%d#C$d}I}I}I}I}Aj>Y%CC(d~=#}33}3d$/*.C(d~]$}3d}Q}d~-#d~+}O~-#d)3QC(K%~]$E$d}P}I}I}I}Aj0$/%.C(d4Y%~]$d~M}c~-#d,C(d~]$}3d$d#3{D$/*.C(K%~e$D)C(K%~a$D*C$d#q0%C$d~l~l~l~l*}:d%}41%$%#.d}M}I}I}I}A/%.C*D$C)D*C(K%~i$D).C(C)Y%~I$C(C*Y%~E$C(C$Y%~A$C(d~]$}3C(d~A$}33]C(L%~a$D-C(K%~]$.D$C(d~]$}3C.3VC(C-Z&;C(C$Y%7C(C%d#j]#4C(d&]#3C(C(L&~e$Z&KC(C(L&~]$Z&Cd#.C(d[}3C#C(d3}3C.C'3+C,d&i'cC#3o.%c%c%c%c%c%c%cd)C(K%[E)d'}4E%C)d&p>E$d$}41)%%)))$#.C(L&cD-%}H%c%c%cd%C#L&cE.}pd%}4C.e${>d$}41%$%#.C#d~5#}3/%.d(D$C#K%wd}I}I}I}I}Ai0*C#d~A#}3/$.C#d~]#}3.D%C(d~]$}3E$C%K%/P#GE)d%}=E+K%}a}hcC+K%}U}hc3uC$d~3}R~-#d$3sC%C$C#d}Y$}331C$d~R}b~-#d$3sC)d$i'cC%C$d%3=.d#D$d#e~l~l~l~l2C-C-e~l~l~l~l2}#>}pC(K%~a$C(K%~e$3'C(d~]$}33}8/(.d)D$C)d$}41&$%&'.d$e~l~l~l~l2C(L&cE-C-e~l~l~l~l2}#>}pd$d#3'C%D$/&.d$e~l~l~l~l2C(L&cE-C-e~l~l~l~l2}#>}pd$d#3'd*D$/%.d+D$/$.C(C(L%gZ&{C(C(L%_E-Z&sC-}pE#'cC(C(K%}%Y%~i$C(C(L%wZ%~a$C(C#Y%~]$d&d#C(d~]$}3d%3_d-D$/$.C(d~=#}3d'};E#3AC#3}6d,D$.h0&C(d}Y&}33}:/&.C(d~=#}33CC(K%wD$C(K%sE%d}I}I}I}I}Aj0$C(d~]$}33|.C(C$Y%~]$C(d~]$}3E#3AC#3}6d,D$/$.C(K%{D)C(d~=#}3E*C(d~i$}3d}M$~i-##C#3}7C#e#Z&#C#d/}3C*d}M$~i-##C#C)Y%}a$C#C$Y%}]$C#C%Y%}Y$C#3od&D$.C(d}i&}3G#C$.}v-%'}H$}GF#d~]#}4E#G#C#d}P}I}I}I}AY%;C#d#]#?C#d~M#}33CC#K%}-D$%}H%c%cC#K%})E%d}I}I}I}I}Ai'cC#C$Y%//$.C#C#K%}1Y%{C#C$Y%wC#C%Y%sC#d~=#}33}8C#d~M#}3C#d;}3d~&}`~-#d*3Q%c%c%cC#K%})d}P}I}I}I}Ai'cC#d,Y%{C#d~*}R~-#Y%wC#d}O}I}I}I}AY%s/$.C#C#L&}1Z&{C#C#L&})E'Z&sd}I}I}I}I}AD%C'}pd}I}I}I}I}Aj0#C#d~=#}33}3/$.C#d~M#}3d~&}`~-#d*C#d~=#}33:C#K%}-D$C#K%})E%d}I}I}I}I}Ai'cC#C$Y%/C#d}I}I}I}I}AY%+/%.C#K%}1D&.C#C&Y%WC#C$Y%SC#C%Y%OC#d~M#}3C#d;}3d~T}`~-#d+3Q%c%c%c%cC#K%})d}P}I}I}I}Ai'cC#d,Y%{C#d~*}R~-#Y%wC#d}O}I}I}I}AY%s/$.C#C#L&}1Z&{C#C#L&})E'Z&sC'}pd}I}I}I}I}Ai0$.C#d~M#}3d~T}`~-#d+C#d~=#}33:C#K%}-D$C#K%})E%d}I}I}I}I}Ai'cC#C$Y%/C#d}I}I}I}I}AY%+/&.C#C#K%}1Y%cC#C$Y%_C#C%Y%[C#d~M#}3d~4}`~-#C#K%SC#K%Od}I}I}I}I}AiE$>d;C#K%WC$>3OC#K%}-D$C#K%})E%d}I}I}I}I}Ai'cC#C$Y%/C#d}I}I}I}I}AY%+C#d[}33}8/&.C#C#K%}1Y%oC#C$Y%kC#C%Y%gC#d~M#}3C#d[}33IC#K%}-D$C#K%})E%d}I}I}I}I}Aj0$C#C$Y%/C#d}I}I}I}I}AY%+C#d~1#}33}8/%.C#d~=#}33}3C#d~M#}3C#d;}3d~e}b~-#d(3Q%cC#K%})d}P}I}I}I}Aj'cC#C#L&}1Z&{C#C#L&})Z&s/$.C#d,Y%{C#d~*}R~-#Y%wC#d}O}I}I}I}AY%s.C#d~1#}3d~e}b~-#d(C#d~=#}33:C#K%kD$C#K%gE%d}I}I}I}I}Ai'cC#C$Y%/C#d}I}I}I}I}AY%+/%.C#C#K%oE&Y%cC#C$Y%_C#C%Y%[C$C&3}#C#d[}33}8h'cC#d3Y%})C#d~e}b~-#d(C#d~M#}3d$d#3{Y%/C#d}I}I}I}I}AY%+/%.C#d~M#}3C#d;}3d~&}`~-#d*3Q%cC#K%})d}P}I}I}I}Aj'cC#C#L&}1Z&{C#C#L&})Z&s/$.C#d,Y%{C#d~*}R~-#Y%wC#d}O}I}I}I}AY%s.C#d~1#}3d~&}`~-#d*C#d~=#}33:C#K%kD$C#K%gE%d}I}I}I}I}Ai'cC#C$Y%/C#d}I}I}I}I}AY%+/%.C#C#K%oE&Y%cC#C$Y%_C#C%Y%[C#d+}3C$C&36C#d[}33}8C#dO}33}:/%.C#C#K%}1Y%{C#C$Y%wC#C%Y%sC#d~=#}33}8C#C#L%gZ&+C#C#K%oY%3.C#dO}33}:.C#K%+d}I}I}I}I}Aj0$.C#C#K%/Y%})C#d~M#}3E$3AC$3}6d#/$.C#C#L&+Z&})C#C#K%3E$Y%}1d(d#C#K%}-C$3'C#d~M#}33}8d$.C#d~]#}3G#.~6+%(}H&}GF#dc}3E(G#%c%c%c%c%c%c%c%c%c%c%c%c%cC%P##d$}41($%&'(#.C%dH}3D)C%d+}3D*C%K%CD+C%L&;D.%}Hd%C%P#GE%}4d#%}H%c%c%cd%C$L&cE-}pd%}4C-e${>d$}41%$%#.C$d~5#}3/%.d#C$K%wd}I}I}I}I}Ai0%=C$d~A#}3/$.C$d~]#}3.K%/P#Gd$i>.D,C$C%]#?C$C+Y%;C$C.Z&3C$C&Z&[C$C,]#SC$d#Y%OC$C+Y%KC$C.Z&CC$C*L&+Z&+C$C*L&#Z&#C$C)R##^#@C$C)P#%]#BC$3h0,C-e%}#0'C$K%})h0'%}GC-e$t'cC$L&}1E-C$L&kE.C&}FE&e#C&C.{>E&C&C-y>/$.C$L&}1.D&C#d)Y%#C#C&Z&+/..C#d*Y%#/-.C$L&ce&u0+C(d;}3C$d~5#}3C%d+}33.C#C(K%;'}HC#C(L%GZ%/C#C(L%?Z%'d&(d*.Y%#/,.C(C%K%/Y%CC(C%L%'Z&;d*D)C$L&ce%}#0(C%P#$D*C(d+}3C$dc}4C(d;}3d#C(K%;d}M}I}I}I}Aj>C%L&3C%L&;C&C'3eC(K%+E)d$}41&%(&'.C%L&3D-C%L&+D.C%R$'D)C%R$%D%%c%c%cC$L&ce${'cC%d$}41)&&&%%%$.C(d;}3C$dC}3C%C)C.C-C'38d#D%%cC(L&;e$u0#C(L&CD-C$L&#e$t'cC-C$L&+E.C&C$L&[}FE/e#C&C/}#>}FE&e#C&C.{>}#0$.C#C-Z&+d(D%.C#C%Y%#/-.C)d}a&iC)d}v&i};C)d~a&}4d~l~l&}:d~Q#l};0$.C#d#Y%#/+.C(dS}3D%C$dc}4E)C)K%;d$}3E*Y%;%cC*d'p'cC%C)C-e#C.}pd$}:>C&C'3R/$.C%e&Z&#.%c%c%c%cC(K%Sd$}41&$%&#.C$C(L&[E&Z&}1C$e$Z&})C#C&Z&+C#d)Y%#/-.C#d+Y%#C$d$]#}I$/,.C#d%Y%#/+.C#d#Y%#/*.C#C$C&39/).C$d$]#}I$d+D)/%.d#D)/$.C$C(L&3E&Z&}1C$e$Z&})d*D)C*d$}:0#C#C&Z&+d)D).C#C)Y%#C(d;}3E#K%#d}M}I}I}I}Aj'cC#K%#d}M}I}I}I}Aq'cC#3}8../%.C#d,Y%#/$.C#d*Y%#.C(dc}4G#.~A+%'}H'}GF#dc}3E$G#C$dC}3d~e}c~-#d}m}`~-#d13Q%c%c%cC$K%Cd}P}I}I}I}Ai'cC$d,Y%;C$d~*}R~-#Y%7C$d}O}I}I}I}AY%3/$.C$C$L&KZ&;C$C$L&CE(Z&3d}I}I}I}I}AD%C(}pd}I}I}I}I}Aj0#C$d3}33}3/$.C$C$L&;Z&[C$C$L&3Z&SC$dC}3d}m}`~-#d1C$dS}33:C$K%GD&C$K%CE%d}I}I}I}I}Ai'cC#e%Z&#C#C&Y%+/%.C$K%KD'.C$C'Y%/C$C&Y%+C$C%Y%'%cC%d}I}I}I}I}Aj'cF#d3}4E%G#%}HC'd~l$p'cd#C&C'3}#0$=.C%d2Y%'d}m}`~-#d1C%d'}3d$d#3{.C%d3}3G#E%0$.C$dS}3d~e}c~-#d}u}g~-#d-3Q%c%}H%c%cC$K%Sd}P}I}I}I}Ai'cC$d,Y%;C$d~*}R~-#Y%7C$d}O}I}I}I}AY%3/$.C$C$L&[Z&;C$C$L&SE(Z&3C(}pd}I}I}I}I}Ai0$.C$C$L&;Z&KC$C$L&3Z&CC$dS}3d}u}g~-#d-C$dC}3d~%}g~-#30C$K%Sd$i0%d%C$L&[E(}pC(e}I}I}I}I3}#>/$.C$d3}33}3d%.D%C$dS}3d~e}c~-#d~-}c~-#d*3Q%}G%cC$K%Sd}P}I}I}I}Ai'cC$d,Y%;C$d~*}R~-#Y%7C$d}O}I}I}I}AY%3/$.C$C$L&[Z&;C$C$L&SE(Z&3C(}pd}I}I}I}I}Aj0#C$d3}33}3e~M~A&/$.C$C$L&;Z&KC$C$L&3Z&CC$dS}3d~-}c~-#d*C$dC}3d~5}c~-#30C$K%Sd$i0$C$L&[.D)C$dS}3d~e}c~-#d~=}g~-#d/3Q%}G%cC$K%Sd}P}I}I}I}Ai'cC$d,Y%;C$d~*}R~-#Y%7C$d}O}I}I}I}AY%3/$.C$C$L&[Z&;C$C$L&SE(Z&3C(}pd}I}I}I}I}Aj0#C$d3}33}3e#/$.C$C$L&;Z&KC$C$L&3Z&CC$dS}3d~=}g~-#d/C$dC}3d~5}c~-#30C$K%Sd$i0$C$L&[D(e$.D*C#C$K%'d}I}I}I}I}Aj'}HC$dS}3d~e}c~-#d~I}g~-#d/3Q%}HC$K%Sd}P}I}I}I}Aj'cC$C$L&SE+Z&CC$C$L&[Z&KC$P#GD&C+}p/$.C$d,Y%Kd~*}R~-#D&C$d~*}R~-#Y%GC$d}O}I}I}I}AY%Cd}O}I}I}I}A.C$dC}33}3d}N}I}I}I}AiC&}:(d#.]#?C#C%Y%;C#C)Z&3C#C(Z&+C#C*Z&#C$d'}33}:/%.C$K%WD%.C#e%Z&#C#C%Y%+C$d'}33}:.C$dc}4G#.}n)%'}H,}GF#d}I$}4E&G#C&dc}4E(d#d~-#~i.#C&d;}3d}a}a~-#d-C$C%C(34C#%}H%c%c%cC&K%;E$h0#C&K%?E%h0%C&d3}3d}k}a~-#d)C$C%C(34C&K%3E%h0#d$D'C&K%7E$h0$%c%cC%P##d]j0#C&d+}3d}q}a~-#d&C%C$C(34C&K%+E%h0%C&K%/E$h0&C%P##dQj0#C$d$}4D(C%d$}3D)d#D$%c%c&cC$C(i'cC(D$/%.C$C)}3P##dS}4d~l$}:d,p'cC$d$}3D$/$..C$C(n0$.d#D%&cC%d&i'cC$h0(C$C)}3D%C(C$}4D$/'(e#D*C$C%n'cC%C)}3P##dS}4}ve~l$}LD*.C%d$}3D%C*C+e-}G}ED+/$.#.#.#..%c%c%cC$1%(#$.C%P##E'd~G#j0$d%D'/'.C%P##D'.%cC'dN}41&#$#$.C&d}t}a~-#d(C%d$}3C$d$}4C&dc}434C&K%#h0#C&K%'0#e}He$C'dPi>D2d%D'/%.C#d,Y%'d$/%..C&C&K%oY%_C&C&L%gZ%WC&C&K%cY%SC&L&}AD/C&L&}9D0C&L&}1D,C&L&})D-C&L&{D.C&dC}3C&L&SC&L&[C&L&s3FC&K%C'c%cC0C.C.C0v>e:x0#C/C,C-C,C-x>E*C*C/v>e^x0#C&L&KD*%c%c%cC'd$}41%#$%.C,e~U*}GC+}EC-e~M~A&}G}EC.e}I~J~H$}G}EC*e}I~%}bL}G}ED*e$D1/$.C,e~U*}GC+}EC-e~M~A&}G}EC0e}I}l}m}G}GC/e}i}t}E}G}EC2}G}EC.e}I~J~H$}G}EC*e}I~%}bL}G}ED*e%D1.C#C*Z&3C#C1Z&+d#/%.C#d-Y%'d$/$.C#d-Y%'d$.Y%#C&d}I$}3G#.~U)%/}H&}GF#d~=#}4E&G#C$K%/D'C$d}I}I}I}I}AY%/%c%c%c%cC'd}I}I}I}I}Aj'cC&C'Y%#C&C$L%3Z%'C&C$K%;E'Y%/%c%c%c%cC'K%#d$}41%#$%.C'K%'D)C'K%+D(C&d3}3C&d~E}L~-#d(3}$C&dC}3C&d}Y}N~-#d)3}$C%L&#E2C&L&;e~g$C&K%3>E3{'cC%P#3d$j0%C&dc}4C&L&Ke#C&K%C>3y%}HC&K%cd$i'cC&K%g/$.C&dS}3e}HC3C&L&kE3}EE4C3C4y>3yC&K%Sd$j0'C&K%W.D(d#D).dDD'd}f}e~-#D$/).C%P#3E.h0#%c%cC%K%+E/h0#C%K%/E0h0#C/C03}1D2C$K%+E*d*}:D1C$K%'E+C*d~e~l~l~l#}:E,d&}=}3D-C+D'%c&cC,'cd#D)d#D(&cC)C'C(}3L&#C2t};D)C(d+}3E(d~-#j0#.C,d+}4D,C'dc}4D'C)d$}:h0$/%..C1d&}=D(&cC(h0&C(d+}4D(C-L&#D3C-d+}3D-C2C3u0#..dPD'd~)}d~-#D$/).C.d$j0$dWD'd~V}d~-#D$/(.C$K%#C*i'}HC$3}&C$K%'(C+.C*d&}=}3C2Z&#C$C*d$}3Y%+C&dc}4E+C/C03uC&d~J}L~-#d)C+3fC$C$K%?d$}3d#C%L&#s>E%Y%?C%d(l0&d-d*C.d%iE$>D(d}a}d~-#d}k}d~-#C$>D)dXD'd~+}e~-#D$/(.C#d#Y%#C&3}=/(.C&dc}4E%C&L&[3})C&d}Y}N~-#d)C%3fC$C$K%?d$}3d#C2s>E%Y%?C%d'p0$dXD'd~+}e~-#D$d*D(d}k}d~-#D)/&.C#d#Y%#/&.C$d/}3E$3}9C#d#Y%#C$C&L%+Z%+C$C&L%#Z%#/%.d-D(d}a}d~-#D).C#C'Y%3C#C$Y%/C#C(Y%+C#C)Y%'C#d$Y%#C&3}=.C&d~=#}3G#.~Z(%*}H$}GF#dc}3E&G#%cC%K%#d}I}I}I}I}Ai'cC#d}I}I}I}I}AY%#C%3}3/$.C$K%7D)C$K%3D*d~]}`~-#D'%c%c%cC$K%#E+d'}41%$%#.C&dK}3C*C)C%3:C&K%OD(C&K%KE%d}I}I}I}I}Aj'cC&C&K%SE,Y%;C&C(Y%7C&C%Y%3%c%c%c%c%c%c%c%c%c%c%cC+d$}41)'#$--%&.C(C,3U0,d#D+d+D%/).C&dK}3C(C,3-C&K%Kh0+C&K%OE%d6j0&/+.C$K%+E+d&}=D'C$K%'E$D%&cC'h0'C,C%d'}3K%#i'cC%K%#C(C,3}'h0,.C%d+}3D%C'd+}4D'/#.#.C&C&K%;Y%SC&C&L%3Z&KC&C*C)C&dK}33rC&K%#d}I}I}I}I}Ai0(C#C&K%+Y%+C#C&L%#Z%#/-.C&C&K%;Y%SC&C&L%3Z&KC&C*C)C&dK}33LC&K%#d}I}I}I}I}Ai0&C#C&K%+Y%+C#C&L%#Z%#/,.C&L&SE-eC}Q}pD+C-}pD$/$.d*D%.C&C%Y%?C&C$}vC+}veC}O}MZ%CC&dK}3E$C(C,3aC*C)C&d?}3C$3}-D$C#d}J}I}I}I}AY%#C#C$Y%'C&d3}33}8/).C#C&K%'Y%'C#d}J}I}I}I}AY%#/(.C#C&K%'Y%'C#d}J}I}I}I}AY%#/'.C#C&K%;Y%+C#C&L%3Z%#/&.C#d}J}I}I}I}AY%#C#C(Y%'/%.C$K%'D'.C&C%L&+Z&SC&C%L&#Z&KC&C*C)C&dK}3C'30C&K%#d$i'cC#C&K%'Y%'C#d}J}I}I}I}AY%#/$.C#C&L&+3}).C&dc}4G#.}!(&&}H%}G$}EF#dc}3E(G#%c%c%c%c%c%c%c%c%c%c%c%cd&C&K%#E)d}I}I}I}I}A}<C)d#q>d&}41%$%#.C(C&L&+Z&[C(C&L&#E+Z&Sd~P}f~-#D&d*D)d&C+}pE*d}I}I}I}I}A}<C*d#q>d$}41)%&&'()*.C(C&K%+E)Y%KC(C&L%#Z&CC(dS}3C(K%GE*C)3WC(K%Sh'cC(d3}3C*C)3aC(dC}33}8/+.C#C'C$C%C(L&[3dC(dC}33}8/+.%cC&N&+E-C-~i)E+~&}*'cC+C+eb}PE,}NC,}Fe}I}I}I}I}I}I}I3w0$.C(dDY%;C(d~/}f~-#Y%7C(d}I}I}I}I}AY%3/*.C+e#v'cC(d+}3d$d$d$3jC(K%+D)C(K%/E*dP]##C(d$Y%KC(C*Y%GC(C)Y%CC(dS}3E)e#C+}F3})C(dC}3C(K%WC(K%[3sC)3}8C(C(L%CZ&3C(C(K%KY%;/*.C#C'C$C%C+3d/*.d~W}f~-#D&d'D)/'.d~D}U~-#D&d'D)/&.d~[}f~-#D&d+D)/%.d~c}f~-#D&d,D)/$.C(K%[D)C(K%WD&.C(C)Y%;C(C&Y%7C(d}I}I}I}I}AY%3C(dS}3E&3}3C(d(Y%SC(C'Y%WC$C%C&C(d3}33}-D$C#d$Y%#C#C$Y%'/%.C(d(Y%SC(C'Y%WC$C%C(dS}3C(d3}33}-D$C#d$Y%#C#C$Y%'.C&K%#d#q0#C&3}3.C(dc}4G#.~)'$.}HF#dc}3E&G#C%K%+D+C%K%'D0C#K%/E-K%;D)C-K%7D*%c&cd#D%&c%c%c%cC%C)iE'0#C%C*}3E,P##d~h#j0$d#D(&cC(C)i0$C(C*}3E.P##d~j#j'cC(d$}3D(/$..%cC%h0#C%C)r'cC'0$/*.C,O##dck0).C&d3}3C%d$}3C(C*C)3ZC&K%3E,h0(C&K%7D/%cC(d$}3E'h0#C'C)r'cC)d$}4C(j0*/$.C.d$}3O##d~,}Ho0).C$C*C%3sC.d$}3D*C(d}H}<C)}3D)C$%}HC/d,i'cC+D'C0C,d}Q}a~-#d,3}'h0$=.C&d+}3C#C,C/3^C&K%/d#C&K%+E%>D'C%d$C%>.C'3J/'.C$C*C)3sC#K%+D%C-K%CD'C-K%?D+C#K%'D#C&d#Y%OC&C#Y%GC&C+Y%?C&C%C'C%C'l>Y%SC&C#C%d/}5}3Y%KC&C+C'd(}=}3Y%Cd}Z}a~-#D(&cC&dW}3C&d?}33XC&K%WE#h0%C#P#<d$j0#C&K%_D%C&K%[D'C$C(d$3sC$C#K%3C#K%73sC$d}[}a~-#d$3sC$C'C%3Jd}!}a~-#D(/#.#.C%d$}3D%/$...C&dc}4G#2.#.}!'$+}HF#d~=#}4E%G#C%dS}3C$3[%cC%K%Sd}I}I}I}I}Aj'cC%C%L%SZ&cC%C%K%[E$Y%kC%K%gC$3qD$C#d}I}I}I}I}AY%#C#C$Y%'C%dc}43}8/$.C%d7}3C$3PC%K%?E&C$K%CE'C&C'l>D(C$K%?D&C%K%;D$%c%c&cC('cC%dc}4d}i}c~-#C&d3}3K%#E*C&d7}3K%#E+3Q%cC%K%cd}P}I}I}I}Aj'cC%C%L&kZ&[C%C%L&cZ&S/$.C%d,Y%[C%d~*}R~-#Y%WC%d}O}I}I}I}AY%S.C%dG}3C&C%dS}33/C%K%KD'C%K%GE)d}J}I}I}I}Ai0&C%K%OD,C$3}:C$d+}3C,Y%#C$d'}3C'Y%#C$C)Y%#C)d}I}I}I}I}Ai'cC&d;}3P##0&.C(d$}4D(C$d/}3D$C&dC}3D&/$..C%d+}3C%d7}3E$d~O}I~-#d+3^C%K%/D&C%K%+C%C$d~W}I~-#d)3^C&C%K%#C%K%'3YE'0$C$3;E'0$C#C%L%?Z%+C#C%L%7Z%#/%.C%d#Y%cC*C+C%dc}4d$d#3{D'.C#d}I}I}I}I}AY%#C#C'Y%'C%d7}33}=.C%d~=#}3G#.}k&%&}H&}GF#d}Y$}4E'G#%c%c%c%c&cC%C(j'cC$C(}3E)P##dOi0%C(d$}3D(/$..e#D&C%d&l0&C'd~9}a~-#d8C$d&}3E$C%d&}4E%3kC'K%#0$C'd~N}a~-#d8C$C%3kC'L&#e$t0$/&.C'd}|}a~-#d<C)d$}3E$C(d}H}<C%}3E%3kC'K%#0#C'd~5#}3E(d~c}a~-#d:C$C%3kC'L&ke$u0$C'L&sD*C'd3}3C'd~E#}3d[~i-##C(C&e}I~%}bL}H3GC'C*C'L&keT}FE&}Fe~Q#}JE*C&}EC*eb}Pe~Q#}L}EZ&+.C'L&SD*C'L&KD+C'L&CD,C'd~5#}3C'L&+C'L&3C'L&;3FC'L&ke$u0#e#D&C,e:xC+e_|};C*e_x};0$C+e_}GC,e}Y?}G}EC*}EC'L&se}I}l(}G}EE*e#v0$C#C*e~U*}GZ&+e$D&/$.e#D&.C#C&Z&#C'd}Y$}3G#.~V%%-}H%}G%c%cC%C'n0#C$C%}3D/C'C%}4D0C%C&}3D+&cC$C/i0%C-E)d$}3D-C$d$}3D'%c%cC$P##E*d~e$}:dSj'cC*d~-#i'cC'D$C(L&+sh0'C%C)l0%C&C)}3D1C%C)}4D2e$D4dGD$d}V}b~-#D*d#D.&cC4D3C.'cd#D+/+.C3e.xD.C$d&C$C$d&r>E,}4D$C,C*E)}3D*e.C3C3e.|>e$}ED4C,C2n0#C)C1C,3}'0#.C(C3Z&+C'D$/'.C%C)p0$C'D$C&C)}3P##C*j0'/&.C%C)n0$.#.C&C)}3P##dS}4E)d~l$}:d,n0$C(C*d&}=}3d}I&}4E$C$L&#e-}GC)}ve~l$}L}EZ&#C'D$/#.#.d#D+.C#C0Y%'C#C+Y%#.~L%%&}H$}GF#d3}4E(G#C$C%}3D'&c%cC%h'cC'D$/$.C$P##d,}4E)d:nd$C)}=d}d}I}I'}:h};0#C$d$}3D$C%d$}4D%/$..%c%c&cC%h0$C$C%}3d$}4P##d,}4E'd:nd$C'}=d}d}I}I'}:h};h'cC%d$}4D%/$..d#D'&cC%C'i'ce#D&d#D'&ce~!~<}c~K~a}o~OCC&e-}GC$C'}3P##dS}4}ve~l$}L}EE*C*e~!~<}c~K~a}o~OC}#>D&C%C'd$}3E'j0#.C#e$Z&#C#e}HC&e~U*}GC*e~[~<}c~K~a}o~OCy>Z&+/&.C$C'}3C'd$}3D'P##dS}4d~l$}:d-l0#..C(C$C%C&33C#C(K%#'}GC#C(L&+E*C&}FE&e#C&C*{>Z&+e$(e#.Z&#.C(d3}3G#.~0%$'}HF#dC}4E&G#d+D(%c%c%}H%cC%d+r'cC$L##e~U~U~>}L~$~;~;}`Ru0$d}A/%.C%d*j0%.d*D(d}{}`~-#C$d*3}'0$d}B.C%}3E'h0#C$C(}3E(P##E)dRiC)d]i};0#&cC''cC(P##E)dD}4d~l$}:d~J#n0%C&C)d~-}`~-#d*3xC'd$}4D'C(d$}3D(C&K%#d$j0$/%..C&d7}3C$C%3uC&K%;d$}4D$C&K%?D'&c%cC''cC$C'}3P##dRi0$.C#C&L%7Z%#C#C'Y%+C&C'Y%?/&.C'd$}4D'/#.#.C&d/Y%+d~&}`~-#d*C&d+}3d$d#3{D$C#d}I}I}I}I}AY%#C#C$Y%'.C&dC}3G#.}q%%'}H'}GF#dS}4E%G#C%d3}3E&C$C$e}I~%}bL}HE$e}I~%}bL}G}FE)eb}PE*C$}E3GC%L&CD$C%L&;D+C%L&3D,C%d+}3d;d$d$3jC%d#Y%;C%C%L&+Z%3C%C&Y%OC%dO}3E&d$d#C,d'3}4C&d}y}a~-#d$C+d%3}4C&d}y}a~-#d$C$d%3}4C&d}z}a~-#d$C*e}I~%}bL}LC)}E}pE'd}I~J~H$}7}vd%3}4C&d}_}a~-#d$C'd~M~A&}7d~l~l&}:d_}9}vd%3}4C&d}_}a~-#d$C'd~U*}7E(d_}9}vd%3}4C&d}{}a~-#d$C'C(d~U*}5}4}vd&3}4C#C%K%;Y%+C#C%L%3Z%#C%dS}3G#.~E%%$}G%}H%cC$P#3d%i0#C$K%+E+h0#%c%cC%d~l~l&}:d$}41)$$$%%%#.C&d~l~l&}:E,d}a&iC,d}v&i};0#C&d~a&}4d~l~l&}:d~P#n0$.C'e$tC(e~M~A&y}:0#C'}pD&%c%c%cC%d~l~l&}:d$j'cC$K%/E%C+i0'C$C%d$}3Y%/C&d$}:0&e~a&d'C%C%d'r>}v}OD'C)C)}*0$g########D)/%.C$L&#E'e~U*C(C(e~U*{>e~U*C&d$}:>E(w0&C$C'C(}FZ&#/%.g########C)C)g########},>E)g######~]b}-h0#g######~]bD).C)g######~=~,}kg######~]b}iC'~'}k~i*D(.C#C(Z&+e$D*.C#C*Z&#.}g%$'}GC$%}H%cC$3hh'cC$L&cE'e%w'cC$e#Z&})e~U*D&C'}pd$}:'ce~U*C$L&kE&C%}FE%e#C%C&{>E%C%e~U*{>D&.C#d'Y%#C#C&C$L&3E%C%C&y>Z&+2.C$L&3D&%}H%c%cC$L&#e$t'cC$L&+E(C%C$L&[}FE)e#C%C)}#>E%{0$C&C(C%}FE%C%C&y>D&.C#d'Y%#C#C&Z&+C'e%u0$d~5#/%.C#C(Z&+C#d$Y%#2.C$K%wd}I}I}I}I}Ai0%d~A#.C$}3K%/P#Gd$j0$d%C$P#?}4/%.C#d,Y%#2.d#.]#}Q$.~P%%&}H$}GF#dS}4E'G#%c%c%c%c%c%c%c%c%c%c%cd&C&K%#E(d}I}I}I}I}A}<C(d#q>1'$#%&#.C'C&L&+Z&;C'C&L&#E*Z&3C'd$Y%Gd~P}f~-#D&d*D(d&C*}pE)d}I}I}I}I}A}<C)d#q>d$}41)&''()*+.C'd#Y%3C$C%C'd3}3d$d#3{D$C#d}I}I}I}I}AY%#C#C$Y%'/+.C&d'}3D&.C#C&L%#E*Z%#C#C&K%+E#Y%+C'C#Y%+C'C*Z&#/).d~W}f~-#D&d'D(/'.d~D}U~-#D&d'D(/&.d~[}f~-#D&d+D(/%.d~c}f~-#D&d,D(/$.C'K%;D(C'K%7D&.C$C%C'dG}3C&C(3{D$C#d}I}I}I}I}AY%#C#C$Y%'C'd3}33}3.C'dS}3G#.}J%%%}H%}GF#dS}4E$G#C$dC}3E%C#d}i}Y~-#d'3}$%}HC$L&Ce$t'cC$L&KD&C$d+}3C#d}Y}N~-#d)3^C$K%+'cC$d)Y%Cd}i}Y~-#d'C%d$d#3{/%.C$d3}3C#d~E}L~-#d(3}$C$dC}3C&%}GC$L&3e$t'cC$L&;/$.C$d3}3C#3}/C$L&;e#C$L&3}pd$}:>.E'3gC$K%Cd$i'cC$K%G/%.C$L&KD&C#3pC$dC}3E%C'3})C#d~E}L~-#d(C%3fC%C&3})C#d}Y}N~-#d)C%3f.d#.C$dS}3G#.}k%%&}H$}GF#dc}3E%G#d$D&C$K%/K%#d$i'cC%d3}3E'C$d~E}L~-#d(3}$C%K%3h'cC'C$3}/C%L&3}pD&.C%dC}3C$d}Y}N~-#d)3}$C%dW}3E'C%L&;e~g$C&d$}:>3})C$d~E}L~-#d(C'3fC'C%L&Ke#C%K%C>3})C$d}Y}N~-#d)C'3f.C%d#Y%_C%e}I}I}I}I}I$Z%WC%d+}3C$d~J}L~-#d)3^C%K%+E&'cC&C%K%/3}1D(C%dW}33}&C%K%[C(Z&#C%d$Y%_.C#C%K%_Y%+C#C%L%WZ%#C#d#Y%?C#C$L%#Z%/C#C$L%+Z%7C%dc}4G#.}a%$(}HF#dS}4E&G#C$d}]}a~-#d$3sC#K%/E'K%CD(C'K%?D'C#K%'D)C#K%+D#C&d#Y%?C&C)C#d/}5}3Y%;C&C)Y%7C&C'Y%/C&C#C(C#C(l>Y%CC&C'C(d(}=}3Y%3C%d~l$}:D)d$D%&cC&dG}3C&d/}33X%cC&K%GE#'cC#P#<C)j0%C&K%OD(C&K%KD'C$C%C*3sC$C#K%3C#K%73?C$d}_}a~-#d$3sC#K%#d'i'cC$C'C(3s/%.C$C'C(3?/$.C$d}^}a~-#d$3sC&dS}3G#2.d}`}a~-#D%d$D*/#.#.~Y$$)}Hd#d+C#C#d+p>}4D(d+C$C$d+p>d*}3d}A}:E%d~l~l&}3E#d}I}I}E}:D)C#d3}?D*&cd}Q}i~-#D#%c%c%c%c&cC#E$K%#E#d}Hi0$C#K%'C#}3E'C%p0#C'C%}4C(}:E&C#l0#.C'C%C&}3E%n0$C$D%/%.C*c#E#d}Hj0%d#2.C%C#Y%#C%C'C%}4Y%'C$C%Y%#.C%K%#D$C#C&j'cC$C&C#}4Y%'C&2.C%C$K%#Y%#C&2.C#d3}=C)3E/#.#.}V%$*}HC#d~M}b~-#d$3sC$C%}3D,C$D*&cd#D'%c%c%}H%c%c%c%c%c&cC*C'E)}3E+C,i0+%c%cC+P##E(d,}41()'$$(#.C(dEi0)C(d~I#i0%.C)d$}3D'C(dCr0#.C#C$C%C&C&C'}3d$}43}(C#d}!}g~-#d'3sC#C(d}]}`~-#3i/).d}T}g~-#/'.d}V}g~-#/&.d}X}g~-#/%.d}Z}g~-#/$.d}R}g~-#.D'C#C$C%C&C&C)}33}(C#C'd%3s.C+d$}3D*C&C)}3d$}3D&/$..C#C$C%C&C%3}(C#d~M}b~-#d$3s.~j$$'}HF#d3}4E%G#%c%c%c%cC$K%#d(}41&#$%$.C%d'}3E&C$K%'E$L&#3})C&d~#}d~-#d'3sC&C$L&+d$3}%C#C%K%/Y%+C#C%L%'Z%#/%.C#d#Y%+C#e}I}I}I}I3Z%#/$.C$K%'D&C$K%+C%d#Y%/C%e}I}I}I}I3Z%'d&}=D$&cC$'cC%d'}3E'd~'}d~-#d$C%K%/E(>d%d#C(>3sC'C&K%#C&K%'3sC$d+}4D$C&d+}3D&/$..C#C%K%/Y%+C#C%L%'Z%#.C%d3}3G#.}!%$%}HF#dS}4E$G#C$C#K%#E%L%#Z&;C$C%K%+Y%CC$d/}3C$d;}33@C$C$L%3Z%CC$C%L%?Z%KC$C%L%3Z%;%c%c%c%c%c%c%c%c%c%c%c%c%c%c%cC%K%#E#d(}411#$%&'()*+,-./01.C%K%'P#3d%}=K%}m}hcD#/0.d,D#//.d0D#/..d1D#/-.d-D#/,.d.D#/+.d/D#/*.d2D#/).d3D#/(.d4D#/'.d7D#/&.d8D#/%.d9D#/$.d:D#.d%C#C$d;}3d&3_C$d/}33}8C$dS}3G#.~%$$*}HC$C%}3D,C$D'&c&c%c%cC#C$C%C)C'C,iE+'}HC%(C&d$}3D&C'O##D(C'd$}3D'C(dck0&C*dCj'cC*d$}3D*C(deiC%C&n}:E+h0%C$C&}3P##d}h$n0'/&.C&d$}4.3}(C+2.C(dCl0#C(d~l#j0$..C#C$C%C)C&d$}43}(C#d~J}b~-#d&3sC&C+}3D)/#.#.}[%$&}HF#dc}3E$G#C$dS}3d~U}b~-#d}Q}a~-#d,3Q%cC$K%Sd}P}I}I}I}Aj'cC$C$L&[Z&KC$C$L&SZ&C/$.C$d,Y%KC$d~*}R~-#Y%GC$d}O}I}I}I}AY%C.C$d+}3d}Q}a~-#d,C$dC}33:C$K%/D%%cC$K%+E&d}I}I}I}I}Ai'cC#d}I}I}I}I}AY%#C#C%Y%'/$.C$C$K%3Y%?C$C%Y%;C$C&Y%7C$dS}3d}Q}a~-#d,C$d7}33LC$K%Sd}I}I}I}I}Ai'cC#C$K%WY%'C#d}I}I}I}I}AY%#/$.C#C$K%[Y%+C#C$L%SZ%#.C$dc}4G#.~6$$*}H%c&c%cC(E%d;jD)C%d;i0#C%d+}3D(C%d}I}`~-#}3K%#E&C$n0$C#C%d~i}_~-#}3K%#C&3}'0$C$C&i0#C#C&}3E%P##E'd]j'cC'dRj0%/$.C%d$}3D'C$C&d}H}<}3D&d#D%&cC%C&iE*'cd$2.C%C'}3E+P##dS}4d~l$}:d,p'cC%d$}3D%/$..C%C&n0%C*0#C+P##dRj0$..C)2.#.~J$$&}Hd}Q}i~-#D%C#d+C$C$d+p>d*}3d}A}:E&}3D'%c%c%c&cC%E$K%#E%d}Hi0%C%C'i0$C#C%p0#.C#C%C%K%'E'}3j'cC#C&Y%'C#C%Y%#C$C#Y%#2.C%C&C'}3Y%'2.C%K%'C&}3D&C%K%#E%d}Hi0$C%C%K%'E'}3C#j0$C%C&C'}3Y%'C$C%Y%#2.C#C&Y%'C#d}HY%#C$C#Y%#2.C$C#Y%#C#C%Y%#C#C&Y%'.~-$%&}G%}HF#dC}4E*G#C*d+}3C&e,e}FC%e&vE+>C%}Ee}b$}Ge%}Ee(}H}EC$C+}v}FE'C'e}Y&}HE'e}Y&}G}FE(eb}PE)C'}Ee}z~b+}G}EC)e}Y&}LC(}EE'e~Z%}G}EC'e%}Q}EC'}pd~l~l&}:d~Q#}7}v}Fe~Z~aN}FE(3Ge#D'%cC*L&+C$u0#C*L&3C%u0#C*L&;C&u0#C#C(Z&+e$D'.C#C'Z&#C*dC}3G#.~)$%%}H%}GC#C$e~Y~aN}EE$C$e}z~b+}HE$e}z~b+}G}FE'eb}PE(C$}Ee}Y&}GC(e}z~b+}LC'}EE$C$e}x~b+y}v}F}pC$}pE%d}}.}7}4C%d}u}f%}7}3E%d~Z%}6}vE'}EC%d}]}f%}6}vC$C%d~9}=}6}u}E}EC'e}!}F}G}EE$e}z%xE%}v}EZ&#C#C$}pd(}5d%}3d}b$}6E&}ue}@e&C%>}EZ&+C#C$C&d}b$}5d%}3d}D}6}u}Ee$}EZ&3.~I$$&}HF#dS}4E&G#C&dC}3C$C%3KC&K%GD$%cC&K%CE'd}I}I}I}I}Ai'cC#d}I}I}I}I}AY%#C#C$Y%'/$.C&C&L%KE%Z%;C&C$Y%7C&C'Y%3%cC%eC}Q}pd~E}L~-#d(3vE$h0#C$K%#d'j0#C$K%'D$C&d+}3C&d3}3E'd~E}L~-#d(3^C&K%+0#C&dC}3E(e~g$C$L&+E%C%e~g$}#>3})C'd~E}L~-#d(C(3f.C#C&d3}33<.C&dS}3G#.~M$$(}HF#dC}4E%G#C%C$L%#Z&+C%C$K%+E&Y%3%c%cC&d(l0#d~L}`~-#C%K%/E'd(3}'0#C&d(}4E(h0#C'd(}3D)%c%cC(d'r'cC)K##d~Q~S}V~h(j0$/&.C(d&j0$.d~Q}`~-#C)d&3}'h0$.C'C&3}#h0#C#C$K%+Y%+C#C$L%#Z%#/$.C%d1Y%7d~T}`~-#d+C%d7}3d$d#3{D$C#d}I}I}I}I}AY%#C#C$Y%'C%d+}33}8.C%dC}3G#.~4$$*}HF#d3}4E(G#C$C%}3D,C$D*&cd#D'%c&cC'C*}3E+C,i0$%cC+P##E)dS}4d~l$}:d-lC)d}(}:d~.#}4d~l$}:d=l};h'cC(d+}3C)d}`}g~-#d'3xC(K%+d$j0$.C'd$}3D'/$..C#C$C%C&C&C'}3E&3}(C#d}d}g~-#d$3sC#C)d}e}g~-#3iC+d$}3D*C&d$}3D&/$..C#C$C%C&C%3}(C(d3}3G#.~S$$&}HF#dc}3E&G#%c%cC$K%/d~W}I~-#d)3vh0#C&d;}3C$d~W}I~-#d)3^C&K%;0#C&d3}3C$d~O}I~-#d+3^C&dG}3E'C&K%3C&K%7C%3!C&d+}3C$d~O}I~-#d+3^C&K%+C&K%/C&K%KC&K%O3YE('cC#d}I}I}I}I}AY%#C#C(Y%'C'3}8C$3}=/%.C&C&K%OY%[C&C&L%GZ&SC$d~W}I~-#d)C&dS}33f.C#C$L%+Z%+C#C$L%#Z%#.C&dc}4G#.~T$$&}HF#d3}4E'G#C&K%'D(%c%}H%}H%c%c%c%c%cC&K%+1&#%$&.C'd%Y%'C$C%C'd'}3d~l}f~-#d-3{/(.C(R##d}w~I#i0%/$.C(P##dQj0#d~Y}g~-#d~U}g~-#C(P##dQiE)>D(C'd&Y%'d&d'C)>/%.C#C&K%+Y%+C#C&L%#Z%#/&.C'd&Y%'d~U}g~-#D(d'.D)C$C%C'd'}3C(C)3{.D$C#d}I}I}I}I}AY%#C#C$Y%'C&3}8.C'd3}3G#.~=$$%}HF#dC}4E%G#C%d3}3E&d}Q}d~-#d~`}e~-#d*3QC%d'}3C&3l%}H%c%cC%K%'d}I}I}I}I}Aj'cC%K%/d*i0$.C%d'}33}:/$.C%K%+d~g}e~-#d*3}'C%d'}33}:0#d'/$.C%d}Q}d~-#Y%3C$d~l~l&}:E&d}b&j'cd#C&d~c&j0$=d(d#C%d3}3d}j}f~-#d@3m>/$.C%d3}3d}J}f~-#dC3m.D&C#C$^$%C#C&^$#C%dC}3G#.~G$%&}H$}GF#d3}4E)G#d$D*d'D(%c%cC'}vC%}v}GE+eC}Q}p0#C+}pE%d}I}I}I}I}AC&}4n0#%}H%cC'h0#C$K%#E(h0#C$K%'C'C(}5C&C%3}*D'C%/$.C&D$C%'cC%C$3}<D$.C)d+}3E'C%Y%'C'C$Y%#C)K%+D'C)K%/.C'h'cC#C&Y%'d+D(/%.C#C'Y%'d#D*d+D(D%/$.d#D%.C#C(}3C%Y%#C#C*Y%#C)d3}3G#.~H$$%}HF#dC}4E&G#C&d7}3C$C%36C&K%;D$%cC&K%7E'd}I}I}I}I}Ai'cC#d}I}I}I}I}AY%#C#C$Y%'/$.C&C&K%?E%Y%3C&C$Y%/C&C'Y%+%c%cC%d*l0#d}{}`~-#C$d*3}'0#C$d*}3C%d*}43Dh0$.C#C&K%3Y%+C#C&L%+Z%#/$.C&d0Y%7d~&}`~-#d*C&d7}3d$d#3{D$C#d}I}I}I}I}AY%#C#C$Y%'C&d+}33}8.C&dC}3G#.~+$$(}HF#dC}4E%G#C%d+}3C$K%CE'd'd/3jC%d#Y%?C%C%K%/E)Y%;C%C%K%+E(Y%7%c%cC'C(p'cC'h0%/$.C%d7}3d#C'd'd/3}0C%K%?D&C%K%;D).C&C'}3C)C&d/}5}3D&&cC&d}I}I}I}I}AY%#C&d/}3D&C'd$}4E'0#.D&.C#C%L%7Z%#C#C&Y%+C#C$Y%/C%dC}3G#.}^%%&}H$}EF#d3}4E)G#%cC$K%#d}P}I}I}I}Aj'cC#d}I}I}I}I}AY%#/$.d~*}R~-#D'd}O}I}I}I}AD(g,#######D*%c%c%c%c%c%c%c%c%c%cC$P#'C%C&3#1+#$%&'()*,.d}I}I}I}I}AD(/+.d}J}I}I}I}AD(/*.C)d'}33},C)N%+D*C)K%'D'd}K}I}I}I}AD(/).d}M}I}I}I}AD(3$D*/(.d#D'/&.d$D'/%.d~4}R~-#D'g+#######D*/%.d~<}R~-#D'g-#######D*/$.d}N}I}I}I}AD(.C#C*!&+C#C'Y%'C#C(Y%#.C)d3}3G#.~N$$%}GC$L&3D(%cC'C'}+'cg########D'/$.g########C'C'g########},>E'g######~]b}-h0#g######~]bD'.C$e}y~W$C(e$}QC(}EE)C)e}y~W$}#>Z&3C%e}y~W$C'g######~=b}kg######~]b}iC(~'}k~i*E(C(e}y~W$}#>E(C%C(y>D(C#%}GC#C$L&#e$t'}Ge%C$L&+E)C&{0$=C)C&}FE%C(C%C(w>(C(.Z&+e#.Z&#.}u$$&}HF#d3}4E)G#%cC(h0#C%C&}3E%C&l0#C)d'}3C$C%C$K%#d$}=E&C%C&n>E%d+d'd$C(d}J+l>C(d$i>E+C%C+n>E%C'C(3NC)K%'d$i'cC)K%/D+C)K%+D*/$.C)K%+D&C$C%Y%#C$C&Y%'d}J}I}I}I}AD*.C#C+Y%'C#C*Y%#C)d3}3G#.}m$$&}HF#d3}4E(G#%cC#h'cd~@}Q~-#D#d>D$/$.C#K%#'cd~[}Q~-#D#d~<#D$/$.C#d}HY%#C#d+}4E)C)K%#d$}3E*Y%#C*h'c#.C(C)Y%/C(C#Y%+C(C#d+}3E)Y%'C)C$C%C&C'3)C#C#K%#d$}3Y%#C(d/}33}5C(d3}3G#2.C#C$3}>#.}W$$&}H%cC$d=j0#C#P##dZn0#d#D$&cC$d=iE&0$%cC#C$}3P##E%d~M#p'cd#D'C%dS}4d~l$}:d-lC%d~.#}4d~l$}:d=l};0$/&.dCD'C%d~g#n0%.C$d$}3D$C%C'}<d~6#}4E%d/nd$C%}=d~6C}:h};0#..C&.}u$$'}HF#dC}4E%G#C%d3}3d}I}c~-#d}Y}c~-#d-3Q%cC%%}H%c%c%cC%K%3E&d}P}I}I}I}Ai0#C%K%;D'C%K%7D(C&d#q0%C&d~l~l~l~l*}:d%}41%$%#.C#e#Z&#/&.C(D&C'D(C%K%?/$.C'.E'Y%/C%C(Y%+C%C&Y%'C#C(C'C$35C%d'}33}8.C%dC}3G#.}N$%$}G&}H%cC%d$}4d2n0#C%D'C$D(&cC'h'c&cC%'cC&e-}GC$P##dS}4}ve~l$}L}ED&C%d$}4D%C$d$}3D$/$..C#C&Z&+e$D&/%.C'd$}4D'C(P##C(d$}3D(d]}4d~l$}:d~c$r0#..C#C&Z&#.}T$$(}HC$K%3E%C$K%7E&C%C&n>D(dCC%d(}=}4D&C$K%+C%d/}5}3d+}4D'%c&cC%C(i0$C$C%d$}3E%Y%3C&dC}4D&C'd+}3C'd/}3D'K%#d}I}I}I}I}Ai0#.C#C'L%#Z%'C#C$K%#C&}4Y%#2.C#d#Y%#.}R$$%}HF#d~=#}4E'G#%cC#hC%h};0#C'd+}3C#C$3-C'dC}3C%C&3-C'K%+0#C'K%C0#C'L&3C'L&Ku0#C'L&;C'L&Sv0#C'd.Y%[C'd~1#}3E%C#C$3ad~O}I~-#d+C'd[}3C%3}-D(.C'd~=#}3G#C(.}A$%}H%cC$C%n0#%cC$h0#C$C'r'cC$C'j0%/$.C$C&}3O##d~,}Ho0$.%cC%h0#C%C'r'cC%C'j0%/$.C%C&}3O##d~,}Ho0$.C$C&}3D(C%C$}4D).C#C)Y%'C#C(Y%#.}^$$'}HF#d3}4E%G#%cd}i}c~-#K%#d}P}I}I}I}Ai'cd}m}c~-#P##D'&cC'C&3%h'cC#d}I}I}I}I}AY%#/&.C%d'}3E(3},C$C%K%+C%K%/3v'cC&d$}3D&C(3}8/$..C#C%K%/Y%+C#C%L%'Z%#/$.C#d}I}I}I}I}AY%#.C%d3}3G#.}Q$%$}H%}GF#dC}4E'G#C&C&e~M}p5}K}FD(%cC$h0#C'C$C%3-C'K%#0#C(e#|'cC'L&3E)e}I~%}bL}GC)C'L&+s>C(v0$.C&D(.C'e~l~$~l}Y~j~;!C(C(e#v>3nC#C'K%;Y%+C#C'L&3Z%#C'dC}3G#.}w$$$}HC$K%'D%%c%c%c%c%c%cC$K%+d)}41'#'%$'.C%d}I}I~-#d)3}'0%d}I}I}I}I}AD%/'.C%d}O}I~-#d,3}'0%d}J}I}I}I}AD%/&.C%L##e~N~Q}V~0}_~:~J}{~Q#u0$d}K}I}I}I}AD%/%.C%d}`}I~-#d)3}'0#d}L}I}I}I}AD%/$.C#C$K%+Y%+C#C$L%#Z%#2.C#C%Y%#C$3}8.}F$%}HF#d3}4E'G#C'd+}3C$K%/C%C&3bd#D&%cC'K%+d$j0#C'K%/E(C$K%+l'cC$K%'C(d/}5}3E$K%#d}I}I}I}I}Ai0$C$K%+D%C$K%'D&/$.#.C#C%Y%'C#C&Y%#C'd3}3G#.}G$%}HF#d3}4E'G#C'd#Y%/C'e}I}I}I}I3Z%'C&d&}=D&&cC&'cC'd'}3E(C%K%#C%K%'3sC(d~R}b~-#d$3sC&d+}4D&C%d+}3D%/$..C#d~l$}:C$C'K%+C'K%/3'C'd'}33}8C'd3}3G#.}+$'}GC#C%e~l~l~l~l2}LE&C$e~l~l~l~l2}LE'}GE(C'C%eC}QE%}GE'C&C$eC}QE)}G}EE$eC}O}EE&Z&#C#C&C(w}vC%C)}GC$C'w}veC}OC$eC}Q}M}E}EZ&+.}K$$&}HF#dC}4E&G#C&d+}3d$d$d$3jC&K%+D'C&K%/E(dE]##C&d$Y%?C&C(Y%;C&C'Y%7C&d7}3E'd~M}b~-#d~N}b~-#C'C$C%3BE$>d$d'C$>3sC#C&K%?Y%+C#C&L%7Z%#C&dC}3G#.}7$'}HC$K%Cd(}=D'C$K%?E$d3}3D(&c%cC''cC$K%7C&j0$C(K%#C%C&3}'0$d$D).C#C*Y%'C#C)Y%#2.C$dC}3D$C'dC}4D'C(dC}3D(C*d$}3D*/#.#.}D$&}HC$d1i'cC#d~*}X~-#C#d~!}g~-#d13}'E$>D#d1d2C$>D$.d}=D%&c%cC%h'cd/D&/$.C$C%d}R}h~-#}3P##E&d%}=K%~)}hcE'K%3i'cC'K%/C#C$3}'h0$.C%d$}3D%/$..C&.}5$%}HF#dC}4E(G#C#%}H%cC'C$L&#}#'cC'C$L&+{0$.C(d+}3E)C'3})C(d(Y%7C(C$Y%;C#C%C&C(d7}3C)3}-Y%'d$/$.C#C'Z&+d#.Y%#C(dC}3G#.}0$$}GC$d#Y%;%cC#C$C'C%'}Gd'C%K%#E%d}I}I}I}I}A}<C%d#q>E%d$}4d&l0$e}QJe#C%d'i>(e}QJ.E*C'C*y>C*C&}pd$}:>C(C)3R2.C#e$Z&#.}5$$}HF#d3}4E'G#C'd+}3C#K%/C$C%3b%cC'K%+d$i'cC'K%/E$C#K%+l'cC#K%'C$d/}5}3E#3}:C#C&K%+Y%+C#C&L%#Z%#/%.#.C&3}8.C'd3}3G#.}7$%}HF#d3}4E&G#%c%cC$s0#C&e$C%C%e${>C$e$}FE$3`C&L&+e#u0#C#C$C%}G3y/$.d}Y}N~-#d)d}}}b~-#d~-}b~-#d63{D'C#d$Y%#C#C'Y%'.C&d3}3G#.}E%$}H$}G%c%c%c%c%c%cd%C#L&cE%}pd%}4C%e${>d$}41%$%#.C#P#}Q$d%}41%%'&.C#K%wd}I}I}I}I}AiD$/&.C#P#}I$D$/%.d$D$/$.C#P#?d$}<C#K%wP#Gd$i}:D$.C$d$}:.},$&}HF#d3}4E&G#C&C$d2}:]#0C&C$d~]$}:d'}?]#/C&d/}3D'd#D$&cC$d%i'cC&d3}3G#(C#C%d3C$C'}3P##E(C(d$}33}(C$d$}3D$/$...u$$}GC&}vC$}v}GE'}pD&%cC'eC}Q}pC&d}I}I}I}I}AC%}4n};0#%cC&h'cd#D$/$.C%C&3>E%h0$.C#C%Y%'C#C$Y%#2.#.},%%}H$}GF#d~=#}4E(G#C(d3}3E)d#d~-#~i.#C(d+}3C$C%C&C'C)34%cC(K%+h0#C(K%/0#C#d+}3C)d~-#~i-##e$D*.C#C*Z&#C(d~=#}3G#.}?$&}HC#%}H%c%c%cC$K%#E%d}P}I}I}I}Ai0#C$K%+D'C$K%'D&C%d#q0%C%d~l~l~l~l*}:d%}41%$%#.C#d}I}I}I}I}AY%#2.C&D%C'D&C$K%//$.C'.Y%+C#C&Y%'C#C%Y%#.}1$%}HF#dC}4E&G#C&d3}3E'C#K%#d~+}f~-#d'3QC&d'}3C'3ld#D#%cC&K%'d}I}I}I}I}Ai0#C&K%/C%j0#C&K%+C$C%3}'hD#.C&d'}33}:C&dC}3G#C#.}p$$&}HF#d3}4E&G#C&d'}3E%e~l~$~l}Y~j~;!e}I~-~[}P~F~[}:C$C$e}I~-~[}P~F~[}:z>E$C$e~l~$~l}Y~j~;!|>E$37C%K%+E'C%K%#i'}HC%C'd$d$d$3}0C%K%+(C'.C%K%'}3d~G#]##C%C'd$}3Y%+C#C$Z&+C#e%Z&#C#C&K%/Y%;C#C&L%'Z%3C&d3}3G#.}/$$}HF#d3}4E$G#%cC#L&ce&u0#C#K%wd}I}I}I}I}Ai0#C$d#Y%/C$e}I}I}I}I3Z%'C#d~A#}3C$d'}3E#d$3=d'd#C$K%+C$K%/3'C#3}8.C$d3}3G#.})$%}HF#d3}4E$G#C$d+}3C#K%/d}i}Y~-#d'3b%cC$K%+d$i'cC$K%/E%C#K%+r0$C#K%'C%d/}5}3E#3}:C#d}I}I}I}I}AY%#.C$d3}3G#2.#.}O$$%}HF#dC}4E%G#C%d#Y%?C%e}I}I}I}I3Z%7C%d7}3E&C#C$3B=C%C%K%?Y%3C%C%L%7Z&+C%d4Y%7F#d3}4E#G#C#d#Y%/C#d$Y%+C#d}I}I}I}I}AY%'C%d+}3C&C#d'}33tC#d3}3G#C%dC}3G#.}0$$}HF#d3}4E'G#%cC&K%+h'cC'd%Y%'C$C%C'd'}3d~l}f~-#d-3{D$C#d}I}I}I}I}AY%#C#C$Y%'C&3}8/$.C#C&K%+Y%+C#C&L%#Z%#.C'd3}3G#.}%$$}H%c%cC#K%#C#K%+E&}4C%r'cC%0$/%.C#C&C%d$d$3}0C#K%+D&.C%'cC#K%'C&}3C$C%~i-##.C#K%+D&.C#C%C&}3Y%+.}.$$}HF#dS}4E&G#C&C#K%+Y%?C&C#L%#Z%7C&C$L%#Z&+C&C$K%+Y%3C&C%L%#Z&CC&C%K%+Y%Kd'dG3};E#C&d+}3dG~i-##C&dS}3G#C#.v$&}HF#d3}4E&G#C&d+}3C%d$d$3jC&K%/D'C&K%+D(C%'cC'C$C%~i-##.C#C%Y%+C#C'Y%'C#C(Y%#C&d3}3G#.v$$}HF#d3}4E&G#C&d+}3C#C$C%3bd#D%%cC&K%+d$i'cC&K%/E$C#K%Cr0$C#K%?C$d(}=}3D%.C&d3}3G#C%2.#.y$%}HF#d3}4E%G#%cC#'cC#d+}4E#K%#D&C%C#Y%/C%d/}33}5C$hC&d$j}:0$C%d3}3G#2.d~Y}h~-#d>3}>#.d}]}Q~-#db3}>#.q$%}HC$d~l$}:D(d#D$&c%cC$C&i'cC&D$/$.C(C$C%}3P##i'cd$D'(C$d$}3D$/%...C#C$Y%'C#C'Y%#.|$%}HF#d3}4E%G#C%d}Q}Y~-#d}Y}N~-#d)C$3dd$D&%cC%K%#d$i'cC#C%K%'Y%'/$.C#C%L&+Z&+d#D&.C#C&Y%#C%d3}3G#.}[$$%}HF#d}y$}4E&G#C#C$3cD'C&C%Y%}q$C&e%Z&+C&C']#}u$C$'cC#C$3E.F#d}y$}4E#G#C#d+}3C&d+}3d}q$~i-##d+d~%$3};E$d#Y%+C$e}J}I}I}I3Z&#C$d/}3C#d'}3d}u$~i-##C#d}y$}3G#C$d+}3C&d}y$}3G#.w$$}HF#dC}4E(G#C(C$Y%3C(C#Y%/C(d}I}I}I}I}AY%+C(C'Y%?C(C&Y%;C(d}I}I}I}I}AY%7C(d+}3C%C(d7}33tC(dC}3G#.}&%$}G$}H%c%c%cd%C#L&cE$}pd%}4C$e${>1%$%#.C#d~]#}33}=2.C#d~5#}33}=2.C#d~A#}33}9C#d~5#}3E#K%#E%'cC#K%'C%d&}=3E..c$%}HC$h'cd#2.&c%cC$hD%C$h0#C$d$}4D$C#P##C#d$}3D#d~l#}4d~l$}:d}j$n0$..C%.e$$}HF#d3}4E'G#C'd+}3C$C%C&3^%cC'K%+E$'cC#C$C'K%/3W/$.C#e#Z&#.C'd3}3G#.]#C%d%lC$e,{}:h'cC#C$e-}IC%C%d#j}43}%.C#d~@}b~-#d-C$e-}K}pE#C#d$}33}(.`$$}HF#d3}4E$G#C$d+}3C#C#K%#d$d+d+3SC$K%+d}J}I}I}I}Aj'cC$K%/#.C$d3}3G#.b$%}H&cC%h'cd#2.C%d$}4D%C$P##D&C#P##D'C$d$}3D$C#d$}3D#C&C'i0#.C'C&}4.`$$}HF#d3}4E(G#C(d+}3C&C'C$C%3ZC#C(K%+E#d$C#>C(K%/d#C#>3sC(d3}3G#.h$$}HF#d3}4E%G#C%d#Y%/C%e}I}I}I}I3Z%'C%d'}3C$d$3}%C#C%K%/Y%+C#C%L%'Z%#C%d3}3G#.Q#C%C&3>E%'cC&C$C$C&n>E&'cC%C#C&~i-##.C#C$3E.C%.}&$%}HF#d3}4E$G#C$C#d'}3Y%/C$C#K%#E#Y%+C#d3}33}7%cC$d+}3K%#E#d}Hi0#C#C#K%'d$}4E%Y%'C%0#C#d~%$3E.C$d3}3G#._$&}HF#d3}4E$G#C$d+}33&C$K%+D%C#C$K%/E&Y%+C#C%Y%'C#C&Y%#C$d3}3G#.[$$}HF#d3}4E'G#C'C$Y%/C'C#Y%+C'd}I}I}I}I}AY%'C'd'}3C%C&3tC'd3}3G#.Q#%cC$}2d$jC#d}I}I}I}I}AC$}4n};0#C#'cC#C$3}<E$h0$.C$2.#.!$$}G%cC$K%/d~E}L~-#d(3vE$h0#C$K%#d'j0#C#C$L&+Z&+e$D%.C#C%Z&#.X$$}HF#d3}4E(G#C(d+}3C#C$C%C&C'3SC(K%+d}J}I}I}I}Aj'c#.C(d3}3G#._$$}Ge}n~3}Q}j~5}e}p~fnD%&cC$'cC$d$}4D$C%C#T##}Ne}|}L}I}I}IC}GD%C#d$}3D#/$..C%.P#%cC&}2d$jC$d}I}I}I}I}AC&}4n};0#C#C$C&C%3}*E#h0#C#2.#.Y$$}H%c%c%cd&C#K%#E$d}I}I}I}I}A}<C$d#q>d%}41%#$%.C#d'}3D#.C#3}8..G$$}GC#K%#E#C$C%3sC#C&C&eb}PE(}NC(}FC'3}%.E$$}HC#K%#E$C$K%#d$}4E$Y%#C$h'cC#3}+..>#C#K%#E#d/}33}:C#d;}33}:C#dG3E.<#C#L&#e%u'cC#d}Y$}33}8C#3|..:$$}HC#K%#E$'cC#K%'C$3E..8#C#K%#d}I}I}I}I}Aj'cC#3}=..8#C#K%#d}I}I}I}I}Aj'cC#3}8..4#C#C$3>E#h'c#.C#.+#C$C#3>.g$%}HC#K%+D$C#K%'D%&cC$'cC$d$}4D$C%3}:C%d/}3D%/$..C#K%#E$'cC#K%'C$d/}53E..,#C#C$3(#.'#3*..~)@P#d}I}I~-#.}:}*},}=}2}?}.},}8}6}9}5}.}=}.}-}*};},}1}2}?}.}-}/}*}2}5}.}-}*}7}*}5}B}=}2},}<Q},}*}5}5}.};v}=}*}=}<R}?TR}*}7}*}5}B}=}2},}<R}D}9};}8}3}.},}=l}-}FR}*}<}<}2}<}=}*}7}=R},}*}5}5}.};P}<}=}*}=}<}-}*}=}.i};}8}6}-}*}=}.w}8&#d}I}J~-#.4}+#3#+####$######&#d}i}J~-#.-}3#3#)####$#d~)}J~-#.}>@#3#8###U#3#S###}9#3#%####%%#}*}7}*}5}B}=}2},}<Q},}8}7}?}.};}<}*}=}2}8}7R}?TR}*}7}*}5}B}=}2},}<R}D}9};}8}3}.},}=l}-}FR}*}<}<}2}<}=}*}7}=R}=}1};}.}*}-}<R}D}=}1};}.}*}-l}-}F}=}1};}.}*}-l}-####%#d~-}K~-#.,G$3#+###$#d~I}K~-#.}7~E#3#9###~[#3#Y###S$3#$####&%#},}8}7}?}.};}<}*}=}2}8}7}<}*}7}*}5}B}=}2},}<Q},}8}7}?}.};}<}*}=}2}8}7}<R}?TR}*}7}*}5}B}=}2},}<R}D}9};}8}3}.},}=l}-}FR}*}<}<}2}<}=}*}7}=#$#######~U&#d~E}L~-#.4}5}2}6}2}=},}>};}<}8};#####&#d~e}L~-#.4}+#3#+####$######&#d}a}M~-#.T}3#3#)####$######'###~-$3#}-#######~E$3#(####$######%#d~E}M~-#.}R$~J$3#)####$######%###}A$3#0###}N$3#:###}e$3#F###~U$3#'####&%#}8}/}/}<}.}=}*}7}*}5}B}=}2},}<Q}/}.}.}-}+}*},}4e}Bs}*}0}.R}?TR}*}7}*}5}B}=}2},}<R}D}9};}8}3}.},}=l}-}FR}/}.}.}-}+}*},}4R}+}BP}9}*}0}.$#######}-#d~]}N~-#.|},}8}-}.}(}<}7}2}9}9}.}=},}8}7}=}.}A}=}>}*}5}*}0}.}7}=}=}1}>}6}+}<}(}8}7}5}B##~]%3#/###~i%3#-###)&3#(###.&3#.###}<}8}>};},}.}<}=}*}=}>}<####&#d~E}O~-#.4}+#3#+####$######&#d~e}O~-#.m}3#3#)####$######'###~E%3#-#######~E$3#(####$######)###;&3#'#######[&3#)####$#d~E}P~-#.-a&3#)####$#d~a}P~-#.}^%}_%3#;###}w%3#M###k&3#(####%%##$%&}*}=}=}.}6}9}=}.}-C}=}8C}=}*}4}.C}8}@}7}.};}<}1}2}9C}8}/Cu}>}<}=C}?}*}5}>}.C}@}1}2}5}.C}2}=C}@}*}<C}+}8};};}8}@}.}-}7}>}5}5C}9}8}2}7}=}.};C}9}*}<}<}.}-C}=}8C};}>}<}=};}.},}>};}<}2}?}.C}>}<}.C}8}/C}*}7C}8}+}3}.},}=C}-}.}=}.},}=}.}-C}@}1}2},}1C}@}8}>}5}-C}5}.}*}-C}=}8C}>}7}<}*}/}.C}*}5}2}*}<}2}7}0C}2}7C};}>}<}=}*}7C}8}+}3}.},}=C}*}7C}*};};}*}B}*C}/}>}7},}=}2}8}7}*}0}.}7}=m}8}+}<Q}0}.}=R}?UR}*}0}.}7}=R}D}9};}8}3}.},}=l}-}FR}3}8}+R}D}2}-}F}2}-##$#d}a}S~-#.,'(3#%###$#d}}}S~-#.}.~F'3#0###~S'3#A###+(3#$####$&#}*}0}.}7}=m}8}+}<Q}<}.}7}-p}.}<}<}*}0}.R}?UR}*}0}.}7}=R}D}9};}8}3}.},}=l}-}FR}3}8}+R}D}2}-}FR}6}.}<}<}*}0}.}9};}8}6}9}=#######$#d}q}T~-#.,'(3#%###$#d~5}T~-#.-}T(3#)###$%#d~Q}T~-#.}w$s(3#8###}.(3#I###}a(3#%###$#$#}3}8}+}<}*}0}.}7}=m}8}+}<Q}5}2}<}=R}?UR}*}0}.}7}=R}D}9};}8}3}.},}=l}-}FR}3}8}+}<##3#)###)#3#,###2#3#+###:#3#)###}<}=}*}=}.}*}>}=}1}8};}=}.}A}=#####$#######}-#######$#######)###O)3#'#######o)3#(####$#d}q}V~-#.-t)3#)####$#d~5}V~-#.Mz)3#'####$######'###}))3#<#######~E$3#(####$#d}Q}W~-#.}*~J$3#)####$######%####)3#'###')3#1###5)3#=###}A)3#(####$&#}*}0}.}7}=m}8}+}<Q},};}.}*}=}.R}?UR}*}0}.}7}=R}D}9};}8}3}.},}=l}-}FR}3}8}+#d}I}X~-#.-}T(3#)###$%#d}e}X~-#.}&c*3#3###s*3#<###}9*3#$###$###}?}2}.}@}<}*}7}*}5}B}=}2},}<Q}?}2}.}@}<R}?TR}*}7}*}5}B}=}2},}<R}D}9};}8}3}.},}=l}-}FR}?}2}.}@}<#####$#######~g#d}Y}Y~-#.<~l~l~l~l~l~lB#%#######}9}*}0}.####&#d~%}Y~-#.4}+#3#+####$######&#d~E}Y~-#.Z}3#3#)####$######'###~]*3#U#######~E$3#(####$######'###++3#d}a}Z~-#.4}Y%3#)####$######(#d~%}Z~-#.}BC+3#'####$######$###~%*3#(###~**3#2###~9*3#B###K+3#(####%%#}/}.}.}-}+}*},}4}*}7}*}5}B}=}2},}<Q}/}.}.}-}+}*},}4R}?TR}*}7}*}5}B}=}2},}<R}D}9};}8}3}.},}=l}-}FR}/}.}.}-}+}*},}4####&#d~-}[~-#.4}+#3#+####$######&#d~M}[~-#.M}3#3#)####$######)###;&3#'#######[&3#)####$#d}i}!~-#.Ma&3#)####$######'###~E%3#U#######~E$3#(####$#d~M}!~-#.}B~J$3#)####$######%###~]+3#+###~e+3#5###-,3#E###S,3#)####%%#}<}.}*};},}1}.}<}*}7}*}5}B}=}2},}<Q}<}.}*};},}1}.}<R}?TR}*}7}*}5}B}=}2},}<R}D}9};}8}3}.},}=l}-}FR}<}.}*};},}1}.}<####&#d~U}]~-#.4}+#3#+####$######&#d}Q}^~-#.M}3#3#)####$######'###~E%3#U#######~E$3#(####$#d~5}^~-#.}m'~J$3#)####$######%###;-3#+###C-3#5###U-3#E###{-3#'####%%#}?}2}<}2}=}8};}<}*}7}*}5}B}=}2},}<Q}?}2}<}2}=}8};}<R}?TR}*}7}*}5}B}=}2},}<R}D}9};}8}3}.},}=l}-}FR}?}2}<}2}=}8};}<$####.3#+###+.3#5###=.3#E###K+3#(####%%#}5}8},}*}5}1}8}<}=TUZQSQSQT}$]]T}&#}-.3#,###}6.3#,###}?.3#(###STUVWXYZ[!}*}+},}-}.}/}2}-}.}6}9}8}=}.}7},}Bn}.}B}1}=}=}9]RR}+}*}<}.x};}5bFc}%E_a}1}=}=}9}<]RR}*}9}2Q}6}2}7}=}5}2}/}BQ},}8}6}6}2}7}=}(}>}<}(}*}-}6}2}7n}.}B#$#######~l~l~l~l~l~lB#&#######}9};}8}3}.},}=l}-b`I}D}F]OSSSSPTTPUUwVV]WW]XXYY]ZZPwQCUUCcccCSSSSCVV]WW]XXCjpwCcccCUUCVV]WW]XXCSSSSCcccCCUCVV]WW]XXCSSSSCUUPcccPSSCVV]WW]XXCjpwm}*}7i}.}+p}*};d}9};p}*}Bm}>}7m}>}5d}>}0v}.}9r},}=q}8}?g}.},###(###++3#####}*C}9}*}0}.C}8}>}=C}8}/C};}*}7}0}.STUVWXYZ[!~!~,~*E~O}I}oE-##*##}I#d~e}b~-#.0}=}8}4}.}7###*##}I(#d}Y}c~-#.8};}.}=};}Bd}/}=}.};######*##}I$#d}y}c~-#.(*##}I&#d~-}c~-#.`}=}2}6}.}8}>}=#$#######~l~l~l}H####'#######}8}9}.};}*}=}2}8}7#$%&'()*+,#####*##}I%#d}Q}d~-#.(*##}I'#d}a}d~-#.}g&}7}.}A}=f}>};}<}8};}1}*}<p}8};}.jhwsrvwghohwhC}=}8COC}2}<C}8}7}.C}=}1}*}=C}=}1}.C}5}2}<}=C}1}*}<C}0}8}7}.C}=}1};}8}>}0}1C}*}5};}.}*}-}B}2}<C}6}2}<}<}2}7}0OC}*}5}=}1}8}>}0}1C}1}*}<p}8};}.C}<}*}B}<C}=}1}*}=C}=}1}.};}.C}2}<C}6}8};}.}1}*}<C}6}8};}.C};}8}@}<C}=}1}*}7C}@}.};}.C}*}<}4}.}-C}/}8};}<}*}B}<C}=}1}*}=C}=}1}.};}.C}2}<C}6}8};}.OC}*}/}=}.};CXC}.}6}9}=}BC}9}*}0}.}<C}2}7C}*C};}8}@}8}>}=},}8}6}.}>}7}4}7}8}@}7R}9};}8}+}5}.}6}<R}2}-}.}6}9}8}=}.}7},}BP}4}.}BP}2}7P}>}<}.R}9};}8}+}5}.}6}<R}>}9}<}=};}.}*}6P},};}.}-}.}7}=}2}*}5}=}B}9}.}*C}7}>}6}+}.};C}=}1}*}=C}2}<C}7}8C}.}A}*},}=C}2}7}=}.}0}.};}7}8}=}1}2}7}0}7}>}5}5}*C}7}>}6}+}.};}*C}+}8}8}5}.}*}7}.}6}9}=}BC}=}.}A}=}%E}%}%}%}7}%};}%}=}%}>SSPQ}(}GHSTUVWXYZ[!defghi}6}*}Au}.}=};}2}.}<#d~-}g~-#.~4$-#######(#######}=}8}=}*}5w}2}6}.}8}>}=}-}.}-}>}9}5}2},}*}=}.}-EQQEEQE}9}*}0}.y}2}.}@}<Q}5}2}<}=#$%&'()*+,-.###&###'###)###}r03#}u03#}y03#(###)###*###+###5###6###}Y*3#K(3#~E(3#;*3#~5+3#_.3#~],3#~U&3#~E-3#}1%3#s$3#}y#3#}7}>}5}5C}9}8}2}7}=}.};C}9}*}<}<}.}-C}=}8C};}>}<}=#d}Q}i~-#.(~l~l~l~l$";

// pkg/dist/host.js
var sources = [];
var listener;
function attach(objects, listen) {
  sources = objects;
  listener = listen;
}
var value;
function read(source2, name) {
  value = get(sources[source2], name);
  return kindOf(value);
}
function readName(source2, at) {
  const object2 = sources[source2];
  if (typeof object2 !== "object" || Array.isArray(object2)) return false;
  try {
    const names2 = Reflect.ownKeys(object2);
    value = names2.filter((key) => typeof key === "string" && get(object2, key) !== void 0)[at];
  } catch {
    return false;
  }
  return value !== void 0;
}
function get(object2, name) {
  try {
    return Object.hasOwn(object2, name) ? object2[name] : void 0;
  } catch {
    return void 0;
  }
}
function text() {
  return value;
}
function number() {
  return value;
}
function say(kind, number3, text3) {
  listener(kind, number3, text3);
}
function kindOf(value2) {
  if (value2 === null) return 1;
  if (Array.isArray(value2)) return 6;
  if (value2 === true) return 5;
  return { undefined: 0, string: 2, number: 3, boolean: 4, function: 7 }[typeof value2] ?? 8;
}

// pkg/dist/core.js
var Task = class {
  __destroy_into_raw() {
    const ptr = this.__wbg_ptr;
    this.__wbg_ptr = 0;
    TaskFinalization.unregister(this);
    return ptr;
  }
  free() {
    const ptr = this.__destroy_into_raw();
    wasm.h(ptr, 0);
  }
  /**
   * The operation of this name, carried out in one of the modes ([`Mode`]). The parameters are
   * read by [`EventNumber::Begin`].
   * @param {string} operation
   * @param {number} mode
   */
  constructor(operation, mode) {
    const val2 = +mode;
    const ptr0 = passStringToWasm0(operation, wasm.l, wasm.m);
    const len0 = WASM_VECTOR_LEN;
    const ret = wasm.j(ptr0, len0, val2);
    this.__wbg_ptr = ret;
    TaskFinalization.register(this, this.__wbg_ptr, this);
    return this;
  }
  /**
   * Takes in an event ([`EventNumber`]), and says what to do next ([`CommandNumber`]). `now` is
   * the host's clock, `random` a number from 0 to 1.
   * @param {number} event
   * @param {number} number
   * @param {number} now
   * @param {number} random
   * @returns {number}
   */
  step(event, number3, now, random) {
    const ret = wasm.k(this.__wbg_ptr, event, number3, now, random);
    return ret >>> 0;
  }
};
function checkClient() {
  const ret = wasm.i();
  return ret !== 0;
}
function f(arg0, arg1) {
  throw new Error(getStringFromWasm0(arg0, arg1));
}
function c(arg0, arg1) {
  const ret = readName(arg0 >>> 0, arg1 >>> 0);
  return ret;
}
function a(arg0, arg1, arg2) {
  const ret = read(arg0 >>> 0, names[arg1 * 64 + arg2] ??= getStringFromWasm0(arg1, arg2));
  return ret;
}
var names = {};
function e(arg0, arg1, arg2, arg3) {
  say(arg0 >>> 0, arg1 >>> 0, getStringFromWasm0(arg2, arg3));
}
function d(arg0) {
  const ret = text();
  const ptr1 = passStringToWasm0(ret, wasm.l, wasm.m);
  const len1 = WASM_VECTOR_LEN;
  getDataViewMemory0().setInt32((arg0 >>> 0) + 4 * 1, len1, true);
  getDataViewMemory0().setInt32((arg0 >>> 0) + 4 * 0, ptr1, true);
}
var TaskFinalization = new FinalizationRegistry((ptr) => wasm.h(ptr, 1));
var cachedDataViewMemory0 = null;
function getDataViewMemory0() {
  if (cachedDataViewMemory0?.buffer !== wasm.g.buffer) {
    cachedDataViewMemory0 = new DataView(wasm.g.buffer);
  }
  return cachedDataViewMemory0;
}
function getStringFromWasm0(ptr, len) {
  ptr = ptr >>> 0;
  return decodeText(getUint8ArrayMemory0().subarray(ptr, ptr + len));
}
var cachedUint8ArrayMemory0 = null;
function getUint8ArrayMemory0() {
  if (cachedUint8ArrayMemory0 === null || cachedUint8ArrayMemory0.byteLength === 0) {
    cachedUint8ArrayMemory0 = new Uint8Array(wasm.g.buffer);
  }
  return cachedUint8ArrayMemory0;
}
function passStringToWasm0(arg, malloc, realloc) {
  let len = arg.length;
  let ptr = malloc(len, 1) >>> 0;
  const mem = getUint8ArrayMemory0();
  let offset = 0;
  for (; offset < len; offset++) {
    const code = arg.charCodeAt(offset);
    if (code > 127) break;
    mem[ptr + offset] = code;
  }
  if (offset !== len) {
    if (offset !== 0) {
      arg = arg.slice(offset);
    }
    ptr = realloc(ptr, len, len = offset + arg.length * 3, 1) >>> 0;
    const view = getUint8ArrayMemory0().subarray(ptr + offset, ptr + len);
    const ret = cachedTextEncoder.encodeInto(arg, view);
    offset += ret.written;
    ptr = realloc(ptr, len, offset, 1) >>> 0;
  }
  WASM_VECTOR_LEN = offset;
  return ptr;
}
var cachedTextDecoder = new TextDecoder("utf-8", { ignoreBOM: true });
cachedTextDecoder.decode();
function decodeText(bytes) {
  return cachedTextDecoder.decode(bytes);
}
var cachedTextEncoder = new TextEncoder();
var WASM_VECTOR_LEN = 0;
var wasm;
function setExports(val) {
  wasm = val;
}
var imports = { a, b: number, c, d, e, f };

// pkg/dist/engine.js
var source;
var loading;
var userAgent;
function loadFrom(from) {
  source = from;
}
function setUserAgent(agent) {
  userAgent = agent;
}
function loadCore() {
  loading ??= load().catch((error) => {
    loading = void 0;
    throw error;
  });
  return loading;
}
async function load() {
  const instance = await instantiate(await source());
  setExports(instance.exports);
  return { Task, checkClient };
}
async function instantiate(module) {
  const all = { a: imports };
  if (!(module instanceof Response)) {
    const made = await WebAssembly.instantiate(module, all);
    return made.instance ?? made;
  }
  const type = module.headers.get("content-type");
  const { instance } = type === "application/wasm" ? await WebAssembly.instantiateStreaming(module, all) : await WebAssembly.instantiate(await module.arrayBuffer(), all);
  return instance;
}

// pkg/dist/environment.js
function variable(name) {
  try {
    return globalThis.process?.env?.[name] || void 0;
  } catch {
    return void 0;
  }
}
function isBrowser() {
  const host = globalThis;
  if (host.Deno !== void 0 || host.Bun !== void 0 || host.EdgeRuntime !== void 0)
    return false;
  if (host.navigator?.userAgent === "Cloudflare-Workers")
    return false;
  return host.document !== void 0 || host.WorkerGlobalScope !== void 0;
}

// pkg/dist/generated/protocol.js
var USER_AGENT = "quillgate/0.1.0";
var MODE_ONCE = 0;
var MODE_PAGES = 1;
var MODE_EVERYTHING = 2;
var MODE_WATCH = 3;
var SOURCE_OPTIONS = 2;
var SOURCE_BODY = 4;
var SOURCE_HEAD = 5;
var EVENT_BEGIN = 0;
var EVENT_NEXT = 1;
var EVENT_RESULT = 2;
var EVENT_PAGE = 3;
var EVENT_JOB = 4;
var EVENT_STATUS = 5;
var EVENT_DISCONNECTED = 6;
var EVENT_TIMED_OUT = 7;
var EVENT_MALFORMED = 8;
var EVENT_WAITED = 9;
var COMMAND_SEND = 0;
var COMMAND_RETRY = 1;
var COMMAND_WAIT = 2;
var COMMAND_DELIVER = 3;
var COMMAND_FINISH = 4;
var COMMAND_END = 5;
var COMMAND_TOTAL_TIMEOUT = 7;
var COMMAND_WATCH_TIMEOUT = 8;
var COMMAND_REFUSE = 9;
var COMMAND_REFUSE_PAGE = 10;
var TEXT_REQUEST = 0;
var TEXT_TIME = 1;
var TEXT_REFUSAL = 2;
var TEXT_PAGE_REFUSAL = 3;
var TEXT_CURSOR = 4;
var TEXT_BASE_URL = 5;
var TEXT_RETRY_AFTER = 6;
var RULES = [
  ["required", "is required"],
  ["text", "must be text"],
  ["not-empty", "must have at least one character"],
  ["not-dot-segment", 'must not be "." or ".."'],
  ["path-segment", ""],
  ["page-size", "must be an integer from "],
  ["job-page-size", "must be an integer from "],
  ["offset", "must be an integer from "],
  ["page", "must be an integer from "],
  ["not-with-offset", "must not stand together with offset"],
  ["date-format", "must be a date as YYYY-MM-DD or an ISO 8601 date-time"],
  ["calendar-date", "must be a day and a time that exist"],
  ["before-date-to", "must be before dateTo"],
  ["one-of", "must be one of "],
  ["ulid", "must be a ULID, which has 26 letters and digits"],
  ["base-url", "must be an absolute http or https URL without credentials, query or fragment"],
  ["secure-base-url", "must be https for an admin key, or http on this machine"],
  ["admin-key", "must be an admin key, which begins with mint_ and not with mint_dsc_ or mint_us_"],
  ["milliseconds", "must be an integer of milliseconds from "],
  ["retry-count", "must be an integer from "],
  ["idempotency-key", "must be 1 to 255 visible ASCII characters"],
  ["credential", "must be visible ASCII characters without spaces"],
  ["unknown", "is not a parameter of this operation"],
  ["once", ""]
];
var RULE_BASE_URL = 15;
var RULE_SECURE_BASE_URL = 16;
var MESSAGE_PATHS = [["error"], ["error", "message"], ["detail"], ["title"], ["message"]];
var DETAIL_PATHS = [["details", "message"], ["errors", "detail"]];
var MOST_DETAILS = 20;
var LONGEST_MESSAGE = 1e3;
var REASONS = [
  [400, 400, "bad request"],
  [401, 401, "unauthorized"],
  [403, 403, "forbidden"],
  [404, 404, "not found"],
  [405, 405, "method not allowed"],
  [408, 408, "request timeout"],
  [409, 409, "conflict"],
  [413, 413, "content too large"],
  [415, 415, "unsupported media type"],
  [422, 422, "unprocessable content"],
  [429, 429, "too many requests"],
  [500, 500, "internal server error"],
  [502, 502, "bad gateway"],
  [503, 503, "service unavailable"],
  [504, 504, "gateway timeout"],
  [0, 0, "a redirect, which is not followed"],
  [300, 399, "a redirect, which is not followed"],
  [400, 499, "the request was refused"],
  [500, 599, "the server failed"],
  [0, 65535, "an unexpected status"]
];

// pkg/dist/api_promise.js
var ApiPromise = class {
  #result;
  constructor(result) {
    this.#result = result;
  }
  /** The result with the response that carried it. */
  async withResponse() {
    const { data, response } = await this.#result;
    return { data, response, requestId: response.headers.get("x-request-id") };
  }
  // biome-ignore lint/suspicious/noThenProperty: this is a promise.
  then(onFulfilled, onRejected) {
    return this.#result.then(({ data }) => data).then(onFulfilled, onRejected);
  }
  catch(onRejected) {
    return this.then(null, onRejected);
  }
  finally(onFinally) {
    return this.then().finally(onFinally);
  }
  get [Symbol.toStringTag]() {
    return "ApiPromise";
  }
};

// pkg/dist/errors.js
var BRAND = /* @__PURE__ */ Symbol.for("quillgate.error");
var QuillgateError = class extends Error {
  constructor(message, options) {
    super(message, options);
    Object.defineProperty(this, BRAND, { value: true });
  }
};
var ValidationError = class extends QuillgateError {
  /** The parameter, spelled as the platform spells it. */
  field;
  /** The stable name of the rule that the value breaks. */
  rule;
  constructor(message, field, rule) {
    super(message);
    this.field = field;
    this.rule = rule;
  }
};
var ApiError = class extends QuillgateError {
  /** The HTTP status. 0 where a browser hides that of a redirect, which is not followed. */
  status;
  /** Further messages of the server. */
  details;
  /** The `type` of the problem (RFC 9457), or `null`. A server other than a gateway has other types. */
  code;
  /** `X-Request-Id`, when the answer has one. */
  requestId;
  /** How long the server asks to wait, in seconds, when it does. */
  retryAfter;
  /** The answer's headers. */
  headers;
  /** The parsed body, when it was JSON: an RFC 9457 problem from a gateway. */
  problem;
  constructor(message, data) {
    super(message);
    this.status = data.status;
    this.details = data.details;
    this.code = data.code;
    this.requestId = data.requestId;
    this.retryAfter = data.retryAfter;
    this.headers = data.headers;
    const { body } = data;
    this.problem = typeof body === "object" && body !== null ? body : null;
  }
};
var BadRequestError = class extends ApiError {
};
var AuthenticationError = class extends ApiError {
};
var PermissionError = class extends ApiError {
};
var NotFoundError = class extends ApiError {
};
var ConflictError = class extends ApiError {
};
var RateLimitError = class extends ApiError {
};
var ServerError = class extends ApiError {
};
var OutcomeUnknownError = class extends ApiError {
};
var ConnectionError = class extends QuillgateError {
};
var WasmLoadError = class extends QuillgateError {
};
var TimeoutError = class extends QuillgateError {
  /** The limit that ran out, in milliseconds. */
  after;
  constructor(message, after) {
    super(message);
    this.after = after;
  }
};
var DecodeError = class extends QuillgateError {
  /** The path in the JSON, as in `views[3].human`; empty for the whole body. */
  where;
  /** What is wrong there. */
  what;
  /** `X-Request-Id`, when the answer has one. */
  requestId;
  /** The answer's headers. */
  headers;
  constructor(message, data) {
    super(message);
    this.where = data.where;
    this.what = data.what;
    this.requestId = data.requestId;
    this.headers = data.headers;
  }
};
var JobWaitTimeoutError = class extends QuillgateError {
  /** The job as last seen, when it was seen at all. */
  job;
  constructor(message, job) {
    super(message);
    this.job = job;
  }
};
for (const [name, type] of Object.entries({
  QuillgateError,
  ValidationError,
  ApiError,
  BadRequestError,
  AuthenticationError,
  PermissionError,
  NotFoundError,
  ConflictError,
  RateLimitError,
  ServerError,
  OutcomeUnknownError,
  ConnectionError,
  WasmLoadError,
  TimeoutError,
  DecodeError,
  JobWaitTimeoutError
})) {
  Object.defineProperty(type.prototype, "name", { value: name, configurable: true });
}
var CLASSES = {
  401: AuthenticationError,
  403: PermissionError,
  404: NotFoundError,
  409: ConflictError,
  429: RateLimitError
};
function classOf(status, body) {
  if (body?.outcome === "unknown")
    return OutcomeUnknownError;
  if (status >= 500)
    return ServerError;
  return CLASSES[status] ?? (status >= 400 ? BadRequestError : ApiError);
}
function toApiError(response, received, retryAfter, credential) {
  const { status } = response;
  const body = redactBody(received, credential);
  const headers = withoutCredential(response.headers, credential);
  const stated = MESSAGE_PATHS.map((path) => path.reduce(member, body)).find((text3) => typeof text3 === "string" && text3 !== "");
  const words = REASONS.find(([from, to]) => from <= status && status <= to)?.[2];
  const details = DETAIL_PATHS.flatMap(([name, of]) => {
    const list2 = member(body, name);
    return Array.isArray(list2) ? list2.slice(0, MOST_DETAILS).map((item) => member(item, of)) : [];
  });
  const code = member(body, "type");
  return new (classOf(status, body))(`${status} ${stated ? shorten(stated) : words}`, {
    status,
    details: details.filter((text3) => typeof text3 === "string").map(shorten),
    code: typeof code === "string" ? shorten(code) : null,
    requestId: headers.get("x-request-id"),
    retryAfter,
    body: body ?? null,
    headers
  });
}
function member(value2, name) {
  return value2?.[name];
}
var MIN_CREDENTIAL = 8;
var REDACTED = "[redacted]";
function redactBody(body, credential = "") {
  if (credential.length < MIN_CREDENTIAL)
    return body;
  try {
    const json = JSON.stringify(body);
    const quoted = JSON.stringify(credential).slice(1, -1);
    return json.includes(quoted) ? JSON.parse(json.replaceAll(quoted, REDACTED)) : body;
  } catch {
    return void 0;
  }
}
function withoutCredential(headers, credential = "") {
  if (credential.length < MIN_CREDENTIAL || !(headers instanceof Headers))
    return headers;
  const pairs = [...headers];
  if (!pairs.some(([, value2]) => value2.includes(credential)))
    return headers;
  return new Headers(pairs.map(([name, value2]) => [name, value2.replaceAll(credential, REDACTED)]));
}
function shorten(text3) {
  if (text3.length <= LONGEST_MESSAGE)
    return text3;
  const characters = [...text3];
  if (characters.length <= LONGEST_MESSAGE)
    return text3;
  return `${characters.slice(0, LONGEST_MESSAGE).join("")}…`;
}
function toValidationError(rule, text3) {
  const [field = "", detail, found2] = text3.split("\n");
  const [name, words] = RULES[rule];
  const message = `${field} ${words}${detail}${found2 && `, found ${found2}`}`;
  return new ValidationError(message, field, name);
}
function toRequiredError(field) {
  return new ValidationError(`${field} is required`, field, "required");
}
function toDecodeError(where, what, response) {
  const headers = response?.headers ?? new Headers();
  const requestId = headers.get("x-request-id");
  return new DecodeError(`${where || "the body"} ${what}`, { where, what, requestId, headers });
}
function toWasmLoadError(cause) {
  const advice = 'if your bundler left out core_bg.wasm, import from "quillgate/inline"';
  return new WasmLoadError(`the package's wasm could not be loaded; ${advice}`, { cause });
}
function toTimeoutError(after, host) {
  return new TimeoutError(`no complete answer from ${host} within ${after} ms`, after);
}
function captureCallSite() {
  return new Error();
}
function locate(error, site, signal) {
  if (signal?.aborted && error === signal.reason)
    return error;
  if (!(error instanceof QuillgateError))
    return error;
  const frames = site.stack?.split("\n    at ").slice(1);
  if (frames?.length) {
    const own = HERE ? frames.findIndex((frame) => !frame.includes(HERE)) : 0;
    const rest = own > 0 ? frames.slice(own) : frames;
    error.stack = [`${error.name}: ${error.message}`, ...rest].join("\n    at ");
  }
  return error;
}
var HERE = /(\/[^/].*\/)errors\.js$/.exec(import.meta.url ?? "")?.[1];

// pkg/dist/exchange.js
function exchange(send, within, outer) {
  const controller2 = new AbortController();
  return new Promise((resolve2) => {
    const end = (result) => {
      clearTimeout(timer);
      leave();
      resolve2(result);
    };
    const stop = (cause, expired) => {
      end({ cause, expired });
      controller2.abort(cause);
    };
    const expire = () => stop(new DOMException("timed out", "TimeoutError"), true);
    const timer = setTimeout(expire, within);
    const leave = hear(outer, (reason) => stop(reason, false));
    const work = async () => {
      const response = await send(controller2.signal);
      end({ response, body: await readBody(response) });
    };
    work().catch((cause) => stop(cause, false));
  });
}
function follow(controller2, signal) {
  if (signal?.aborted)
    controller2.abort(signal.reason);
  return hear(signal, (reason) => controller2.abort(reason));
}
function hear(signal, onAbort) {
  const abort = () => onAbort(signal?.reason);
  signal?.addEventListener?.("abort", abort);
  return () => signal?.removeEventListener?.("abort", abort);
}
async function readBody(response) {
  try {
    return await response.json();
  } catch (error) {
    if (response.ok && error?.name !== "SyntaxError")
      throw error;
    return void 0;
  }
}
function sleep(ms, signal) {
  return new Promise((resolve2, reject) => {
    const end = () => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", abort);
    };
    const abort = () => {
      end();
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      end();
      resolve2();
    }, ms);
    signal?.addEventListener("abort", abort);
    if (signal?.aborted)
      abort();
  });
}

// pkg/dist/known.js
function refuseUnknown(options, known) {
  for (const [name, value2] of Object.entries(options ?? {})) {
    if (value2 === void 0 || known.includes(name))
      continue;
    const field = name.slice(0, 32);
    throw new ValidationError(`${field} is not an option`, field, "unknown");
  }
}

// pkg/dist/generated/decoders.js
var Misfit = class {
  where = "";
  what;
  constructor(what) {
    this.what = what;
  }
};
function found(value2) {
  if (value2 === void 0)
    return "nothing";
  if (value2 === null)
    return "null";
  if (Array.isArray(value2))
    return "an array";
  return { string: "text", number: "a number", boolean: "a boolean" }[typeof value2] ?? "an object";
}
function refuse(value2, rule) {
  throw new Misfit(`must be ${rule}, found ${found(value2)}`);
}
function text2(value2) {
  return typeof value2 === "string" ? value2 : refuse(value2, "text");
}
function textOrNull(value2) {
  return value2 == null ? null : text2(value2);
}
function number2(value2) {
  return Number.isFinite(value2) ? value2 : refuse(value2, "a number");
}
function flag(value2) {
  return typeof value2 === "boolean" ? value2 : refuse(value2, "true or false");
}
function count(value2) {
  return Number.isSafeInteger(value2) && value2 >= 0 ? value2 : refuse(value2, "an integer from 0 to 9007199254740991");
}
function countOrNull(value2) {
  return value2 == null ? null : count(value2);
}
function object(value2) {
  if (typeof value2 !== "object" || value2 === null || Array.isArray(value2))
    refuse(value2, "an object");
}
function list(value2, element) {
  if (!Array.isArray(value2))
    refuse(value2, "an array");
  const { length } = value2;
  const decoded = new Array(length);
  for (let at = 0; at < length; at++)
    decoded[at] = element(value2[at]);
  return decoded;
}
function Source(value2) {
  object(value2);
  return {
    repository: textOrNull(value2.repository),
    ref: textOrNull(value2.ref)
  };
}
function AgentJob(value2) {
  object(value2);
  return {
    id: textOrNull(value2.id),
    status: textOrNull(value2.status),
    source: value2.source == null ? null : Source(value2.source),
    model: textOrNull(value2.model),
    prLink: textOrNull(value2.prLink),
    createdAt: textOrNull(value2.createdAt),
    archivedAt: textOrNull(value2.archivedAt)
  };
}
function ListedJob(value2) {
  object(value2);
  return {
    id: text2(value2.id),
    status: textOrNull(value2.status),
    prompt: textOrNull(value2.prompt),
    createdBy: textOrNull(value2.createdBy),
    createdAt: textOrNull(value2.createdAt),
    prLink: textOrNull(value2.prLink),
    checkedAt: textOrNull(value2.checkedAt)
  };
}
function JobPage(value2) {
  object(value2);
  return {
    jobs: list(value2.jobs, ListedJob),
    nextCursor: textOrNull(value2.nextCursor)
  };
}
function ViewTotals(value2) {
  object(value2);
  return {
    human: countOrNull(value2.human),
    ai: countOrNull(value2.ai),
    total: countOrNull(value2.total)
  };
}
function PageView(value2) {
  object(value2);
  return {
    path: textOrNull(value2.path),
    human: countOrNull(value2.human),
    ai: countOrNull(value2.ai),
    total: countOrNull(value2.total)
  };
}
function PageViews(value2) {
  object(value2);
  return {
    totals: ViewTotals(value2.totals),
    views: list(value2.views, PageView),
    hasMore: flag(value2.hasMore)
  };
}
function Visitors(value2) {
  object(value2);
  return {
    totals: ViewTotals(value2.totals),
    visitors: list(value2.visitors, PageView),
    hasMore: flag(value2.hasMore)
  };
}
function ContextualFeedback(value2) {
  object(value2);
  return {
    id: textOrNull(value2.id),
    path: textOrNull(value2.path),
    comment: textOrNull(value2.comment),
    createdAt: textOrNull(value2.createdAt),
    source: text2(value2.source),
    status: textOrNull(value2.status),
    helpful: value2.helpful == null ? null : flag(value2.helpful),
    contact: textOrNull(value2.contact)
  };
}
function CodeSnippetFeedback(value2) {
  object(value2);
  return {
    id: textOrNull(value2.id),
    path: textOrNull(value2.path),
    comment: textOrNull(value2.comment),
    createdAt: textOrNull(value2.createdAt),
    source: text2(value2.source),
    status: textOrNull(value2.status),
    code: textOrNull(value2.code),
    filename: textOrNull(value2.filename),
    lang: textOrNull(value2.lang)
  };
}
function OtherFeedback(value2) {
  object(value2);
  return {
    id: textOrNull(value2.id),
    path: textOrNull(value2.path),
    comment: textOrNull(value2.comment),
    createdAt: textOrNull(value2.createdAt),
    source: text2(value2.source),
    status: textOrNull(value2.status)
  };
}
function FeedbackPage(value2) {
  object(value2);
  return {
    feedback: list(value2.feedback, Feedback),
    nextCursor: textOrNull(value2.nextCursor),
    hasMore: flag(value2.hasMore)
  };
}
function PageFeedback(value2) {
  object(value2);
  return {
    path: textOrNull(value2.path),
    thumbsUp: countOrNull(value2.thumbsUp),
    thumbsDown: countOrNull(value2.thumbsDown),
    code: countOrNull(value2.code),
    total: countOrNull(value2.total)
  };
}
function FeedbackByPage(value2) {
  object(value2);
  return {
    feedback: list(value2.feedback, PageFeedback),
    hasMore: flag(value2.hasMore)
  };
}
function SearchTerm(value2) {
  object(value2);
  return {
    searchQuery: textOrNull(value2.searchQuery),
    hits: countOrNull(value2.hits),
    ctr: value2.ctr == null ? null : number2(value2.ctr),
    topClickedPage: textOrNull(value2.topClickedPage),
    lastSearchedAt: textOrNull(value2.lastSearchedAt)
  };
}
function Searches(value2) {
  object(value2);
  return {
    searches: list(value2.searches, SearchTerm),
    totalSearches: countOrNull(value2.totalSearches),
    nextCursor: textOrNull(value2.nextCursor)
  };
}
function ConversationSource(value2) {
  object(value2);
  return {
    title: textOrNull(value2.title),
    url: textOrNull(value2.url)
  };
}
function Conversation(value2) {
  object(value2);
  return {
    id: textOrNull(value2.id),
    timestamp: textOrNull(value2.timestamp),
    query: textOrNull(value2.query),
    response: textOrNull(value2.response),
    responseType: textOrNull(value2.responseType),
    sources: value2.sources == null ? null : list(value2.sources, ConversationSource),
    resolutionStatus: textOrNull(value2.resolutionStatus),
    queryCategory: textOrNull(value2.queryCategory),
    pageUrl: textOrNull(value2.pageUrl)
  };
}
function Conversations(value2) {
  object(value2);
  return {
    conversations: list(value2.conversations, Conversation),
    nextCursor: textOrNull(value2.nextCursor),
    hasMore: flag(value2.hasMore)
  };
}
function ThreadMessage(value2) {
  object(value2);
  return {
    id: textOrNull(value2.id),
    role: textOrNull(value2.role),
    content: textOrNull(value2.content),
    createdAt: textOrNull(value2.createdAt)
  };
}
function ConversationThread(value2) {
  object(value2);
  return {
    threadId: textOrNull(value2.threadId),
    createdAt: textOrNull(value2.createdAt),
    messages: list(value2.messages, ThreadMessage)
  };
}
function CallerStats(value2) {
  object(value2);
  return {
    web: countOrNull(value2.web),
    api: countOrNull(value2.api),
    other: countOrNull(value2.other),
    total: countOrNull(value2.total)
  };
}
function Feedback(value2) {
  object(value2);
  switch (value2.source) {
    case "contextual":
      return ContextualFeedback(value2);
    case "code_snippet":
      return CodeSnippetFeedback(value2);
    default:
      return OtherFeedback(value2);
  }
}
var DECODERS = {
  "agentJobs.create": AgentJob,
  "agentJobs.get": AgentJob,
  "agentJobs.sendMessage": AgentJob,
  "agentJobs.list": JobPage,
  "analytics.views": PageViews,
  "analytics.visitors": Visitors,
  "analytics.feedback": FeedbackPage,
  "analytics.feedbackByPage": FeedbackByPage,
  "analytics.searches": Searches,
  "analytics.conversations": Conversations,
  "analytics.conversation": ConversationThread,
  "analytics.callerStats": CallerStats
};
var ROWS = {
  "agentJobs.list": "jobs",
  "analytics.views": "views",
  "analytics.visitors": "visitors",
  "analytics.feedback": "feedback",
  "analytics.searches": "searches",
  "analytics.conversations": "conversations"
};
function decode(operation, body) {
  const decoder = DECODERS[operation];
  try {
    return decoder(body);
  } catch (misfit) {
    const trace = (value2, path) => Object(value2) === value2 ? new Proxy(value2, { get: follow2(path) }) : value2;
    const follow2 = (path) => (target, name) => {
      const step = Array.isArray(target) ? `[${name}]` : path === "" ? name : `.${name}`;
      if (name !== "length" || !Array.isArray(target))
        misfit.where = path + step;
      return trace(target[name], misfit.where);
    };
    try {
      decoder(trace(body, ""));
    } catch {
    }
    throw misfit;
  }
}

// pkg/dist/task.js
var Task2 = class {
  #sender;
  #operation;
  #mode;
  #task;
  /** What the core reads, by the numbers of `SOURCE_…`. */
  #sources;
  /**
   * The time that the core said last, in milliseconds: how long the watch may take, the answer may
   * take, or the wait is.
   */
  time = 0;
  /** Where a list goes on; `null` when it is over. */
  cursor = null;
  #request;
  #refusal;
  #misfit = ["", ""];
  #retryAfter = null;
  #failure;
  #job = null;
  /** The job as text, by which a change is seen. */
  #seen;
  /**
   * Reads the parameters.
   *
   * @param mode one of `MODE_…`
   * @param watch the options of a watch
   * @throws {import("./errors.js").ValidationError} for the first that breaks a rule
   */
  constructor(sender, operation, mode, params, watch) {
    this.#sender = sender;
    this.#operation = operation;
    this.#mode = mode;
    this.#task = new sender.core.Task(operation, mode);
    this.#sources = [sender.options, params, void 0, watch];
    if (this.#step(EVENT_BEGIN) !== COMMAND_REFUSE)
      return;
    this.free();
    throw this.#refusal;
  }
  /** Goes on to the next result; `undefined` after the last. */
  async next(call) {
    this.#sources[SOURCE_OPTIONS] = call;
    let command = this.#step(EVENT_NEXT);
    let delivery;
    for (; ; ) {
      switch (command) {
        case COMMAND_SEND: {
          if (call.signal?.aborted)
            throw call.signal.reason;
          const request = this.#request;
          const within = this.time;
          const send = (signal) => this.#sender.send(request, call, signal);
          const answer = await exchange(send, within, call.signal);
          if ("response" in answer) {
            delivery = this.#decode(answer);
            command = delivery ? this.#take(delivery) : this.#takeFailure(answer);
          } else {
            if (call.signal?.aborted)
              throw call.signal.reason;
            command = this.#takeNoAnswer(answer, within);
          }
          break;
        }
        case COMMAND_RETRY:
        case COMMAND_WAIT:
          if (command === COMMAND_RETRY)
            call.observer?.onRetry(this.#failure, this.time);
          await sleep(this.time, call.signal);
          command = this.#step(EVENT_WAITED);
          break;
        case COMMAND_DELIVER:
        case COMMAND_FINISH:
          return { ...delivery, done: command === COMMAND_FINISH };
        case COMMAND_END:
          return void 0;
        default:
          throw this.#error(command, delivery);
      }
    }
  }
  /**
   * Takes in a job that the server told of by itself: its change, or `undefined` when it is no news.
   *
   * @throws {import("./errors.js").DecodeError} when it is not a job
   */
  tell(body) {
    const job = this.#check(body, null);
    this.#sources[SOURCE_HEAD] = void 0;
    const command = this.#takeJob(job);
    if (command === COMMAND_WAIT)
      return void 0;
    if (command === COMMAND_DELIVER || command === COMMAND_FINISH)
      return { job, done: command === COMMAND_FINISH };
    throw this.#error(command, void 0);
  }
  /** What a watch ends with when its deadline has come. */
  expire() {
    return new JobWaitTimeoutError("the job was not finished in time", this.#job);
  }
  /** The request of the first step, unsent. */
  describe(call) {
    this.#sources[SOURCE_OPTIONS] = call;
    const command = this.#step(EVENT_NEXT);
    if (command !== COMMAND_SEND)
      throw this.#error(command, void 0);
    if (call.signal?.aborted)
      throw call.signal.reason;
    return this.#request;
  }
  /** Lets go of what the task holds in the wasm's memory. */
  free() {
    this.#task.free();
  }
  #step(event, number3 = 0) {
    attach(this.#sources, this.#listen);
    return this.#task.step(event, number3, Date.now(), Math.random());
  }
  #listen = (kind, number3, text3) => {
    const [first = "", second = ""] = text3.split("\n", 2);
    if (kind === TEXT_REQUEST) {
      const space = first.indexOf(" ");
      const body = text3.slice(first.length + 1);
      this.time = number3;
      this.#request = {
        method: first.slice(0, space),
        target: first.slice(space + 1),
        body: body === "" ? null : body
      };
    } else if (kind === TEXT_TIME)
      this.time = number3;
    else if (kind === TEXT_REFUSAL)
      this.#refusal = toValidationError(number3, text3);
    else if (kind === TEXT_PAGE_REFUSAL)
      this.#misfit = [first, second];
    else if (kind === TEXT_RETRY_AFTER)
      this.#retryAfter = Number(text3) / 1e3;
    else if (kind === TEXT_CURSOR)
      this.cursor = JSON.parse(text3);
  };
  /** The delivery that a 2xx is; `undefined` for any other answer, or another body. */
  #decode({ response, body }) {
    if (!isSuccess(response))
      return void 0;
    try {
      return { data: this.#check(body, response), response, done: false };
    } catch (error) {
      this.#failure = error;
      return void 0;
    }
  }
  #check(body, response) {
    if (body === void 0)
      throw toDecodeError("", "must be JSON", response);
    try {
      return decode(this.#operation, body);
    } catch (misfit) {
      const { where, what } = misfit;
      throw toDecodeError(where, what, response);
    }
  }
  #take({ data, response }) {
    if (this.#mode === MODE_ONCE)
      return this.#step(EVENT_RESULT);
    this.#readHead(response);
    if (this.#mode === MODE_WATCH)
      return this.#takeJob(data);
    this.#sources[SOURCE_BODY] = data;
    this.cursor = null;
    return this.#step(EVENT_PAGE, rowsOf(this.#operation, data).length);
  }
  #takeJob(job) {
    const text3 = JSON.stringify(job);
    const isNews = text3 !== this.#seen;
    this.#seen = text3;
    this.#job = job;
    this.#sources[SOURCE_BODY] = job;
    return this.#step(EVENT_JOB, Number(isNews));
  }
  #takeFailure({ response, body }) {
    if (isSuccess(response))
      return this.#step(EVENT_MALFORMED);
    this.#readHead(response);
    this.#sources[SOURCE_BODY] = body;
    this.#retryAfter = null;
    const command = this.#step(EVENT_STATUS, response.status);
    const { adminKey, token } = this.#sender.options;
    this.#failure = toApiError(response, body, this.#retryAfter, adminKey ?? token);
    return command;
  }
  #takeNoAnswer({ cause, expired }, within) {
    const { host } = this.#sender;
    this.#failure = expired ? toTimeoutError(within, host) : new ConnectionError(`no answer from ${host}: the connection failed or broke`, { cause });
    return this.#step(expired ? EVENT_TIMED_OUT : EVENT_DISCONNECTED);
  }
  #readHead({ headers }) {
    this.#sources[SOURCE_HEAD] = { retryAfter: headers.get("retry-after") };
  }
  /** The error that a command is which ends a call. */
  #error(command, delivery) {
    switch (command) {
      case COMMAND_REFUSE:
        return this.#refusal;
      case COMMAND_TOTAL_TIMEOUT:
        return toTimeoutError(this.time, this.#sender.host);
      case COMMAND_WATCH_TIMEOUT:
        return this.expire();
      case COMMAND_REFUSE_PAGE:
        return toDecodeError(...this.#misfit, delivery?.response ?? null);
      default:
        return this.#failure;
    }
  }
};
function isSuccess({ status }) {
  return status >= 200 && status <= 299;
}
function rowsOf(operation, page) {
  return page[ROWS[operation]];
}

// pkg/dist/list.js
var List = class _List {
  #source;
  #first;
  /** @internal */
  constructor(transport, name, params, options, site) {
    this.#source = { transport, name, params, options, site };
  }
  // biome-ignore lint/suspicious/noThenProperty: awaiting a list is how one page is asked for.
  then(onFulfilled, onRejected) {
    return this.#one().then(({ page }) => page).then(onFulfilled, onRejected);
  }
  catch(onRejected) {
    return this.then(null, onRejected);
  }
  finally(onFinally) {
    return this.then().finally(onFinally);
  }
  /** One page, with the response that carried it. */
  async withResponse() {
    const { page, response } = await this.#one();
    return { data: page, response, requestId: response.headers.get("x-request-id") };
  }
  /** Every row of every page, each page as large as it may be unless `limit` says otherwise. */
  async *[Symbol.asyncIterator]() {
    const run2 = new PageIterator(this.#source);
    try {
      let next;
      for (; ; ) {
        next ??= run2.next();
        const result = await next;
        next = void 0;
        if (result === null)
          return;
        const { rows, offset } = result;
        const ahead = offset === null ? -1 : rows.length >> 1;
        for (let at = 0; at < rows.length; at++) {
          if (at === ahead) {
            next = run2.next();
            next.catch(() => {
            });
          }
          yield rows[at];
        }
      }
    } finally {
      run2.end();
    }
  }
  /** Every page, as large as it may be unless `limit` says otherwise. */
  async *pages() {
    const run2 = new PageIterator(this.#source);
    try {
      for (let result = await run2.next(); result !== null; result = await run2.next())
        yield result.page;
    } finally {
      run2.end();
    }
  }
  /** Every row, collected. */
  async all(options = {}) {
    const { maxRows: most = Number.POSITIVE_INFINITY, onProgress, ...others } = options;
    const rows = [];
    const run2 = new PageIterator(this.#source);
    try {
      run2.refuse(others);
      for (let pages = 1; rows.length < most; pages++) {
        const result = await run2.next();
        if (result === null)
          break;
        for (const row of result.rows)
          rows.push(row);
        onProgress?.({
          rows: Math.min(rows.length, most),
          pages,
          requestsLeftThisHour: requestsLeft(result.response.headers),
          cursor: rows.length > most ? cutCursor(result, rows.length - most) : result.page.cursor
        });
      }
    } finally {
      run2.end();
    }
    return rows.length > most ? rows.slice(0, most) : rows;
  }
  /**
   * Every row of every page as a stream of bytes, a page a chunk: CSV or NDJSON. Nothing is sent until
   * the stream is read, and no page is asked for before the one before it has been read.
   *
   * A stream that ends has every row. One that fails says by its `cursor` where to go on: an export with
   * that cursor gives what is missing, and both joined are the whole, byte for byte.
   *
   * @example
   * ```ts
   * const stream = client.analytics.views({ dateFrom: "2024-01-01" }).export({ format: "csv" });
   * await writeFile("views.csv", stream);
   * ```
   */
  export(options) {
    const left = new AbortController();
    const stream = new ReadableStream({
      pull: (controller2) => Promise.resolve().then(() => (init_export(), export_exports)).then((module) => module.pull(controller2, stream, this.#source, options, left, {
        List: _List,
        ValidationError,
        follow,
        sleep
      })),
      cancel: () => left.abort()
    }, { highWaterMark: 0 });
    stream.cursor = options?.cursor;
    return stream;
  }
  #one() {
    const { transport, site, options } = this.#source;
    this.#first ??= transport.run(async (sender) => {
      const { name } = this.#source;
      const pages = new Task2(sender, name, MODE_PAGES, readParams(this.#source));
      try {
        const result = await fetchPage(this.#source, pages, options.signal);
        return result;
      } finally {
        pages.free();
      }
    }, site, options.signal);
    return this.#first;
  }
};
var PageIterator = class {
  #source;
  #left = new AbortController();
  #leave;
  #pages;
  #fetching;
  constructor(source2) {
    this.#source = source2;
    const { transport, name, site, options } = source2;
    this.#pages = transport.run((sender) => new Task2(sender, name, MODE_EVERYTHING, readParams(source2)), site);
    this.#fetching = this.#pages.then(() => null);
    this.#fetching.catch(() => {
    });
    this.#leave = follow(this.#left, options.signal);
  }
  /** Refuses options that nobody knows. */
  refuse(options) {
    try {
      refuseUnknown(options, []);
    } catch (error) {
      throw locate(error, this.#source.site);
    }
  }
  /** The next page; `null` after the last. */
  next() {
    const { signal } = this.#left;
    this.#fetching = this.#fetching.then(async () => {
      for (let turns = 5; turns--; )
        await null;
      try {
        return await fetchPage(this.#source, await this.#pages, signal);
      } catch (error) {
        throw locate(error, this.#source.site, signal);
      }
    });
    return this.#fetching;
  }
  /** Leaves the run: a request under way is aborted. */
  end() {
    this.#leave();
    this.#left.abort();
    const free = () => this.#pages.then((pages) => pages.free());
    this.#fetching.then(free, free).catch(() => {
    });
  }
};
function readParams({ params }) {
  const cursor = params?.cursor;
  if (typeof cursor !== "object")
    return params;
  if (cursor !== null)
    return cursor;
  const message = "cursor must be that of a page: after the last one there is none";
  throw new ValidationError(message, "cursor", "text");
}
async function fetchPage(source2, pages, signal) {
  const { transport, name, options } = source2;
  const call = transport.callOptions({ ...options, signal });
  const begin = pages.cursor;
  const delivery = await pages.next(call);
  if (begin === null || delivery === void 0)
    return null;
  const { data, response } = delivery;
  const rows = rowsOf(name, data);
  const offset = begin.offset ?? null;
  const cursor = pages.cursor;
  const page = makePage(source2, data, offset, cursor);
  return { page, begin, rows, offset, response };
}
function cutCursor(result, cut) {
  const { begin, rows, offset } = result;
  return offset === null ? begin : { ...begin, offset: offset + rows.length - cut };
}
function makePage({ transport, name, options }, data, offset, cursor) {
  const page = data;
  if (offset !== null)
    page.offset = offset;
  page.cursor = cursor;
  return Object.defineProperty(page, "nextPage", {
    value: async (own = options) => {
      if (cursor === null)
        return null;
      return new List(transport, name, { cursor }, own, captureCallSite());
    }
  });
}
function requestsLeft(headers) {
  const left = /(?:^|;)\s*r=(\d+)/.exec(headers.get("ratelimit") ?? "")?.[1];
  return left === void 0 ? null : Number(left);
}

// pkg/dist/agent_jobs.js
var AgentJobs = class {
  #transport;
  /** @internal */
  constructor(transport) {
    this.#transport = transport;
  }
  /**
   * Creates a job, which runs in the background: at most 100 per project per hour. It is
   * sent again to a gateway only, which creates it once; the platform itself could create two.
   */
  create(params, options) {
    return this.#transport.write("agentJobs.create", params, options);
  }
  /** Reads a job. */
  get(id, options) {
    return this.#transport.call("agentJobs.get", { id }, options);
  }
  /**
   * Sends a follow-up message to a job, which sets it to work again: at most 100 per
   * project per hour. It is sent again as a creation is: to a gateway only.
   */
  sendMessage(id, params, options) {
    return this.#transport.write("agentJobs.sendMessage", { ...params, id }, options);
  }
  /**
   * Lists the jobs that were created through the gateway, newest first: all of them, or those in a
   * `state`, of an `author`, or with a `text` in their prompt. Awaited, it is one page; iterated, it is
   * every job of every page. Nothing is sent until either is done. The platform itself keeps no such
   * list: there it is a `NotFoundError`.
   *
   * @example
   * ```ts
   * const { jobs, nextCursor } = await client.agentJobs.list({ limit: 10 });
   * for await (const job of client.agentJobs.list()) console.log(job.id, job.status);
   * const failed = await client.agentJobs.list({ state: "failed", text: "changelog" });
   * ```
   */
  list(params = {}, options = {}) {
    return new List(this.#transport, "agentJobs.list", params, options, captureCallSite());
  }
  /**
   * Reads what the gateway has recorded of a job that was created through it: its prompt, its
   * follow-ups and its states. Of another job it is a `NotFoundError`.
   *
   * @example
   * ```ts
   * const { job, prompt, messages, changes } = await client.agentJobs.record(id);
   * ```
   */
  record(id, options = {}) {
    const site = captureCallSite();
    return new ApiPromise(load2().then((part) => part.readRecord(this.#transport, id, options, site, TOOLS)));
  }
  // A default is made when the method is called, and not when what it returns is iterated.
  async *watchAll(options = {}, site = captureCallSite()) {
    yield* (await load2()).streamList(this.#transport, options, site, TOOLS);
  }
  /**
   * Waits until a job is `completed`, `archived` or `failed`, and resolves to it. A gateway
   * that streams a job's changes is listened to; otherwise the job is looked at after 2 s,
   * then at growing intervals of up to 30 s, or as the server asks.
   *
   * @throws {JobWaitTimeoutError} when the time runs out; it carries the job as last seen
   */
  async wait(id, options = {}) {
    const { onUpdate, ...watching } = options;
    let last;
    for await ({ job: last } of this.#changes(id, watching, captureCallSite()))
      onUpdate?.(last);
    return last;
  }
  /**
   * Watches a job: yields it as it is, then after every change, and ends with it.
   *
   * @throws {JobWaitTimeoutError} when the time runs out; it carries the job as last seen
   */
  watch(id, options = {}) {
    return this.#changes(id, options, captureCallSite());
  }
  async *#changes(id, options, site) {
    const { timeout, ...call } = options;
    const left = new AbortController();
    const { signal } = left;
    const leave = follow(left, call.signal);
    let watch;
    try {
      refuseUnknown(call, ["signal", "headers"]);
      const sender = await this.#transport.sender();
      watch = new Task2(sender, "agentJobs.get", MODE_WATCH, { id }, { timeout });
      const inner = { ...call, signal };
      const module = this.#transport.mayStream && await Promise.race([
        // An abort is heard while it is loading, too.
        new Promise((resolve2) => signal.addEventListener("abort", () => resolve2())),
        load2().catch(() => {
        })
      ]);
      if (module)
        yield* module.streamChanges(this.#transport, watch, id, inner, TOOLS);
      for (; ; ) {
        const change = await watch.next(this.#transport.callOptions(inner));
        if (change === void 0)
          return;
        yield { job: change.data, done: change.done };
      }
    } catch (error) {
      throw locate(error, site, options.signal);
    } finally {
      leave();
      left.abort();
      watch?.free();
    }
  }
};
var load2 = () => Promise.resolve().then(() => (init_job_stream(), job_stream_exports));
var TOOLS = { follow, sleep, toDecodeError };

// pkg/dist/analytics.js
var Analytics = class {
  #transport;
  /** @internal */
  constructor(transport) {
    this.#transport = transport;
  }
  /**
   * Lists how often each page was viewed, by people and by AI. Awaited, it is one page; iterated,
   * it is every row of every page. Nothing is sent until either is done.
   *
   * @example
   * ```ts
   * const page = await client.analytics.views({ dateFrom: "2024-01-01", limit: 10 });
   * for await (const view of client.analytics.views({ dateFrom: "2024-01-01" })) console.log(view.path);
   * ```
   */
  views(params = {}, options = {}) {
    return new List(this.#transport, "analytics.views", params, options, captureCallSite());
  }
  /**
   * Reads from the gateway's daily archive how often the site, a page or the pages below a path were
   * viewed on each day, week or month. It costs no request of the hour's budget. A gateway without an
   * archive answers 501, an `ApiError`; the platform itself has no days.
   *
   * @example
   * ```ts
   * const { views, missing } = await client.analytics.dailyViews({ dateFrom: "2024-01-01", dateTo: "2024-02-01" });
   * ```
   */
  dailyViews(params, options = {}) {
    const site = captureCallSite();
    const errors = { toDecodeError, toRequiredError };
    return new ApiPromise(Promise.resolve().then(() => (init_daily_views(), daily_views_exports)).then((part) => part.readDailyViews(this.#transport, params, options, site, errors)));
  }
  /**
   * Lists how many people and AI agents visited each page: a page when awaited, every row when
   * iterated.
   *
   * @example
   * ```ts
   * for await (const { path, total } of client.analytics.visitors()) console.log(path, total);
   * ```
   */
  visitors(params = {}, options = {}) {
    return new List(this.#transport, "analytics.visitors", params, options, captureCallSite());
  }
  /**
   * Lists what readers said of the pages; `source` says of which kind an entry is.
   *
   * @example
   * ```ts
   * const bad = await client.analytics.feedback({ source: "contextual", status: "pending" }).all();
   * ```
   */
  feedback(params = {}, options = {}) {
    return new List(this.#transport, "analytics.feedback", params, options, captureCallSite());
  }
  /**
   * Reads how often readers approved of each page: at most 100 pages. `hasMore` says that there
   * are others, which the platform does not give.
   *
   * @example
   * ```ts
   * const { feedback } = await client.analytics.feedbackByPage({ limit: 100 });
   * ```
   */
  feedbackByPage(params = {}, options) {
    return this.#transport.call("analytics.feedbackByPage", params, options);
  }
  /**
   * Lists what readers searched for, the most frequent first.
   *
   * @example
   * ```ts
   * for await (const { searchQuery, hits } of client.analytics.searches()) console.log(searchQuery, hits);
   * ```
   */
  searches(params = {}, options = {}) {
    return new List(this.#transport, "analytics.searches", params, options, captureCallSite());
  }
  /**
   * Lists what readers asked the assistant, and what it responded. It is personal data: a token
   * needs the scope `analytics:conversations`.
   *
   * @example
   * ```ts
   * for await (const { query } of client.analytics.conversations({ dateFrom })) console.log(query);
   * ```
   */
  conversations(params = {}, options = {}) {
    return new List(this.#transport, "analytics.conversations", params, options, captureCallSite());
  }
  /**
   * Reads one conversation, message by message. As with {@link conversations}, it is personal data.
   *
   * @example
   * ```ts
   * const { messages } = await client.analytics.conversation("01J9Z3K4M5N6P7Q8R9S0T1V2W3");
   * ```
   */
  conversation(threadId, options) {
    return this.#transport.call("analytics.conversation", { threadId }, options);
  }
  /**
   * Counts what the assistant was asked, by where the questions came from.
   *
   * @example
   * ```ts
   * const { web, api, total } = await client.analytics.callerStats({ dateFrom: "2024-01-01" });
   * ```
   */
  callerStats(params = {}, options) {
    return this.#transport.call("analytics.callerStats", params, options);
  }
};

// pkg/dist/base_url.js
var HTTP_URL = /^https?:\/\/(?![/:])[!$-;=A-[\]-~]+$/;
var HTTP_TO_OTHER_MACHINE = /^http:\/\/(?!(localhost|127\.0\.0\.1|\[::1\])(:\d*)?(\/|$))/;
function checkBaseUrl({ baseUrl, adminKey }) {
  if (typeof baseUrl !== "string")
    return;
  if (!HTTP_URL.test(baseUrl) || !URL.canParse(baseUrl)) {
    throw toValidationError(RULE_BASE_URL, "baseUrl\n\n");
  }
  if (adminKey !== void 0 && HTTP_TO_OTHER_MACHINE.test(baseUrl)) {
    throw toValidationError(RULE_SECURE_BASE_URL, "baseUrl\n\n");
  }
}

// pkg/dist/page_views.js
var PageViewsResource = class {
  #analytics;
  /** @internal */
  constructor(analytics) {
    this.#analytics = analytics;
  }
  /**
   * Lists page views: the same as `client.analytics.views(params, options)`.
   *
   * @example
   * ```ts
   * for await (const view of client.pageViews.list({ dateFrom: "2024-01-01" })) console.log(view.path);
   * ```
   */
  list(params, options) {
    return this.#analytics.views(params, options);
  }
};

// pkg/dist/log.js
var LEVELS = ["off", "error", "warn", "info", "debug"];
var SHOWN = /* @__PURE__ */ new Set([
  "accept",
  "age",
  "allow",
  "cache-control",
  "cache-status",
  "content-length",
  "content-type",
  "date",
  "etag",
  "ratelimit",
  "ratelimit-policy",
  "retry-after",
  "server-timing",
  "x-request-id"
]);
function redactHeaders(headers) {
  const copy = new Headers();
  headers.forEach((value2, name) => {
    copy.set(name, SHOWN.has(name) ? value2 : "[redacted]");
  });
  return copy;
}
function attemptLog(options) {
  const level = LEVELS.indexOf(options.logLevel ?? variable("QUILLGATE_LOG") ?? "warn");
  if (level <= 0)
    return void 0;
  const logger = options.logger ?? console;
  const at = (least) => level >= LEVELS.indexOf(least);
  let sent = "";
  let started = 0;
  return {
    request(method, url) {
      sent = `${method} ${new URL(url).pathname}`;
      started = Date.now();
      if (at("debug"))
        logger.debug(`quillgate: ${sent}: sent`);
    },
    response(status, headers) {
      const id = headers.get("x-request-id");
      const line = `quillgate: ${sent}: ${status} after ${Date.now() - started} ms${id ? `, request ${id}` : ""}`;
      if (at("info"))
        logger.info(line);
    },
    retry(error, wait) {
      const why = error instanceof Error ? error.name : "error";
      if (at("warn"))
        logger.warn(`quillgate: ${sent}: ${why}, again in ${Math.round(wait)} ms`);
    }
  };
}

// pkg/dist/transport.js
var Transport = class {
  #options;
  #sender;
  #base = "";
  /** Whether the server may have event streams: a gateway, until it shows that it has none. */
  mayStream;
  constructor(options) {
    this.#options = options;
    this.mayStream = options.token !== void 0;
  }
  /** What a client's tasks share; made by the first call. */
  sender() {
    this.#sender ??= this.#load().catch((error) => {
      this.#sender = void 0;
      throw error;
    });
    return this.#sender;
  }
  async #load() {
    const core = await loadCore().catch((cause) => {
      throw toWasmLoadError(cause);
    });
    let refusal;
    attach([this.#options], (kind, rule, text3) => {
      if (kind === TEXT_BASE_URL)
        this.#base = text3;
      else
        refusal = toValidationError(rule, text3);
    });
    if (!core.checkClient())
      throw refusal;
    const send = (request, call, signal) => this.#send(request, call, signal);
    return { core, options: this.#options, host: new URL(this.#base).host, send };
  }
  async #send(request, call, signal) {
    const { method, body } = request;
    const url = this.#base + request.target;
    const headers = this.#headers(request, call);
    const init = { method, headers, body, redirect: "manual", signal };
    const { observer } = call;
    observer?.onRequest(method, url, headers);
    const { fetch: fetch2 } = this.#options;
    const sent = fetch2 ? fetch2(new Request(url, init)) : globalThis.fetch(url, init);
    const response = checkResponse(await sent);
    observer?.onResponse(response);
    return response;
  }
  /** The caller's headers, and over them those that the request needs. */
  #headers({ body }, call) {
    const { adminKey, session, token } = this.#options;
    const needed = { accept: "application/json" };
    if (userAgent)
      needed["user-agent"] = call.headers?.get("user-agent") ?? userAgent;
    if (!session)
      needed.authorization = `Bearer ${adminKey ?? token}`;
    if (body !== null)
      needed["content-type"] = "application/json";
    if (call.idempotencyKey !== void 0)
      needed["idempotency-key"] = call.idempotencyKey;
    if (call.headers === void 0)
      return needed;
    const headers = new Headers(call.headers);
    for (const [name, value2] of Object.entries(needed))
      headers.set(name, value2);
    return headers;
  }
  /** Runs `work`; what goes wrong points at the line where `site` was made. */
  async run(work, site = captureCallSite(), signal) {
    try {
      return await work(await this.sender());
    } catch (error) {
      throw locate(error, site, signal);
    }
  }
  /** Carries out an operation, by a sender that is made of the client's. */
  call(operation, params, options = {}, through = (sender) => sender) {
    const carryOut = async (sender) => {
      const call = this.callOptions(options);
      const task = new Task2(through(sender), operation, MODE_ONCE, params);
      try {
        return await task.next(call);
      } finally {
        task.free();
      }
    };
    return new ApiPromise(this.run(carryOut, captureCallSite(), options.signal));
  }
  /** Carries out an operation that changes something: it has a key that tells it from another. */
  write(operation, params, options = {}) {
    const made = this.#options.token === void 0 ? void 0 : freshKey();
    return this.call(operation, params, {
      ...options,
      idempotencyKey: options.idempotencyKey ?? made
    });
  }
  /** The request of an operation, unsent. */
  build(operation, params, options = {}) {
    const build = (sender) => {
      const call = this.callOptions(options);
      const task = new Task2(sender, operation, MODE_ONCE, params);
      try {
        const request = task.describe(call);
        const headers = Object.fromEntries(new Headers(this.#headers(request, call)));
        const { method, target, body } = request;
        return { method, url: this.#base + target, headers, body };
      } finally {
        task.free();
      }
    };
    return this.run(build, captureCallSite(), options.signal);
  }
  /** A call's options over the client's. */
  callOptions(call) {
    const client = this.#options;
    refuseUnknown(call, CALL_OPTIONS);
    return {
      // A value that is not an object cannot abort anything, and is ignored.
      signal: typeof call.signal === "object" ? call.signal ?? void 0 : void 0,
      timeout: call.timeout ?? client.timeout,
      totalTimeout: call.totalTimeout ?? client.totalTimeout,
      maxRetries: call.maxRetries ?? client.maxRetries,
      idempotencyKey: call.idempotencyKey,
      // What is forced would be done again by every attempt.
      deduplicated: client.retryWrites !== false && client.token !== void 0 && !call.force,
      headers: this.#callHeaders(call),
      observer: observe(client)
    };
  }
  #callHeaders(call) {
    const { defaultHeaders } = this.#options;
    if (defaultHeaders === void 0 && call.headers === void 0 && !call.force)
      return void 0;
    const headers = new Headers(defaultHeaders);
    new Headers(call.headers).forEach((value2, name) => {
      headers.set(name, value2);
    });
    if (call.force)
      headers.set("idempotency-retry", "force");
    return headers;
  }
};
function observe(client) {
  const { onRequest, onResponse, onRetry } = client;
  const log = attemptLog(client);
  if (!log && !onRequest && !onResponse && !onRetry)
    return void 0;
  let attempt = -1;
  return {
    onRequest(method, url, headers) {
      attempt++;
      guard(() => {
        log?.request(method, url);
        if (!onRequest)
          return;
        const request = new Request(url, { method, headers });
        onRequest({ method, url: request.url, headers: redactHeaders(request.headers), attempt });
      });
    },
    onResponse({ status, url, headers }) {
      guard(() => {
        log?.response(status, headers);
        onResponse?.({ status, url, headers: redactHeaders(headers), attempt });
      });
    },
    onRetry(error, wait) {
      guard(() => {
        log?.retry(error, wait);
        onRetry?.({ error, wait });
      });
    }
  };
}
function guard(work) {
  try {
    work();
  } catch {
  }
}
var CALL_OPTIONS = [
  "signal",
  "timeout",
  "totalTimeout",
  "maxRetries",
  "headers",
  "idempotencyKey",
  "force"
];
function freshKey() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
function checkResponse(response) {
  if (typeof response?.status !== "number" || typeof response.headers?.get !== "function") {
    throw new TypeError("the client's own fetch gave no Response");
  }
  return response;
}

// pkg/dist/client.js
var Client = class _Client {
  /** Background agent jobs. */
  agentJobs;
  /** Reports of who reads the documentation. */
  analytics;
  /** How often pages were viewed: `analytics.views` under its earlier name. */
  pageViews;
  #transport;
  /** The options as they were given, without what the environment says. */
  #given;
  /**
   * @throws {ValidationError} for an unknown option, an invalid `baseUrl`, a missing project, or unless
   *   exactly one of `token`, `session` and `adminKey` is given
   * @throws {QuillgateError} for an admin key in a browser, unless `dangerouslyAllowBrowser` is set
   */
  constructor(options = {}) {
    try {
      refuseUnknown(options, Object.keys(KNOWN));
    } catch (reason) {
      throw locate(reason, captureCallSite());
    }
    this.#given = ownProperties(options);
    const complete = withEnvironment(this.#given);
    guardBrowser(complete);
    checkBaseUrl(complete);
    this.#transport = new Transport(complete);
    this.agentJobs = new AgentJobs(this.#transport);
    this.analytics = new Analytics(this.#transport);
    this.pageViews = new PageViewsResource(this.analytics);
  }
  /** A client with the same options but for these. */
  withOptions(options) {
    const { token, session, adminKey, ...rest } = this.#given;
    const changes = ownProperties(options);
    const isGiven = changes.token || changes.session || changes.adminKey;
    const credential = isGiven ? {} : { token, session, adminKey };
    return new _Client({ ...rest, ...credential, ...changes });
  }
  /**
   * The request of an operation, unsent, for those who bring their own HTTP. It carries
   * the credential.
   */
  buildRequest(operation, params, options) {
    return this.#transport.build(operation, params, options);
  }
};
var KNOWN = {
  baseUrl: true,
  projectId: true,
  token: true,
  session: true,
  adminKey: true,
  dangerouslyAllowBrowser: true,
  timeout: true,
  totalTimeout: true,
  maxRetries: true,
  retryWrites: true,
  fetch: true,
  defaultHeaders: true,
  onRequest: true,
  onResponse: true,
  onRetry: true,
  logger: true,
  logLevel: true
};
function ownProperties(options) {
  return Object.assign(/* @__PURE__ */ Object.create(null), options);
}
function withEnvironment(options) {
  const complete = ownProperties(options);
  complete.projectId ??= variable("QUILLGATE_PROJECT_ID");
  if (options.adminKey === void 0) {
    complete.baseUrl ??= variable("QUILLGATE_BASE_URL");
    complete.token ??= options.session ? "cookie" : variable("QUILLGATE_TOKEN");
  }
  if (complete.projectId === void 0)
    throw toRequiredError("projectId");
  const { session } = options;
  const rival = session && options.token !== void 0 ? "token" : "adminKey";
  if (options[rival] !== void 0 && (session || complete.token !== void 0)) {
    const field = session ? "session" : "token";
    throw new ValidationError(`${field} must stand without ${rival}`, field, "once");
  }
  if (complete.adminKey === void 0 && complete.token === void 0) {
    throw new ValidationError("token is required, or adminKey on a server", "token", "required");
  }
  if (complete.token !== void 0 && complete.baseUrl === void 0) {
    throw new ValidationError("baseUrl is required with a token", "baseUrl", "required");
  }
  return complete;
}
function guardBrowser(options) {
  if (options.adminKey !== void 0 && options.dangerouslyAllowBrowser !== true && isBrowser()) {
    throw new QuillgateError("an admin key is a secret, which everybody who opens a page can read: use a gateway's access token, or set dangerouslyAllowBrowser");
  }
}

// pkg/dist/inline.js
loadFrom(() => {
  if (!isBrowser())
    setUserAgent(USER_AGENT);
  return decodeBytes(core_text_default);
});

// action/src/comment.ts
import { createHash } from "node:crypto";
var CommentError = class extends Error {
  /** The status that GitHub's API answered with, where it did. */
  status;
  constructor(message, status) {
    super(message);
    this.status = status;
  }
};
var ATTEMPT_TIMEOUT = 5e3;
var PER_PAGE = 100;
var MOST_PAGES = 30;
var MOST_ENTRIES = 10;
var ENTRY = /^<!-- quillgate-(job|note) (\w*) -->\n/m;
var JobComment = class {
  #place;
  #marker;
  #id;
  /** Takes back what is under way. */
  #signal;
  constructor(place) {
    this.#place = place;
    const digest = createHash("sha256").update(place.step).digest("hex").slice(0, 32);
    this.#marker = `<!-- quillgate-action ${digest} -->`;
  }
  /**
   * Writes the comment, or rewrites the one of an earlier run.
   *
   * @throws {CommentError}
   */
  async write(entry, signal) {
    const { repository, number: number3 } = this.#place;
    this.#signal = signal;
    const found2 = await this.#read() ?? await this.#find();
    this.#id = found2?.id;
    const body = this.#compose(found2?.body ?? "", entry);
    if (this.#id !== void 0) {
      const target2 = `/repos/${repository}/issues/comments/${this.#id}`;
      await this.#call("PATCH", target2, { body });
      return;
    }
    const target = `/repos/${repository}/issues/${number3}/comments`;
    this.#id = (await this.#call("POST", target, { body })).id;
  }
  #compose(body, { kind, markdown }) {
    const { run: run2, keepsEarlier } = this.#place;
    const isReplaced = (other) => {
      if (kind === "note") return other.kind === "note" && other.run === run2;
      return other.run === run2 || !keepsEarlier;
    };
    const kept = parseEntries(body.slice(this.#marker.length)).filter(
      (other) => !isReplaced(other)
    );
    const entries = [...limitEntries(kept), { kind, run: run2, markdown }];
    const texts = entries.map((entry) => {
      return `<!-- quillgate-${entry.kind} ${entry.run} -->
${entry.markdown}`;
    });
    return `${this.#marker}
${texts.join("\n\n")}`;
  }
  /** The comment that this run has written before; `undefined` once somebody has deleted it. */
  async #read() {
    if (this.#id === void 0) return void 0;
    const target = `/repos/${this.#place.repository}/issues/comments/${this.#id}`;
    try {
      return await this.#call("GET", target);
    } catch (error) {
      if (error instanceof CommentError && error.status === 404) return void 0;
      throw error;
    }
  }
  async #find() {
    const { repository, number: number3 } = this.#place;
    for (let page = 1; page <= MOST_PAGES; page++) {
      const query = `per_page=${PER_PAGE}&page=${page}`;
      const target = `/repos/${repository}/issues/${number3}/comments?${query}`;
      const comments = await this.#call("GET", target);
      for (const comment of comments) if (await this.#isOwn(comment)) return comment;
      if (comments.length < PER_PAGE) return void 0;
    }
    return void 0;
  }
  /** Anybody could copy the marker into a comment; theirs is not to be overwritten. */
  async #isOwn({ body, user }) {
    if (!body?.startsWith(this.#marker)) return false;
    if (user?.type === "Bot") return true;
    const self = await this.#call("GET", "/user").catch(() => void 0);
    return user?.id !== void 0 && self?.id === user.id;
  }
  async #call(method, target, content) {
    const { api, token } = this.#place;
    const deadline = AbortSignal.timeout(ATTEMPT_TIMEOUT);
    const response = await fetch(api + target, {
      method,
      headers: {
        accept: "application/vnd.github+json",
        authorization: `Bearer ${token}`,
        "user-agent": "quillgate-action",
        "x-github-api-version": "2022-11-28",
        ...content === void 0 ? {} : { "content-type": "application/json" }
      },
      body: content === void 0 ? null : JSON.stringify(content),
      redirect: "error",
      signal: this.#signal ? AbortSignal.any([this.#signal, deadline]) : deadline
    }).catch(() => {
      throw new CommentError("GitHub's API did not answer");
    });
    const text3 = await response.text().catch(() => {
      throw new CommentError("GitHub's API broke off its answer");
    });
    if (!response.ok) throw new CommentError(explainStatus(response.status), response.status);
    try {
      return JSON.parse(text3);
    } catch {
      throw new CommentError("GitHub's API answered with something that is not JSON");
    }
  }
};
function parseEntries(text3) {
  const [, ...parts] = text3.replaceAll("\r\n", "\n").split(ENTRY);
  const entries = [];
  for (let at = 0; at + 2 < parts.length; at += 3) {
    const [kind, run2 = "", markdown = ""] = parts.slice(at, at + 3);
    entries.push({ kind: kind === "job" ? "job" : "note", run: run2, markdown: markdown.trim() });
  }
  return entries;
}
function limitEntries(entries) {
  if (entries.length < MOST_ENTRIES) return entries;
  const job = entries.findLast(({ kind }) => kind === "job");
  const last = entries.slice(1 - MOST_ENTRIES);
  return job === void 0 || last.includes(job) ? last : [job, ...last.slice(1)];
}
function explainStatus(status) {
  if (status !== 403 && status !== 404) return `GitHub's API answered with status ${status}`;
  return `GitHub's API answered with status ${status}: the job needs \`permissions: pull-requests: write\`, which a workflow of a pull request from a fork does not get`;
}

// action/src/event.ts
import { readFileSync } from "node:fs";
function readPullRequest(env) {
  const event = readEvent(env.GITHUB_EVENT_PATH);
  const pull2 = event?.pull_request;
  if (pull2 !== void 0) {
    const number4 = readNumber(pull2);
    const { head, base } = pull2;
    const fromFork = head !== void 0 && head.repo?.id !== base?.repo?.id;
    return number4 === void 0 ? void 0 : { number: number4, fromFork };
  }
  const issue = event?.issue;
  const number3 = issue?.pull_request === void 0 ? void 0 : readNumber(issue);
  return number3 === void 0 ? void 0 : { number: number3, fromFork: false };
}
function readEvent(path) {
  if (!path) return void 0;
  try {
    return JSON.parse(readFileSync(path, "utf8"));
  } catch {
    return void 0;
  }
}
function readNumber({ number: number3 }) {
  return Number.isSafeInteger(number3) ? number3 : void 0;
}

// action/src/identity.ts
var IdentityError = class extends Error {
  /** Whether a later attempt may succeed. */
  mayPass;
  constructor(message, mayPass3 = false) {
    super(message);
    this.mayPass = mayPass3;
  }
};
var AccessToken = class {
  claims = void 0;
  #token;
  constructor(token) {
    this.#token = token;
  }
  async token() {
    return this.#token;
  }
};
var ATTEMPTS = 3;
var ATTEMPT_TIMEOUT2 = 1e4;
var PAUSE = 1e3;
var LONGEST_MARGIN = 6e4;
var WorkflowIdentity = class {
  #runner;
  #url;
  #credential;
  #token;
  /** When the token is to be replaced, by this machine's monotonic clock. */
  #end = 0;
  #claims;
  /** @throws {IdentityError} where GitHub signs nothing for this job */
  constructor(runner2, audience, pull2) {
    const { ACTIONS_ID_TOKEN_REQUEST_URL: url, ACTIONS_ID_TOKEN_REQUEST_TOKEN: credential } = runner2.env;
    if (!url || !credential) throw new IdentityError(explainAbsence(pull2));
    runner2.mask(credential);
    this.#runner = runner2;
    this.#credential = credential;
    const separator = url.includes("?") ? "&" : "?";
    this.#url = `${url}${separator}audience=${encodeURIComponent(audience)}`;
  }
  get claims() {
    return this.#claims;
  }
  token(signal) {
    if (this.#token === void 0 || performance.now() >= this.#end) {
      this.#end = Number.POSITIVE_INFINITY;
      this.#token = this.#renew(signal).catch((error) => {
        this.#token = void 0;
        throw error;
      });
    }
    return this.#token;
  }
  async #renew(signal) {
    const began = performance.now();
    const token = await this.#request(signal);
    this.#runner.mask(token);
    const claims = readClaims(token);
    this.#claims = claims;
    const lifetime = (Number(claims.exp) - Number(claims.iat)) * 1e3;
    this.#end = lifetime > 0 ? began + lifetime - Math.min(lifetime / 4, LONGEST_MARGIN) : 0;
    return token;
  }
  async #request(signal) {
    for (let attempt = 1; ; attempt++) {
      const failure = await this.#attempt(signal);
      if (typeof failure === "string") return failure;
      signal?.throwIfAborted();
      if (!failure.mayPass || attempt === ATTEMPTS) {
        const { reason, mayPass: mayPass3 } = failure;
        throw new IdentityError(`GitHub gave this job no identity token: ${reason}`, mayPass3);
      }
      this.#runner.info(`GitHub gave no identity token (${failure.reason}); asking again`);
      await new Promise((resolve2) => setTimeout(resolve2, PAUSE * attempt));
    }
  }
  async #attempt(signal) {
    const deadline = AbortSignal.timeout(ATTEMPT_TIMEOUT2);
    try {
      const response = await fetch(this.#url, {
        headers: {
          accept: "application/json",
          authorization: `Bearer ${this.#credential}`,
          "user-agent": "quillgate-action"
        },
        redirect: "error",
        signal: signal ? AbortSignal.any([signal, deadline]) : deadline
      });
      const text3 = await response.text();
      if (response.ok) return parseToken(text3) ?? { reason: "its answer has none", mayPass: false };
      const mayPass3 = response.status >= 500 || response.status === 429;
      return { reason: `status ${response.status}`, mayPass: mayPass3 };
    } catch {
      return { reason: deadline.aborted ? "no answer in time" : "no connection", mayPass: true };
    }
  }
};
function parseToken(text3) {
  try {
    const { value: value2 } = JSON.parse(text3);
    return typeof value2 === "string" && value2 !== "" ? value2 : void 0;
  } catch {
    return void 0;
  }
}
function readClaims(token) {
  try {
    const payload = Buffer.from(token.split(".")[1] ?? "", "base64url").toString("utf8");
    return JSON.parse(payload);
  } catch {
    throw new IdentityError("GitHub gave this job an identity token that cannot be read");
  }
}
function explainAbsence(pull2) {
  if (pull2?.fromFork) {
    return "GitHub gives no identity to a workflow of a pull request from a fork, so it cannot start a job. Skip the step there, or let somebody of the repository start it by a comment: see docs/github-actions.md";
  }
  return "this job has no identity. Add `permissions: id-token: write` to it, or to the workflow that calls it, or give an access token of the gateway as the input token";
}

// action/src/inputs.ts
import { readFileSync as readFileSync2, realpathSync, statSync } from "node:fs";
import { isAbsolute, relative, resolve, sep } from "node:path";
var InputError = class extends Error {
};
var UNITS = { s: 1e3, m: 6e4, h: 36e5 };
var LONGEST_TIMEOUT = 5 * 24 * 36e5;
var LOOPBACK = ["127.0.0.1", "localhost", "[::1]"];
var MOST_BODY_BYTES = 128 * 1024;
function readInputs(runner2) {
  const token = readSecret(runner2, "token");
  const githubToken = readSecret(runner2, "github-token");
  return {
    gateway: readGateway(readRequired(runner2, "gateway")),
    project: readRequired(runner2, "project"),
    prompt: readPrompt(runner2),
    audience: readRequired(runner2, "audience"),
    token,
    wait: readBoolean(runner2, "wait"),
    timeout: readDuration(runner2, "timeout"),
    idempotencyKey: readIdempotencyKey(runner2),
    comment: readBoolean(runner2, "comment"),
    githubToken
  };
}
function readIdempotencyKey(runner2) {
  const key = runner2.input("idempotency-key").trim();
  if (key === "" || /^[!-~]{1,255}$/.test(key)) return key || void 0;
  throw new InputError("the input idempotency-key must be 1 to 255 visible ASCII characters");
}
function readSecret(runner2, name) {
  const secret = runner2.input(name).trim();
  runner2.mask(secret);
  return secret || void 0;
}
function readRequired(runner2, name) {
  const value2 = runner2.input(name).trim();
  if (value2 === "") throw new InputError(`the input ${name} is missing`);
  return value2;
}
function readGateway(text3) {
  const url = URL.canParse(text3) ? new URL(text3) : void 0;
  const isSecure = url?.protocol === "https:";
  const isLocal = url?.protocol === "http:" && LOOPBACK.includes(url.hostname);
  if (!isSecure && !isLocal) {
    throw new InputError("the input gateway must be an https address, as in https://gate.example");
  }
  if (url.username !== "" || url.password !== "") {
    throw new InputError("the input gateway must have no user and no password");
  }
  if (url.pathname !== "/" || /[?#]/.test(text3)) {
    throw new InputError(
      `the input gateway must be an address without path, query and fragment: ${url.origin}`
    );
  }
  return url.origin;
}
function readPrompt(runner2) {
  const text3 = runner2.input("prompt");
  const file = runner2.input("prompt-file").trim();
  if (text3.trim() !== "" && file !== "") {
    throw new InputError("give either the input prompt or prompt-file, not both");
  }
  const prompt = file === "" ? text3 : readPromptFile(runner2, file);
  if (prompt.trim() === "") {
    throw new InputError(
      file === "" ? "the input prompt or prompt-file is missing" : `${file} is empty`
    );
  }
  checkLength(prompt);
  return prompt;
}
function checkLength(prompt) {
  const length = Buffer.byteLength(JSON.stringify({ prompt }));
  if (length <= MOST_BODY_BYTES) return;
  throw new InputError(
    `the prompt is too long: as JSON it has ${length} bytes, and the gateway takes ${MOST_BODY_BYTES}`
  );
}
function readPromptFile(runner2, name) {
  const { GITHUB_WORKSPACE: workspace = process.cwd(), RUNNER_TEMP: temporary } = runner2.env;
  const file = resolveLinks(resolve(workspace, name));
  if (file === void 0) throw new InputError(`the input prompt-file: there is no file ${name}`);
  const folders = [workspace, temporary].flatMap(
    (folder) => folder && resolveLinks(folder) || []
  );
  if (!folders.some((folder) => isWithin(folder, file))) {
    throw new InputError(
      `the input prompt-file: ${name} is outside of the workspace and of the runner's temporary folder`
    );
  }
  return decode2(readContent(file, name), name);
}
function readContent(file, name) {
  try {
    const status = statSync(file);
    if (status.isDirectory()) throw new InputError(`the input prompt-file: ${name} is a folder`);
    if (!status.isFile()) throw new InputError(`the input prompt-file: ${name} is not a file`);
    if (status.size > MOST_BODY_BYTES) {
      throw new InputError(
        `the input prompt-file: ${name} has ${status.size} bytes, and the gateway takes ${MOST_BODY_BYTES}`
      );
    }
    return readFileSync2(file);
  } catch (error) {
    if (error instanceof InputError) throw error;
    const { code } = error;
    const why = code === "EACCES" ? "this user may not read it" : code ?? "unknown error";
    throw new InputError(`the input prompt-file: ${name} cannot be read: ${why}`);
  }
}
function decode2(bytes, name) {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw new InputError(`the input prompt-file: ${name} is not UTF-8`);
  }
}
function resolveLinks(path) {
  try {
    return realpathSync(path);
  } catch {
    return void 0;
  }
}
function isWithin(folder, file) {
  const path = relative(folder, file);
  return path !== ".." && !path.startsWith(`..${sep}`) && !isAbsolute(path);
}
function readBoolean(runner2, name) {
  const text3 = runner2.input(name).trim();
  if (/^(true|True|TRUE)$/.test(text3)) return true;
  if (/^(false|False|FALSE)$/.test(text3)) return false;
  throw new InputError(`the input ${name} must be true or false`);
}
function readDuration(runner2, name) {
  const text3 = runner2.input(name).trim();
  const [, digits, unit] = /^(\d{1,9})\s*([smh])$/.exec(text3) ?? [];
  const milliseconds = Number(digits) * (UNITS[unit ?? ""] ?? Number.NaN);
  if (milliseconds >= 1e3 && milliseconds <= LONGEST_TIMEOUT) return milliseconds;
  const found2 = text3 === "" ? "it is empty" : `found ${JSON.stringify(text3.slice(0, 40))}`;
  throw new InputError(`the input ${name} must be 1s to 120h, as in 90s, 30m or 2h: ${found2}`);
}

// action/src/job.ts
import { createHash as createHash2 } from "node:crypto";

// action/src/reachability.ts
var UNCONNECTED = {
  ENOTFOUND: "cannot be resolved",
  EAI_AGAIN: "cannot be resolved",
  ECONNREFUSED: "refuses connections",
  EHOSTUNREACH: "cannot be reached from this runner",
  ENETUNREACH: "cannot be reached from this runner",
  UND_ERR_CONNECT_TIMEOUT: "does not take connections",
  "bad port": "is at a port that fetch does not use",
  CERT_HAS_EXPIRED: "has a certificate that has expired",
  DEPTH_ZERO_SELF_SIGNED_CERT: "has a certificate that is not trusted",
  SELF_SIGNED_CERT_IN_CHAIN: "has a certificate that is not trusted",
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: "has a certificate that is not trusted",
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: "has a certificate that is not trusted",
  ERR_TLS_CERT_ALTNAME_INVALID: "has a certificate for another name"
};
var LONG_SILENCE = 1e4;
var Reachability = class {
  #runner;
  #host;
  #requests = 0;
  #connected = false;
  #obstacle;
  #lostSince;
  /** Whether the log is told when the gateway is lost, and when it is back. */
  isReported = false;
  constructor(gateway, runner2) {
    this.#host = new URL(gateway).host;
    this.#runner = runner2;
  }
  /** How many requests there were. */
  get requests() {
    return this.#requests;
  }
  /** Why no request has ever been sent, where that is so: the host, and what is wrong with it. */
  get obstacle() {
    return this.#connected || !this.#obstacle ? void 0 : `${this.#host} ${this.#obstacle}`;
  }
  /** Since when every request has failed, as a sentence without its end. */
  get loss() {
    if (this.#lostSince === void 0) return void 0;
    const time = this.#lostSince.toISOString().slice(11, 19);
    return `the gateway could not be reached since ${time} UTC`;
  }
  /** Sends a request. */
  async send(request) {
    this.#requests += 1;
    const began = /* @__PURE__ */ new Date();
    try {
      const response = await fetch(request);
      this.#connected = true;
      if (isOfGateway(response)) this.#find();
      else this.#lose(began, `status ${response.status}`);
      return response;
    } catch (error) {
      this.#obstacle = UNCONNECTED[findCode(error) ?? ""];
      if (this.#obstacle === void 0) this.#connected = true;
      const isTakenBack = request.signal.aborted && Date.now() - began.getTime() < LONG_SILENCE;
      if (!isTakenBack) this.#lose(began, this.obstacle ?? "no answer");
      throw error;
    }
  }
  #lose(since, why) {
    if (this.#lostSince !== void 0) return;
    this.#lostSince = since;
    if (this.isReported) {
      this.#runner.info(`The gateway cannot be reached (${why}); the step goes on trying.`);
    }
  }
  #find() {
    if (this.#lostSince === void 0) return;
    this.#lostSince = void 0;
    if (this.isReported) this.#runner.info("The gateway can be reached again.");
  }
};
function isOfGateway({ status, headers }) {
  return status < 500 || (headers.get("content-type") ?? "").includes("json");
}
function findCode(error) {
  const { code, message, cause } = error;
  if (typeof code === "string") return code;
  if (message === "bad port") return message;
  return cause instanceof Error ? findCode(cause) : void 0;
}

// action/src/job.ts
var CREATION_GRACE = 3e3;
var CREATION_PATIENCE = 3e4;
var MOST_RETRIES = 10;
var WAIT_PAUSE = 1e3;
var INPUT_NAMES = {
  baseUrl: "gateway",
  projectId: "project",
  idempotencyKey: "idempotency-key",
  prompt: "prompt",
  token: "token"
};
function connect(inputs, identity, token, runner2) {
  const lost = new AbortController();
  const reachability = new Reachability(inputs.gateway, runner2);
  const debug = (message, ...rest) => {
    runner2.debug([message, ...rest].map(String).join(" "));
  };
  const connection = {
    ...{ lost: lost.signal, reachability, onRetry: void 0 }
  };
  const client = new Client({
    baseUrl: inputs.gateway,
    projectId: inputs.project,
    token,
    fetch: async (request) => {
      const current = await identity.token(request.signal).catch((error) => {
        if (error instanceof IdentityError && !error.mayPass) lost.abort(error);
        throw error;
      });
      request.headers.set("authorization", `Bearer ${current}`);
      return reachability.send(request);
    },
    defaultHeaders: { "user-agent": "quillgate-action" },
    logger: { error: debug, warn: debug, info: debug, debug },
    logLevel: runner2.isDebug ? "debug" : "off",
    onRetry: ({ error, wait }) => connection.onRetry?.(error, wait)
  });
  return Object.assign(connection, { client });
}
function deriveIdempotencyKey(env, prompt) {
  const names2 = [
    ...["GITHUB_SERVER_URL", "GITHUB_REPOSITORY_ID", "GITHUB_REPOSITORY", "GITHUB_WORKFLOW_REF"],
    ...["GITHUB_WORKFLOW", "GITHUB_RUN_ID", "GITHUB_RUN_ATTEMPT", "GITHUB_JOB", "GITHUB_ACTION"]
  ];
  const parts = [...names2.map((name) => env[name] ?? ""), prompt];
  const digest = createHash2("sha256").update(JSON.stringify(parts)).digest("hex");
  const { GITHUB_RUN_ID: run2 = "", GITHUB_RUN_ATTEMPT: attempt = "" } = env;
  return `github-${run2}-${attempt}-${digest.slice(0, 32)}`;
}
async function createJob(connection, inputs, key, { runner: runner2, signal }) {
  const abort = new AbortController();
  const end = performance.now() + Math.min(CREATION_PATIENCE, inputs.timeout);
  let timer;
  const onAbort = () => {
    timer = setTimeout(() => abort.abort(signal.reason), CREATION_GRACE);
  };
  signal.addEventListener("abort", onAbort);
  connection.onRetry = (error, wait) => {
    if (performance.now() + wait > end && !(error instanceof ConflictError)) {
      abort.abort(error);
      return;
    }
    const why = connection.reachability.obstacle ?? error.message;
    runner2.info(`${why}; trying again in ${Math.ceil(wait / 1e3)} s`);
  };
  try {
    const options = { idempotencyKey: key, signal: abort.signal, maxRetries: MOST_RETRIES };
    const creation = connection.client.agentJobs.create({ prompt: inputs.prompt }, options);
    const { data: job, response } = await creation.withResponse();
    const isReplayed = response.headers.get("idempotent-replayed") === "true";
    return { job, isReused: isReplayed && connection.reachability.requests === 1 };
  } finally {
    connection.onRetry = void 0;
    clearTimeout(timer);
    signal.removeEventListener("abort", onAbort);
  }
}
async function waitForJob({ client, lost, reachability }, created, options) {
  const { timeout, after, signal, onUpdate } = options;
  const end = performance.now() + timeout;
  let job = created;
  let failure;
  const expire = () => {
    return { kind: "timed-out", job, after, trouble: reachability.loss ?? failure };
  };
  reachability.isReported = true;
  for (; ; ) {
    try {
      await client.agentJobs.wait(created.id, {
        timeout: Math.max(1, Math.ceil(end - performance.now())),
        signal: AbortSignal.any([signal, lost]),
        onUpdate: (next) => {
          failure = void 0;
          job = { ...next, id: next.id ?? job.id };
          onUpdate(job);
        }
      });
      return { kind: "ended", job };
    } catch (error) {
      if (signal.aborted) return { kind: "cancelled", job };
      if (error instanceof JobWaitTimeoutError) return expire();
      const reason = explainError(lost.aborted ? lost.reason : error);
      if (lost.aborted || !mayPass2(error)) return { kind: "failed", job, reason };
      failure = reason;
    }
    if (performance.now() + WAIT_PAUSE >= end) return expire();
    await new Promise((resolve2) => setTimeout(resolve2, WAIT_PAUSE));
    if (signal.aborted) return { kind: "cancelled", job };
  }
}
function mayPass2(error) {
  return [ConnectionError, TimeoutError, ServerError].some((type) => error instanceof type);
}
function mayHaveStarted(error, { reachability }) {
  if (error instanceof ApiError) {
    return error instanceof OutcomeUnknownError || error.status >= 500 && error.code === null;
  }
  if (error instanceof DecodeError) return !isForeign(error);
  if (reachability.requests === 0 || reachability.obstacle !== void 0) return false;
  return [ConnectionError, TimeoutError].some((type) => error instanceof type);
}
function isForeign(error) {
  if ((error.headers.get("content-type") ?? "").includes("json")) return false;
  return error instanceof DecodeError || error.code === null && error.status < 500;
}
function readProblemKind(error) {
  return error instanceof ApiError ? error.code?.split("/").at(-1) : void 0;
}
function explainCreation(error, inputs, reachability) {
  const { gateway, project, audience, token } = inputs;
  const says = error instanceof Error ? error.message : String(error);
  if (error instanceof ConnectionError && reachability?.obstacle !== void 0) {
    return `${reachability.obstacle}; check the input gateway`;
  }
  if ((error instanceof ApiError || error instanceof DecodeError) && isForeign(error)) {
    const type = error.headers.get("content-type")?.split(";")[0] ?? "without a type";
    const status = error instanceof ApiError ? error.status : "200";
    return `what answers at ${gateway} is no Quillgate gateway (status ${status}, ${type}); check the input gateway`;
  }
  if (error instanceof ValidationError) {
    const input = INPUT_NAMES[error.field];
    return input === void 0 ? says : `the input ${says.replace(error.field, () => input)}`;
  }
  if (error instanceof AuthenticationError) {
    if (token !== void 0) return `the gateway does not accept the input token: ${says}`;
    const hint = says.includes("audience") ? `. The input audience is ${JSON.stringify(audience)}: it must be one that TRUSTED_ISSUERS has for this issuer` : "";
    return `the gateway does not accept this identity: ${says}${hint}`;
  }
  const rule = "the rule of TRUSTED_ISSUERS that fits this workflow";
  switch (readProblemKind(error)) {
    case "project-not-allowed":
      return token === void 0 ? `${says}. Change the input project, or add ${JSON.stringify(project)} to the member projects of ${rule}` : `${says}. Change the input project, or give a token for ${JSON.stringify(project)} as the input token`;
    case "insufficient-scope":
      return token === void 0 ? `${says}. Add it to the member scope of ${rule}` : `${says}. Give a token that has it as the input token`;
    case "idempotency-key-reused":
      return `${says}: within 24 hours, the input idempotency-key stands for one prompt in one project. Give another idempotency-key, or the same prompt`;
    case "content-too-large":
      return `the prompt is too long: as JSON it may have ${MOST_BODY_BYTES} bytes. Shorten the input prompt or prompt-file`;
    default:
      return explainError(error);
  }
}
function explainError(error) {
  if (error instanceof AuthenticationError) {
    return `the gateway does not accept this identity: ${error.message}`;
  }
  if (error instanceof PermissionError) {
    return `the gateway does not allow this identity to do it: ${error.message}`;
  }
  if (error instanceof OutcomeUnknownError) {
    return `the platform gave no answer that can be relied on: ${error.message}`;
  }
  if (error instanceof RateLimitError) {
    const when = error.retryAfter === null ? "" : ` There is room again in ${error.retryAfter} s.`;
    return `the gateway takes no further job now: ${error.message}.${when}`;
  }
  if (error instanceof ConnectionError && error.cause instanceof IdentityError) {
    return error.cause.message;
  }
  if (error instanceof ConnectionError || error instanceof TimeoutError) {
    return `the gateway cannot be reached: ${error.message}`;
  }
  if (error instanceof ApiError) {
    const request = error.requestId === null ? "" : ` (request ${error.requestId})`;
    return `the gateway refused: ${error.message}${request}`;
  }
  if (error instanceof QuillgateError || error instanceof IdentityError) return error.message;
  throw error;
}

// action/src/report.ts
var LONGEST_PROMPT = 4e3;
var NO_PULL_REQUEST = {
  completed: "none: no file was changed",
  archived: "none",
  failed: "none"
};
function describeOutcome(outcome) {
  const { kind, job } = outcome;
  switch (kind) {
    case "started":
      return "The job has been started";
    case "ended":
      return outcome.job.status === "failed" ? "The job failed" : `The job is ${job?.status}`;
    case "timed-out":
      return outcome.trouble === void 0 ? `The job has not ended within ${outcome.after}, and goes on` : `The end of the job was not seen within ${outcome.after}`;
    case "cancelled":
      return job === void 0 ? "The step was cancelled before the gateway said that it has created the job" : "The step was cancelled; the job goes on";
    case "unknown":
      return "It is not known whether the job was started";
    case "failed":
      return job === void 0 ? "The job was not started" : "The job is no longer waited for";
  }
}
function explainFailure(outcome, context) {
  const { kind, job } = outcome;
  switch (kind) {
    case "started":
      return void 0;
    case "ended":
      return job?.status === "failed" ? explainFailedJob(job, context) : void 0;
    case "timed-out":
      return outcome.trouble === void 0 ? `The job ${job?.id} goes on. Give the input timeout more time, or set wait to false.` : `${capitalize(outcome.trouble)}. The job ${job?.id} may go on.`;
    case "cancelled":
      return job === void 0 ? "The gateway's list of jobs shows whether there is one." : `The job ${job.id} goes on.`;
    case "unknown":
      return context.hasOwnKey ? `${outcome.reason}. Look at the platform's dashboard; to start another job, give another idempotency-key.` : `${outcome.reason}. Look at the platform's dashboard first: a re-run starts another job.`;
    case "failed":
      return outcome.reason;
  }
}
function explainFailedJob({ id }, { project, hasOwnKey, isReused }) {
  const another = "give another idempotency-key, or start a run that has another";
  const words = `The job ${id} of ${project} has failed`;
  if (isReused) {
    return `${words}. It is from an earlier attempt with the same idempotency-key; to start another job, ${another}.`;
  }
  const dashboard = `${words}; the platform's dashboard shows why`;
  return hasOwnKey ? `${dashboard}. A re-run with the same idempotency-key would find this job again; to start another, ${another}.` : `${dashboard}. Re-run the workflow's job to start another.`;
}
function summarizeMistake(words) {
  return `### The step is set up wrongly

> ${escapeMarkdown(words)}

No job was started.`;
}
function summarize(outcome, context) {
  const failure = explainFailure(outcome, context);
  const parts = [
    `### ${describeOutcome(outcome)}`,
    ...failure === void 0 ? [] : [`> ${escapeMarkdown(failure)}`],
    formatTable(outcome.job, context),
    ...isUnnamed(outcome) ? [`To see the project's jobs:

${formatBlock(formatListCommand(context))}`] : [],
    ...isUnfinished(outcome) ? [`To go on waiting:

${formatBlock(formatResumeCommand(outcome.job, context))}`] : [],
    `<details><summary>Prompt</summary>

${formatBlock(shorten2(context.prompt))}

</details>`
  ];
  return parts.join("\n\n");
}
function composeComment(outcome, context) {
  const { job } = outcome;
  const run2 = `[this run](${context.run})`;
  if (job === void 0) {
    const reason2 = "reason" in outcome ? `: ${escapeComment(outcome.reason)}` : "";
    return `${describeOutcome(outcome)}${reason2} (${run2})`;
  }
  const link = job.prLink ? `: ${formatLink(job.prLink)}` : "";
  const reason = "reason" in outcome ? ` (${escapeComment(outcome.reason)})` : "";
  const name = job.id ? `Job ${formatCode(job.id)} of` : "In";
  return [
    `**${describeOutcome(outcome)}**${link}${reason}`,
    `${name} the project ${formatCode(context.project)}, from ${run2}.`
  ].join("\n\n");
}
function isUnnamed(outcome) {
  return outcome.kind === "unknown" || outcome.kind === "cancelled" && outcome.job === void 0;
}
function isUnfinished(outcome) {
  return outcome.kind !== "ended" && typeof outcome.job?.id === "string";
}
function formatResumeCommand(job, context) {
  return formatCommand(`job watch ${quote2(job.id ?? "")}`, context);
}
function formatListCommand(context) {
  return formatCommand("job list", context);
}
function formatCommand(command, { gateway, project }) {
  const settings = [
    `QUILLGATE_BASE_URL=${quote2(gateway)}`,
    `QUILLGATE_PROJECT_ID=${quote2(project)}`
  ];
  return `${settings.join(" ")} npx quillgate ${command}`;
}
function formatTable(job, { project }) {
  const link = job?.prLink ? formatLink(job.prLink) : void 0;
  const none = NO_PULL_REQUEST[job?.status ?? ""] ?? "none yet";
  const rows = [
    ["Project", formatCode(project)],
    ...job?.id ? [["Job", formatCode(job.id)]] : [],
    ...job ? [["Status", escapeMarkdown(job.status ?? "unknown")]] : [],
    ...job ? [["Pull request", link ?? none]] : []
  ];
  const lines = rows.map(([name, value2]) => `| ${name} | ${value2?.replaceAll("|", "\\|")} |`);
  return ["| | |", "| --- | --- |", ...lines].join("\n");
}
function formatLink(address) {
  const url = URL.canParse(address) ? new URL(address) : void 0;
  if (url?.protocol !== "https:") return formatCode(address);
  const [, repository, number3] = /^\/([\w.-]+\/[\w.-]+)\/pull\/(\d+)$/.exec(url.pathname) ?? [];
  const label = repository ? `${repository}#${number3}` : `${url.host}${url.pathname}`;
  return `[${escapeMarkdown(label)}](<${url.href}>)`;
}
function escapeMarkdown(text3) {
  return joinLines(text3).replace(/[\\`*_{}[\]<>~@]/g, "\\$&");
}
function escapeComment(text3) {
  return escapeMarkdown(text3).replaceAll("@", "@​");
}
function capitalize(text3) {
  return text3.slice(0, 1).toUpperCase() + text3.slice(1);
}
function formatCode(text3) {
  const line = joinLines(text3);
  const marks = "`".repeat(findLongestRun(line) + 1);
  return marks.length === 1 ? `\`${line}\`` : `${marks} ${line} ${marks}`;
}
function formatBlock(text3) {
  const marks = "`".repeat(Math.max(3, findLongestRun(text3) + 1));
  return `${marks}text
${text3}
${marks}`;
}
function findLongestRun(text3) {
  return Math.max(0, ...Array.from(text3.matchAll(/`+/g), ([run2]) => run2.length));
}
function joinLines(text3) {
  return text3.replace(/\s+/g, " ").trim();
}
function shorten2(text3) {
  if (text3.length <= LONGEST_PROMPT) return text3;
  return `${text3.slice(0, LONGEST_PROMPT)}
… (${text3.length} characters in all)`;
}
function quote2(text3) {
  return /^[\w./:@-]+$/.test(text3) ? text3 : `'${text3.replaceAll("'", "'\\''")}'`;
}

// action/src/runner.ts
import { randomUUID } from "node:crypto";
import { appendFileSync } from "node:fs";
var RunnerError = class extends Error {
};
var Runner = class {
  env;
  #write;
  #secrets = /* @__PURE__ */ new Set();
  constructor(env, write) {
    this.env = env;
    this.#write = write;
  }
  /** An input as `action.yml` names it; empty where the workflow gives none. */
  input(name) {
    return this.env[`INPUT_${name.toUpperCase().replaceAll(" ", "_")}`] ?? "";
  }
  /** Whether the workflow is run with debug logs. */
  get isDebug() {
    return this.env.RUNNER_DEBUG === "1";
  }
  /** Keeps a value out of the log and of every file that is written from now on. */
  mask(secret) {
    if (secret === "" || this.#secrets.has(secret)) return;
    this.#write(`::add-mask::${escapeData(secret)}`);
    this.#secrets.add(secret);
  }
  info(text3) {
    this.#write(this.#redact(neutralize(text3)));
  }
  debug(text3) {
    this.#command("debug", {}, text3);
  }
  /** Lines that the log shows folded. */
  group(title, lines) {
    this.#command("group", {}, title);
    for (const line of lines) this.info(line);
    this.#write("::endgroup::");
  }
  /** A message that the run's page shows. */
  annotate(level, title, text3) {
    this.#command(level, { title }, text3);
  }
  setOutput(name, value2) {
    const text3 = this.#redact(value2);
    const delimiter = `quillgate-${randomUUID()}`;
    this.#append("GITHUB_OUTPUT", `${name}<<${delimiter}
${text3}
${delimiter}
`);
  }
  /** Adds to the summary that the run's page shows. */
  appendSummary(markdown) {
    this.#append("GITHUB_STEP_SUMMARY", `${this.#redact(markdown)}
`);
  }
  #append(variable2, text3) {
    const file = this.env[variable2];
    if (!file) throw new RunnerError(`${variable2} is not set: this runs as a step of a workflow`);
    appendFileSync(file, text3);
  }
  #command(name, properties, text3) {
    const pairs = Object.entries(properties).map(([key, value2]) => {
      return `${key}=${escapeProperty(this.#redact(value2))}`;
    });
    const head = pairs.length > 0 ? `${name} ${pairs.join(",")}` : name;
    this.#write(`::${head}::${escapeData(this.#redact(text3))}`);
  }
  #redact(text3) {
    let redacted = text3;
    for (const secret of this.#secrets) redacted = redacted.replaceAll(secret, "***");
    return redacted;
  }
};
function neutralize(text3) {
  const line = text3.replace(/[\r\n]+/g, " ").replaceAll("##[", "## [");
  return line.trimStart().startsWith("::") ? `· ${line}` : line;
}
function escapeData(text3) {
  return text3.replaceAll("%", "%25").replaceAll("\r", "%0D").replaceAll("\n", "%0A");
}
function escapeProperty(text3) {
  return escapeData(text3).replaceAll(":", "%3A").replaceAll(",", "%2C");
}

// action/src/main.ts
var SHOWN_CLAIMS = [
  "iss",
  "aud",
  "sub",
  "repository",
  "repository_id",
  "repository_owner_id",
  "event_name",
  "ref",
  "ref_type",
  "environment",
  "job_workflow_ref",
  "actor_id",
  "runner_environment"
];
var runner = new Runner(process.env, (line) => process.stdout.write(`${line}
`));
try {
  const code = await run(cancellation);
  process.exitCode ??= code;
} catch (error) {
  if (!(error instanceof InputError || error instanceof RunnerError)) throw error;
  runner.annotate("error", "The step is set up wrongly", error.message);
  if (runner.env.GITHUB_STEP_SUMMARY) runner.appendSummary(summarizeMistake(error.message));
  process.exitCode = 1;
}
async function run(signal) {
  const inputs = readInputs(runner);
  const pull2 = readPullRequest(runner.env);
  const context = readContext(inputs, runner.env);
  const comment = prepareComment(inputs, pull2);
  const started = await start(inputs, pull2, signal);
  if (!("connection" in started)) return await finish(started, { context, comment });
  const { connection, job } = started;
  context.isReused = started.isReused;
  runner.setOutput("job-id", job.id ?? "");
  runner.info(describeStatus(job));
  if (started.isReused) {
    runner.info("It is from an earlier attempt, which had the same idempotency-key.");
  }
  if (!inputs.wait || signal.aborted) {
    const kind = signal.aborted ? "cancelled" : "started";
    return await finish({ kind, job }, { context, comment });
  }
  await writeComment(comment, { kind: "started", job }, context, signal);
  let status = job.status;
  const outcome = await waitForJob(connection, job, {
    ...{ timeout: inputs.timeout, after: runner.input("timeout").trim(), signal },
    onUpdate: (next) => {
      if (next.status !== status) runner.info(describeStatus(next));
      status = next.status;
    }
  });
  return await finish(outcome, { context, comment });
}
async function start(inputs, pull2, signal) {
  let identity;
  let connection;
  try {
    identity = inputs.token ? new AccessToken(inputs.token) : new WorkflowIdentity(runner, inputs.audience, pull2);
    const token = await identity.token(signal);
    connection = connect(inputs, identity, token, runner);
    const key = inputs.idempotencyKey ?? deriveIdempotencyKey(runner.env, inputs.prompt);
    const created = await createJob(connection, inputs, key, { runner, signal });
    if (created.job.id !== null) return { connection, ...created };
    return { kind: "failed", job: created.job, reason: "the platform gave the job no identifier" };
  } catch (error) {
    if (signal.aborted) return { kind: "cancelled", job: void 0 };
    const isUnknown = readProblemKind(error) === "identity-not-mapped";
    if (isUnknown || error instanceof AuthenticationError) showClaims(identity);
    const kind = connection && mayHaveStarted(error, connection) ? "unknown" : "failed";
    const reason = explainCreation(error, inputs, connection?.reachability);
    return { kind, job: void 0, reason };
  }
}
function showClaims(identity) {
  const claims = identity?.claims;
  if (claims === void 0) return;
  const lines = SHOWN_CLAIMS.flatMap((name) => {
    return claims[name] === void 0 ? [] : [`${name}: ${JSON.stringify(claims[name])}`];
  });
  runner.group("The claims of this workflow's identity, for the gateway's TRUSTED_ISSUERS", lines);
}
async function finish(outcome, { context, comment }) {
  const { job } = outcome;
  runner.setOutput("status", job?.status ?? "");
  runner.setOutput("pull-request", job?.prLink ?? "");
  const words = describeOutcome(outcome);
  if (job?.prLink) runner.annotate("notice", words, `Pull request: ${job.prLink}`);
  if (isUnfinished(outcome) && outcome.kind !== "started") {
    runner.info("To go on waiting, with an access token in QUILLGATE_TOKEN:");
    runner.info(formatResumeCommand(outcome.job, context));
  }
  if (isUnnamed(outcome)) {
    runner.info("To see the project's jobs, with an access token in QUILLGATE_TOKEN:");
    runner.info(formatListCommand(context));
  }
  const failure = explainFailure(outcome, context);
  if (failure !== void 0) {
    const level = outcome.kind === "cancelled" ? "warning" : "error";
    runner.annotate(level, words, failure);
  }
  runner.appendSummary(summarize(outcome, context));
  await writeComment(comment, outcome, context);
  return failure === void 0 ? 0 : 1;
}
function describeStatus({ id, status }) {
  return `The job ${id} is ${status ?? "in a state that is not known"}.`;
}
function readContext(inputs, env) {
  const { gateway, project, prompt, idempotencyKey } = inputs;
  const { GITHUB_SERVER_URL: server = "https://github.com", GITHUB_REPOSITORY: repository } = env;
  const { GITHUB_RUN_ID: id, GITHUB_RUN_ATTEMPT: attempt = "1" } = env;
  const run2 = `${server}/${repository}/actions/runs/${id}/attempts/${attempt}`;
  const hasOwnKey = idempotencyKey !== void 0;
  return { gateway, project, prompt, run: run2, hasOwnKey, isReused: false };
}
function prepareComment(inputs, pull2) {
  if (!inputs.comment) return void 0;
  if (pull2 === void 0) {
    runner.info("There is no comment, since this event is not about a pull request.");
    return void 0;
  }
  const { GITHUB_API_URL: api = "https://api.github.com", GITHUB_REPOSITORY: repository } = runner.env;
  if (inputs.githubToken === void 0 || !repository) {
    throw new InputError("the input github-token is missing, which writes the comment");
  }
  const { GITHUB_WORKFLOW_REF: workflow = "", GITHUB_JOB: job, GITHUB_ACTION: step } = runner.env;
  const names2 = [workflow.split("@")[0], job, step, inputs.project];
  const { GITHUB_EVENT_NAME: event, GITHUB_RUN_ID: run2 = "" } = runner.env;
  return new JobComment({
    ...{ api, repository, number: pull2.number, token: inputs.githubToken, run: run2 },
    step: JSON.stringify(names2),
    // Each comment of somebody's is a request by itself.
    keepsEarlier: event === "issue_comment"
  });
}
async function writeComment(comment, outcome, context, signal) {
  try {
    const kind = outcome.job === void 0 ? "note" : "job";
    await comment?.write({ kind, markdown: composeComment(outcome, context) }, signal);
  } catch (error) {
    if (!(error instanceof CommentError)) throw error;
    if (signal?.aborted) return;
    runner.annotate("warning", "The comment was not written", error.message);
  }
}
