/**
 * Pages of lists and their order. The tests cover empty pages, repeated cursors, `hasMore` without
 * a cursor, page numbers, and pages with too many rows.
 */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { inspect } from "node:util";
import { against, inTurn, quillgate, rejectionOf } from "./behaviour/fixtures.mjs";
import {
  BY_CURSOR,
  BY_OFFSET,
  collect,
  cursorOf,
  LISTS,
  NAMES,
  namesFrom,
  namesOf,
  pageOf,
  pagingOf,
  rowOf,
  WAYS,
} from "./scripted_lists.mjs";
import { queryOf } from "./scripted_server.mjs";

describe("Empty pages", () => {
  for (const name of NAMES) {
    const list = LISTS[name];
    test(`the list of ${name} skips empty pages and rejects after five in a row`, () => {
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
            const error = await rejectionOf(() => list.list(client).all());
            assert.ok(error instanceof quillgate.DecodeError, inspect(error));
            assert.equal(error.path, list.hasMore ? "hasMore" : "nextCursor");
            assert.equal(requests.length, 5);
          },
        ),
      ]);
    });
  }
});

describe("Repeated cursors", () => {
  /** Returns a page whose `nextCursor` is the cursor after `at` rows. */
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
    for (const [when, cursors, params, count] of [
      ["immediately", [1], {}, 2],
      ["after other pages", [1, 2, 3, 1], {}, 4],
      ["and is that of the first request", [1], { cursor: cursorOf(list, 1) }, 1],
    ]) {
      test(`the list of ${name} rejects with DecodeError if a cursor repeats ${when}`, () =>
        against(
          inTurn(...cursors.map((at) => leadingTo(list, at))),
          async (client, { requests }) => {
            const ways = [
              (made) => collect(made),
              (made) => collect(made.pages()),
              (made) => made.all(),
            ];
            for (const walk of ways) {
              requests.length = 0;
              const error = await rejectionOf(() => walk(list.list(client, params)));
              assert.ok(error instanceof quillgate.DecodeError, inspect(error));
              assert.deepEqual([error.path, error.requestId], ["nextCursor", "r-8"]);
              assert.match(error.message, /nextCursor repeats an earlier cursor/);
              assert.equal(requests.length, count);
              requests.length = 0;
            }
          },
        ));
    }
  }
});

describe("`hasMore` and `nextCursor`", () => {
  for (const name of ["feedback", "conversations"]) {
    const list = LISTS[name];
    const page = (hasMore, nextCursor) => ({
      json: { ...list.base, [list.rows]: [rowOf(list, 0)], hasMore, nextCursor },
    });

    test(`\`hasMore: false\` ends the list of ${name} despite a cursor`, () =>
      against(page(false, cursorOf(list, 1)), async (client, { requests }) => {
        for (const walk of Object.values(WAYS)) {
          requests.length = 0;
          assert.equal((await walk(list.list(client), list)).length, 1);
          assert.equal(requests.length, 1);
        }
        assert.equal((await list.list(client)).nextPosition, null);
      }));

    for (const cursor of [null, undefined]) {
      test(`the list of ${name} rejects \`hasMore: true\` with the cursor ${cursor}`, () =>
        against(page(true, cursor), async (client, { requests }) => {
          for (const walk of Object.values(WAYS)) {
            requests.length = 0;
            const error = await rejectionOf(() => walk(list.list(client), list));
            assert.ok(error instanceof quillgate.DecodeError, inspect(error));
            assert.equal(error.path, "nextCursor");
            assert.equal(requests.length, 1);
          }
        }));
    }
  }

  for (const name of ["searches", "jobs"]) {
    const list = LISTS[name];
    test(`the list of ${name} has no \`hasMore\` and continues while there is a cursor`, () =>
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

describe("Lists by offset", () => {
  for (const name of BY_OFFSET) {
    const list = LISTS[name];
    test(`the list of ${name} starts at \`page\` and continues after it`, () =>
      against(pageOf(list), async (client, { requests }) => {
        const page = await list.list(client, { page: 3, limit: 50 });
        assert.deepEqual(namesOf(list, page[list.rows]), namesFrom(100, 150));
        assert.equal(page.offset, 100);
        assert.deepEqual(pagingOf(requests[0]), { limit: "50", offset: "100" });
        assert.ok(!queryOf(requests[0]).has("page"));
        assert.equal((await page.nextPage()).offset, 150);
        const rest = await list.list(client, { page: 3, limit: 50 }).all();
        assert.deepEqual(namesOf(list, rest), namesFrom(100));
        assert.equal((await list.list(client, { page: 2 })).offset, 50);
      }));

    test(`the list of ${name} rejects a page with more than \`limit\` rows`, () =>
      against(
        { json: { ...list.base, [list.rows]: [rowOf(list, 0), rowOf(list, 1)], hasMore: true } },
        async (client) => {
          const error = await rejectionOf(() => list.list(client, { limit: 1 }).all());
          assert.ok(error instanceof quillgate.DecodeError, inspect(error));
          assert.equal(error.path, list.rows);
        },
      ));
  }
});

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
      { conversations: [{ id: "t1" }], nextCursor: "01ARZ3NDEKTSV4RRFFQ69G5FAV" },
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
    test(`of ${name} is iterable: for its rows, and with await for all rows from it on`, () =>
      against(pageOf(list), async (client, { requests }) => {
        const page = await list.list(client, { limit: 100 });
        assert.deepEqual(namesOf(list, [...page]), namesFrom(0, 100));
        assert.equal(requests.length, 1);
        const second = await page.nextPage();
        assert.deepEqual(namesOf(list, await collect(second)), namesFrom(100));
        assert.deepEqual(namesOf(list, await collect(await list.list(client))), namesFrom(0));
        assert.deepEqual(Object.keys(page).includes("nextPage"), false);
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
