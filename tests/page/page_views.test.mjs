/** Page views on the page: ranges, totals, the table and the export. */
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { describe } from "node:test";
import { accessibilityFaults } from "./browser.mjs";
import { EMPTY_PROJECT, startSite } from "./site.mjs";

const site = startSite();
const { visiting } = site;

async function lastMonth(projectId) {
  const now = new Date();
  const first = (month) =>
    new Date(Date.UTC(now.getUTCFullYear(), month, 1)).toISOString().slice(0, 10);
  const range = { dateFrom: first(now.getUTCMonth() - 1), dateTo: first(now.getUTCMonth()) };
  return { range, ...(await site.upstream.views({ projectId, ...range })) };
}

async function downloadBy(page, buttonName) {
  const [download] = await Promise.all([
    page.waitForEvent("download"),
    page.getByRole("button", { name: buttonName }).click(),
  ]);
  const text = await readFile(await download.path(), "utf8");
  return { name: download.suggestedFilename(), text };
}

/** A reader of its own for RFC 4180, to check the page's writer: one text for each row. */
function readCsv(text) {
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
  assert.deepEqual(header, ["path", "human", "ai", "total"]);
  return records.map(([path, ...counts]) => [withoutGuard(path), ...counts].join(" "));
}

/** A path that a spreadsheet would run as a formula is written with an apostrophe before it. */
function withoutGuard(path) {
  assert.doesNotMatch(path, /^[=+\-@\t\r\n]/);
  return path.replace(/^'(?=[=+\-@\t\r\n])/, "");
}

async function assertWholeExport(text, project) {
  const { views } = await lastMonth(project);
  assert.ok(views.length > 3000, "the simulator has a long list");
  const expected = views.map(({ path, human, ai, total }) => [path, human, ai, total].join(" "));
  const exported = readCsv(text);
  const missing = expected.filter((row) => !exported.includes(row));
  const extra = exported.filter((row) => !expected.includes(row));
  assert.deepEqual({ missing, extra }, { missing: [], extra: [] });
  assert.equal(new Set(exported).size, exported.length, "no row twice");
  assert.equal(exported.length, expected.length);
}

const listRequests = async () => (await site.upstream.counters()).byOperation["analytics.views"];

describe("the export", () => {
  visiting(
    "has every row once, in no more requests than pages of 250",
    async ({ page, project, signIn, openLastMonth }) => {
      await signIn();
      await openLastMonth();
      const before = await listRequests();
      const { name, text } = await downloadBy(page, "Download CSV");
      const { range } = await lastMonth(project);
      await assertWholeExport(text, project);
      const lastDay = new Date(Date.parse(range.dateTo) - 86_400_000).toISOString().slice(0, 10);
      assert.equal(name, `page-views_${project}_${range.dateFrom}_${lastDay}.csv`);
      // The first request here is that of the usual range, which the view opened with.
      assert.equal(before, 2);
      const requests = (await listRequests()) - 1;
      assert.ok(requests <= 17, `${requests} requests`);

      const again = await downloadBy(page, "Download CSV");
      assert.equal(again.text, text);
      assert.equal(
        (await listRequests()) - 1,
        requests,
        "rows that are here are not asked for again",
      );
    },
  );

  visiting(
    "that fails on its way goes on from there",
    async ({ page, project, signIn, openLastMonth }) => {
      await signIn();
      await openLastMonth();
      const fault = { kind: "html", status: 502 };
      await site.upstream.fault({ operation: "analytics.views", after: 4, times: 0, fault });
      await page.getByRole("button", { name: "Download CSV" }).click();
      const resume = page.getByRole("button", { name: "Resume" });
      await resume.waitFor({ timeout: 60_000 });
      await page.getByText(/within the 1,250 pages in 5 requests/).waitFor();
      await site.upstream.clearFaults();
      const { text } = await downloadBy(page, "Resume");
      await assertWholeExport(text, project);

      const { range } = await lastMonth(project);
      const answered = (await site.upstream.requests())
        .filter(
          ({ operation, target }) =>
            operation === "analytics.views" && target.includes(range.dateTo),
        )
        .map(({ target }) => Number(new URL(target, site.upstream.url).searchParams.get("offset")));
      const repeated = answered.filter((offset, index) => answered.indexOf(offset) !== index);
      assert.ok(
        repeated.every((offset) => offset === 1250),
        `only what failed is asked for again, not ${repeated}`,
      );
    },
  );

  visiting(
    "that is cancelled saves nothing and can be continued",
    async ({ page, project, signIn, openLastMonth }) => {
      await site.upstream.fault({
        operation: "analytics.views",
        after: 3,
        times: 0,
        fault: { kind: "delay", ms: 400 },
      });
      await signIn();
      await openLastMonth();
      let downloads = 0;
      page.on("download", () => {
        downloads += 1;
      });
      await page.getByRole("button", { name: "Download CSV" }).click();
      await page.getByRole("progressbar", { name: "Preparing the CSV" }).waitFor();
      await page.getByRole("button", { name: "Cancel" }).click();
      await page.getByText(/there are more/).waitFor();
      assert.equal(downloads, 0);
      await site.upstream.clearFaults();
      const { text } = await downloadBy(page, "Download CSV");
      await assertWholeExport(text, project);
    },
  );
});

describe("page views", () => {
  visiting("say in words where the range ends", async ({ page, signIn }) => {
    await signIn();
    await page.getByRole("link", { name: "Page views" }).click();
    await page.getByLabel("From").fill("2026-10-01");
    await page.getByLabel("To (included)").fill("2026-10-31");
    await page.getByRole("button", { name: "Apply" }).click();
    await page
      .getByText(
        "Counts views from 1 October 2026 up to, but not including, 1 November 2026 (UTC).",
      )
      .waitFor();
    await page.getByRole("table").waitFor();
    const requests = await site.upstream.requests();
    const { searchParams } = new URL(requests.at(-1).target, site.upstream.url);
    assert.equal(searchParams.get("dateFrom"), "2026-10-01");
    assert.equal(searchParams.get("dateTo"), "2026-11-01");

    await page.getByLabel("From").fill("2026-11-05");
    await page.getByRole("button", { name: "Apply" }).click();
    await page.getByRole("alert").getByText("The last day is before the first day.").waitFor();
  });

  visiting(
    "show the totals of the whole site",
    async ({ page, project, signIn, openLastMonth }) => {
      await signIn();
      await openLastMonth();
      const { totals } = await lastMonth(project);
      const shown = await page
        .getByRole("region", { name: "Totals of the whole site" })
        .textContent();
      for (const count of [totals.human, totals.ai, totals.total]) {
        assert.ok(shown.includes(count.toLocaleString("en-US")), `${count} in ${shown}`);
      }
    },
  );

  visiting(
    "are sorted by any column, within what is loaded and then in all",
    async ({ page, project, signIn, openLastMonth }) => {
      await signIn();
      await openLastMonth();
      const heading = (name) => page.getByRole("columnheader", { name });
      assert.equal(await heading("Total").getAttribute("aria-sort"), "descending");
      await page.getByRole("button", { name: "Load all" }).click();
      await page.getByText(/^All [\d,]+ pages loaded\./).waitFor();

      const { views } = await lastMonth(project);
      const firstPath = () => page.getByRole("rowheader").first().textContent();
      for (const column of ["human", "ai"]) {
        const label = { human: "Human", ai: "AI" }[column];
        await heading(label).getByRole("button").click();
        assert.equal(await heading(label).getAttribute("aria-sort"), "descending");
        const most = Math.max(...views.map((row) => row[column]));
        const best = views.filter((row) => row[column] === most).map(({ path }) => path);
        assert.equal(await firstPath(), best.sort()[0]);
      }
      await heading("Path").getByRole("button").click();
      assert.equal(await heading("Path").getAttribute("aria-sort"), "ascending");
      assert.equal(await firstPath(), views.map(({ path }) => path).sort()[0]);
      assert.match(page.url(), /sort=path/);

      const rows = await page.getByRole("row").count();
      assert.ok(rows < 100, `only rows in sight are in the document, not ${rows}`);
      assert.equal(
        await page.getByRole("table").getAttribute("aria-rowcount"),
        `${views.length + 1}`,
      );
    },
  );

  visiting("are filtered by path", async ({ page, signIn, openLastMonth }) => {
    await signIn();
    await openLastMonth();
    await page.getByLabel("Filter by path").fill("no such path anywhere");
    await page.getByText("No path contains").waitFor();
    await page.getByRole("button", { name: "Clear the filter" }).click();
    await page.getByRole("table").waitFor();
  });

  visiting(
    "come back with the back button and from the address",
    async ({ page, signIn, openLastMonth }) => {
      await signIn();
      await openLastMonth();
      await page.getByRole("button", { name: "Last 7 days" }).click();
      await page.goBack();
      const chosen = page.getByRole("button", { name: "Last month", pressed: true });
      await chosen.waitFor();
      const before = await listRequests();
      await page.reload();
      await page.getByRole("table").waitFor();
      await chosen.waitFor();
      assert.equal(await listRequests(), before, "what the gateway has kept is not asked for");
      await page.goBack();
      await page.goBack();
      await page.getByRole("heading", { level: 1, name: "Agent jobs" }).waitFor();
    },
  );

  visiting("of a site without any are empty, not wrong", async ({ page, token, signIn }) => {
    await signIn(token({ projects: [EMPTY_PROJECT] }));
    await page.getByRole("link", { name: "Page views" }).click();
    await page.getByText("No page views in this range").waitFor();
  });

  visiting("are asked for again by Refresh", async ({ page, signIn, openLastMonth }) => {
    await signIn();
    await openLastMonth();
    const before = await listRequests();
    await page.getByRole("button", { name: "Refresh" }).click();
    await page.getByText(/At most 1,000 requests an hour; [89]\d\d left at/).waitFor();
    await page.waitForFunction(() => !document.querySelector("progress"));
    assert.equal(await listRequests(), before + 1);
    assert.equal(await page.getByText("As of").count(), 0);
  });

  visiting("that are stale say so, and since when", async ({ page, signIn, openLastMonth }) => {
    await signIn();
    await openLastMonth();
    const fault = { kind: "html", status: 502 };
    await site.upstream.fault({ operation: "analytics.views", times: 0, fault });
    await page.getByRole("button", { name: "Refresh" }).click();
    const note = page.getByRole("status").filter({ hasText: /^As of \d+:\d\d/ });
    await note.getByText("The platform did not answer").waitFor();
    await page.getByRole("table").waitFor();
    assert.deepEqual(await accessibilityFaults(page), []);

    await site.upstream.clearFaults();
    await page.getByRole("button", { name: "Refresh" }).click();
    await note.waitFor({ state: "detached" });
    await page.getByRole("table").waitFor();
  });

  visiting("beyond a limit are stale, or none with a time", async ({ page, signIn, token }) => {
    await signIn(token({ sub: "frugal", quota: { analytics: 1 } }));
    await page.goto(`${site.gateway.url}?view=views&range=last-month`);
    await page.getByText("At most 1 request an hour; 0 left at").waitFor();
    await page.getByRole("button", { name: "Refresh" }).click();
    const note = page.getByRole("status").filter({ hasText: /^As of/ });
    await note.getByText("The limit on analytics requests is used up").waitFor();

    await page.getByRole("button", { name: "Last 7 days" }).click();
    const alert = page.getByRole("alert").filter({ hasText: "own share is used up" });
    await alert.getByText(/The next slot frees at/).waitFor();
  });
});
