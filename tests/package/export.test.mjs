/** Lists as streams of CSV and NDJSON: their bytes, where they go on, and what stops them. */
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import { inspect } from "node:util";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { startUpstream } from "../harness/upstream.mjs";
import { against, hurry, inTurn, KEY, quillgate, rejected } from "./behaviour/fixtures.mjs";
import { Random } from "./differential/random.mjs";

const FORMATS = ["csv", "ndjson"];
const BYTE_ORDER_MARK = "\uFEFF";
/** More than two of the largest pages of any list. */
const ROWS = 620;
const SEED = Number(process.env.EXPORT_SEED ?? 7);

/** The lists: columns with the kind of their values, what a page has beside its rows, its size. */
const LISTS = {
  views: {
    list: ({ analytics }, ...args) => analytics.views(...args),
    columns: { path: "text", human: "count", ai: "count", total: "count" },
    ...{ rows: "views", most: 250, by: "offset", base: '"totals":{},' },
  },
  visitors: {
    list: ({ analytics }, ...args) => analytics.visitors(...args),
    columns: { path: "text", human: "count", ai: "count", total: "count" },
    ...{ rows: "visitors", most: 250, by: "offset", base: '"totals":{},' },
  },
  feedback: {
    list: ({ analytics }, ...args) => analytics.feedback(...args),
    columns: {
      ...{ id: "text", path: "text", comment: "text", createdAt: "text", source: "source" },
      ...{ status: "text", helpful: "flag", contact: "text", code: "text", filename: "text" },
      lang: "text",
    },
    ...{ rows: "feedback", most: 100, by: "cursor", base: "" },
  },
  searches: {
    list: ({ analytics }, ...args) => analytics.searches(...args),
    columns: {
      ...{ searchQuery: "text", hits: "count", ctr: "number", topClickedPage: "text" },
      lastSearchedAt: "text",
    },
    ...{ rows: "searches", most: 100, by: "cursor", base: "" },
  },
  conversations: {
    list: ({ analytics }, ...args) => analytics.conversations(...args),
    columns: {
      ...{ id: "text", timestamp: "text", query: "text", response: "text", responseType: "text" },
      ...{ sources: "sources", resolutionStatus: "text", queryCategory: "text", pageUrl: "text" },
    },
    ...{ rows: "conversations", most: 250, by: "cursor", base: "" },
  },
  jobs: {
    list: ({ agentJobs }, ...args) => agentJobs.list(...args),
    columns: {
      ...{ id: "id", status: "text", prompt: "text", createdBy: "text", createdAt: "text" },
      ...{ prLink: "text", checkedAt: "text" },
    },
    ...{ rows: "jobs", most: 100, by: "cursor", base: "" },
  },
};
const NAMES = Object.keys(LISTS);

// --- rows as a server may write them, and the plainest way to export them ------------------------

const TEXTS = ["", "/guides/start", "=1+2", "+49", "-1", "@SUM(A1)", "\tx", "\rx", "\nx", "'=1"];
const MORE_TEXTS = ['say "x"', "a,b", "a\r\nb", "é/ü", "😀", "\\", "\u0000", "\u2028", "a;b", "]}"];
const SPACES = ["", "", "", " ", "\n", "\t", "\r\n  "];

/** A string, with some of its characters escaped in one way or another. */
function writeString(random, text) {
  const characters = Array.from({ length: text.length }, (_, at) => {
    const unit = text[at];
    const escaped = `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
    return random.chance(0.1) ? escaped : JSON.stringify(unit).slice(1, -1);
  });
  // A surrogate alone is written escaped by `JSON.stringify`, which says the same.
  return `"${characters.join("")}"`;
}

const anyText = (random) => random.pick([...TEXTS, ...MORE_TEXTS]) + random.pick(["", "", "x,"]);

/** Tokens of a value of a kind. */
const VALUES = {
  id: (random) => [writeString(random, anyText(random))],
  text: (random) => [random.chance(0.1) ? "null" : writeString(random, anyText(random))],
  source: (random) => [random.pick(['"contextual"', '"code_snippet"', '"agent"', '"\\u0061"'])],
  flag: (random) => [random.pick(["true", "false", "null"])],
  count: (random) => [random.pick(["0", "7", "7.0", "9e3", "9007199254740991", "null"])],
  number: (random) => [random.pick(["-0", "0.10", "1E-2", "-1.5", "12", "null"])],
  sources: (random) => {
    if (random.chance(0.2)) return ["null"];
    const source = () => objectOf([["title", VALUES.text(random)]]);
    return listOf(Array.from({ length: random.integer(0, 3) }, source));
  },
  unknown: (random) =>
    random.pick([
      () => ["1.50"],
      () => objectOf([["a", ["[", "]"]]]),
      () => listOf([["{", "}"], ['"]"'], ["1"]]),
      () => VALUES.text(random),
    ]),
};

const listOf = (items) => ["[", ...items.flatMap((item, at) => (at ? [",", ...item] : item)), "]"];

function objectOf(members) {
  const tokens = members.map(([name, value]) => [JSON.stringify(name), ":", ...value]);
  return ["{", ...listOf(tokens).slice(1, -1), "}"];
}

/** A row: its tokens, and what its cells say. */
function makeRow(random, { columns }) {
  const members = Object.entries(columns).map(([name, kind]) => [name, VALUES[kind](random)]);
  // What may be null may also be missing.
  const present = members.filter(([, value]) => value[0] !== "null" || random.chance(0.5));
  if (random.chance(0.3)) present.splice(random.integer(0, 2), 0, ["more", VALUES.unknown(random)]);
  if (random.chance(0.3)) present.reverse();
  return { tokens: objectOf(present), members: new Map(members) };
}

/** What an export of the rows is. */
const REFERENCE = {
  ndjson: (rows) => rows.map(({ tokens }) => `${tokens.join("")}\n`).join(""),
  csv: (rows, { columns }) => {
    const names = Object.keys(columns);
    const records = rows.map(({ members }) => names.map((name) => cellOf(members.get(name))));
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
    if (["=", "+", "-", "@", "\t", "\r", "\n"].includes(cell[0])) cell = `'${cell}`;
  }
  const isPlain = ['"', ",", "\r", "\n"].every((mark) => !cell.includes(mark));
  return isPlain ? cell : `"${cell.split('"').join('""')}"`;
}

const queryOf = ({ path }) => new URL(path, "http://x").searchParams;

/** A cursor after so many rows: that of conversations is a ULID. */
const cursorOf = (at) => `01ARZ3NDEKTSV4RRFF${String(at).padStart(8, "0")}`;

/** Answers with the page that is asked for, as a server would that writes JSON by hand. */
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

/** Reads a stream to its end. */
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

  describe(`an export of ${name}`, () => {
    for (const format of FORMATS) {
      test(`is every row as ${format}, whatever is in it and however it was written`, () => {
        const random = new Random(SEED);
        const rows = makeRows(random, list);
        return against(pageOf(list, rows, random), async (client, { requests }) => {
          const stream = list.list(client).export({ format });
          assert.ok(stream instanceof ReadableStream);
          assert.equal(await read(stream), REFERENCE[format](rows, list));
          assert.equal(stream.cursor, null);
          assert.equal(requests.length, Math.ceil(ROWS / list.most));
        });
      });

      test(`as ${format} is whole when it was broken off at random and gone on with`, () => {
        const random = new Random(SEED + 1);
        const rows = makeRows(random, list);
        const page = pageOf(list, rows, random);
        let breaks = 0;
        const answer = (received) => {
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
          answer,
          async (client, { requests }) => {
            let text = "";
            let cursor;
            let failures = 0;
            while (cursor !== null) {
              const made = list.list(client, { limit: 60 });
              const stream = made.export({ format, cursor: cursor && JSON.parse(cursor) });
              try {
                for await (const chunk of stream) {
                  text += Buffer.from(chunk).toString("utf8");
                }
              } catch (error) {
                assert.ok(quillgate.isQuillgateError(error), inspect(error));
                failures++;
              }
              cursor = stream.cursor && JSON.stringify(stream.cursor);
            }
            assert.equal(text, REFERENCE[format](rows, list));
            assert.deepEqual([failures, breaks], [10, 10]);
            assert.equal(requests.length, Math.ceil(ROWS / 60) + breaks);
            const ends = new Set(
              requests.slice(-5).map((received) => queryOf(received).get("dateTo")),
            );
            assert.equal(ends.size, 1, "an open end stays where it was");
          },
          { maxRetries: 0 },
        );
      });
    }

    test("of no rows is the header, or nothing", () =>
      against(pageOf(list, [], new Random(SEED)), async (client) => {
        const header = REFERENCE.csv([], list);
        assert.equal(await read(list.list(client).export({ format: "csv" })), header);
        assert.equal(await read(list.list(client).export({ format: "ndjson" })), "");
      }));
  });
}

const { views } = LISTS;
const view = (at) => ({ tokens: [`{"path":"/${at}","human":${at}}`] });
const VIEWS = Array.from({ length: 10 }, (_, at) => view(at));
const plainPage = pageOf(views, VIEWS, { pick: () => "" });

test("a member that comes twice counts as JSON.parse has it", () =>
  against(
    {
      text: '{"totals":{},"views":[],"hasMore":false,"views":[{"path":"a","path":"b","a":{"path":"c"}}]}',
    },
    async ({ analytics }) => {
      const text = await read(analytics.views().export({ format: "csv" }));
      assert.equal(text.split("\r\n")[1], "b,,,");
    },
  ));

test("a string alone of half a character is a replacement character in CSV, and itself in NDJSON", () =>
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

// --- one page after the other ------------------------------------------------------------------

test("nothing is sent until a stream is read, and then one page for one read", () =>
  against(plainPage, async ({ analytics }, { requests }) => {
    const stream = analytics.views({ limit: 4 }).export({ format: "ndjson" });
    assert.equal(stream.cursor, undefined);
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
      assert.equal(stream.cursor.offset, offset);
    }
    assert.equal((await reader.read()).done, false);
    assert.equal(stream.cursor, null);
    assert.equal((await reader.read()).done, true);
    assert.equal(requests.length, 3);
  }));

test("empty pages are gone through within one read", () => {
  const empty = { json: { totals: {}, views: [], hasMore: true } };
  return against(inTurn(empty, empty, plainPage({ path: "/?limit=9" })), async (client) => {
    const reader = client.analytics.views().export({ format: "ndjson" }).getReader();
    assert.equal(decode([(await reader.read()).value]).split("\n").length, 9 + 1);
  });
});

test("memory does not grow with the rows", async () => {
  setFlagsFromString("--expose-gc");
  const collectGarbage = runInNewContext("gc");
  const rows = Array.from({ length: 250 }, (_, at) => view(at).tokens[0]).join();
  let pages = 0;
  const fetch = async () => {
    await turn(); // As a network would: what is let go of within a turn is not collected before its end.
    const text = `{"totals":{},"views":[${rows}],"hasMore":${++pages < 2_000}}`;
    return new Response(text, { headers: { "content-type": "application/json" } });
  };
  const options = { baseUrl: "http://127.0.0.1:9", projectId: "acme", adminKey: KEY, fetch };
  const { analytics } = new quillgate.Client(options);
  const used = [];
  let bytes = 0;
  for await (const chunk of analytics.views().export({ format: "csv" })) {
    bytes += chunk.length;
    if (pages === 200 || pages === 1_999) {
      // What finalizers hold is let go of a turn later.
      for (let times = 3; times--; ) {
        await turn();
        collectGarbage();
      }
      used.push(process.memoryUsage().heapUsed);
    }
  }
  assert.ok(bytes > 2_000 * 250 * 5, "there were half a million rows");
  const [early, late] = used;
  assert.ok(late < early * 1.2, `${early} bytes after 50,000 rows, ${late} after 500,000`);
});

// --- what stops a stream -----------------------------------------------------------------------

const spent = (seconds) => ({
  status: 429,
  headers: { "retry-after": String(seconds) },
  json: { type: "/problems/rate-limited" },
});

test("a budget that is spent fails the stream, which says where to go on", () =>
  against(
    inTurn(plainPage({ path: "/?limit=4" }), spent(1800)),
    async ({ analytics }, { requests }) => {
      const stream = analytics.views({ limit: 4, dateTo: "2024-02-01" }).export({ format: "csv" });
      const error = await rejected(read(stream));
      assert.ok(error instanceof quillgate.RateLimitError, inspect(error));
      assert.equal(error.retryAfter, 1800);
      assert.deepEqual(stream.cursor, { dateTo: "2024-02-01", limit: 4, offset: 4 });
      assert.equal(requests.length, 2);
    },
  ));

test("a stream waits for the budget as long as it may, in all", (context) => {
  const waits = hurry(context);
  let answers = 0;
  const answer = (received) => {
    answers++;
    return [2, 3, 4].includes(answers) ? spent(10) : plainPage(received);
  };
  return against(
    answer,
    async ({ analytics }) => {
      const options = { format: "ndjson", wait: 30_000 };
      const stream = analytics.views({ limit: 4 }).export(options);
      assert.equal((await read(stream)).split("\n").length, VIEWS.length + 1);
      assert.deepEqual(waits, [10_000, 10_000, 10_000]);
      answers = 0;
      const second = analytics.views({ limit: 4 }).export({ ...options, wait: 29_999 });
      assert.ok((await rejected(read(second))) instanceof quillgate.RateLimitError);
      assert.equal(waits.length, 5, "a wait that would be too long is not begun");
    },
    { maxRetries: 0 },
  );
});

test("a wait is for the budget, and for no other failure", (context) => {
  const waits = hurry(context);
  return against(
    { status: 503, headers: { "retry-after": "2" } },
    async ({ analytics }) => {
      const stream = analytics.views().export({ format: "csv", wait: 60_000 });
      assert.ok((await rejected(read(stream))) instanceof quillgate.ServerError);
      assert.deepEqual(waits, []);
    },
    { maxRetries: 0 },
  );
});

test("a page that is not what the list promises fails the stream before any of its rows", () => {
  const second = { json: { totals: {}, views: [{ path: "/4" }, { path: 5 }], hasMore: false } };
  return against(inTurn(plainPage({ path: "/?limit=4" }), second), async ({ analytics }) => {
    const stream = analytics.views({ limit: 4 }).export({ format: "ndjson" });
    const reader = stream.getReader();
    await reader.read();
    const error = await rejected(reader.read());
    assert.ok(error instanceof quillgate.DecodeError, inspect(error));
    assert.equal(error.where, "views[1].path");
    assert.equal(stream.cursor.offset, 4);
  });
});

test("cancelling takes the request back, and sends no other", async () => {
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

for (const [where, make] of [
  ["of the export", (list, params, signal) => list(params).export({ format: "csv", signal })],
  ["of the list", (list, params, signal) => list(params, { signal }).export({ format: "csv" })],
]) {
  test(`a signal ${where} stops it with its reason: in a request, between reads, in a wait`, async (context) => {
    const page = plainPage({ path: "/?limit=4" });
    const views = ({ analytics }) => analytics.views.bind(analytics);
    await against(inTurn(page, { stall: "head" }), async (client, { requests, arrived }) => {
      const abort = new AbortController();
      const reader = make(views(client), { limit: 4 }, abort.signal).getReader();
      await reader.read();
      const failed = rejected(reader.read());
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
      assert.equal(await rejected(reader.read()), "enough");
      assert.equal(requests.length, 1);
    });
    await against(page, async (client, { requests }) => {
      const signal = AbortSignal.abort("enough");
      const stream = make(views(client), { limit: 4 }, signal);
      assert.equal(await rejected(read(stream)), "enough");
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
        where === "of the export"
          ? client.analytics.views().export(options)
          : client.analytics
              .views({}, { signal: abort.signal })
              .export({ ...options, signal: undefined });
      assert.equal(await rejected(read(stream)), "enough");
    });
  });
}

test("what no export can be made of is refused, and nothing is sent", () =>
  against(plainPage, async ({ analytics }, { requests }) => {
    const cursor = { dateFrom: "2024-01-01", dateTo: "2024-02-01", limit: 4, offset: 4 };
    for (const [params, options, field, rule] of [
      [{}, undefined, "format", "one-of"],
      [{}, { format: "xml" }, "format", "one-of"],
      [{}, { format: "csv", wait: -1 }, "wait", "milliseconds"],
      [{}, { format: "csv", wait: 1.5 }, "wait", "milliseconds"],
      [{}, { format: "csv", wait: 86_400_001 }, "wait", "milliseconds"],
      [{}, { format: "csv", delimiter: ";" }, "delimiter", "unknown"],
      [{}, { format: "csv", cursor: null }, "cursor", "text"],
      [{}, { format: "csv", cursor: { ...cursor, limit: 0 } }, "limit", "page-size"],
      [{ dateFrom: "2024-01-02" }, { format: "csv", cursor }, "cursor", "text"],
      [{ dateFrom: "x" }, { format: "csv" }, "dateFrom", "date-format"],
    ]) {
      const stream = analytics.views(params).export(options);
      const error = await rejected(read(stream));
      assert.ok(error instanceof quillgate.ValidationError, inspect(error));
      assert.deepEqual([error.field, error.rule], [field, rule]);
    }
    assert.equal(requests.length, 0);
    const same = { dateFrom: "2024-01-01", limit: 2 };
    const stream = analytics.views(same).export({ format: "ndjson", cursor });
    assert.equal((await read(stream)).split("\n").length, VIEWS.length - 4 + 1);
  }));

// --- the platform's rows -----------------------------------------------------------------------

describe("of the simulated platform", () => {
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
    test(`every row of ${name} is exported in either format`, async () => {
      const base = { baseUrl: upstream.url, projectId: "acme", adminKey: KEY };
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
      // Numbers stand as they were written.
      const numberIn = (line, column) => new RegExp(`"${column}":([^,}]+)`).exec(line)[1];
      const records = rows.map((row, at) => {
        const tokens = Object.keys(list.columns).map((column) => {
          const value = row[column] ?? null;
          const isNumber = typeof value === "number";
          return [column, [isNumber ? numberIn(lines[at], column) : JSON.stringify(value)]];
        });
        return { members: new Map(tokens) };
      });
      const csv = await read(analytics[name](RANGE).export({ format: "csv" }));
      assert.equal(csv, REFERENCE.csv(records, list));
    });
  }
});
