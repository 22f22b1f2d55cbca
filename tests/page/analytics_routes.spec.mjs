import assert from "node:assert/strict";
import { accessibilityFaults, checkBothSchemes } from "./browser.mjs";
import { expect, test } from "./fixtures.mjs";
import { download, inWords, monthOf, readCsv, show } from "./reports.mjs";

const LAST_MONTH = { range: "last-month" };
const WITHOUT_COMPARISON = { range: "last-month", compare: "none" };
const SIGNED = new Intl.NumberFormat("en-US", { signDisplay: "exceptZero" });
const signed = (difference) => SIGNED.format(difference).replace("-", "\u2212");
const rowOf = (page, path) =>
  page.getByRole("row").filter({ has: page.getByRole("rowheader", { name: path, exact: true }) });
const cell = (page, path, column) => rowOf(page, path).locator(`[data-column=${column}]`);

test("a comparison shows changes, and lists gains, drops and lost people", async ({ visitor }) => {
  const { site, page, project, startAtReport } = visitor;
  await startAtReport(LAST_MONTH);
  const now = await monthOf(site, project, -1);
  const earlier = await monthOf(site, project, -2);
  const direction = now.totals.total > earlier.totals.total ? "Up" : "Down";
  const strip = page.getByRole("region", { name: "Total page views" });
  const from = `from ${inWords(earlier.totals.total)}`;
  await strip.getByText(new RegExp(`^${direction} [\\d.]+% ${from}$`)).waitFor();

  const changesOf = (column) => {
    const [before, after] = [earlier, now].map(
      ({ views }) => new Map(views.map((row) => [row.path, row[column]])),
    );
    const paths = [...new Set([...before.keys(), ...after.keys()])];
    return new Map(paths.map((path) => [path, (after.get(path) ?? 0) - (before.get(path) ?? 0)]));
  };
  const changes = changesOf("total");
  const [{ path }] = [...now.views].sort((a, b) => b.total - a.total);
  await expect(cell(page, path, "change")).toHaveText(signed(changes.get(path)));
  const first = page.locator("tbody [data-column=change]").first();
  await show(page, /^Biggest gains/);
  await expect(first).toHaveText(signed(Math.max(...changes.values())));
  await show(page, /^Biggest drops/);
  await expect(first).toHaveText(signed(Math.min(...changes.values())));

  const people = [...changesOf("human").values()];
  const loss = signed(Math.min(...people));
  await show(page, /^Lost people/);
  await page.getByRole("columnheader", { name: "People change" }).waitFor();
  await expect(first).toHaveText(loss);
  const lost = people.filter((change) => change < 0).length;
  await expect(page.getByRole("table")).toHaveAttribute("aria-rowcount", String(lost + 1));
  const row = page.locator("tbody tr").first();
  await row.getByRole("button", { name: /^Start a job/ }).click();
  const prompt = page.getByLabel("Prompt", { exact: true });
  await expect(prompt).toHaveValue(new RegExp(`${loss} people vs `));
});

test("folders show the sums of their pages and expand by keyboard", async ({ visitor }) => {
  const { site, page, project, startAtReport } = visitor;
  await startAtReport(WITHOUT_COMPARISON);
  const { views } = await monthOf(site, project);
  const folders = new Map();
  for (const { path, total } of views) {
    const [, name, ...rest] = path.split("/");
    if (rest.length === 0) continue;
    folders.set(name, (folders.get(name) ?? 0) + total);
  }
  const [[folder, total]] = [...folders].sort((a, b) => b[1] - a[1]);
  await show(page, /^Folders/);
  const toggle = page.getByRole("button", { name: `${folder}/`, exact: true });
  await toggle.waitFor();
  const row = page.getByRole("row").filter({ has: toggle });
  await expect(row.locator("[data-column=total]")).toHaveText(inWords(total));
  await expect(toggle).toHaveAttribute("aria-expanded", "false");
  const closed = Number(await page.getByRole("table").getAttribute("aria-rowcount"));
  await toggle.focus();
  await page.keyboard.press("Enter");
  await expect(toggle).toHaveAttribute("aria-expanded", "true");
  await expect(toggle).toBeFocused();
  assert.ok(Number(await page.getByRole("table").getAttribute("aria-rowcount")) > closed);
  assert.deepEqual(await accessibilityFaults(page), []);
});

test("a glob filters the rows and shows their count and sums", async ({ visitor }) => {
  const { site, page, project, startAtReport } = visitor;
  await startAtReport(WITHOUT_COMPARISON);
  const { views } = await monthOf(site, project);
  const [, folder] = views.find(({ path }) => /^\/[a-z]+\/./.test(path)).path.split("/");
  const inside = views.filter(({ path }) => path.toLowerCase().startsWith(`/${folder}/`));
  const sum = (column) => inside.reduce((all, row) => all + row[column], 0);
  await page.keyboard.press("/");
  await page.keyboard.type(`/${folder}/**`);
  const matches = page.getByRole("status").filter({ hasText: /views \(/ });
  await matches.getByText(`${inWords(inside.length)} page`).waitFor();
  const text = await matches.textContent();
  for (const column of ["total", "human", "ai"]) {
    assert.ok(text.includes(inWords(sum(column))), `${column}: ${sum(column)} in ${text}`);
  }
  await page.waitForURL(/path=/);
});

test("a sitemap reveals the pages that were never read", async ({ visitor }) => {
  const { site, page, project, record, startAtReport } = visitor;
  await startAtReport(WITHOUT_COMPARISON);
  const { views } = await monthOf(site, project);
  const known = views.find(({ path }) => /^\/[a-z-]+\/[a-z-]+$/.test(path)) ?? views[0];
  const urls = [known.path, "/never/read", "/nor/this"].map(
    (path) => `<url><loc>https://docs.example.com${path}</loc></url>`,
  );
  await show(page, /^Unread/);
  const dialog = page.getByRole("dialog", { name: "Find unread pages" });
  assert.deepEqual(await accessibilityFaults(page), []);
  await dialog.getByLabel("Sitemap file").setInputFiles({
    name: "sitemap.xml",
    mimeType: "application/xml",
    buffer: Buffer.from(
      `<urlset>${urls.join("")}<url><loc>https://blog.example.com/</loc></url></urlset>`,
    ),
  });
  await page.getByText("2 pages without views").waitFor();
  await page.getByText("Ignored 1 address: on other sites.").waitFor();
  assert.deepEqual(await page.getByRole("rowheader").allTextContents(), [
    "/never/read",
    "/nor/this",
  ]);
  const link = page.getByRole("rowheader").first().locator("a[target=_blank]");
  await expect(link).toHaveAttribute("href", "https://docs.example.com/never/read");
  const { origin } = new URL(site.url);
  assert.ok(record.urls.every((url) => new URL(url).origin === origin || url === "about:blank"));
});

test("a keyboard is enough to choose a period and sort the table", async ({ visitor }) => {
  const { page, startAtReport, untilLoaded } = visitor;
  await startAtReport(WITHOUT_COMPARISON);
  const focused = () => page.evaluate(() => document.activeElement.textContent.trim());
  const untilFocused = (name) => expect.poll(focused).toMatch(name);
  await page.getByRole("button", { name: /^Period/ }).focus();
  await page.keyboard.press("Enter");
  await page.keyboard.press("Tab");
  await untilFocused(/^Today/);
  await page.keyboard.press("Escape");
  await untilFocused(/^Period/);
  await expect(page.locator(".menu-panel:popover-open")).toHaveCount(0);
  await page.keyboard.press("Enter");
  for (let presses = 0; !/^Last 7 days/.test(await focused()); presses++) {
    assert.ok(presses < 9, "the period is among the first");
    await page.keyboard.press("Tab");
  }
  await page.keyboard.press("Enter");
  await untilFocused(/^Period: Last 7 days/);
  await untilLoaded();
  const heading = page.getByRole("columnheader", { name: "AI", exact: true });
  await heading.getByRole("button").focus();
  await page.keyboard.press("Enter");
  await expect(heading).toHaveAttribute("aria-sort", "descending");
  await untilFocused(/^AI/);
});

test("selected rows are copied without a byte order mark", async ({ visitor }) => {
  const { page, startAtReport } = visitor;
  await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
  await page.clock.install();
  await startAtReport(WITHOUT_COMPARISON);
  await page.getByRole("button", { name: "Select rows" }).click();
  const boxes = page.getByRole("checkbox");
  const bar = page.getByRole("region", { name: "Selected rows" });
  const copied = bar.getByRole("button", { name: "Copied" });
  // Safari does not focus clicked buttons.
  const copy = async () => {
    await bar.getByRole("button", { name: "Copy as CSV" }).evaluate((button) => button.click());
    await copied.waitFor();
  };
  await boxes.nth(0).check();
  await copy();
  const text = await page.evaluate(() => navigator.clipboard.readText());
  assert.match(text, /^path,/);

  await boxes.nth(2).check();
  await copied.waitFor({ state: "detached" });
  await copy();
  await page.clock.runFor(5_000);
  await copied.waitFor({ state: "detached" });
});

test("several pages are one job, and a file", async ({ visitor }) => {
  const { page, startAtReport } = visitor;
  await startAtReport(WITHOUT_COMPARISON);
  await page.getByRole("button", { name: "Select rows" }).click();
  const boxes = page.getByRole("checkbox");
  const names = [];
  for (const at of [0, 2]) {
    names.push((await boxes.nth(at).getAttribute("aria-label")).replace("Select ", ""));
    await boxes.nth(at).check();
  }
  const bar = page.getByRole("region", { name: "Selected rows" });
  await bar.getByText("2 pages selected").waitFor();
  await checkBothSchemes(page, "selected rows");

  // Another order keeps the selection.
  await page.getByRole("columnheader", { name: "AI", exact: true }).getByRole("button").click();
  await bar.getByText("2 pages selected").waitFor();

  const save = bar.getByRole("button", { name: "Save as CSV" });
  const { rows } = readCsv((await download(page, () => save.click())).text);
  assert.deepEqual(rows.map(([path]) => path).sort(), [...names].sort());

  await bar.getByRole("button", { name: "Start a job" }).click();
  const box = page.getByLabel("Prompt", { exact: true });
  await expect(box).toHaveValue(/^Do these 2 tasks in one pull request\./);
  const prompt = await box.inputValue();
  for (const name of names) assert.ok(prompt.includes(`Update the page ${name}.`), prompt);
  assert.equal(prompt.split("[What should change, and why.]").length, 2);
});
