/** What loads later moves nothing that is in sight: on each route, from its first frame on. */
import assert from "node:assert/strict";
import { describe } from "node:test";
import { startSite } from "./site.mjs";
import { importSource } from "./source.mjs";

/** Cumulative Layout Shift, of which the field takes 0.1 for good. */
const MOST_SHIFT = 0.01;
const { ROUTES } = await importSource("shell/route_names.ts");
const site = startSite();
const PROFILES = {
  phone: { viewport: { width: 412, height: 823 }, isMobile: true, hasTouch: true },
  desktop: { viewport: { width: 1280, height: 800 } },
};

describe("while it loads, nothing in sight moves", () => {
  for (const [name, profile] of Object.entries(PROFILES)) {
    site.visiting(
      `on the sign-in route, on a ${name}`,
      async ({ page }) => {
        await noteShifts(page);
        await page.goto(site.gateway.url);
        await page.getByLabel("Access token").waitFor();
        await assertStill(page);
      },
      profile,
    );

    site.visiting(
      `on any route after it, on a ${name}`,
      async ({ page, project, signIn }) => {
        await signIn();
        await noteShifts(page);
        for (const route of ROUTES) {
          await page.goto(`${site.gateway.url}/?route=${route}&project=${project}`);
          await page.locator(".report, main .empty, .ledger").first().waitFor();
          await page.waitForFunction(
            () => !document.querySelector("main :is(progress, [aria-busy=true])"),
          );
          await assertStill(page, route);
        }
      },
      profile,
    );
  }
});

/** Has each page that opens from now on keep what moved in it without anybody having done anything. */
function noteShifts(page) {
  return page.addInitScript(() => {
    window.shifts = [];
    const note = (list) => {
      for (const { value, sources, hadRecentInput } of list.getEntries()) {
        const moved = sources.map(({ node }) => node?.parentElement?.className ?? String(node));
        if (!hadRecentInput) window.shifts.push({ value, moved });
      }
    };
    new PerformanceObserver(note).observe({ type: "layout-shift", buffered: true });
  });
}

async function assertStill(page, route = "sign-in") {
  // What the last frames have moved is told of after them.
  await page.evaluate(
    () => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))),
  );
  const shifts = await page.evaluate(() => window.shifts);
  const sum = shifts.reduce((all, { value }) => all + value, 0);
  assert.ok(sum <= MOST_SHIFT, `${route}: ${sum} ${JSON.stringify(shifts)}`);
}
