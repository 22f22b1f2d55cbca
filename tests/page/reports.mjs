/** What the tests of the analytics routes share: days, the simulator's truth, and files. */
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";

const DAY_MS = 86_400_000;

/** The first day of a month, so many months from now. */
export function firstOfMonth(months) {
  const now = new Date();
  return new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + months, 1))
    .toISOString()
    .slice(0, 10);
}

export const dayBefore = (day) => new Date(Date.parse(day) - DAY_MS).toISOString().slice(0, 10);

/** Every row that the simulator has of a month, counted from this one. */
export async function monthOf({ upstream }, projectId, months = -1) {
  const range = { dateFrom: firstOfMonth(months), dateTo: firstOfMonth(months + 1) };
  return { range, ...(await upstream.views({ projectId, ...range })) };
}

/** How often the platform was asked for page views. */
export async function countRequests({ upstream }) {
  return (await upstream.counters()).byOperation["analytics.views"] ?? 0;
}

/** Loads what is missing, and waits until everything is there. */
export async function loadRest(page) {
  await page.getByRole("button", { name: /^Load the rest/ }).click();
  await page.locator(".load-note", { hasText: /^All [\d,]+ pages loaded/ }).waitFor();
}

/** Chooses one of the arrangements of rows. */
export async function show(page, name) {
  await page.getByRole("button", { name: /^Show/ }).click();
  await page.getByRole("button", { name }).click();
}

/** The file that a click leads to. */
export async function download(page, click) {
  const [file] = await Promise.all([page.waitForEvent("download"), click()]);
  const text = await readFile(await file.path(), "utf8");
  return { name: file.suggestedFilename(), text };
}

/** Opens the menu of exports, and chooses one: what is shown, or everything. */
export async function exportAs(page, format, part) {
  await page.getByRole("button", { name: /^Export/ }).click();
  const what = { shown: "What is shown", everything: "Everything in this period" }[part];
  await page.getByRole("button", { name: new RegExp(`^${format}, ${what}`) }).click();
}

/** A reader of its own for RFC 4180, to check the page's writer: one text for each row. */
export function readCsv(text) {
  assert.ok(text.startsWith("\uFEFF"), "begins with a byte order mark");
  assert.ok(text.endsWith("\r\n"), "ends with a line break");
  const cells = [...text.slice(1).matchAll(/("(?:[^"]|"")*"|[^",\r\n]*)(,|\r\n)/g)];
  const rows = [[]];
  for (const [, cell, end] of cells) {
    rows.at(-1).push(cell.startsWith('"') ? cell.slice(1, -1).replaceAll('""', '"') : cell);
    if (end === "\r\n") rows.push([]);
  }
  assert.deepEqual(rows.pop(), []);
  const [header, ...records] = rows;
  return { header, rows: records.map(([path, ...counts]) => [withoutGuard(path), ...counts]) };
}

/** A path that a spreadsheet would run as a formula is written with an apostrophe before it. */
function withoutGuard(path) {
  assert.doesNotMatch(path, /^[=+\-@\t\r\n]/);
  return path.replace(/^'(?=[=+\-@\t\r\n])/, "");
}

/** Compares a whole CSV with what the simulator has of last month. */
export async function assertWholeExport(site, text, project) {
  const { views } = await monthOf(site, project);
  assert.ok(views.length > 3000, "the simulator has a long list");
  const expected = views.map(({ path, human, ai, total }) => [path, human, ai, total].join(" "));
  const { header, rows } = readCsv(text);
  assert.deepEqual(header, ["path", "human", "ai", "total"]);
  const exported = rows.map((row) => row.join(" "));
  const known = new Set(exported);
  assert.deepEqual(
    expected.filter((row) => !known.has(row)),
    [],
    "nothing is missing",
  );
  assert.equal(known.size, exported.length, "no row twice");
  assert.equal(exported.length, expected.length);
}
