import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { brotliCompressSync } from "node:zlib";
import { PAGE_DIST } from "../../scripts/build.mjs";
import { matrixOf } from "./browser.mjs";
import { test } from "./fixtures.mjs";
import { importSource } from "./source.mjs";
import { untilRouteLoaded } from "./visitor.mjs";

const { ROUTES } = await importSource("shell/route_names.ts");
const MAX_SIGN_IN_BYTES = 45_000;
const MAX_ROUTE_BYTES = 120_000;
const ALL_ROUTES =
  "jobs:create jobs:read deployments:create deployments:read analytics:read analytics:conversations";
/** The limit for the chart of daily views, which loads after the rows. */
const MAX_TREND_BYTES = 6600;
const TREND = ["interval_trend", "archived_trend"];
/** The code that follows the project's jobs from other routes. It loads seconds after the rows. */
const DELAYED = ["session_jobs"];

test(`the sign-in route loads at most ${MAX_SIGN_IN_BYTES} bytes`, async ({ visitor }) => {
  const { site, page, record } = visitor;
  await page.goto(site.url);
  await page.getByLabel("Access token").waitFor();
  const { total, files } = weigh(record.urls);
  assert.ok(files.some((name) => name.endsWith(".css")));
  assert.ok(!files.some((name) => name.endsWith(".wasm")), "the form does not need the package");
  assert.ok(total <= MAX_SIGN_IN_BYTES, `${total} bytes: ${files.join(" ")}`);
});

for (const [route, options] of matrixOf(ROUTES, ["jobs", "deployments", "views"])) {
  test(`route "${route}" loads at most ${MAX_ROUTE_BYTES} bytes`, options, async ({ visitor }) => {
    const { site, page, record, token, startSession } = visitor;
    await startSession(token({ scope: ALL_ROUTES }));
    record.urls.length = 0;
    const requested = page.waitForResponse((response) => /\/v[12]\//.test(response.url()));
    await page.goto(`${site.url}/?route=${route}`);
    await requested;
    await untilRouteLoaded(page);
    const delayed = patternOf(DELAYED);
    const first = record.urls.filter((url) => route === "jobs" || !delayed.test(url));
    const { total, files } = weigh(first);
    assert.ok(files.some((name) => name.endsWith(".wasm")));
    assert.ok(total <= MAX_ROUTE_BYTES, `${total} bytes: ${files.join(" ")}`);
  });
}

test.describe("archived project", () => {
  test.use({ projectKind: "archived" });

  test(`the trend adds at most ${MAX_TREND_BYTES} bytes, after the rows`, async ({ visitor }) => {
    const { site, page, project, record, startSession } = visitor;
    await site.gateway.runCron();
    await startSession();
    record.urls.length = 0;
    await page.goto(`${site.url}/?route=views&project=${project}`);
    await untilRouteLoaded(page);
    await page.getByRole("img", { name: /^Views per day/ }).waitFor();
    const isRows = (url) => /\/views\?/.test(url);
    const [trendFile, delayed] = [patternOf(TREND), patternOf(DELAYED)];
    const isTrend = (url) => trendFile.test(url);
    assert.ok(record.urls.findIndex(isTrend) > record.urls.findIndex(isRows));
    const trend = weigh(record.urls.filter(isTrend));
    assert.ok(
      trend.files.length > 1 && trend.total <= MAX_TREND_BYTES,
      `${trend.total} bytes: ${trend.files.join(" ")}`,
    );
    const first = weigh(record.urls.filter((url) => !isTrend(url) && !delayed.test(url)));
    assert.ok(first.total <= MAX_ROUTE_BYTES, `${first.total} bytes: ${first.files.join(" ")}`);
  });
});

/** Returns a pattern for the files of chunks. Fails if the build lacks one of them. */
function patternOf(chunks) {
  const assets = readdirSync(join(PAGE_DIST, "assets"));
  const missing = chunks.filter((chunk) => !assets.some((name) => name.startsWith(`${chunk}-`)));
  assert.deepEqual(missing, [], "the build contains every named chunk");
  return new RegExp(`/assets/(${chunks.join("|")})-`);
}

/**
 * Returns the files of the page among some addresses, and the sum of their sizes. The font of accented
 * letters does not count: it loads if a row has one.
 */
function weigh(urls) {
  const paths = urls.map((url) => new URL(url).pathname);
  const isFile = (path) => /^\/($|assets\/(?!geist-accents)|favicon)/.test(path);
  const files = new Set(paths.filter(isFile));
  const sizes = [...files].map((path) => {
    const name = path === "/" ? "index.html" : path;
    return brotliCompressSync(readFileSync(join(PAGE_DIST, name))).length;
  });
  return { total: sizes.reduce((sum, size) => sum + size, 0), files: [...files] };
}
