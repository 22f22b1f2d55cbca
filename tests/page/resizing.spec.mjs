import assert from "node:assert/strict";
import { matrixOf, overflow } from "./browser.mjs";
import { expect, test } from "./fixtures.mjs";
import { EVERY_SCOPE } from "./visitor.mjs";

test.use({ projectKind: "archived" });

const WIDTHS = [1440, 1024, 768, 640, 430, 320];

/** Resizes the window and waits until the page has drawn twice, once for its observers. */
async function resize(page, width) {
  await page.setViewportSize({ width, height: 800 });
  await page.evaluate(
    () => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))),
  );
}

const measure = (page) =>
  page.evaluate(() => {
    // Tables get more rows over time, and the times in a list of jobs change.
    const parts = document.querySelectorAll(
      "h1, nav, main :is(button, svg):not(table *, ol *), main table th",
    );
    return Array.from(parts, (part) => {
      const { x, y, width, height } = part.getBoundingClientRect();
      const name = part.getAttribute("aria-label") ?? part.textContent.slice(0, 20);
      const sizes = [x, y + scrollY, width, height].map((size) => Math.round(size / 4));
      return `${part.localName} ${name} ${sizes}`;
    });
  });

/** Waits until the page has stayed the same for a while. */
async function settle(page) {
  let before = "";
  const isSame = async () => {
    const last = before;
    before = JSON.stringify(await measure(page));
    return before === last;
  };
  await expect.poll(isSame, { intervals: [150] }).toBe(true);
}

/** Resizes the window to each width and back. Both times, the page must fit and look the same. */
async function checkResizing(page, name) {
  await settle(page);
  const narrowing = new Map();
  for (const width of WIDTHS) {
    await resize(page, width);
    assert.ok((await overflow(page)) <= 0, `${name} fits ${width} pixels`);
    narrowing.set(width, await measure(page));
  }
  for (const width of WIDTHS.toReversed()) {
    await resize(page, width);
    assert.ok((await overflow(page)) <= 0, `${name} fits ${width} pixels again`);
    assert.deepEqual(await measure(page), narrowing.get(width), `${name} at ${width} pixels`);
  }
}

// Text would change its width when the font arrives.
test.beforeEach(({ page }) => page.route("**/*.woff2", (route) => route.abort()));

test("the sign-in route follows the window", async ({ visitor }) => {
  const { page, site } = visitor;
  await page.goto(site.url);
  await page.getByLabel("Access token").waitFor();
  await checkResizing(page, "sign-in");
});

const REPORTS = {
  views: {},
  folders: { show: "folders" },
  page: { page: "/quickstart" },
  visitors: { route: "visitors" },
  searches: { route: "searches" },
  feedback: { route: "feedback" },
  pages: { route: "feedback", show: "by-page" },
  conversations: { route: "conversations" },
};
for (const [name, options] of matrixOf(Object.keys(REPORTS), ["views", "page"])) {
  test(`the report ${name} follows the window`, options, async ({ visitor }) => {
    const { page, project, site, token, startSession } = visitor;
    await site.gateway.runCron();
    await startSession(token({ scope: EVERY_SCOPE }));
    await page.setViewportSize({ width: WIDTHS[0], height: 800 });
    const search = new URLSearchParams({ route: "views", project, ...REPORTS[name] });
    await page.goto(`${site.url}/?${search}`);
    await page
      .locator("main table, main .empty, main svg[role=img]")
      .filter({ visible: true })
      .first()
      .waitFor();
    await page.waitForFunction(
      () => !document.querySelector("main progress, main [aria-busy=true]"),
    );
    await checkResizing(page, name);
  });
}

test("the list of jobs and a job follow the window", async ({ visitor }) => {
  const { page, signIn, startElsewhere, startAndOpenJob, endJob, openComposer } = visitor;
  const prompt = `Document ${"a/very/long/path/without/spaces/".repeat(6)} for everyone`;
  await signIn();
  await startElsewhere("Fix the typos", "a.colleague.with.a.long.name@documentation.example.com");
  const article = await startAndOpenJob(prompt);
  await endJob(prompt);
  await article.getByText("Pull request ready").first().waitFor();
  await checkResizing(page, "job");
  await page.getByRole("navigation", { name: "Breadcrumb" }).getByRole("link").click();
  await page.getByText("2 jobs").waitFor();
  await checkResizing(page, "jobs");
  await openComposer();
  await checkResizing(page, "new job");
});
