import assert from "node:assert/strict";
import { test } from "./fixtures.mjs";
import { DAY_MS } from "./reports.mjs";

const DAY_S = 86_400;

for (const days of [2, -2]) {
  const name = days > 0 ? "ahead" : "behind";

  test(`sign-in, jobs and periods are right with a clock two days ${name}`, async ({ visitor }) => {
    const { page, token, signIn, startAndOpenJob, openReport } = visitor;
    await page.clock.setFixedTime(Date.now() + days * DAY_MS);
    const now = Math.floor(Date.now() / 1000);
    await signIn(token({ iat: now, exp: now + DAY_S }));
    assert.equal(await page.getByText("expires in").count(), 0);
    await startAndOpenJob("Fix the time");
    await untilJustStarted(page);

    const ranges = [];
    page.on("request", (request) => {
      const url = new URL(request.url());
      if (url.pathname.endsWith("/views")) ranges.push(url.searchParams.get("dateTo"));
    });
    const isToday = (time) =>
      [Date.now() - 600_000, Date.now()].some((at) => new Date(at).toISOString().startsWith(time));
    await openReport({ range: "last-28-days", compare: "none" });
    const [dateTo] = ranges;
    assert.ok(isToday(dateTo.slice(0, 10)), dateTo);
  });
}

async function untilJustStarted(page) {
  const times = page.getByRole("main").getByText(/^(Just started|Running for \d+ s|Took )/);
  await times.first().waitFor();
}

test("the page notices that the clock was corrected", async ({ visitor }) => {
  const { page, token, signIn, startAndOpenJob } = visitor;
  await page.clock.setFixedTime(Date.now() + 2 * DAY_MS);
  const now = Math.floor(Date.now() / 1000);
  await signIn(token({ iat: now, exp: now + DAY_S }));
  await page.clock.setFixedTime(Date.now());
  await startAndOpenJob("Fix the time");
  await untilJustStarted(page);
});
