/** Exports of lists as CSV and NDJSON streams: their bytes, their positions and how they end. */
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import { inspect } from "node:util";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { startUpstream } from "../harness/upstream.mjs";
import { against, inTurn, KEY, quillgate, rejectionOf, skipWaits } from "./behaviour/fixtures.mjs";
import { Random } from "./random.mjs";

const FORMATS = ["csv", "ndjson"];
const BYTE_ORDER_MARK = "\uFEFF";
/** More than two pages of maximum size in every list. */
const ROWS = 620;
const SEED = Number(process.env.EXPORT_SEED ?? 7);

/**
 * Per list: the type of each column, the property of a page that has its rows, the maximum page
 * size, how pages continue, and the other properties of a page.
 */
const LISTS = {
  views: {
    list: ({ analytics }, ...args) => analytics.views(...args),
    columns: { path: "string", human: "count", ai: "count", total: "count" },
    ...{ rows: "views", maxRows: 250, by: "offset", base: '"totals":{},' },
  },
  visitors: {
    list: ({ analytics }, ...args) => analytics.visitors(...args),
    columns: { path: "string", human: "count", ai: "count", total: "count" },
    ...{ rows: "visitors", maxRows: 250, by: "offset", base: '"totals":{},' },
  },
  feedback: {
    list: ({ analytics }, ...args) => analytics.feedback(...args),
    columns: {
      ...strings("id", "path", "comment", "createdAt"),
      ...{ source: "source", status: "string", helpful: "boolean" },
      ...strings("contact", "code", "filename", "lang"),
    },
    ...{ rows: "feedback", maxRows: 100, by: "cursor", base: "" },
  },
  searches: {
    list: ({ analytics }, ...args) => analytics.searches(...args),
    columns: {
      ...{ searchQuery: "string", hits: "count", ctr: "number" },
      ...strings("topClickedPage", "lastSearchedAt"),
    },
    ...{ rows: "searches", maxRows: 100, by: "cursor", base: "" },
  },
  conversations: {
    list: ({ analytics }, ...args) => analytics.conversations(...args),
    columns: {
      ...strings("id", "timestamp", "query", "response", "responseType"),
      sources: "sources",
      ...strings("resolutionStatus", "queryCategory", "pageUrl"),
    },
    ...{ rows: "conversations", maxRows: 250, by: "cursor", base: "" },
  },
  jobs: {
    list: ({ agentJobs }, ...args) => agentJobs.list(...args),
    columns: {
      id: "id",
      ...strings("status", "prompt", "createdBy", "createdAt", "prLink", "checkedAt"),
    },
    ...{ rows: "jobs", maxRows: 100, by: "cursor", base: "" },
  },
};

function strings(...names) {
  return Object.fromEntries(names.map((name) => [name, "string"]));
}

const NAMES = Object.keys(LISTS);

// --- rows in the spellings that JSON allows, and a plain implementation of the export --------------

const STRINGS = [
  "",
  "/guides/start",
  "=1+2",
  "+49",
  "-1",
  "@SUM(A1)",
  "＝1+2",
  "＠x",
  "/x;=1;",
  "\tx",
  "\rx",
  "\nx",
  "'=1",
];
const MORE_STRINGS = [
  'say "x"',
  "a,b",
  "a\r\nb",
  "é/ü",
  "😀",
  "\\",
  "\u0000",
  "\u2028",
  "a;b",
  "]}",
];
const SPACES = ["", "", "", " ", "\n", "\t", "\r\n  "];

/** Writes a JSON string with unnecessary escapes. */
function writeString(random, text) {
  const characters = Array.from({ length: text.length }, (_, at) => {
    const unit = text[at];
    const escaped = `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
    return random.chance(0.1) ? escaped : JSON.stringify(unit).slice(1, -1);
  });
  // `JSON.stringify` escapes a surrogate without its pair.
  return `"${characters.join("")}"`;
}

const anyString = (random) =>
  random.pick([...STRINGS, ...MORE_STRINGS]) + random.pick(["", "", "x,"]);

/** JSON tokens of a random value, by column type. */
const VALUES = {
  id: (random) => [writeString(random, anyString(random))],
  string: (random) => [random.chance(0.1) ? "null" : writeString(random, anyString(random))],
  source: (random) => [random.pick(['"contextual"', '"code_snippet"', '"agent"', '"\\u0061"'])],
  boolean: (random) => [random.pick(["true", "false", "null"])],
  count: (random) => [random.pick(["0", "7", "7.0", "9e3", "9007199254740991", "null"])],
  number: (random) => [random.pick(["-0", "0.10", "1E-2", "-1.5", "12", "null"])],
  sources: (random) => {
    if (random.chance(0.2)) return ["null"];
    const source = () => objectOf([["title", VALUES.string(random)]]);
    return listOf(Array.from({ length: random.integer(0, 3) }, source));
  },
  unknown: (random) =>
    random.pick([
      () => ["1.50"],
      () => objectOf([["a", ["[", "]"]]]),
      () => listOf([["{", "}"], ['"]"'], ["1"]]),
      () => VALUES.string(random),
    ]),
};

const listOf = (items) => ["[", ...items.flatMap((item, at) => (at ? [",", ...item] : item)), "]"];

function objectOf(properties) {
  const tokens = properties.map(([name, value]) => [JSON.stringify(name), ":", ...value]);
  return ["{", ...listOf(tokens).slice(1, -1), "}"];
}

/** Returns the JSON tokens of a row and of its cells. */
function makeRow(random, { columns }) {
  const cells = Object.entries(columns).map(([name, type]) => [name, VALUES[type](random)]);
  // A null column may also be absent.
  const present = cells.filter(([, value]) => value[0] !== "null" || random.chance(0.5));
  if (random.chance(0.3)) present.splice(random.integer(0, 2), 0, ["more", VALUES.unknown(random)]);
  if (random.chance(0.3)) present.reverse();
  return { tokens: objectOf(present), cells: new Map(cells) };
}

/** The expected bytes of an export. */
const EXPECTED = {
  ndjson: (rows) => rows.map(({ tokens }) => `${tokens.join("")}\n`).join(""),
  csv: (rows, { columns }) => {
    const names = Object.keys(columns);
    const records = rows.map(({ cells }) => names.map((name) => cellOf(cells.get(name))));
    const lines = [names, ...records].map((cells) => `${cells.join(",")}\r\n`);
    return BYTE_ORDER_MARK + lines.join("");
  },
};

function cellOf(tokens) {
  const json = tokens.join("");
  if (json === "null") return "";
  let cell = json;
  if (json[0] === '"') {
    cell = JSON.parse(json);
    if (["=", "+", "-", "@", "＝", "＋", "－", "＠", "\t", "\r", "\n"].includes(cell[0]))
      cell = `'${cell}`;
  }
  const isPlain = ['"', ",", ";", "\r", "\n"].every((mark) => !cell.includes(mark));
  return isPlain ? cell : `"${cell.split('"').join('""')}"`;
}

const queryOf = ({ path }) => new URL(path, "http://x").searchParams;

/** Returns a cursor after `at` rows. It is a ULID, as conversations require. */
const cursorOf = (at) => `01ARZ3NDEKTSV4RRFF${String(at).padStart(8, "0")}`;

/** Responds with the requested page, with random white space in its JSON. */
function pageOf(list, rows, random) {
  return (received) => {
    const query = queryOf(received);
    const from = Number(query.get("offset") ?? query.get("cursor")?.slice(-8) ?? 0);
    const to = Math.min(rows.length, from + Number(query.get("limit")));
    const tokens = listOf(rows.slice(from, to).map((row) => row.tokens));
    const text = tokens.map((token) => random.pick(SPACES) + token).join("");
    const next = to < rows.length ? `"${cursorOf(to)}"` : "null";
    const more = list.by === "cursor" ? `"nextCursor":${next}` : `"hasMore":${to < rows.length}`;
    const hasMore = list.by === "cursor" && list.rows !== "searches" && list.rows !== "jobs";
    const end = hasMore ? `${more},"hasMore":${to < rows.length}` : more;
    return { text: `{${list.base}"${list.rows}":${text},${end}}` };
  };
}

function makeRows(random, list, count = ROWS) {
  return Array.from({ length: count }, () => makeRow(random, list));
}

const decode = (chunks) => Buffer.concat(chunks).toString("utf8");

/** Returns the whole text of a stream. */
async function read(stream) {
  const chunks = [];
  for await (const chunk of stream) {
    assert.ok(chunk instanceof Uint8Array && chunk.length > 0);
    chunks.push(chunk);
  }
  return decode(chunks);
}

// --- the bytes ---------------------------------------------------------------------------------

for (const name of NAMES) {
  const list = LISTS[name];

  describe(`Exports of ${name}`, () => {
    for (const format of FORMATS) {
      test(`an export of ${name} has every row as ${format}, whatever its content and its JSON spelling`, () => {
        const random = new Random(SEED);
        const rows = makeRows(random, list);
        return against(pageOf(list, rows, random), async (client, { requests }) => {
          const stream = list.list(client).export({ format });
          assert.ok(stream instanceof ReadableStream);
          assert.equal(await read(stream), EXPECTED[format](rows, list));
          assert.equal(stream.nextPosition, null);
          assert.equal(requests.length, Math.ceil(ROWS / list.maxRows));
        });
      });

      test(`an export of ${name} as ${format} that resumes after random failures is complete`, () => {
        const random = new Random(SEED + 1);
        const rows = makeRows(random, list);
        const page = pageOf(list, rows, random);
        let breaks = 0;
        const respond = (received) => {
          if (breaks >= 10 || random.chance(0.4)) return page(received);
          breaks++;
          return random.pick([
            () => ({ status: 429, headers: { "retry-after": "1800" } }),
            () => ({ status: 503 }),
            () => ({ ...page(received), cut: true }),
            () => ({ text: '{"views":' }),
          ]);
        };
        return against(
          respond,
          async (client, { requests }) => {
            let text = "";
            let position;
            let failures = 0;
            while (position !== null) {
              const made = list.list(client, { limit: 60 });
              const stream = made.export({ format, resumeFrom: position && JSON.parse(position) });
              try {
                for await (const chunk of stream) {
                  text += Buffer.from(chunk).toString("utf8");
                }
              } catch (error) {
                assert.ok(quillgate.isQuillgateError(error), inspect(error));
                failures++;
              }
              position = stream.nextPosition && JSON.stringify(stream.nextPosition);
            }
            assert.equal(text, EXPECTED[format](rows, list));
            assert.deepEqual([failures, breaks], [10, 10]);
            assert.equal(requests.length, Math.ceil(ROWS / 60) + breaks);
            const ends = new Set(
              requests.slice(-5).map((received) => queryOf(received).get("dateTo")),
            );
            assert.equal(ends.size, 1, "resuming changed the end of an open range");
          },
          { maxRetries: 0 },
        );
      });
    }

    test(`an export of ${name} without rows is the CSV header, or empty NDJSON`, () =>
      against(pageOf(list, [], new Random(SEED)), async (client) => {
        const header = EXPECTED.csv([], list);
        assert.equal(await read(list.list(client).export({ format: "csv" })), header);
        assert.equal(await read(list.list(client).export({ format: "ndjson" })), "");
      }));
  });
}

const { views } = LISTS;
const view = (at) => ({ tokens: [`{"path":"/${at}","human":${at}}`] });
const VIEWS = Array.from({ length: 10 }, (_, at) => view(at));
const plainPage = pageOf(views, VIEWS, { pick: () => "" });

test("an export as CSV has a byte order mark, CRLF line ends, RFC 4180 quotes and no formulas", () => {
  const paths = {
    "/guides/start": "/guides/start",
    "=1+2": "'=1+2",
    '=HYPERLINK("http://x.example","y")': `"'=HYPERLINK(""http://x.example"",""y"")"`,
    "+49": "'+49",
    "-2+3": "'-2+3",
    "@SUM(1)": "'@SUM(1)",
    "\t=1": "'\t=1",
    "\r=1": `"'\r=1"`,
    "\n=1": `"'\n=1"`,
    "＝1": "'＝1",
    "＋1": "'＋1",
    "－1": "'－1",
    "＠x": "'＠x",
    "/x;=1+1;": `"/x;=1+1;"`,
    "'=1": "'=1",
    " =1": " =1",
    "a,b": '"a,b"',
    "a;b": '"a;b"',
    'say "x"': '"say ""x"""',
    "two\nlines": '"two\nlines"',
    "é/ü/😀": "é/ü/😀",
    "": "",
  };
  const views = Object.keys(paths).map((path) => ({
    path,
    human: 1,
    ai: null,
    total: 2 ** 53 - 1,
  }));
  return against({ json: { totals: {}, views, hasMore: false } }, async ({ analytics }) => {
    const csv = new Response(analytics.views().export({ format: "csv" }));
    const bytes = new Uint8Array(await csv.arrayBuffer());
    const lines = Object.values(paths).map((cell) => `${cell},1,,9007199254740991\r\n`);
    const expected = `\uFEFFpath,human,ai,total\r\n${lines.join("")}`;
    assert.deepEqual(bytes, new TextEncoder().encode(expected));
  });
});

test("an export uses the last of duplicate properties, as JSON.parse does", () =>
  against(
    {
      text: '{"totals":{},"views":[],"hasMore":false,"views":[{"path":"a","path":"b","a":{"path":"c"}}]}',
    },
    async ({ analytics }) => {
      const text = await read(analytics.views().export({ format: "csv" }));
      assert.equal(text.split("\r\n")[1], "b,,,");
    },
  ));

test("an unpaired surrogate becomes U+FFFD in CSV and stays escaped in NDJSON", () =>
  against(
    { text: String.raw`{"totals":{},"views":[{"path":"\ud83d"}],"hasMore":false}` },
    async ({ analytics }) => {
      const [csv, ndjson] = await Promise.all(
        FORMATS.map((format) => read(analytics.views().export({ format }))),
      );
      assert.equal(csv.split("\r\n")[1], "\uFFFD,,,");
      assert.equal(ndjson, `${String.raw`{"path":"\ud83d"}`}\n`);
    },
  ));

// --- pages and chunks --------------------------------------------------------------------------

test("an export sends nothing until it is read, and then one request per read", () =>
  against(plainPage, async ({ analytics }, { requests }) => {
    const stream = analytics.views({ limit: 4 }).export({ format: "ndjson" });
    assert.equal(stream.nextPosition, undefined);
    const reader = stream.getReader();
    await turn();
    assert.equal(requests.length, 0);
    for (const [count, offset] of [
      [1, 4],
      [2, 8],
    ]) {
      const { value } = await reader.read();
      assert.equal(decode([value]).split("\n").length, 4 + 1);
      await turn();
      assert.equal(requests.length, count);
      assert.equal(stream.nextPosition.offset, offset);
    }
    assert.equal((await reader.read()).done, false);
    assert.equal(stream.nextPosition, null);
    assert.equal((await reader.read()).done, true);
    assert.equal(requests.length, 3);
  }));

test("one read of an export skips empty pages", () => {
  const empty = { json: { totals: {}, views: [], hasMore: true } };
  return against(inTurn(empty, empty, plainPage({ path: "/?limit=9" })), async (client) => {
    const reader = client.analytics.views().export({ format: "ndjson" }).getReader();
    assert.equal(decode([(await reader.read()).value]).split("\n").length, 9 + 1);
  });
});

test("the memory of an export does not grow with its rows", async () => {
  setFlagsFromString("--expose-gc");
  const collectGarbage = runInNewContext("gc");
  const rows = Array.from({ length: 250 }, (_, at) => view(at).tokens[0]).join();
  let pages = 0;
  const fetch = async () => {
    await turn(); // As over a network. Objects that a turn releases are collected after its end.
    const text = `{"totals":{},"views":[${rows}],"hasMore":${++pages < 2_000}}`;
    return new Response(text, { headers: { "content-type": "application/json" } });
  };
  const options = {
    baseUrl: "http://127.0.0.1:9",
    projectId: "acme",
    auth: { adminKey: KEY },
    fetch,
  };
  const { analytics } = new quillgate.Client(options);
  const used = [];
  let bytes = 0;
  for await (const chunk of analytics.views().export({ format: "csv" })) {
    bytes += chunk.length;
    if (pages === 200 || pages === 1_999) {
      // Finalizers release their objects one turn later.
      for (let times = 3; times--; ) {
        await turn();
        collectGarbage();
      }
      used.push(process.memoryUsage().heapUsed);
    }
  }
  assert.ok(bytes > 2_000 * 250 * 5, "half a million rows are at least this long");
  const [early, late] = used;
  assert.ok(late < early * 1.2, `${early} bytes after 50,000 rows, ${late} after 500,000`);
});

// --- failures, waits and aborts ----------------------------------------------------------------

const spent = (seconds) => ({
  status: 429,
  headers: { "retry-after": String(seconds) },
  json: { type: "/problems/rate-limited" },
});

test("an export fails when the budget is spent, and resumes from its position", () =>
  against(
    inTurn(plainPage({ path: "/?limit=4" }), spent(1800)),
    async ({ analytics }, { requests }) => {
      const stream = analytics.views({ limit: 4, dateTo: "2024-02-01" }).export({ format: "csv" });
      const error = await rejectionOf(read(stream));
      assert.ok(error instanceof quillgate.RateLimitError, inspect(error));
      assert.equal(error.retryAfter, 1800);
      assert.deepEqual(stream.nextPosition, { dateTo: "2024-02-01", limit: 4, offset: 4 });
      assert.equal(requests.length, 2);
    },
  ));

test("an export waits for the budget up to `wait` in total", (context) => {
  const waits = skipWaits(context);
  let count = 0;
  const respond = (received) => {
    count++;
    return [2, 3, 4].includes(count) ? spent(10) : plainPage(received);
  };
  return against(
    respond,
    async ({ analytics }) => {
      const options = { format: "ndjson", wait: 30_000 };
      const stream = analytics.views({ limit: 4 }).export(options);
      assert.equal((await read(stream)).split("\n").length, VIEWS.length + 1);
      assert.deepEqual(waits, [10_000, 10_000, 10_000]);
      count = 0;
      const second = analytics.views({ limit: 4 }).export({ ...options, wait: 29_999 });
      assert.ok((await rejectionOf(read(second))) instanceof quillgate.RateLimitError);
      assert.equal(waits.length, 5, "a wait beyond the limit does not start");
    },
    { maxRetries: 0 },
  );
});

test("`wait` does not apply to failures other than a spent budget", (context) => {
  const waits = skipWaits(context);
  return against(
    { status: 503, headers: { "retry-after": "2" } },
    async ({ analytics }) => {
      const stream = analytics.views().export({ format: "csv", wait: 60_000 });
      assert.ok((await rejectionOf(read(stream))) instanceof quillgate.ServerError);
      assert.deepEqual(waits, []);
    },
    { maxRetries: 0 },
  );
});

test("a malformed page fails the export before any of its rows", () => {
  const second = { json: { totals: {}, views: [{ path: "/4" }, { path: 5 }], hasMore: false } };
  return against(inTurn(plainPage({ path: "/?limit=4" }), second), async ({ analytics }) => {
    const stream = analytics.views({ limit: 4 }).export({ format: "ndjson" });
    const reader = stream.getReader();
    await reader.read();
    const error = await rejectionOf(reader.read());
    assert.ok(error instanceof quillgate.DecodeError, inspect(error));
    assert.equal(error.path, "views[1].path");
    assert.equal(stream.nextPosition.offset, 4);
  });
});

test("cancelling an export closes its connection and sends no other request", async () => {
  const second = { stall: "head" };
  await against(
    inTurn(plainPage({ path: "/?limit=4" }), second),
    async ({ analytics }, { requests, arrived }) => {
      const reader = analytics.views({ limit: 4 }).export({ format: "csv" }).getReader();
      await reader.read();
      const pending = reader.read();
      await arrived(2);
      await reader.cancel();
      assert.equal((await pending).done, true);
      assert.equal(await requests[1].ended, false);
      assert.equal(requests.length, 2);
    },
  );
  await against(plainPage, async ({ analytics }, { requests }) => {
    const stream = analytics.views({ limit: 4 }).export({ format: "csv" });
    await stream.cancel();
    const another = analytics.views({ limit: 4 }).export({ format: "csv" });
    const reader = another.getReader();
    const pending = reader.read();
    await reader.cancel();
    assert.equal((await pending).done, true);
    await analytics.views();
    assert.equal(requests.length, 1);
  });
});

for (const [owner, make] of [
  ["an export", (list, params, signal) => list(params).export({ format: "csv", signal })],
  [
    "the list of an export",
    (list, params, signal) => list(params, { signal }).export({ format: "csv" }),
  ],
]) {
  test(`the signal of ${owner} stops it with its reason: in a request, between reads and in a wait`, async (context) => {
    const page = plainPage({ path: "/?limit=4" });
    const views = ({ analytics }) => analytics.views.bind(analytics);
    await against(inTurn(page, { stall: "head" }), async (client, { requests, arrived }) => {
      const abort = new AbortController();
      const reader = make(views(client), { limit: 4 }, abort.signal).getReader();
      await reader.read();
      const failed = rejectionOf(reader.read());
      await arrived(2);
      abort.abort("enough");
      assert.equal(await failed, "enough");
      assert.equal(await requests[1].ended, false);
    });
    await against(page, async (client, { requests }) => {
      const abort = new AbortController();
      const reader = make(views(client), { limit: 4 }, abort.signal).getReader();
      await reader.read();
      abort.abort("enough");
      assert.equal(await rejectionOf(reader.read()), "enough");
      assert.equal(requests.length, 1);
    });
    await against(page, async (client, { requests }) => {
      const signal = AbortSignal.abort("enough");
      const stream = make(views(client), { limit: 4 }, signal);
      assert.equal(await rejectionOf(read(stream)), "enough");
      assert.equal(requests.length, 0);
    });
    const { setTimeout: startTimer } = globalThis;
    context.after(() => {
      globalThis.setTimeout = startTimer;
    });
    await against(spent(3600), async (client) => {
      const abort = new AbortController();
      globalThis.setTimeout = (run, ms, ...rest) => {
        if (ms === 3_600_000) queueMicrotask(() => abort.abort("enough"));
        return startTimer(run, ms, ...rest);
      };
      const options = { format: "csv", wait: 86_400_000, signal: abort.signal };
      const stream =
        owner === "an export"
          ? client.analytics.views().export(options)
          : client.analytics
              .views({}, { signal: abort.signal })
              .export({ ...options, signal: undefined });
      assert.equal(await rejectionOf(read(stream)), "enough");
    });
  });
}

test("an export with invalid options is rejected and sends nothing", () =>
  against(plainPage, async ({ analytics }, { requests }) => {
    const position = { dateFrom: "2024-01-01", dateTo: "2024-02-01", limit: 4, offset: 4 };
    for (const [params, options, field, rule] of [
      [{}, undefined, "format", "one-of"],
      [{}, { format: "xml" }, "format", "one-of"],
      [{}, { format: "csv", wait: -1 }, "wait", "milliseconds"],
      [{}, { format: "csv", wait: 1.5 }, "wait", "milliseconds"],
      [{}, { format: "csv", wait: 86_400_001 }, "wait", "milliseconds"],
      [{}, { format: "csv", delimiter: ";" }, "delimiter", "unknown"],
      [{}, { format: "csv", resumeFrom: null }, "resumeFrom", "required"],
      [{}, { format: "csv", resumeFrom: { ...position, limit: 0 } }, "limit", "page-size"],
      [{ dateFrom: "2024-01-02" }, { format: "csv", resumeFrom: position }, "resumeFrom", "one-of"],
      [{ dateFrom: "x" }, { format: "csv" }, "dateFrom", "date-format"],
    ]) {
      const stream = analytics.views(params).export(options);
      const error = await rejectionOf(read(stream));
      assert.ok(error instanceof quillgate.ValidationError, inspect(error));
      assert.deepEqual([error.field, error.rule], [field, rule]);
    }
    assert.equal(requests.length, 0);
    const same = { dateFrom: "2024-01-01", limit: 2 };
    const stream = analytics.views(same).export({ format: "ndjson", resumeFrom: position });
    assert.equal((await read(stream)).split("\n").length, VIEWS.length - 4 + 1);
  }));

// --- the platform's rows -----------------------------------------------------------------------

describe("Exports from the simulated platform", () => {
  const RANGE = { dateFrom: "2024-01-01", dateTo: "2024-03-01" };
  /** The reports as the simulator names them. */
  const REPORTS = {
    ...{ views: "views", visitors: "visitors", feedback: "feedback", searches: "searches" },
    conversations: "assistant",
  };
  let upstream;

  before(async () => {
    upstream = await startUpstream({ key: KEY, pages: 700, projects: ["acme"] });
  });
  after(() => upstream?.stop());

  for (const [name, report] of Object.entries(REPORTS)) {
    test(`an export of ${name} has every row of the simulated platform in both formats`, async () => {
      const base = { baseUrl: upstream.url, projectId: "acme", auth: { adminKey: KEY } };
      const { analytics } = new quillgate.Client(base);
      const whole = await upstream.report({ report, projectId: "acme", ...RANGE });
      const list = LISTS[name];
      const rows = whole[list.rows];
      assert.ok(rows.length > 100);
      const ndjson = await read(analytics[name](RANGE).export({ format: "ndjson" }));
      const lines = ndjson.split("\n").slice(0, -1);
      assert.deepEqual(
        lines.map((line) => JSON.parse(line)),
        rows,
      );
      // Numbers keep their spelling.
      const numberIn = (line, column) => new RegExp(`"${column}":([^,}]+)`).exec(line)[1];
      const records = rows.map((row, at) => {
        const tokens = Object.keys(list.columns).map((column) => {
          const value = row[column] ?? null;
          const isNumber = typeof value === "number";
          return [column, [isNumber ? numberIn(lines[at], column) : JSON.stringify(value)]];
        });
        return { cells: new Map(tokens) };
      });
      const csv = await read(analytics[name](RANGE).export({ format: "csv" }));
      assert.equal(csv, EXPECTED.csv(records, list));
    });
  }
});
