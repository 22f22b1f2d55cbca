/** The number of D1 rows that a request for the archive reads. D1 bills every row. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { queryArchive, startGateway } from "../../harness/gateway.mjs";
import { assertInvalid, before, PROJECT, useGate } from "../recorded_gateway.mjs";
import { BUILT_SCRIPT, configWith } from "../wrangler_config.mjs";

const PAGES = 50_000;
const DAYS = 10;
/** The bound that `docs/guides/archive.md` states, and the rows of days and projects besides. */
const MAX_ROWS = 400_000 + 100;
const FIRST_DAY = 19_783;
const date = (day) => new Date(day * 86_400_000).toISOString().slice(0, 10);
const RANGE = { dateFrom: date(FIRST_DAY), dateTo: date(FIRST_DAY + DAYS) };
const config = configWith({
  source: `
    import worker from ${JSON.stringify(BUILT_SCRIPT)};
    export * from ${JSON.stringify(BUILT_SCRIPT)};
    const wrap = (statement, read) => ({
      bind: (...values) => wrap(statement.bind(...values), read),
      all: async () => {
        const result = await statement.all();
        read(result.meta.rows_read);
        return result;
      },
    });
    let rows = 0;
    const read = (count) => {
      rows += count;
    };
    export default {
      fetch(request, env, context) {
        if (new URL(request.url).pathname === "/v1/rows-read") return new Response(rows);
        const ARCHIVE = { prepare: (query) => wrap(env.ARCHIVE.prepare(query), read) };
        return worker.fetch(request, { ...env, ARCHIVE }, context);
      },
    };
  `,
});
const gate = useGate("archive-rows", {
  stored: true,
  gateway: { config, archive: true, vars: { ARCHIVE_PROJECTS: PROJECT } },
});

before(async () => {
  await gate.gateway.stop();
  const numbers = (name, count) =>
    `${name} (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM ${name} WHERE n < ${count - 1})`;
  await queryArchive(
    gate.state,
    `INSERT INTO project VALUES (1, '${PROJECT}', ${FIRST_DAY});
     INSERT INTO day (project, day, fetched, human, ai, total, has_page_views)
     WITH RECURSIVE ${numbers("number", DAYS + 1)} SELECT 1, ${FIRST_DAY} + n, 1, 0, 0, 0, 1 FROM number;
     INSERT INTO page_views WITH RECURSIVE ${numbers("page", PAGES)}, ${numbers("number", DAYS)}
     SELECT 1, ${FIRST_DAY} + number.n, '/' || (page.n % 10) || '/' || page.n, 1, 0, 1
     FROM number CROSS JOIN page;
     SELECT 1 AS done`,
  );
  gate.gateway = await startGateway(gate.settings);
});

async function readCount() {
  const response = await fetch(`${gate.gateway.url}/v1/rows-read`);
  return Number(await response.text());
}

async function get(path, query) {
  const target = `/v1/analytics/${PROJECT}/views/${path}?${new URLSearchParams({ ...RANGE, ...query })}`;
  const before = await readCount();
  const answer = await gate.get(target, { claims: { scope: "analytics:read" } });
  const rows = (await readCount()) - before;
  assert.ok(rows > 0 && rows <= MAX_ROWS, `${rows} rows`);
  return { answer, rows, json: answer.json };
}

test("pages the series of a prefix by day within the bound of rows", async (context) => {
  const days = [];
  let cursor;
  do {
    const { rows, json } = await get("daily", { prefix: "/", ...(cursor && { cursor }) });
    context.diagnostic(`${json.views.length} days, ${rows} rows`);
    days.push(...json.views);
    cursor = json.nextCursor;
  } while (cursor);
  const people = days.map(({ human }) => human);
  assert.deepEqual(people, Array(DAYS).fill(PAGES));
});

test("reads only the rows of a page or a small prefix", async () => {
  const page = await get("daily", { path: "/1/1" });
  assert.deepEqual([page.json.views.length, page.json.nextCursor], [DAYS, null]);
  assert.ok(page.rows < 100, `${page.rows} rows`);
  const prefix = await get("daily", { prefix: "/1", group: "month" });
  assert.equal(prefix.json.views[0].human, (PAGES / 10) * DAYS);
  assert.ok(prefix.rows < 2 * (PAGES / 10) * DAYS + 100, `${prefix.rows} rows`);
});

test("rejects a group with more rows than the bound", async () => {
  const { answer } = await get("daily", { prefix: "/", group: "month" });
  assertInvalid(answer, "prefix", "largest-group");
  assert.match(answer.text, /200000/);
});

test("lists pages without reading the other pages of their days", async () => {
  const [one, many] = [await get("archived", { limit: 1 }), await get("archived", {})];
  assert.equal(one.json.nextCursor, "~%2F0%2F0");
  assert.equal(many.json.views.length, 1000);
  assert.ok(one.rows < 20 * DAYS, `${one.rows} rows`);
  const empty = { dateFrom: date(FIRST_DAY + DAYS), dateTo: date(FIRST_DAY + DAYS + 1) };
  const { json, rows } = await get("archived", { ...empty, limit: 1 });
  assert.deepEqual([json.views, json.missing], [[], []]);
  assert.ok(rows < 10, `${rows} rows`);
});
