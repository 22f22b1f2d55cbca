/** Lists that Mintlify cannot answer as a whole. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { against, inTurn } from "./behaviour/fixtures.mjs";
import { collect } from "./scripted_lists.mjs";
import { queryOf } from "./scripted_server.mjs";

const RANGE = { dateFrom: "2024-01-01", dateTo: "2024-01-31" };
const ULID = "01ARZ3NDEKTSV4RRFFQ69G5FAV";
const NO_RETRIES = { maxRetries: 0 };

/** Twenty turns of one conversation, newest first. Each two have the same time. */
const TURNS = Array.from({ length: 20 }, (_, at) => ({
  id: `t${at % 2}`,
  timestamp: `2024-01-${String(29 - (at >> 1)).padStart(2, "0")}T00:00:00Z`,
  query: `q${at}`,
}));

/** Responds with pages of three turns. After the first page, ranges of more than a week fail. */
function respond(received) {
  const query = queryOf(received);
  const [from, to] = ["dateFrom", "dateTo"].map((name) => Date.parse(query.get(name)));
  const isWithin = ({ timestamp }) => from <= Date.parse(timestamp) && Date.parse(timestamp) < to;
  const turns = TURNS.filter(isWithin);
  const skip = query.has("cursor") ? Number(query.get("cursor").slice(-2)) : 0;
  if (skip > 0 && to - from > 7 * 86_400_000) return { status: 504, json: {} };
  const end = skip + 3;
  const hasMore = end < turns.length;
  const nextCursor = hasMore ? ULID.slice(0, -2) + String(end).padStart(2, "0") : null;
  return { json: { conversations: turns.slice(skip, end), nextCursor, hasMore } };
}

const queriesOf = (rows) => rows.map(({ query }) => query);
const EVERY_QUERY = queriesOf(TURNS);

describe("Parts of a range", () => {
  test("all() returns each turn once, although long ranges time out", () =>
    against(respond, async (client) => {
      const rows = await client.analytics.conversations(RANGE, NO_RETRIES).all();
      assert.deepEqual(queriesOf(rows), EVERY_QUERY);
    }));

  test("an export omits rows that a part repeats", () =>
    against(respond, async (client) => {
      const stream = client.analytics.conversations(RANGE, NO_RETRIES).export({ format: "ndjson" });
      const lines = (await new Response(stream).text()).trimEnd().split("\n");
      assert.deepEqual(queriesOf(lines.map((line) => JSON.parse(line))), EVERY_QUERY);
    }));
});

test("a list and its export report totals that change between two pages", async () => {
  const page = (total, hasMore) => ({
    json: { totals: { human: total, ai: 0, total }, views: [{ path: "/a" }], hasMore },
  });
  const script = () => inTurn(page(1, true), page(1, true), page(2, false));
  await against(script(), async (client) => {
    const pages = await collect(client.analytics.views(RANGE).pages());
    const areMixed = pages.map(({ isMixed }) => isMixed);
    assert.deepEqual(areMixed, [false, false, true]);
  });
  await against(script(), async (client) => {
    const stream = client.analytics.views(RANGE).export({ format: "csv" });
    assert.equal(stream.isMixed, false);
    await new Response(stream).text();
    assert.equal(stream.isMixed, true);
  });
  const busy = { status: 429, headers: { "retry-after": "1" }, json: {} };
  await against(inTurn(page(1, true), busy, page(2, false)), async (client) => {
    const list = client.analytics.views(RANGE, NO_RETRIES);
    const stream = list.export({ format: "csv", wait: 1_000 });
    await new Response(stream).text();
    assert.equal(stream.isMixed, true, "after a 429");
  });
});
