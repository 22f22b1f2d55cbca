/** How a client reads lists of page views. */
import assert from "node:assert/strict";
import { LISTS, namesFrom, pageOf } from "../scripted_lists.mjs";
import { against, assertInvalid, describe, nextTurn, rejectionOf, when } from "./fixtures.mjs";

const VIEWS = pageOf(LISTS.views);
const LIMIT = { ratelimit: '"analytics";r=42;t=1200' };

describe("Lists of page views", () => {
  when("five consecutive pages are empty", "the list rejects with DecodeError", () =>
    against(
      { json: { totals: {}, views: [], hasMore: true } },
      async ({ analytics }, { requests }) => {
        const error = await rejectionOf(analytics.views().all(), "DecodeError");
        assert.equal(error.path, "hasMore");
        assert.equal(requests.length, 5);
      },
    ),
  );

  when("a loop ends at its first row", "one request is sent", () =>
    against(VIEWS, async ({ analytics }, { requests }) => {
      for await (const _ of analytics.views()) break;
      await nextTurn();
      assert.equal(requests.length, 1);
    }),
  );

  when("a loop passes the middle of a page", "the next page is requested", () =>
    against(VIEWS, async ({ analytics }, server) => {
      let count = 0;
      for await (const _ of analytics.views()) {
        count += 1;
        // Wait for a turn, in which a prefetch would send its request.
        await nextTurn();
        if (count === 125) assert.equal(server.requests.length, 1);
        if (count === 126) {
          await server.arrived(2);
          break;
        }
      }
    }),
  );

  when(
    "a loop ends at the last row of a page",
    "the connection of the prefetched next page is closed",
    () => {
      const respond = (received, number) => (number === 0 ? VIEWS(received) : { stall: "head" });
      return against(respond, async ({ analytics }, server) => {
        let count = 0;
        for await (const _ of analytics.views()) {
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
    "a page in the middle fails",
    "the rows before it arrive, and a stored position resumes without gaps or duplicates",
    () => {
      let broken = true;
      const respond = (received) =>
        received.path.includes("offset=500") && broken
          ? { status: 404, json: { error: "gone" } }
          : pageOf(LISTS.views, 900)(received);
      return against(respond, async ({ analytics }) => {
        const paths = [];
        let stored;
        const iterate = async () => {
          for await (const view of analytics.views({ dateTo: "2024-01-01" })) paths.push(view.path);
        };
        await rejectionOf(iterate, "NotFoundError");
        assert.equal(paths.length, 500);
        const onProgress = ({ nextPosition }) => {
          stored = JSON.stringify(nextPosition);
        };
        await rejectionOf(analytics.views({ dateTo: "2024-01-01" }).all({ onProgress }));
        broken = false;
        const rest = await analytics.views({ resumeFrom: JSON.parse(stored) }).all();
        paths.push(...rest.map(({ path }) => path));
        assert.deepEqual(paths, namesFrom(0, 900));
      });
    },
  );

  when(
    "`maxRows` is neither an integer from 0 nor `Infinity`",
    "`all()` rejects with ValidationError; nothing is sent",
    () =>
      against(pageOf(LISTS.views, 2), async ({ analytics }, { requests }) => {
        for (const maxRows of [Number.NaN, -1, 1.5, Number.NEGATIVE_INFINITY, null, "5", 5n, {}]) {
          await assertInvalid(analytics.views().all({ maxRows }), "maxRows", "page-size");
        }
        assert.deepEqual(await analytics.views().all({ maxRows: 0 }), []);
        assert.equal(requests.length, 0);
        for (const maxRows of [2, undefined, Number.POSITIVE_INFINITY]) {
          assert.equal((await analytics.views().all({ maxRows })).length, 2);
        }
      }),
  );

  when("`onProgress` throws", "`all()` rejects with the same error", () =>
    against(VIEWS, async ({ analytics }, { requests }) => {
      const own = new RangeError("own");
      const onProgress = () => {
        throw own;
      };
      assert.equal(await rejectionOf(analytics.views().all({ onProgress })), own);
      assert.equal(requests.length, 1);
    }),
  );

  when(
    "the response has a `RateLimit` header",
    "`onProgress` receives the remaining requests of the hour",
    () =>
      against(
        (received) => ({ ...pageOf(LISTS.views, 300)(received), headers: LIMIT }),
        async ({ analytics }) => {
          const left = [];
          const onProgress = ({ requestsLeftThisHour }) => left.push(requestsLeftThisHour);
          await analytics.views().all({ onProgress });
          assert.deepEqual(left, [42, 42]);
        },
      ),
  );

  when("a loop over pages ends early", "`nextPage()` of its last page still works", () =>
    against(VIEWS, async ({ analytics }) => {
      let last;
      for await (const page of analytics.views().pages()) {
        last = page;
        break;
      }
      const next = await last.nextPage();
      assert.equal(next.offset, 250);
    }),
  );

  when(
    "a list has callbacks instead of `await`",
    "`then`, `catch` and `finally` work",
    async () => {
      await against(pageOf(LISTS.views, 3), async ({ analytics }, { requests }) => {
        const list = analytics.views();
        let settled = 0;
        const count = () => {
          settled += 1;
        };
        assert.equal(await list.then(({ views }) => views.length), 3);
        assert.equal((await list.catch(() => "caught")).views.length, 3);
        assert.equal((await list.finally(count)).views.length, 3);
        assert.deepEqual([settled, requests.length], [1, 1]);
      });
      await against({ status: 404 }, async ({ analytics }) => {
        assert.equal(await analytics.views().then(null, ({ status }) => status), 404);
        assert.equal(await analytics.views().catch(({ status }) => status), 404);
      });
    },
  );
});
