/** Every list and report of the package: how it is gone through, and what it refuses. */
import assert from "node:assert/strict";
import { after, before, beforeEach, describe, test } from "node:test";
import { inspect } from "node:util";
import { startUpstream } from "../harness/upstream.mjs";
import { against, inTurn, KEY, quillgate, rejected } from "./behaviour/fixtures.mjs";

const ANALYTICS = "/v1/analytics/acme";
const RANGE = { dateFrom: "2024-01-01", dateTo: "2024-03-01" };
/** More than two of the largest pages of any list. */
const ROWS = 620;

/**
 * The lists: their path, the member with the rows, the parameter that leads through, the rows per
 * page by default and at most, and the name of a row.
 */
const LISTS = {
  views: {
    list: ({ analytics }, ...args) => analytics.views(...args),
    ...{ path: `${ANALYTICS}/views`, rows: "views", by: "offset", usual: 50, most: 250 },
    ...{ name: "path", base: { totals: {} }, hasMore: true, range: true },
  },
  visitors: {
    list: ({ analytics }, ...args) => analytics.visitors(...args),
    ...{ path: `${ANALYTICS}/visitors`, rows: "visitors", by: "offset", usual: 50, most: 250 },
    ...{ name: "path", base: { totals: {} }, hasMore: true, range: true },
  },
  feedback: {
    list: ({ analytics }, ...args) => analytics.feedback(...args),
    ...{ path: `${ANALYTICS}/feedback`, rows: "feedback", by: "cursor", usual: 50, most: 100 },
    ...{ name: "id", base: {}, hasMore: true, range: true },
  },
  searches: {
    list: ({ analytics }, ...args) => analytics.searches(...args),
    ...{ path: `${ANALYTICS}/searches`, rows: "searches", by: "cursor", usual: 50, most: 100 },
    ...{ name: "searchQuery", base: { totalSearches: ROWS }, hasMore: false, range: true },
  },
  conversations: {
    list: ({ analytics }, ...args) => analytics.conversations(...args),
    ...{ path: `${ANALYTICS}/assistant`, rows: "conversations", by: "cursor", usual: 100 },
    ...{ most: 250, name: "id", base: {}, hasMore: true, range: true },
  },
  jobs: {
    list: ({ agentJobs }, ...args) => agentJobs.list(...args),
    ...{ path: "/v2/agent/acme/jobs", rows: "jobs", by: "cursor", usual: 25, most: 100 },
    ...{ name: "id", base: {}, hasMore: false, range: false },
  },
};
const NAMES = Object.keys(LISTS);
const BY_CURSOR = NAMES.filter((name) => LISTS[name].by === "cursor");
const BY_OFFSET = NAMES.filter((name) => LISTS[name].by === "offset");

const rowOf = (list, at) => ({
  [list.name]: `r${at}`,
  ...(list.rows === "feedback" ? { source: "agent" } : {}),
});

/** A cursor after so many rows: that of conversations is a ULID, others need to be encoded. */
const cursorOf = (list, at) =>
  list.rows === "conversations" ? `01ARZ3NDEKTSV4RRFF${String(at).padStart(8, "0")}` : `é/${at}+=&`;

const rowsBefore = (cursor) => Number(/(\d+)(?:\+=&)?$/.exec(cursor.slice(-10))[1]);

const queryOf = ({ path }) => new URL(path, "http://x").searchParams;

/** The page of a list that a request asks for. */
function pageOf(list, total = ROWS) {
  return (received) => {
    const query = queryOf(received);
    const cursor = query.get("cursor");
    const from = cursor === null ? Number(query.get("offset") ?? 0) : rowsBefore(cursor);
    const to = Math.min(total, from + Number(query.get("limit") ?? list.usual));
    const rows = Array.from({ length: Math.max(0, to - from) }, (_, at) => rowOf(list, from + at));
    const next = list.by === "cursor" && { nextCursor: to < total ? cursorOf(list, to) : null };
    const more = list.hasMore && { hasMore: to < total };
    return { json: { ...list.base, [list.rows]: rows, ...next, ...more } };
  };
}

async function collect(iterable) {
  const all = [];
  for await (const each of iterable) all.push(each);
  return all;
}

/** The ways to go through a list, each of which comes to its rows. */
const WAYS = {
  "for await": (list) => collect(list),
  "pages()": async (list, { rows }) => (await collect(list.pages())).flatMap((page) => page[rows]),
  "all()": (list) => list.all(),
  "nextPage()": async (list, { rows }) => {
    const read = [];
    for (let page = await list; page !== null; page = await page.nextPage())
      read.push(...page[rows]);
    return read;
  },
};

const namesOf = ({ name }, rows) => rows.map((row) => row[name]);
const namesFrom = (from, to = ROWS) =>
  Array.from({ length: to - from }, (_, at) => `r${from + at}`);

/** What a request asks for, without the range. */
function windowOf(received) {
  const query = queryOf(received);
  return Object.fromEntries(
    ["limit", "offset", "cursor"].flatMap((name) =>
      query.has(name) ? [[name, query.get(name)]] : [],
    ),
  );
}

for (const name of NAMES) {
  const list = LISTS[name];
  /** The window of the page from this row on. */
  const windowFrom = (from, limit) => {
    const at = list.by === "offset" ? { offset: String(from) } : { cursor: cursorOf(list, from) };
    return { limit: String(limit), ...(from > 0 || list.by === "offset" ? at : {}) };
  };

  describe(`the list of ${name}`, () => {
    test("sends nothing when it is made, and is asked for once however often it is awaited", () =>
      against(pageOf(list), async (client, { requests }) => {
        const made = list.list(client, { limit: 5 });
        made.pages();
        made[Symbol.asyncIterator]();
        await new Promise((resolve) => setImmediate(resolve));
        assert.equal(requests.length, 0);
        assert.equal(await made, await made);
        await made.withResponse();
        assert.equal(requests.length, 1);
      }));

    for (const [way, walk] of Object.entries(WAYS)) {
      test(`gives every row once, in order, by ${way}`, () =>
        against(pageOf(list), async (client, { requests }) => {
          const rows = await walk(list.list(client), list);
          assert.deepEqual(namesOf(list, rows), namesFrom(0));
          // An awaited page is of the size that the server takes; what lists all, the largest.
          const size = way === "nextPage()" ? list.usual : list.most;
          assert.equal(requests.length, Math.ceil(ROWS / size));
        }));
    }

    test("asks for the largest pages, each after the other, of a range that does not move", () =>
      against(pageOf(list), async (client, { requests }) => {
        await list.list(client).all();
        const starts = Array.from(
          { length: Math.ceil(ROWS / list.most) },
          (_, at) => at * list.most,
        );
        assert.deepEqual(
          requests.map(windowOf),
          starts.map((start) => windowFrom(start, list.most)),
        );
        assert.ok(requests.every(({ path }) => path.startsWith(`${list.path}?`)));
        const ends = new Set(requests.map((received) => queryOf(received).get("dateTo")));
        assert.equal(ends.size, 1);
        const [end] = ends;
        if (list.range) assert.match(end, /^\d{4}-\d\d-\d\dT/);
        else assert.equal(end, null);
      }));

    test("takes the given size instead", () =>
      against(pageOf(list), async (client, { requests }) => {
        const walked = await list.list(client, { limit: 90 }).all({ maxRows: 180 });
        assert.equal(walked.length, 180);
        assert.deepEqual(requests.map(windowOf), [windowFrom(0, 90), windowFrom(90, 90)]);
      }));

    test("awaited, is one page that leads to the next, and to null after the last", () =>
      against(pageOf(list, 15), async (client, { requests }) => {
        const first = await list.list(client, { limit: 10 });
        assert.deepEqual(namesOf(list, first[list.rows]), namesFrom(0, 10));
        assert.ok(!Object.keys(first).includes("nextPage"), "it prints as its data");
        const second = await first.nextPage();
        assert.deepEqual(namesOf(list, second[list.rows]), namesFrom(10, 15));
        assert.equal(second.cursor, null);
        assert.equal(await second.nextPage(), null);
        assert.equal(requests.length, 2);
        const offsets = list.by === "offset" ? [0, 10] : [undefined, undefined];
        assert.deepEqual([first.offset, second.offset], offsets);
      }));

    test("gives the response that carried a page", () =>
      against(
        (received) => ({ ...pageOf(list)(received), headers: { "x-request-id": "r-7" } }),
        async (client) => {
          const { data, response, requestId } = await list
            .list(client, { limit: 3 })
            .withResponse();
          assert.deepEqual(namesOf(list, data[list.rows]), namesFrom(0, 3));
          assert.deepEqual([response.status, requestId], [200, "r-7"]);
          assert.ok(response instanceof Response);
        },
      ));

    test("collects no more than `maxRows`, and tells how far it has come", () =>
      against(
        (received) => ({ ...pageOf(list)(received), headers: { ratelimit: '"x";r=42;t=9' } }),
        async (client, { requests }) => {
          const told = [];
          const onProgress = (progress) => told.push(progress);
          const rows = await list.list(client, { limit: 100 }).all({ maxRows: 250, onProgress });
          assert.deepEqual(namesOf(list, rows), namesFrom(0, 250));
          assert.equal(requests.length, 3);
          assert.deepEqual(
            told.map(({ rows, pages, requestsLeftThisHour }) => [
              rows,
              pages,
              requestsLeftThisHour,
            ]),
            [
              [100, 1, 42],
              [200, 2, 42],
              [250, 3, 42],
            ],
          );
          // Nothing is lost to those who go on from here: there is no cursor within a page.
          const { cursor, offset } = told[2].cursor;
          assert.equal(
            list.by === "offset" ? offset : rowsBefore(cursor),
            list.by === "offset" ? 250 : 200,
          );
        },
      ));

    test("tells null after its last page", () =>
      against(pageOf(list, 15), async (client) => {
        const cursors = [];
        const onProgress = ({ cursor }) => cursors.push(cursor);
        await list.list(client, { limit: 10 }).all({ onProgress });
        assert.equal(cursors.length, 2);
        assert.deepEqual([cursors[0] === null, cursors[1]], [false, null]);
      }));

    test("goes on from a cursor that was kept as JSON, in every way", () =>
      against(pageOf(list), async (client, { requests }) => {
        const kept = [];
        const keep = ({ cursor }) => kept.push(JSON.stringify(cursor));
        await list.list(client, { limit: 100 }).all({ maxRows: 200, onProgress: keep });
        keep(await (await list.list(client, { limit: 100 })).nextPage());
        for (const json of kept.slice(1)) {
          for (const walk of Object.values(WAYS)) {
            const before = requests.length;
            const rows = await walk(list.list(client, { cursor: JSON.parse(json) }), list);
            assert.deepEqual(namesOf(list, rows), namesFrom(200));
            assert.equal(requests.length - before, 5, "pages of the kept size");
          }
        }
      }));

    test("goes on from a cursor with the range and the filters of the list before", () =>
      against(pageOf(list), async (client, { requests }) => {
        const filter = name === "feedback" ? { source: "agent", status: "pending" } : {};
        const params = { ...(list.range ? RANGE : {}), ...filter, limit: 10 };
        const { cursor } = await list.list(client, params);
        await list.list(client, { cursor });
        const [first, second] = requests.map((received) => Object.fromEntries(queryOf(received)));
        assert.deepEqual({ ...second, cursor: 0, offset: 0 }, { ...first, cursor: 0, offset: 0 });
        assert.deepEqual(windowOf(requests[1]), windowFrom(10, 10));
      }));

    test("stops asking when a loop is left", () =>
      against(pageOf(list), async (client, { requests }) => {
        for await (const row of list.list(client)) {
          assert.equal(row[list.name], "r0");
          break;
        }
        for await (const page of list.list(client).pages()) {
          assert.equal(page[list.rows].length, list.most);
          break;
        }
        await new Promise((resolve) => setImmediate(resolve));
        assert.equal(requests.length, 2);
      }));

    test("goes through an empty page, and gives up after five in a row", () => {
      const empty = (at) => {
        const next = list.by === "cursor" && { nextCursor: cursorOf(list, at) };
        const more = list.hasMore && { hasMore: true };
        return { json: { ...list.base, [list.rows]: [], ...next, ...more } };
      };
      const last = {
        json: {
          ...list.base,
          [list.rows]: [rowOf(list, 9)],
          ...(list.by === "cursor" && { nextCursor: null }),
          ...(list.hasMore && { hasMore: false }),
        },
      };
      const four = [1, 2, 3, 4].map(empty);
      return Promise.all([
        against(inTurn(...four, last), async (client, { requests }) => {
          assert.deepEqual(namesOf(list, await list.list(client).all()), ["r9"]);
          assert.equal(requests.length, 5);
        }),
        against(
          (_, number) => empty(number + 1),
          async (client, { requests }) => {
            const error = await rejected(() => list.list(client).all());
            assert.ok(error instanceof quillgate.DecodeError, inspect(error));
            assert.equal(error.where, list.hasMore ? "hasMore" : "nextCursor");
            assert.equal(requests.length, 5);
          },
        ),
      ]);
    });
  });
}

describe("a cursor that came before", () => {
  /** A page of a list by cursor that goes on there. */
  const leadingTo = (list, at) => ({
    json: {
      ...list.base,
      [list.rows]: [rowOf(list, 0)],
      nextCursor: cursorOf(list, at),
      ...(list.hasMore && { hasMore: true }),
    },
    headers: { "x-request-id": "r-8" },
  });

  for (const name of BY_CURSOR) {
    const list = LISTS[name];
    for (const [what, answers, params, count] of [
      ["at once", [1], {}, 2],
      ["after a while", [1, 2, 3, 1], {}, 4],
      ["that the list began with", [1], { cursor: cursorOf(list, 1) }, 1],
    ]) {
      test(`ends ${name} with a DecodeError: ${what}`, () =>
        against(
          inTurn(...answers.map((at) => leadingTo(list, at))),
          async (client, { requests }) => {
            const ways = [
              (made) => collect(made),
              (made) => collect(made.pages()),
              (made) => made.all(),
            ];
            for (const walk of ways) {
              requests.length = 0;
              const error = await rejected(() => walk(list.list(client, params)));
              assert.ok(error instanceof quillgate.DecodeError, inspect(error));
              assert.deepEqual([error.where, error.requestId], ["nextCursor", "r-8"]);
              assert.match(error.message, /nextCursor is one that the list has gone through/);
              assert.equal(requests.length, count);
              requests.length = 0;
            }
          },
        ));
    }
  }
});

describe("what a page by cursor says of more", () => {
  for (const name of ["feedback", "conversations"]) {
    const list = LISTS[name];
    const page = (hasMore, nextCursor) => ({
      json: { ...list.base, [list.rows]: [rowOf(list, 0)], hasMore, nextCursor },
    });

    test(`${name}: \`hasMore: false\` ends it, though there is a cursor`, () =>
      against(page(false, cursorOf(list, 1)), async (client, { requests }) => {
        for (const walk of Object.values(WAYS)) {
          requests.length = 0;
          assert.equal((await walk(list.list(client), list)).length, 1);
          assert.equal(requests.length, 1);
        }
        assert.equal((await list.list(client)).cursor, null);
      }));

    for (const cursor of [null, undefined]) {
      test(`${name}: \`hasMore: true\` with the cursor ${cursor} is a DecodeError`, () =>
        against(page(true, cursor), async (client, { requests }) => {
          for (const walk of Object.values(WAYS)) {
            requests.length = 0;
            const error = await rejected(() => walk(list.list(client), list));
            assert.ok(error instanceof quillgate.DecodeError, inspect(error));
            assert.equal(error.where, "nextCursor");
            assert.equal(requests.length, 1);
          }
        }));
    }
  }

  for (const name of ["searches", "jobs"]) {
    const list = LISTS[name];
    test(`${name}: it has no \`hasMore\`, and the cursor alone leads on`, () =>
      against(
        inTurn(
          { json: { ...list.base, [list.rows]: [rowOf(list, 0)], nextCursor: cursorOf(list, 1) } },
          { json: { ...list.base, [list.rows]: [rowOf(list, 1)] } },
        ),
        async (client, { requests }) => {
          const rows = await list.list(client).all();
          assert.deepEqual(namesOf(list, rows), ["r0", "r1"]);
          assert.equal(requests.length, 2);
        },
      ));
  }
});

describe("a list by offset", () => {
  for (const name of BY_OFFSET) {
    const list = LISTS[name];
    test(`${name}: page 3 of 50 is the third, and what follows it comes after`, () =>
      against(pageOf(list), async (client, { requests }) => {
        const page = await list.list(client, { page: 3, limit: 50 });
        assert.deepEqual(namesOf(list, page[list.rows]), namesFrom(100, 150));
        assert.equal(page.offset, 100);
        assert.deepEqual(windowOf(requests[0]), { limit: "50", offset: "100" });
        assert.ok(!queryOf(requests[0]).has("page"));
        assert.equal((await page.nextPage()).offset, 150);
        const rest = await list.list(client, { page: 3, limit: 50 }).all();
        assert.deepEqual(namesOf(list, rest), namesFrom(100));
        assert.equal((await list.list(client, { page: 2 })).offset, 50);
      }));

    test(`${name}: a page with more rows than were asked for is a DecodeError`, () =>
      against(
        { json: { ...list.base, [list.rows]: [rowOf(list, 0), rowOf(list, 1)], hasMore: true } },
        async (client) => {
          const error = await rejected(() => list.list(client, { limit: 1 }).all());
          assert.ok(error instanceof quillgate.DecodeError, inspect(error));
          assert.equal(error.where, list.rows);
        },
      ));
  }
});

describe("against the simulated platform, which lies about its pages", () => {
  const REPORTS = {
    ...{ views: "views", visitors: "visitors", feedback: "feedback" },
    ...{ searches: "searches", conversations: "assistant" },
  };
  const PROJECT = { projectId: "demo-docs" };
  let upstream;
  let client;

  before(async () => {
    upstream = await startUpstream({ key: KEY, pages: 600, analyticsLimit: 1e6 });
    const options = { baseUrl: upstream.url, adminKey: KEY, ...PROJECT };
    client = new quillgate.Client({ ...options, logLevel: "off" });
  });
  after(() => upstream?.stop());
  beforeEach(() => upstream.reset());

  const requestCount = async () => (await upstream.counters()).requests;

  for (const [name, report] of Object.entries(REPORTS)) {
    const list = LISTS[name];
    const wholeOf = async () =>
      (await upstream.report({ report, ...PROJECT, ...RANGE }))[list.rows];
    const walk = () => list.list(client, { ...RANGE, limit: 100 });
    /** Rows without what the package adds: `null` for what is not there. */
    const plain = (rows) =>
      rows.map((row) => Object.fromEntries(Object.entries(row).filter(([, it]) => it !== null)));

    test(`${name}: all rows are the simulator's very own`, async () => {
      const whole = await wholeOf();
      const rows = await walk().all();
      assert.deepEqual(plain(rows), plain(whole));
      assert.equal(await requestCount(), Math.ceil(whole.length / 100));
    });

    test(`${name}: an empty page is gone through`, async () => {
      const whole = await wholeOf();
      await upstream.fault({ after: 1, fault: { kind: "emptyPage" } });
      const rows = await walk().all();
      assert.deepEqual(namesOf(list, rows), namesOf(list, whole.toSpliced(100, 100)));
    });

    test(`${name}: empty pages without end are given up`, async () => {
      await upstream.fault({ times: 0, fault: { kind: "emptyPage" } });
      const error = await rejected(() => walk().all());
      assert.ok(error instanceof quillgate.DecodeError, inspect(error));
      assert.equal(error.where, list.hasMore ? "hasMore" : "nextCursor");
      assert.equal(await requestCount(), 5);
    });

    if (list.by === "cursor") {
      test(`${name}: a cursor that is repeated ends in a DecodeError`, async () => {
        await upstream.fault({ after: 1, times: 0, fault: { kind: "repeatCursor" } });
        const error = await rejected(() => walk().all());
        assert.ok(error instanceof quillgate.DecodeError, inspect(error));
        assert.equal(error.where, "nextCursor");
        assert.equal(await requestCount(), 2);
      });
    }

    if (list.hasMore) {
      test(`${name}: \`hasMore: false\` ends it`, async () => {
        await upstream.fault({ after: 1, times: 0, fault: { kind: "hasMoreFalse" } });
        assert.equal((await walk().all()).length, 200);
        assert.equal(await requestCount(), 2);
      });
    }
  }

  test("what is no list is the simulator's very own, too", async () => {
    const { analytics } = client;
    const byPage = await analytics.feedbackByPage({ ...RANGE, limit: 100 });
    const { feedback } = await upstream.report({
      report: "feedback/by-page",
      ...PROJECT,
      ...RANGE,
    });
    assert.deepEqual(byPage, { feedback: feedback.slice(0, 100), hasMore: feedback.length > 100 });
    const stats = await analytics.callerStats(RANGE);
    const expected = await upstream.report({
      report: "assistant/caller-stats",
      ...PROJECT,
      ...RANGE,
    });
    assert.deepEqual(stats, expected);
    const { conversations } = await upstream.report({ report: "assistant", ...PROJECT, ...RANGE });
    const { id, query } = conversations[0];
    const { data, response } = await analytics.conversation(id).withResponse();
    assert.ok(data.messages.some(({ content, role }) => content === query && role === "user"));
    assert.equal(response.status, 200);
    const error = await rejected(() => analytics.conversation("01ARZ3NDEKTSV4RRFFQ69G5FAV"));
    assert.ok(error instanceof quillgate.NotFoundError, inspect(error));
  });
});

describe("page views under their earlier name", () => {
  test("are the list of views", () =>
    against(pageOf(LISTS.views), async ({ analytics, pageViews }, { requests }) => {
      const params = { ...RANGE, limit: 10, page: 2 };
      assert.deepEqual(await pageViews.list(params), await analytics.views(params));
      const [first, second] = requests.splice(0).map(({ path }) => path);
      assert.equal(first, second);
      assert.deepEqual(await pageViews.list(RANGE).all(), await analytics.views(RANGE).all());
      const paths = requests.map(({ path }) => path);
      assert.deepEqual(paths.slice(0, 3), paths.slice(3));
    }));

  test("have their request, which is built and not sent", () =>
    against(pageOf(LISTS.views), async (client, { requests, url }) => {
      for (const name of ["pageViews.list", "analytics.views"]) {
        const built = await client.buildRequest(name, { limit: 5, page: 2 });
        assert.equal(built.url, `${url}${ANALYTICS}/views?limit=5&offset=5`);
        assert.equal(built.method, "GET");
      }
      assert.equal(requests.length, 0);
    }));
});

describe("a request of each report can be built", () => {
  for (const [name, params, path] of [
    ["visitors", { page: 2, limit: 10 }, "/visitors?limit=10&offset=10"],
    ["feedback", { source: "agent", cursor: "a/b" }, "/feedback?source=agent&cursor=a%2Fb"],
    ["feedbackByPage", { limit: 100 }, "/feedback/by-page?limit=100"],
    ["searches", {}, "/searches"],
    ["conversations", { limit: 1000 }, "/assistant?limit=1000"],
    [
      "conversation",
      { threadId: "01ARZ3NDEKTSV4RRFFQ69G5FAV" },
      "/assistant/threads/01ARZ3NDEKTSV4RRFFQ69G5FAV",
    ],
    ["callerStats", { dateFrom: "2024-01-01" }, "/assistant/caller-stats?dateFrom=2024-01-01"],
  ]) {
    test(name, () =>
      against({ status: 500 }, async (client, { requests, url }) => {
        const built = await client.buildRequest(`analytics.${name}`, params);
        assert.deepEqual([built.method, built.url], ["GET", `${url}${ANALYTICS}${path}`]);
        assert.equal(requests.length, 0);
      }),
    );
  }
});

describe("a mistake is a ValidationError that names it, and nothing is sent", () => {
  /** Every way to use a list, none of which may send anything. */
  const USES = {
    awaited: (made) => made,
    iterated: (made) => collect(made),
    "by pages": (made) => collect(made.pages()),
    collected: (made) => made.all(),
    "with its response": (made) => made.withResponse(),
  };

  const refuses = (what, call, field, rule, message) =>
    test(`${what}: ${field} ${rule}`, () =>
      against({ json: { id: "j1" } }, async (client, { requests }) => {
        const error = await rejected(() => call(client));
        assert.ok(error instanceof quillgate.ValidationError, inspect(error));
        assert.deepEqual([error.field, error.rule], [field, rule]);
        if (message) assert.equal(error.message, message);
        assert.equal(requests.length, 0);
      }));

  for (const name of NAMES) {
    const { list, by, range } = LISTS[name];
    for (const [use, run] of Object.entries(USES)) {
      const refusesList = (what, params, options, ...expected) =>
        refuses(
          `${name}, ${use}, ${what}`,
          (client) => run(list(client, params, options)),
          ...expected,
        );
      const from = "from is not a parameter of this operation";
      refusesList("an unknown parameter", { from: "2024-01-01" }, {}, "from", "unknown", from);
      const timeOut = "timeOut is not an option";
      refusesList("an unknown option", {}, { timeOut: 5 }, "timeOut", "unknown", timeOut);
      refusesList(
        "no limit",
        { limit: 0 },
        {},
        "limit",
        name === "jobs" ? "job-page-size" : "page-size",
      );
      refusesList("the cursor of a last page", { cursor: null }, {}, "cursor", "text");
      if (by === "offset") {
        refusesList("page and offset", { page: 2, offset: 0 }, {}, "page", "not-with-offset");
        refusesList("page 0", { page: 0 }, {}, "page", "page");
        refusesList("a cursor of text", { cursor: "x" }, {}, "cursor", "unknown");
      } else {
        refusesList("a page", { page: 2 }, {}, "page", "unknown");
        refusesList("a cursor with more in it", { cursor: { x: 1 } }, {}, "x", "unknown");
      }
      if (range) {
        refusesList(
          "a range that ends first",
          { dateFrom: "2024-02-01", dateTo: "2024-01-01" },
          {},
          "dateFrom",
          "before-date-to",
        );
      }
    }
    refuses(
      `${name}, collected with an unknown option`,
      (client) => list(client).all({ maxRow: 5 }),
      ...["maxRow", "unknown", "maxRow is not an option"],
    );
  }
  refuses(
    "feedback of an unknown source",
    ({ analytics }) => analytics.feedback({ source: "email" }),
    ...["source", "one-of"],
    'source must be one of code_snippet, contextual, agent, thumbs_only, found "email"',
  );
  refuses(
    "conversations from no ULID on",
    ({ analytics }) => analytics.conversations({ cursor: "x" }),
    ...["cursor", "ulid"],
  );

  test("the options of a further page", () =>
    against(pageOf(LISTS.views), async ({ analytics }, { requests }) => {
      const page = await analytics.views({ limit: 1 });
      const error = await rejected(() => page.nextPage({ timeOut: 5 }));
      assert.ok(error instanceof quillgate.ValidationError, inspect(error));
      assert.deepEqual([error.field, error.rule, requests.length], ["timeOut", "unknown", 1]);
    }));

  const ULID = "01ARZ3NDEKTSV4RRFFQ69G5FAV";
  for (const [what, call] of Object.entries({
    create: ({ agentJobs }, options) => agentJobs.create({ prompt: "p" }, options),
    get: ({ agentJobs }, options) => agentJobs.get("j1", options),
    sendMessage: ({ agentJobs }, options) => agentJobs.sendMessage("j1", { prompt: "p" }, options),
    wait: ({ agentJobs }, options) => agentJobs.wait("j1", options),
    watch: ({ agentJobs }, options) => agentJobs.watch("j1", options).next(),
    feedbackByPage: ({ analytics }, options) => analytics.feedbackByPage({}, options),
    conversation: ({ analytics }, options) => analytics.conversation(ULID, options),
    callerStats: ({ analytics }, options) => analytics.callerStats({}, options),
    withOptions: (client, options) => client.withOptions(options).agentJobs.get("j1"),
    "new Client": (_, options) =>
      new quillgate.Client({ projectId: "p", adminKey: KEY, ...options }).agentJobs.get("j1"),
    buildRequest: (client, options) => client.buildRequest("agentJobs.get", { id: "j" }, options),
  })) {
    const message = "timeOut is not an option";
    refuses(what, (client) => call(client, { timeOut: 5 }), "timeOut", "unknown", message);
  }
  refuses(
    "a wait",
    ({ agentJobs }) => agentJobs.wait("j1", { maxRetries: 1 }),
    "maxRetries",
    "unknown",
  );

  for (const [what, call] of Object.entries({
    create: ({ agentJobs }) => agentJobs.create({ prompt: "p", from: "x" }),
    sendMessage: ({ agentJobs }) => agentJobs.sendMessage("j1", { prompt: "p", from: "x" }),
    feedbackByPage: ({ analytics }) => analytics.feedbackByPage({ from: "x" }),
    callerStats: ({ analytics }) => analytics.callerStats({ from: "x" }),
    buildRequest: (client) => client.buildRequest("pageViews.list", { from: "x" }),
  })) {
    refuses(what, call, "from", "unknown", "from is not a parameter of this operation");
  }

  for (const [what, id] of Object.entries({ null: null, nothing: undefined, "a number": 5 })) {
    const rule = id === undefined ? "required" : "text";
    const message = { prompt: "p" };
    refuses(`get of ${what}`, ({ agentJobs }) => agentJobs.get(id), "id", rule);
    refuses(`wait for ${what}`, ({ agentJobs }) => agentJobs.wait(id), "id", rule);
    refuses(`watch of ${what}`, ({ agentJobs }) => agentJobs.watch(id).next(), "id", rule);
    refuses(
      `message to ${what}`,
      ({ agentJobs }) => agentJobs.sendMessage(id, message),
      "id",
      rule,
    );
    refuses(
      `conversation of ${what}`,
      ({ analytics }) => analytics.conversation(id),
      ...["threadId", rule],
    );
  }
  refuses(
    "conversation of no ULID",
    ({ analytics }) => analytics.conversation(".."),
    "threadId",
    "ulid",
  );

  test("an option that is undefined is left out, and the client's error is thrown where it is made", () =>
    against({ json: { id: "j1" } }, async (client) => {
      assert.equal((await client.agentJobs.get("j1", { timeOut: undefined })).id, "j1");
      assert.equal((await client.withOptions({ retries: undefined }).agentJobs.get("j1")).id, "j1");
      const secret = { projectId: "p", adminKey: KEY, adminkey: "mint_secret" };
      let error;
      try {
        new quillgate.Client(secret);
      } catch (reason) {
        error = reason;
      }
      assert.ok(error instanceof quillgate.ValidationError, inspect(error));
      assert.equal(error.field, "adminkey");
      assert.ok(!inspect(error).includes("mint_secret"));
      assert.match(error.stack.split("\n")[1], /lists\.test\.mjs/);
    }));
});
