import assert from "node:assert/strict";
import { test } from "./fixtures.mjs";
import {
  assertWholeExport,
  countRequests,
  download,
  exportAs,
  monthOf,
  readCsv,
} from "./reports.mjs";
import { EMPTY_PROJECT, LARGE_SITE } from "./sites.mjs";
import { importRows } from "./source.mjs";

test.use({ siteOptions: LARGE_SITE });

const { decodePath } = await importRows("page_path.ts");

const LAST_MONTH = { range: "last-month", compare: "none" };

test("an export has each row once and requests no cached page", async ({ visitor }) => {
  const { site, page, project, startAtReport } = visitor;
  await startAtReport(LAST_MONTH);
  const { range, views, totals } = await monthOf(site, project);
  const { name, text } = await download(page, () => exportAs(page, "CSV", "everything"));
  await assertWholeExport(site, text, project);
  const lastDay = new Date(Date.parse(range.dateTo) - 86_400_000).toISOString().slice(0, 10);
  assert.equal(name, `page-views_${project}_${range.dateFrom}_${lastDay}.csv`);
  const requests = await countRequests(site);
  assert.equal(requests, Math.ceil(views.length / 250));
  const messages = page.getByRole("region", { name: "Messages" });
  await messages.getByText(`Saved all pages as ${name}.`).waitFor();

  const again = await download(page, () => exportAs(page, "JSON", "everything"));
  const body = JSON.parse(again.text);
  assert.equal(body.report, "views");
  assert.equal(body.project, project);
  assert.deepEqual(body.totals, totals);
  assert.equal(body.rows.length, views.length);
  assert.equal(await countRequests(site), requests);
});

test("exports of other reports equal the gateway's", async ({ visitor }) => {
  const { site, page, project, startSession, openReport, token } = visitor;
  const scope = "analytics:read analytics:conversations";
  await startSession(token({ scope }));
  const { range } = await monthOf(site, project);
  const headers = { authorization: `Bearer ${token({ scope })}` };
  const paths = { visitors: "visitors", searches: "searches", feedback: "feedback" };
  for (const [report, path] of Object.entries({ ...paths, conversations: "assistant" })) {
    await openReport({ ...LAST_MONTH, route: report });
    const query = new URLSearchParams({ format: "csv", ...range });
    const url = `${site.url}/v1/analytics/${project}/${path}/export?${query}`;
    // `text()` would drop the byte order mark.
    const expected = Buffer.from(await (await fetch(url, { headers })).arrayBuffer()).toString();
    assert.ok(expected.split("\n").length > 10);
    const file = await download(page, () => exportAs(page, "CSV", "everything"));
    assert.ok(file.text === expected, `${file.name} differs from the gateway's`);
    assert.match(file.name, RegExp(`^${report}_${project}_.*\\.csv$`));
  }
});

test("a failed export resumes at the page that failed", async ({ visitor }) => {
  const { site, page, project, startAtReport } = visitor;
  await startAtReport(LAST_MONTH);
  const fault = { kind: "html", status: 502 };
  await site.upstream.fault({ operation: "analytics.views", after: 2, times: 0, fault });
  await exportAs(page, "CSV", "everything");
  const resume = page.getByRole("button", { name: "Resume" });
  await resume.waitFor();
  await page.getByText("1,500 pages loaded").waitFor();
  await site.upstream.clearFaults();
  const { text } = await download(page, () => resume.click());
  await assertWholeExport(site, text, project);
  const { range } = await monthOf(site, project);
  const offsets = (await site.upstream.requests())
    .filter(({ operation }) => operation === "analytics.views")
    .map(({ target }) => new URL(target, site.upstream.url).searchParams)
    .filter((query) => query.get("dateTo").startsWith(range.dateTo))
    .map((query) => Number(query.get("offset")));
  const repeated = offsets.filter((offset, index) => offsets.indexOf(offset) !== index);
  const others = repeated.filter((offset) => offset !== 1500);
  assert.deepEqual(others, [], "repeats only the failed page");
});

test("an export resumes automatically when the browser is online again", async ({ visitor }) => {
  const { site, page, project, startAtReport } = visitor;
  await startAtReport(LAST_MONTH);
  await site.upstream.hold({ operation: "analytics.views", after: 2 });
  await exportAs(page, "CSV", "everything");
  await page.getByText("Exporting… 1,500 pages").waitFor();
  await page.context().setOffline(true);
  await site.upstream.release();
  await page.getByText("We couldn’t reach the gateway").waitFor();
  const { text } = await download(page, () => page.context().setOffline(false));
  await assertWholeExport(site, text, project);
});

test("opening another project cancels an export with a message", async ({ visitor }) => {
  const { site, page, project, token, signIn, openReport } = visitor;
  await signIn(token({ projects: [project, EMPTY_PROJECT] }));
  await openReport(LAST_MONTH);
  await site.upstream.hold({ operation: "analytics.views", after: 2 });
  await exportAs(page, "CSV", "everything");
  await page.getByText("Exporting… 1,500 pages").waitFor();
  await page.getByLabel("Project", { exact: true }).selectOption(EMPTY_PROJECT);
  const messages = page.getByRole("region", { name: "Messages" });
  await messages.getByText("Export canceled, because you opened another project").waitFor();
  await site.upstream.release();
});

test("an export of the rows shown keeps their order and columns", async ({ visitor }) => {
  const { site, page, startAtReport } = visitor;
  await startAtReport({ ...LAST_MONTH, sort: "path", path: "/guides" });
  const shown = await page.getByRole("rowheader").allTextContents();
  const before = await countRequests(site);
  const { name, text } = await download(page, () => exportAs(page, "CSV", "shown"));
  assert.match(name, /_shown\.csv$/);
  const { header, rows } = readCsv(text);
  assert.deepEqual(header, ["path", "human", "ai", "total", "share"]);
  assert.ok(rows.length > 0);
  // The page shows decoded paths.
  const first = rows.slice(0, shown.length).map(([path]) => decodePath(path));
  assert.deepEqual(first, shown);
  assert.ok(rows.every(([path]) => path.toLowerCase().startsWith("/guides")));
  const json = await download(page, () => exportAs(page, "JSON", "shown"));
  assert.equal(JSON.parse(json.text).rows.length, rows.length);
  const lines = await download(page, () => exportAs(page, "NDJSON", "shown"));
  assert.equal(lines.text.trimEnd().split("\n").length, rows.length);
  assert.equal(await countRequests(site), before, "it costs no request");
});
