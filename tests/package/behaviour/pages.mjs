/** Lists of page views. */
import assert from "node:assert/strict";
import { against, describe, inTurn, pageOf, quillgate, rejected, when } from "./fixtures.mjs";

describe("when pages are listed", () => {
  when("a list is made and not awaited", "nothing is sent", () =>
    against(pageOf(10), async ({ pageViews }, { requests }) => {
      const list = pageViews.list({ limit: 5 });
      list.pages();
      list[Symbol.asyncIterator]();
      await new Promise((resolve) => setImmediate(resolve));
      assert.equal(requests.length, 0);
      await list;
      await list;
      assert.equal(requests.length, 1, "and once, however often it is awaited");
    }),
  );

  when("a page is empty and there are more", "the list goes on", () =>
    against(
      inTurn(
        { json: { totals: {}, views: [{ path: "/1" }], hasMore: true } },
        { json: { totals: {}, views: [], hasMore: true } },
        { json: { totals: {}, views: [{ path: "/2" }], hasMore: false } },
      ),
      async ({ pageViews }) => {
        const rows = await pageViews.list({ limit: 1 }).all();
        assert.deepEqual(
          rows.map(({ path }) => path),
          ["/1", "/2"],
        );
      },
    ),
  );

  when("pages stay empty for ever", "DecodeError after 5 in a row", () =>
    against(
      { json: { totals: {}, views: [], hasMore: true } },
      async ({ pageViews }, { requests }) => {
        const error = await rejected(pageViews.list().all());
        assert.ok(error instanceof quillgate.DecodeError);
        assert.equal(error.where, "hasMore");
        assert.equal(requests.length, 5);
      },
    ),
  );

  when(
    "everything is listed",
    "250 rows a request, of one range that is frozen at the beginning",
    () =>
      against(pageOf(600), async ({ pageViews }, { requests }) => {
        let count = 0;
        for await (const { path } of pageViews.list({ dateFrom: "2024-01-01" })) {
          assert.equal(path, `/${count}`);
          count += 1;
        }
        assert.equal(count, 600);
        const queries = requests.map(({ path }) => new URL(path, "http://x").searchParams);
        assert.deepEqual(
          queries.map((query) => query.get("limit")),
          ["250", "250", "250"],
        );
        assert.deepEqual(
          queries.map((query) => query.get("offset")),
          ["0", "250", "500"],
        );
        assert.equal(new Set(queries.map((query) => query.get("dateTo"))).size, 1);
        assert.match(queries[0].get("dateTo"), /^\d{4}-\d\d-\d\dT/);
      }),
  );

  when("a loop is left at its first row", "one request, and none ahead", () =>
    against(pageOf(600), async ({ pageViews }, { requests }) => {
      for await (const _ of pageViews.list()) break;
      await new Promise((resolve) => setImmediate(resolve));
      assert.equal(requests.length, 1);
    }),
  );

  when(
    "a loop is left at the end of a page",
    "one page was asked for ahead, and its request is closed",
    () => {
      const answer = (received, number) =>
        number === 0 ? pageOf(600)(received) : { stall: "head" };
      return against(answer, async ({ pageViews }, server) => {
        let count = 0;
        for await (const _ of pageViews.list()) {
          count += 1;
          if (count === 250) {
            await server.arrived(2);
            break;
          }
        }
        assert.equal(await server.requests[1].ended, false);
        assert.equal(server.requests.length, 2);
      });
    },
  );

  when(
    "a page fails in the middle",
    "the rows before it come first, and a kept cursor goes on without losing or repeating any",
    () => {
      let broken = true;
      const answer = (received) =>
        received.path.includes("offset=500") && broken
          ? { status: 404, json: { error: "gone" } }
          : pageOf(900)(received);
      return against(answer, async ({ pageViews }) => {
        const paths = [];
        let kept;
        const iterate = async () => {
          for await (const view of pageViews.list({ dateTo: "2024-01-01" })) paths.push(view.path);
        };
        assert.ok((await rejected(iterate)) instanceof quillgate.NotFoundError);
        assert.equal(paths.length, 500);
        const onProgress = ({ cursor }) => {
          kept = JSON.stringify(cursor);
        };
        await rejected(pageViews.list({ dateTo: "2024-01-01" }).all({ onProgress }));
        broken = false;
        const rest = await pageViews.list({ cursor: JSON.parse(kept) }).all();
        paths.push(...rest.map(({ path }) => path));
        assert.deepEqual(
          paths,
          Array.from({ length: 900 }, (_, at) => `/${at}`),
        );
      });
    },
  );

  when("`maxRows` is given", "no page is asked for beyond it", () =>
    against(pageOf(2000), async ({ pageViews }, { requests }) => {
      const progress = [];
      const rows = await pageViews
        .list()
        .all({ maxRows: 300, onProgress: ({ rows, pages }) => progress.push([rows, pages]) });
      assert.equal(rows.length, 300);
      assert.equal(requests.length, 2);
      assert.deepEqual(progress, [
        [250, 1],
        [300, 2],
      ]);
    }),
  );

  when("the answer says what is left of the hour", "progress says so, too", () =>
    against(
      (received) => ({
        ...pageOf(300)(received),
        headers: { ratelimit: '"analytics";r=42;t=1200' },
      }),
      async ({ pageViews }) => {
        const left = [];
        await pageViews
          .list()
          .all({ onProgress: ({ requestsLeftThisHour }) => left.push(requestsLeftThisHour) });
        assert.deepEqual(left, [42, 42]);
      },
    ),
  );

  when("a page is kept from a loop that was left", "its `nextPage()` still leads on", () =>
    against(pageOf(600), async ({ pageViews }) => {
      let kept;
      for await (const page of pageViews.list().pages()) {
        kept = page;
        break;
      }
      const next = await kept.nextPage();
      assert.equal(next.offset, 250);
    }),
  );

  when("a page is awaited", "`nextPage()` leads on, and is `null` after the last", () =>
    against(pageOf(15), async ({ pageViews }, { requests }) => {
      const first = await pageViews.list({ limit: 10 });
      const second = await first.nextPage();
      assert.deepEqual([second.offset, second.views.length, second.hasMore], [10, 5, false]);
      assert.equal(await second.nextPage(), null);
      assert.equal(requests.length, 2);
      const { data, response } = await pageViews.list({ limit: 10 }).withResponse();
      assert.deepEqual([data.views.length, response.status], [10, 200]);
    }),
  );

  when("pages are iterated", "each comes once, with its offset", () =>
    against(pageOf(600), async ({ pageViews }) => {
      const offsets = [];
      for await (const page of pageViews.list().pages()) offsets.push(page.offset);
      assert.deepEqual(offsets, [0, 250, 500]);
    }),
  );
});
