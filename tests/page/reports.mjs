import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";

export const DAY_MS = 86_400_000;

/** Returns a day (UTC), counted back from today. */
export const daysAgo = (count) => new Date(Date.now() - count * DAY_MS).toISOString().slice(0, 10);

export const inWords = (number) => number.toLocaleString("en-US");

/** Returns the first day of a month (UTC), counted from the current one: -1 is last month. */
export function firstOfMonth(months) {
  const now = new Date();
  return new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + months, 1))
    .toISOString()
    .slice(0, 10);
}

const rangeOfMonth = (months) => ({
  dateFrom: firstOfMonth(months),
  dateTo: firstOfMonth(months + 1),
});

/** Returns all of the simulator's rows for a month, counted from this one. */
export async function monthOf({ upstream }, projectId, months = -1) {
  const range = rangeOfMonth(months);
  return { range, ...(await upstream.views({ projectId, ...range })) };
}

/** Returns another of the simulator's reports for a month. */
export const reportOfMonth = ({ site, project }, report, months = -1) =>
  site.upstream.report({ report, projectId: project, ...rangeOfMonth(months) });

export const percent = (part) =>
  part.toLocaleString("en-US", { style: "percent", maximumFractionDigits: 1 });

export async function countRequests({ upstream }) {
  return (await upstream.counters()).byOperation["analytics.views"] ?? 0;
}

export async function loadRest(page) {
  await page.getByRole("button", { name: /^Load all/ }).click();
  await page.locator(".notices-loadNote", { hasText: /^All [\d,]+ pages loaded/ }).waitFor();
}

export async function show(page, name) {
  await page.getByRole("button", { name: /^Show/ }).click();
  await page.getByRole("button", { name }).click();
}

export async function download(page, click) {
  const [file] = await Promise.all([page.waitForEvent("download"), click()]);
  const text = await readFile(await file.path(), "utf8");
  return { name: file.suggestedFilename(), text };
}

export async function exportAs(page, format, part) {
  await page.getByRole("button", { name: /^Export/ }).click();
  const label = { shown: "Current view", everything: "All" }[part];
  await page.getByRole("button", { name: new RegExp(`^${format}, ${label}`) }).click();
}

/** Parses CSV (RFC 4180) independently of the page's writer. Removes the formula guard of paths. */
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

/** Removes the apostrophe before a path that a spreadsheet would run as a formula. */
function withoutGuard(path) {
  assert.doesNotMatch(path, /^[=+\-@＝＋－＠\t\r\n]/);
  return path.replace(/^'(?=[=+\-@＝＋－＠\t\r\n])/, "");
}

/** Compares a CSV of everything with the simulator's rows of last month. */
export async function assertWholeExport(site, text, project) {
  const { views } = await monthOf(site, project);
  assert.ok(views.length > 3000, "the simulator has a long list");
  const expected = views.map(({ path, human, ai, total }) => [path, human, ai, total].join(" "));
  const { header, rows } = readCsv(text);
  assert.deepEqual(header, ["path", "human", "ai", "total"]);
  const exported = rows.map((row) => row.join(" "));
  const unique = new Set(exported);
  const missing = expected.filter((row) => !unique.has(row));
  assert.deepEqual(missing, [], "no row is missing");
  assert.equal(unique.size, exported.length, "no row appears twice");
  assert.equal(exported.length, expected.length);
}
