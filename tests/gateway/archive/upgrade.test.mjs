/**
 * An archive of an earlier version, which stored a row per page, prefix and day. The next run copies
 * its days to the new table. `earlier_archive.json` has the rows that commit 4a97c2b4 stored for two
 * days, and the series that it returned. Two of its pages had paths of more than 16 segments and one
 * had a path of more than 1,024 bytes, which only the prefixes above them counted.
 */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { ROOT } from "../../../scripts/versions.mjs";
import { makeFolder } from "../../harness/folder.mjs";
import { queryArchive, startGateway } from "../../harness/gateway.mjs";
import { assertProblem, PROJECT, useGate } from "../recorded_gateway.mjs";

const DAY_MS = 86_400_000;
const FIRST_DAY = Math.floor(Date.now() / DAY_MS) - 9;
const date = (day) => new Date(day * DAY_MS).toISOString().slice(0, 10);
const RANGE = { dateFrom: date(FIRST_DAY), dateTo: date(FIRST_DAY + 2) };
const DAY_COLUMNS =
  "project, day, pages, human, ai, total, visitors_human, visitors_ai, visitors_total";
const read = (...path) => readFileSync(join(ROOT, ...path), "utf8");
const earlier = JSON.parse(read("tests", "gateway", "archive", "earlier_archive.json"));
const gate = useGate("archive-upgrade", async () => {
  const insert = (table, rows) =>
    rows.map((row) => {
      const values = row.map((value) => (typeof value === "string" ? `'${value}'` : String(value)));
      return `INSERT INTO ${table} VALUES (${values})`;
    });
  const shift = ([node, day, ...counts]) => [node, day + FIRST_DAY, ...counts];
  const statements = [
    read("worker", "migrations", "0001_archive.sql").replaceAll(/--.*$/gm, ""),
    "CREATE TABLE d1_migrations (name TEXT PRIMARY KEY)",
    ...insert("d1_migrations", [["0001_archive.sql"]]),
    ...insert("project", [[1, PROJECT, FIRST_DAY]]),
    ...insert("node", earlier.node),
    ...insert("views", earlier.views.map(shift)),
    ...insert(`day (${DAY_COLUMNS})`, earlier.day.map(shift)),
    `UPDATE day SET fetched = ${Date.now()}`,
    "SELECT 1 AS done",
  ];
  await queryArchive(state, statements.join(";"));
  return { gateway: { state, archive: true, vars: { ARCHIVE_PROJECTS: PROJECT } } };
});
const state = makeFolder({ after }, "archive-upgrade");

const claims = { scope: "analytics:read" };
const targetOf = (path, query) =>
  `/v1/analytics/${PROJECT}/views/${path}?${new URLSearchParams({ ...RANGE, ...query })}`;
const get = (path, query) => gate.read(targetOf(path, query), { claims });

const counts = ({ views }) => views.map(({ human, ai, total }) => [human, ai, total]);

test("returns the site's series, and lists the days as missing for pages, before the first run", async () => {
  const site = await get("daily");
  assert.equal(site.views.length, 2);
  assert.deepEqual(site.missing, []);
  const days = [date(FIRST_DAY), date(FIRST_DAY + 1)];
  for (const query of [{ path: "/guides" }, { prefix: "/guides" }]) {
    const { views, missing } = await get("daily", query);
    assert.deepEqual([views, missing], [[], days]);
  }
  const list = await get("archived");
  assert.deepEqual([list.views, list.missing], [[], days]);
});

test("returns the same series of pages and prefixes after one run", async () => {
  await gate.gateway.runCron();
  for (const [prefix, expected] of Object.entries(earlier.series)) {
    assert.deepEqual(counts(await get("daily", { prefix })), expected, prefix);
  }
  const path = (path) => get("daily", { path }).then(counts);
  for (const [page, ...expected] of [
    ["/guides", [10, 1, 11], [20, 1, 11]],
    ["/zero", [0, 0, 0], [0, 0, 0]],
  ]) {
    assert.deepEqual(await path(page), expected);
  }
});

test("lists the pages, and the rest of each prefix as one page", async () => {
  const { views, missing } = await get("archived");
  assert.deepEqual(missing, []);
  const paths = views.map(({ path }) => path);
  assert.deepEqual(paths, [...paths].sort());
  const rest = paths.filter((path) => path.endsWith("/…"));
  assert.deepEqual(rest, ["/long/…", `${"/s".repeat(16)}/…`]);
  assert.equal(views.find(({ path }) => path === "/guides/a").human, 300);
});

test("drops the earlier tables and fetches missing days in the following runs", async () => {
  await gate.gateway.runCron();
  await gate.gateway.stop();
  const select = "SELECT name FROM sqlite_schema WHERE name IN ('node', 'views', 'page_views')";
  assert.deepEqual(await queryArchive(state, select), [{ name: "page_views" }]);
  const count = "SELECT count(*) AS days FROM day WHERE has_page_views";
  const [{ days }] = await queryArchive(state, count);
  assert.ok(days > 2, `${days} days`);
  await gate.restart();
});

test("returns 501 and the step to take while the new table is missing", async () => {
  const elsewhere = join(state, "not-migrated");
  const tables = read("worker", "migrations", "0001_archive.sql").replaceAll(/--.*$/gm, "");
  await queryArchive(elsewhere, `${tables}; SELECT 1 AS done`);
  await gate.gateway.stop();
  const settings = { ...gate.settings, archive: "without tables", state: elsewhere };
  gate.gateway = await startGateway(settings);
  for (const path of ["daily", "archived"]) {
    const answer = await gate.get(targetOf(path), { claims });
    const { detail } = assertProblem(answer, 501, "archive-not-configured");
    assert.match(detail, /d1 migrations apply ARCHIVE/);
  }
});
