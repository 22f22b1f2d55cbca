/** Lists and reports of the package, except those of the archive. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { inspect } from "node:util";
import {
  against,
  assertInvalid,
  inTurn,
  KEY,
  nextTurn,
  quillgate,
  rejectionOf,
} from "./behaviour/fixtures.mjs";
import {
  ANALYTICS,
  collect,
  cursorOf,
  LISTS,
  NAMES,
  namesFrom,
  namesOf,
  pageOf,
  pagingOf,
  RANGE,
  ROWS,
  rowsBefore,
  WAYS,
} from "./scripted_lists.mjs";
import { queryOf } from "./scripted_server.mjs";

const THREAD = "01ARZ3NDEKTSV4RRFFQ69G5FAV";

for (const name of NAMES) {
  const list = LISTS[name];
  const pagingFrom = (from, limit) => {
    const at = list.by === "offset" ? { offset: String(from) } : { cursor: cursorOf(list, from) };
    return { limit: String(limit), ...(from > 0 || list.by === "offset" ? at : {}) };
  };

  describe(`The list of ${name}`, () => {
    test(`the list of ${name} sends nothing until it is awaited, and then one request`, () =>
      against(pageOf(list), async (client, { requests }) => {
        const made = list.list(client, { limit: 5 });
        made.pages();
        made[Symbol.asyncIterator]();
        await nextTurn();
        assert.equal(requests.length, 0);
        assert.equal(await made, await made);
        await made.withResponse();
        assert.equal(requests.length, 1);
      }));

    for (const [way, walk] of Object.entries(WAYS)) {
      test(`${way} reads every row of ${name} once, in order`, () =>
        against(pageOf(list), async (client, { requests }) => {
          const rows = await walk(list.list(client), list);
          assert.deepEqual(namesOf(list, rows), namesFrom(0));
          // An awaited page has the default size of the server. Reading every row uses the maximum.
          const size = way === "nextPage()" ? list.defaultRows : list.maxRows;
          assert.equal(requests.length, Math.ceil(ROWS / size));
        }));
    }

    test(`all() requests ${name} in consecutive pages of maximum size and one fixed date range`, () =>
      against(pageOf(list), async (client, { requests }) => {
        await list.list(client).all();
        const { maxRows } = list;
        const expected = Array.from({ length: Math.ceil(ROWS / maxRows) }, (_, at) =>
          pagingFrom(at * maxRows, maxRows),
        );
        assert.deepEqual(requests.map(pagingOf), expected);
        assert.ok(requests.every(({ path }) => path.startsWith(`${list.path}?`)));
        const ends = new Set(requests.map((received) => queryOf(received).get("dateTo")));
        assert.equal(ends.size, 1);
        const [end] = ends;
        if (list.range) assert.match(end, /^\d{4}-\d\d-\d\dT/);
        else assert.equal(end, null);
      }));

    test(`all() requests ${name} in pages of \`limit\` rows`, () =>
      against(pageOf(list), async (client, { requests }) => {
        const walked = await list.list(client, { limit: 90 }).all({ maxRows: 180 });
        assert.equal(walked.length, 180);
        assert.deepEqual(requests.map(pagingOf), [pagingFrom(0, 90), pagingFrom(90, 90)]);
      }));

    test(`awaiting the list of ${name} resolves to a page with nextPage(), which ends with null`, () =>
      against(pageOf(list, 15), async (client, { requests }) => {
        const first = await list.list(client, { limit: 10 });
        assert.deepEqual(namesOf(list, first[list.rows]), namesFrom(0, 10));
        assert.ok(!Object.keys(first).includes("nextPage"), "nextPage is enumerable");
        const second = await first.nextPage();
        assert.deepEqual(namesOf(list, second[list.rows]), namesFrom(10, 15));
        assert.equal(second.nextPosition, null);
        assert.equal(await second.nextPage(), null);
        assert.equal(requests.length, 2);
        const offsets = list.by === "offset" ? [0, 10] : [undefined, undefined];
        assert.deepEqual([first.offset, second.offset], offsets);
      }));

    test(`withResponse() of the list of ${name} resolves to a page and its response`, () =>
      against(
        (received) => ({ ...pageOf(list)(received), headers: { "x-request-id": "r-7" } }),
        async (client) => {
          const made = list.list(client, { limit: 3 });
          const { data, response, requestId } = await made.withResponse();
          assert.deepEqual(namesOf(list, data[list.rows]), namesFrom(0, 3));
          assert.deepEqual([response.status, requestId], [200, "r-7"]);
          assert.ok(response instanceof Response);
        },
      ));

    test(`all() collects at most \`maxRows\` rows of ${name} and reports its progress`, () =>
      against(
        (received) => ({ ...pageOf(list)(received), headers: { ratelimit: '"x";r=42;t=9' } }),
        async (client, { requests }) => {
          const reports = [];
          let nextPosition;
          const onProgress = ({ rows, pages, requestsLeftThisHour, ...rest }) => {
            reports.push([rows, pages, requestsLeftThisHour]);
            ({ nextPosition } = rest);
          };
          const rows = await list.list(client, { limit: 100 }).all({ maxRows: 299, onProgress });
          assert.deepEqual(namesOf(list, rows), namesFrom(0, 299));
          assert.equal(requests.length, 3);
          assert.deepEqual(reports, [
            [100, 1, 42],
            [200, 2, 42],
            [299, 3, 42],
          ]);
          // A list by cursor has no position within a page, so it repeats the page.
          if (list.by === "offset") assert.equal(nextPosition.offset, 299);
          else assert.equal(rowsBefore(nextPosition.cursor), 200);
        },
      ));

    test(`the progress of ${name} has no next position after the last page`, () =>
      against(pageOf(list, 15), async (client) => {
        const positions = [];
        const onProgress = ({ nextPosition }) => positions.push(nextPosition);
        await list.list(client, { limit: 10 }).all({ onProgress });
        assert.equal(positions.length, 2);
        assert.deepEqual([positions[0] === null, positions[1]], [false, null]);
      }));

    test(`every way to read ${name} resumes from a position stored as JSON`, () =>
      against(pageOf(list), async (client, { requests }) => {
        const stored = [];
        const store = ({ nextPosition }) => stored.push(JSON.stringify(nextPosition));
        await list.list(client, { limit: 100 }).all({ maxRows: 200, onProgress: store });
        store(await (await list.list(client, { limit: 100 })).nextPage());
        for (const json of stored.slice(1)) {
          for (const walk of Object.values(WAYS)) {
            const before = requests.length;
            const rows = await walk(list.list(client, { resumeFrom: JSON.parse(json) }), list);
            assert.deepEqual(namesOf(list, rows), namesFrom(200));
            assert.equal(requests.length - before, 5, "pages of the stored size");
          }
        }
      }));

    test(`a position in ${name} resumes with the date range and the filters of its list`, () =>
      against(pageOf(list), async (client, { requests }) => {
        const filter = name === "feedback" ? { source: "agent", status: "pending" } : {};
        const params = { ...(list.range ? RANGE : {}), ...filter, limit: 10 };
        const { nextPosition } = await list.list(client, params);
        await list.list(client, { resumeFrom: nextPosition });
        const [first, second] = requests.map((received) => Object.fromEntries(queryOf(received)));
        assert.deepEqual({ ...second, cursor: 0, offset: 0 }, { ...first, cursor: 0, offset: 0 });
        assert.deepEqual(pagingOf(requests[1]), pagingFrom(10, 10));
      }));
  });
}

describe("Pages without optional properties", () => {
  const PAGES = {
    feedback: [
      { feedback: [{ id: "f1", status: "pending" }], nextCursor: "c2", hasMore: true },
      { feedback: [{ id: "f2", source: null }], nextCursor: null },
    ],
    views: [
      { views: [{ path: "/a", total: 5 }, {}], totals: { total: 5 } },
      { views: [{ path: "/b" }] },
    ],
    conversations: [
      { conversations: [{ id: "t1" }], nextCursor: THREAD },
      { conversations: [{ id: null }] },
    ],
  };
  for (const [name, pages] of Object.entries(PAGES)) {
    test(`the list of ${name} needs only its rows and a cursor`, () =>
      against(inTurn(...pages.map((json) => ({ json }))), async (client, { requests }) => {
        const rows = await client.analytics[name]({ limit: 2 }).all();
        assert.equal(rows.length, pages.flatMap((page) => page[name]).length);
        assert.equal(requests.length, 2);
      }));
  }
});

describe("An awaited page", () => {
  for (const name of NAMES) {
    const list = LISTS[name];
    test(`of ${name} is a plain object: only its data is enumerable, and it has no symbols`, () =>
      against(pageOf(list), async (client) => {
        const page = await list.list(client, { limit: 100 });
        const keys = Reflect.ownKeys(page);
        assert.deepEqual(
          keys.filter((key) => typeof key === "symbol"),
          [],
        );
        assert.equal(Object.getPrototypeOf(page), Object.prototype);
        const hidden = keys.filter((key) => !Object.keys(page).includes(key));
        assert.deepEqual(hidden.sort(), ["isMixed", "nextPage"]);
        assert.deepEqual(structuredClone(page), { ...page });
        assert.equal(structuredClone(page)[list.rows].length, 100);
      }));

    test(`of ${name} has a position from which iteration continues in pages of the maximum size`, () =>
      against(pageOf(list), async (client, { requests }) => {
        for (const params of list.by === "offset" ? [{}, { page: 1 }] : [{}]) {
          const page = await list.list(client, params);
          requests.length = 0;
          const rest = await collect(list.list(client, { resumeFrom: page.nextPosition }));
          assert.deepEqual(namesOf(list, rest), namesFrom(page[list.rows].length));
          assert.equal(requests.length, Math.ceil(rest.length / list.maxRows));
        }
      }));

    if (!list.range) continue;
    test(`of ${name} has a fixed range, which its position and the next page keep`, (context) => {
      const start = Date.parse("2024-03-01T10:07:00Z");
      context.mock.timers.enable({ apis: ["Date"], now: start });
      return against(pageOf(list), async (client, { requests }) => {
        const page = await list.list(client, { dateFrom: "2024-01-01" });
        context.mock.timers.setTime(start + 3_600_000);
        await page.nextPage();
        await list.list(client, { resumeFrom: page.nextPosition });
        const ends = requests.map((request) => queryOf(request).get("dateTo"));
        assert.deepEqual(ends, Array(3).fill("2024-03-01T10:05:00.000Z"));
        assert.equal(page.nextPosition.dateTo, ends[0]);
      });
    });
  }
});

describe("`buildRequest()`", () => {
  for (const [name, params, path] of [
    ["views", { page: 2, limit: 5 }, "/views?limit=5&offset=5"],
    ["visitors", { page: 2, limit: 10 }, "/visitors?limit=10&offset=10"],
    ["feedback", { source: "agent", cursor: "a/b" }, "/feedback?source=agent&cursor=a%2Fb"],
    ["feedbackByPage", { limit: 100 }, "/feedback/by-page?limit=100"],
    ["searches", {}, "/searches"],
    ["conversations", { limit: 1000 }, "/assistant?limit=1000"],
    ["conversation", { threadId: THREAD }, `/assistant/threads/${THREAD}`],
    ["callerStats", { dateFrom: "2024-01-01" }, "/assistant/caller-stats?dateFrom=2024-01-01"],
  ]) {
    test(`buildRequest() returns the request of analytics.${name}`, () =>
      against({ status: 500 }, async (client, { requests, url }) => {
        const built = await client.buildRequest(`analytics.${name}`, params);
        assert.deepEqual([built.method, built.url], ["GET", `${url}${ANALYTICS}${path}`]);
        assert.equal(requests.length, 0);
      }));
  }
});

describe("Invalid input", () => {
  const USES = {
    awaited: (made) => made,
    iterated: (made) => collect(made),
    "by pages": (made) => collect(made.pages()),
    collected: (made) => made.all(),
    "with its response": (made) => made.withResponse(),
  };

  const rejects = (what, call, field, rule, message) =>
    test(`${what} is rejected by the rule \`${rule}\` of \`${field}\`, and nothing is sent`, () =>
      against({ json: { id: "j1" } }, async (client, { requests }) => {
        const error = await assertInvalid(() => call(client), field, rule);
        if (message) assert.equal(error.message, message);
        assert.equal(requests.length, 0);
      }));

  for (const [use, run] of Object.entries(USES)) {
    const { list } = LISTS.views;
    const rejectsList = (what, params, options, ...expected) => {
      const call = (client) => run(list(client, params, options));
      rejects(`a list, ${use}, with ${what}`, call, ...expected);
    };
    const from = "from is not a parameter of this operation";
    rejectsList("an unknown parameter", { from: "2024-01-01" }, {}, "from", "unknown", from);
    const timeOut = "timeOut is not an option";
    rejectsList("an unknown option", {}, { timeOut: 5 }, "timeOut", "unknown", timeOut);
    rejectsList("an invalid parameter", { limit: 0 }, {}, "limit", "page-size");
    rejectsList("a position that is no object", { resumeFrom: "x" }, {}, "resumeFrom", "required");
    rejectsList("an unknown property of a position", { resumeFrom: { x: 1 } }, {}, "x", "unknown");
  }
  const allOf = ({ analytics }) => analytics.views().all({ maxRow: 5 });
  const maxRow = "maxRow is not an option";
  rejects("all() with an unknown option", allOf, "maxRow", "unknown", maxRow);

  test("nextPage() rejects an unknown option", () =>
    against(pageOf(LISTS.views), async ({ analytics }, { requests }) => {
      const page = await analytics.views({ limit: 1 });
      await assertInvalid(() => page.nextPage({ timeOut: 5 }), "timeOut", "unknown");
      assert.equal(requests.length, 1);
    }));

  for (const [what, call] of Object.entries({
    create: ({ agentJobs }, options) => agentJobs.create({ prompt: "p" }, options),
    get: ({ agentJobs }, options) => agentJobs.get("j1", options),
    sendMessage: ({ agentJobs }, options) => agentJobs.sendMessage("j1", { prompt: "p" }, options),
    wait: ({ agentJobs }, options) => agentJobs.wait("j1", options),
    watch: ({ agentJobs }, options) => agentJobs.watch("j1", options).next(),
    feedbackByPage: ({ analytics }, options) => analytics.feedbackByPage({}, options),
    conversation: ({ analytics }, options) => analytics.conversation(THREAD, options),
    callerStats: ({ analytics }, options) => analytics.callerStats({}, options),
    withOptions: (client, options) => client.withOptions(options).agentJobs.get("j1"),
    "new Client": (_, options) => {
      const auth = { adminKey: KEY };
      return new quillgate.Client({ projectId: "p", auth, ...options }).agentJobs.get("j1");
    },
    buildRequest: (client, options) => client.buildRequest("agentJobs.get", { id: "j" }, options),
  })) {
    const message = "timeOut is not an option";
    const mistake = (client) => call(client, { timeOut: 5 });
    rejects(`an unknown option of ${what}`, mistake, "timeOut", "unknown", message);
  }
  const waitWithRetries = ({ agentJobs }) => agentJobs.wait("j1", { maxRetries: 1 });
  rejects("the option maxRetries of wait", waitWithRetries, "maxRetries", "unknown");

  test("an option that is undefined counts as absent", () =>
    against({ json: { id: "j1" } }, async (client) => {
      assert.equal((await client.agentJobs.get("j1", { timeOut: undefined })).id, "j1");
      assert.equal((await client.withOptions({ retries: undefined }).agentJobs.get("j1")).id, "j1");
    }));

  test("new Client() throws for an unknown option, at the caller's line and without its value", async () => {
    const secret = { projectId: "p", auth: { adminKey: KEY }, adminkey: "mint_secret" };
    const make = () => new quillgate.Client(secret);
    const error = await rejectionOf(make, "ValidationError");
    assert.equal(error.field, "adminkey");
    assert.ok(!inspect(error).includes("mint_secret"));
    assert.match(error.stack.split("\n")[1], /lists\.test\.mjs/);
  });
});
