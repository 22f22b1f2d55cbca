import assert from "node:assert/strict";
import { test } from "./fixtures.mjs";
import { LARGE_SITE } from "./sites.mjs";
import { importSource } from "./source.mjs";
import { EVERY_SCOPE, untilRouteLoaded } from "./visitor.mjs";

test.use({ siteOptions: LARGE_SITE });

/** Cumulative Layout Shift. Web Vitals calls up to 0.1 good. */
const MAX_SHIFT = 0.01;
const { ROUTES } = await importSource("shell/route_names.ts");
const PROFILES = {
  phone: { viewport: { width: 412, height: 823 }, isMobile: true, hasTouch: true },
  desktop: { viewport: { width: 1280, height: 800 } },
};
/** Factors that slow the processor down. Slow processors show states that fast processors skip. */
const SLOWDOWN = { phone: 4, desktop: 1 };

for (const [name, profile] of Object.entries(PROFILES)) {
  // Runs alone, because a busy machine shows loading states that shift the layout.
  test.describe(name, { tag: "@alone" }, () => {
    test.use(profile);

    test(`nothing moves while the sign-in route loads on a ${name}`, async ({ visitor }) => {
      const { site, page } = visitor;
      await recordShifts(page);
      await page.goto(site.url);
      await page.getByLabel("Access token").waitFor();
      await assertStill(page, "sign-in");
    });

    test(`nothing moves while a route loads on a ${name}`, async ({ visitor }) => {
      const { site, page, project, startSession, token } = visitor;
      const devtools = await page.context().newCDPSession(page);
      await devtools.send("Emulation.setCPUThrottlingRate", { rate: SLOWDOWN[name] });
      const scope = `${EVERY_SCOPE} deployments:read deployments:create`;
      await startSession(token({ scope }));
      await recordShifts(page);
      for (const route of ROUTES) {
        await page.goto(`${site.url}/?route=${route}&project=${project}`);
        await untilRouteLoaded(page);
        await assertStill(page, route);
      }
    });
  });
}

/** Makes each page that opens from now on record the shifts that no input caused. */
function recordShifts(page) {
  return page.addInitScript(() => {
    window.shifts = [];
    const record = (list) => {
      for (const { value, sources, hadRecentInput } of list.getEntries()) {
        const moved = sources.map(({ node }) => node?.parentElement?.className ?? String(node));
        if (!hadRecentInput) window.shifts.push({ value, moved });
      }
    };
    new PerformanceObserver(record).observe({ type: "layout-shift", buffered: true });
  });
}

async function assertStill(page, route) {
  // The observer reports a shift only after its frame.
  await page.evaluate(
    () => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))),
  );
  const shifts = await page.evaluate(() => window.shifts);
  const sum = shifts.reduce((all, { value }) => all + value, 0);
  assert.ok(sum <= MAX_SHIFT, `${route}: ${sum} ${JSON.stringify(shifts)}`);
}
