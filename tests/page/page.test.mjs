/** The page in real Chromium, against the Worker in real workerd and the simulated platform. */
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { after, before, beforeEach, describe, test } from "node:test";
import { canaryKey } from "../harness/canary.mjs";
import { startGateway } from "../harness/gateway.mjs";
import { accessClaims, mintToken, newSecret } from "../harness/token.mjs";
import { startUpstream } from "../harness/upstream.mjs";
import { accessibilityFaults, launchBrowser, openPage, overflow } from "./browser.mjs";

const PROJECT = "demo-docs";
const PAGES = 4000;
const EVERY_SCOPE = "jobs:create jobs:read analytics:read";
const SECRET = newSecret();
const KEY = canaryKey();
/** The browser itself reports each refused request on the console. */
const REFUSED_REQUEST = /Failed to load resource: the server responded with a status of [45]\d\d/;

let upstream;
let gateway;
let browser;

before(async () => {
  upstream = await startUpstream({ key: KEY, pages: PAGES, jobDurationMs: 3000 });
  gateway = await startGateway({ upstreamUrl: upstream.url, adminKey: KEY, secret: SECRET });
  browser = await launchBrowser();
});

after(async () => {
  await browser?.close();
  await gateway?.stop();
  await upstream?.stop();
});

beforeEach(() => upstream.reset());

function token(changes = {}, secret = SECRET) {
  const claims = accessClaims({ sub: "page-test", projects: [PROJECT], scope: EVERY_SCOPE });
  return mintToken({ ...claims, ...changes }, secret);
}

/** Runs a test in a fresh browser profile, and then checks what must hold for every visit. */
function visiting(name, visit, options) {
  test(name, async () => {
    const visitor = await openPage(browser, options);
    const used = options?.token ?? token();
    try {
      await visit(visitor.page, { ...visitor, token: used });
      await checkDiscretion(visitor, used);
    } finally {
      await visitor.close();
    }
  });
}

async function checkDiscretion({ page, record, everything }, used) {
  const all = await everything();
  assert.ok(record.received.length > 0, "the browser received something");
  assert.ok(!all.includes(KEY), "the admin key is in nothing that the browser received");
  assert.ok(!record.urls.some((url) => url.includes(used)), "the token is in no address");
  assert.equal(await page.evaluate(() => localStorage.length), 0, "localStorage is not used");
  assert.deepEqual(record.violations, [], "nothing violates the content security policy");
  const errors = record.console.filter(
    ({ type, text }) => type === "error" && !REFUSED_REQUEST.test(text),
  );
  assert.deepEqual(errors, [], "nothing is reported on the console");
}

async function signIn(page, used = token()) {
  await page.goto(gateway.url);
  await page.getByLabel("Access token").fill(used);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByRole("heading", { level: 1, name: "Agent jobs" }).waitFor();
}

async function startJob(page, prompt) {
  await page.getByLabel("Prompt").fill(prompt);
  await page.getByRole("button", { name: "Start job" }).click();
  const card = page.getByRole("article", { name: prompt });
  await card.waitFor();
  return card;
}

/** Opens the page views of a whole month that is over, and so does not change. */
async function openLastMonth(page) {
  await page.getByRole("link", { name: "Page views" }).click();
  await page.getByRole("button", { name: "Last month" }).click();
  await page.getByRole("table").waitFor();
  await page.getByText(/there are more/).waitFor();
}

async function lastMonth() {
  const now = new Date();
  const first = (month) =>
    new Date(Date.UTC(now.getUTCFullYear(), month, 1)).toISOString().slice(0, 10);
  const range = { dateFrom: first(now.getUTCMonth() - 1), dateTo: first(now.getUTCMonth()) };
  return { range, ...(await upstream.views({ projectId: PROJECT, ...range })) };
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

async function assertWholeExport(text) {
  const { views } = await lastMonth();
  assert.ok(views.length > 3000, "the simulator has a long list");
  const expected = views.map(({ path, human, ai, total }) => [path, human, ai, total].join(" "));
  const exported = readCsv(text);
  const missing = expected.filter((row) => !exported.includes(row));
  const extra = exported.filter((row) => !expected.includes(row));
  assert.deepEqual({ missing, extra }, { missing: [], extra: [] });
  assert.equal(new Set(exported).size, exported.length, "no row twice");
  assert.equal(exported.length, expected.length);
}

const listRequests = async () => (await upstream.counters()).byOperation["pageViews.list"];

describe("a job", () => {
  visiting("goes from a prompt to a pull request, and takes a follow-up", async (page) => {
    await signIn(page);
    const card = await startJob(page, "Fix the broken links");
    await card.getByText("Working", { exact: true }).waitFor();
    await card.getByText("active", { exact: true }).waitFor();

    await card.getByText("Pull request ready", { exact: true }).waitFor();
    await card.getByText("completed", { exact: true }).waitFor();
    const [job] = await upstream.jobs();
    const link = card.getByRole("link", { name: /^Open pull request acme\/docs#\d+$/ });
    assert.equal(await link.getAttribute("href"), job.prLink);
    assert.match((await link.getAttribute("rel")) ?? "", /noopener/);

    const box = card.getByLabel("Follow-up message");
    await box.fill("Also the images");
    await box.press("Control+Enter");
    const thread = card.getByRole("list", { name: "Follow-ups sent" });
    await thread.getByText("Also the images").waitFor();
    await card.getByText("Working", { exact: true }).waitFor();
    await card.getByText("Pull request ready", { exact: true }).waitFor();
    assert.equal(await box.inputValue(), "");

    const [followed] = await upstream.jobs();
    assert.equal(followed.prompt, "Fix the broken links");
    assert.deepEqual(followed.messages, ["Also the images"]);
  });

  visiting("is started once by a double click", async (page) => {
    await signIn(page);
    await page.getByLabel("Prompt").fill("Only once");
    await page.getByRole("button", { name: "Start job" }).dblclick();
    await page.getByRole("article", { name: "Only once" }).waitFor();
    await page.waitForTimeout(500);
    assert.equal((await upstream.jobs()).length, 1);
  });

  visiting("that changed nothing, failed or has an unknown status says so", async (page) => {
    await signIn(page);
    const failing = await startJob(page, "Break it [fail]");
    const idle = await startJob(page, "Look around [no-changes]");
    const waiting = await startJob(page, "Ask first [status:needs review]");
    const [job] = (await upstream.jobs()).filter(({ prompt }) => prompt.includes("Ask first"));
    await upstream.setJob(job.id, { status: "needs review" });
    await waiting.getByText("needs review").first().waitFor();
    await failing.getByText("Failed", { exact: true }).waitFor();
    await idle.getByText("Done, no changes", { exact: true }).waitFor();
    assert.equal(await page.getByRole("link", { name: /pull request/ }).count(), 0);
  });

  visiting("is watched again after a reload, and a draft is kept", async (page) => {
    await signIn(page);
    await startJob(page, "Survive a reload");
    await page.getByLabel("Prompt").fill("Half a thought");
    await page.reload();
    const card = page.getByRole("article", { name: "Survive a reload" });
    await card.getByText("Pull request ready", { exact: true }).waitFor();
    assert.equal(await page.getByLabel("Prompt").inputValue(), "Half a thought");
  });

  visiting("with an unsafe pull request address gets no link", async (page) => {
    await signIn(page);
    const card = await startJob(page, "Be tricked");
    const [{ id }] = await upstream.jobs();
    await upstream.setJob(id, { status: "completed", prLink: "javascript:alert(1)" });
    await card.getByText("not by an address that is safe to open").waitFor();
    assert.equal(await card.getByRole("link").count(), 0);
  });

  visiting("that is refused for now keeps the prompt and says when to return", async (page) => {
    const fault = { kind: "status", status: 429, headers: { "retry-after": "600" } };
    await upstream.fault({ operation: "agentJobs.create", times: 0, fault });
    await signIn(page);
    await page.getByLabel("Prompt").fill("Too many");
    await page.getByRole("button", { name: "Start job" }).click();
    const alert = page.getByRole("alert").filter({ hasText: "hourly limit" });
    await alert.getByText(/try again at/).waitFor();
    assert.equal(await page.getByLabel("Prompt").inputValue(), "Too many");
    await upstream.clearFaults();
  });
});

describe("the export", () => {
  visiting("has every row once, in no more requests than pages of 250", async (page) => {
    await signIn(page);
    await openLastMonth(page);
    const before = await listRequests();
    const { name, text } = await downloadBy(page, "Download CSV");
    const { range } = await lastMonth();
    await assertWholeExport(text);
    const lastDay = new Date(Date.parse(range.dateTo) - 86_400_000).toISOString().slice(0, 10);
    assert.equal(name, `page-views_${PROJECT}_${range.dateFrom}_${lastDay}.csv`);
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
  });

  visiting("that fails on its way goes on from there", async (page) => {
    await signIn(page);
    await openLastMonth(page);
    const fault = { kind: "html", status: 502 };
    await upstream.fault({ operation: "pageViews.list", after: 4, times: 0, fault });
    await page.getByRole("button", { name: "Download CSV" }).click();
    const resume = page.getByRole("button", { name: "Resume" });
    await resume.waitFor({ timeout: 60_000 });
    await page.getByText(/within the 1,250 pages in 5 requests/).waitFor();
    await upstream.clearFaults();
    const { text } = await downloadBy(page, "Resume");
    await assertWholeExport(text);

    const { range } = await lastMonth();
    const answered = (await upstream.requests())
      .filter(
        ({ operation, target }) => operation === "pageViews.list" && target.includes(range.dateTo),
      )
      .map(({ target }) => Number(new URL(target, upstream.url).searchParams.get("offset")));
    const repeated = answered.filter((offset, index) => answered.indexOf(offset) !== index);
    assert.ok(
      repeated.every((offset) => offset === 1250),
      `only what failed is asked for again, not ${repeated}`,
    );
  });

  visiting("that is cancelled saves nothing and can be continued", async (page) => {
    await upstream.fault({
      operation: "pageViews.list",
      after: 3,
      times: 0,
      fault: { kind: "delay", ms: 400 },
    });
    await signIn(page);
    await openLastMonth(page);
    let downloads = 0;
    page.on("download", () => {
      downloads += 1;
    });
    await page.getByRole("button", { name: "Download CSV" }).click();
    await page.getByRole("progressbar", { name: "Preparing the CSV" }).waitFor();
    await page.getByRole("button", { name: "Cancel" }).click();
    await page.getByText(/there are more/).waitFor();
    assert.equal(downloads, 0);
    await upstream.clearFaults();
    const { text } = await downloadBy(page, "Download CSV");
    await assertWholeExport(text);
  });
});

describe("page views", () => {
  visiting("say in words where the range ends", async (page) => {
    await signIn(page);
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
    const requests = await upstream.requests();
    const { searchParams } = new URL(requests.at(-1).target, upstream.url);
    assert.equal(searchParams.get("dateFrom"), "2026-10-01");
    assert.equal(searchParams.get("dateTo"), "2026-11-01");

    await page.getByLabel("From").fill("2026-11-05");
    await page.getByRole("button", { name: "Apply" }).click();
    await page.getByRole("alert").getByText("The last day is before the first day.").waitFor();
  });

  visiting("show the totals of the whole site", async (page) => {
    await signIn(page);
    await openLastMonth(page);
    const { totals } = await lastMonth();
    const shown = await page
      .getByRole("region", { name: "Totals of the whole site" })
      .textContent();
    for (const count of [totals.human, totals.ai, totals.total]) {
      assert.ok(shown.includes(count.toLocaleString("en-US")), `${count} in ${shown}`);
    }
  });

  visiting("are sorted by any column, within what is loaded and then in all", async (page) => {
    await signIn(page);
    await openLastMonth(page);
    const heading = (name) => page.getByRole("columnheader", { name });
    assert.equal(await heading("Total").getAttribute("aria-sort"), "descending");
    await page.getByRole("button", { name: "Load all" }).click();
    await page.getByText(/^All [\d,]+ pages loaded\./).waitFor();

    const { views } = await lastMonth();
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
  });

  visiting("are filtered by path", async (page) => {
    await signIn(page);
    await openLastMonth(page);
    await page.getByLabel("Filter by path").fill("no such path anywhere");
    await page.getByText("No path contains").waitFor();
    await page.getByRole("button", { name: "Clear the filter" }).click();
    await page.getByRole("table").waitFor();
  });

  visiting("come back with the back button and from the address", async (page) => {
    await signIn(page);
    await openLastMonth(page);
    await page.getByRole("button", { name: "Last 7 days" }).click();
    await page.goBack();
    const pressed = (name) => page.getByRole("button", { name }).getAttribute("aria-pressed");
    assert.equal(await pressed("Last month"), "true");
    const before = await listRequests();
    await page.reload();
    await page.getByRole("table").waitFor();
    assert.equal(await pressed("Last month"), "true");
    assert.equal(await listRequests(), before + 1);
    await page.goBack();
    await page.goBack();
    await page.getByRole("heading", { level: 1, name: "Agent jobs" }).waitFor();
  });

  visiting("of a site without any are empty, not wrong", async (page) => {
    await signIn(page, token({ projects: ["empty-docs"] }));
    await page.getByRole("link", { name: "Page views" }).click();
    await page.getByText("No page views in this range").waitFor();
  });
});

describe("a token", () => {
  visiting(
    "that is not genuine is refused by the first call, and the draft stays",
    async (page) => {
      await signIn(page, token({}, newSecret()));
      await page.getByLabel("Prompt").fill("With a forged token");
      await page.getByRole("button", { name: "Start job" }).click();
      const alert = page.getByRole("alert").filter({ hasText: "access token was not accepted" });
      await alert.getByText("Request id").waitFor();
      assert.equal((await upstream.counters()).requests, 0);

      await alert.getByRole("button", { name: "Sign in with another token" }).click();
      await page.getByLabel("Access token").fill(token());
      await page.getByRole("button", { name: "Sign in" }).click();
      assert.equal(await page.getByLabel("Prompt").inputValue(), "With a forged token");
    },
  );

  visiting("that has expired is refused without a request", async (page, { record }) => {
    const now = Math.floor(Date.now() / 1000);
    await page.goto(gateway.url);
    await page.getByLabel("Access token").fill(token({ iat: now - 100, exp: now - 10 }));
    await page.getByRole("button", { name: "Sign in" }).click();
    await page
      .getByRole("alert")
      .getByText(/This access token expired on/)
      .waitFor();
    assert.ok(!record.urls.some((url) => /\/v[12]\//.test(url)));
  });

  visiting("that is the platform's own key is refused", async (page, { record }) => {
    await page.goto(gateway.url);
    await page.getByLabel("Access token").fill("mint_not_a_real_key");
    await page.getByRole("button", { name: "Sign in" }).click();
    await page
      .getByRole("alert")
      .getByText(/key of the platform/)
      .waitFor();
    assert.ok(!record.urls.some((url) => /\/v[12]\//.test(url)));
  });

  visiting("without a scope says which one is missing, without a request", async (page) => {
    await signIn(page, token({ scope: "jobs:read" }));
    await page.getByText("jobs:create", { exact: true }).waitFor();
    assert.equal(await page.getByLabel("Prompt").count(), 0);
    await page.getByRole("link", { name: "Page views" }).click();
    await page.getByText("analytics:read", { exact: true }).waitFor();
    assert.equal((await upstream.counters()).requests, 0);
  });

  visiting("of several projects offers them", async (page) => {
    await page.goto(gateway.url);
    await page.getByLabel("Access token").fill(token({ projects: [PROJECT, "empty-docs"] }));
    const options = await page.getByLabel("Project").getByRole("option").allTextContents();
    assert.deepEqual(options, [PROJECT, "empty-docs"]);
  });

  const kept = token();
  visiting(
    "is kept in this tab only, and forgotten on signing out",
    async (page) => {
      await signIn(page, kept);
      await startJob(page, "Leave no trace");
      await page.reload();
      await page.getByRole("heading", { level: 1, name: "Agent jobs" }).waitFor();
      assert.ok(!page.url().includes(kept));
      await page.getByRole("button", { name: "Sign out" }).click();
      await page.getByRole("heading", { level: 1, name: "Sign in" }).waitFor();
      assert.equal(await page.evaluate(() => sessionStorage.length), 0);
      assert.equal(await page.getByLabel("Access token").inputValue(), "");
      const { requests } = await upstream.counters();
      await page.waitForTimeout(3500);
      assert.equal((await upstream.counters()).requests, requests, "watching has stopped");
    },
    { token: kept },
  );
});

describe("the page", () => {
  for (const colorScheme of ["light", "dark"]) {
    const options = { colorScheme, viewport: { width: 375, height: 720 } };
    visiting(
      `fits a narrow window in ${colorScheme} colours`,
      async (page) => {
        await page.goto(gateway.url);
        assert.ok((await overflow(page)) <= 0, "sign in");
        await signIn(page);
        await startJob(page, `Add ${"averyveryverylongword".repeat(6)} to the guide`);
        assert.ok((await overflow(page)) <= 0, "jobs");
        await openLastMonth(page);
        assert.ok((await overflow(page)) <= 0, "page views");
        assert.equal(await page.getByRole("heading", { level: 1 }).count(), 1);
      },
      options,
    );
  }

  for (const colorScheme of ["light", "dark"]) {
    visiting(
      `breaks no rule of WCAG 2.2 AA that axe checks in ${colorScheme} colours`,
      async (page) => {
        await page.goto(gateway.url);
        assert.deepEqual(await accessibilityFaults(page), [], "sign in");
        await signIn(page);
        const card = await startJob(page, "Check the contrast");
        await card.getByRole("link", { name: /pull request/ }).waitFor();
        assert.deepEqual(await accessibilityFaults(page), [], "jobs");
        await openLastMonth(page);
        assert.deepEqual(await accessibilityFaults(page), [], "page views");
      },
      { colorScheme },
    );
  }

  visiting("is used by keyboard alone", async (page) => {
    await page.goto(gateway.url);
    const focused = () =>
      page.evaluate(() => {
        const { tagName, id, textContent } = document.activeElement;
        return id || `${tagName} ${textContent?.trim()}`;
      });
    await page.keyboard.press("Tab");
    assert.equal(await focused(), "A Skip to content");
    await page.keyboard.press("Enter");
    await page.keyboard.press("Tab");
    assert.equal(await focused(), "token");
    await page.keyboard.insertText(token());
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { level: 1, name: "Agent jobs" }).waitFor();
    assert.equal(await focused(), "H1 Agent jobs");
    await page.keyboard.press("Tab");
    assert.equal(await focused(), "prompt");
    await page.keyboard.type("By keyboard");
    await page.keyboard.press("Control+Enter");
    await page.getByRole("article", { name: "By keyboard" }).waitFor();
  });

  test("is served with a strict policy, and its parts for ever", async () => {
    const response = await fetch(gateway.url);
    const policy = response.headers.get("content-security-policy");
    assert.match(policy, /default-src 'none'/);
    assert.doesNotMatch(policy, /'unsafe-inline'|'unsafe-eval'|\*|https?:/);
    assert.equal(response.headers.get("x-content-type-options"), "nosniff");
    assert.equal(response.headers.get("referrer-policy"), "no-referrer");
    assert.equal(response.headers.get("x-frame-options"), "DENY");
    const html = await response.text();
    const script = /src="(\/assets\/[^"]+\.js)"/.exec(html)?.[1];
    assert.ok(script, "the page has a script");
    const asset = await fetch(new URL(script, gateway.url));
    await asset.body?.cancel();
    assert.match(asset.headers.get("cache-control") ?? "", /immutable/);
    const robots = await (await fetch(new URL("/robots.txt", gateway.url))).text();
    assert.match(robots, /^Disallow: \/$/m);
  });
});
