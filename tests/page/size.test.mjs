/** What a route costs to load for the first time: each file as Brotli makes it. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe } from "node:test";
import { brotliCompressSync } from "node:zlib";
import { PAGE_DIST } from "../../scripts/build.mjs";
import { startSite } from "./site.mjs";

const SIGN_IN_BYTES = 40_000;
const ROUTE_BYTES = 60_000;
/** The trend of an archive, which a gateway that keeps one has fetched once the rows are there. */
const TREND_BYTES = 4200;
const TREND = /\/assets\/(archived_trend|daily_views)-/;
/** What follows the project's jobs on other routes, seconds after their own rows. */
const LATER = /\/assets\/(session_jobs|job_stream)-/;
const site = startSite();
const archived = startSite({ archive: true, vars: { ARCHIVE_PROJECTS: "docs-0" } });

describe("the first load", () => {
  site.visiting("of the sign-in route is small", async ({ page, record }) => {
    await page.goto(site.gateway.url);
    await page.getByLabel("Access token").waitFor();
    const { total, files } = weigh(record.urls);
    assert.ok(files.some((name) => name.endsWith(".css")));
    assert.ok(
      !files.some((name) => name.endsWith(".wasm")),
      "the package is not needed to sign in",
    );
    assert.ok(total <= SIGN_IN_BYTES, `${total} bytes: ${files.join(" ")}`);
  });

  for (const route of ["jobs", "views", "visitors", "feedback", "searches"]) {
    site.visiting(`of the route ${route} is small, signed in`, async (visitor) => {
      const { page, signIn, record } = visitor;
      await signIn();
      // Nothing that the route after sign-in is still waiting for counts.
      await page.goto("about:blank");
      record.urls.length = 0;
      const asked = page.waitForResponse((response) => /\/v[12]\//.test(response.url()));
      await page.goto(`${site.gateway.url}/?route=${route}`);
      await asked;
      await untilQuiet(page);
      const first = record.urls.filter((url) => route === "jobs" || !LATER.test(url));
      const { total, files } = weigh(first);
      assert.ok(files.some((name) => name.endsWith(".wasm")));
      assert.ok(total <= ROUTE_BYTES, `${total} bytes: ${files.join(" ")}`);
    });
  }
});

describe("the trend of an archive", () => {
  archived.visiting("comes after the rows, and is small", async (visitor) => {
    const { page, project, signIn, record } = visitor;
    await archived.gateway.runCron();
    await signIn();
    await page.goto("about:blank");
    record.urls.length = 0;
    await page.goto(`${archived.gateway.url}/?route=views&project=${project}`);
    await untilQuiet(page);
    await page.getByRole("img", { name: /^Views per day/ }).waitFor();
    const isRows = (url) => /\/views\?/.test(url);
    const isTrend = (url) => TREND.test(url);
    assert.ok(record.urls.findIndex(isTrend) > record.urls.findIndex(isRows));
    const [trend, rest] = [record.urls.filter(isTrend), record.urls.filter((url) => !isTrend(url))];
    const { total, files } = weigh(trend);
    assert.ok(files.length > 1 && total <= TREND_BYTES, `${total} bytes: ${files.join(" ")}`);
    const first = weigh(rest.filter((url) => !LATER.test(url)));
    assert.ok(first.total <= ROUTE_BYTES, `${first.total} bytes: ${first.files.join(" ")}`);
  });
});

/** Waits until there is something to read, and nothing is on its way. */
async function untilQuiet(page) {
  await page.locator(".report, main .empty, .ledger").first().waitFor();
  await page.waitForFunction(() => document.querySelector("main [aria-busy=true]") === null);
}

/** The files of the page among some addresses, and their bytes. */
function weigh(urls) {
  const paths = urls.map((url) => new URL(url).pathname);
  const files = new Set(paths.filter((path) => /^\/($|assets\/|favicon)/.test(path)));
  const sizes = [...files].map((path) => {
    const name = path === "/" ? "index.html" : path;
    return brotliCompressSync(readFileSync(join(PAGE_DIST, name))).length;
  });
  return { total: sizes.reduce((sum, size) => sum + size, 0), files: [...files] };
}
