import assert from "node:assert/strict";
import { checkBothSchemes, repeats } from "./browser.mjs";
import { expect, test } from "./fixtures.mjs";
import { firstOfMonth, inWords } from "./reports.mjs";
import { EVERY_SCOPE } from "./visitor.mjs";

const REPORTS = [
  { route: "feedback", path: "feedback", title: "Feedback", time: "createdAt" },
  { route: "conversations", path: "assistant", title: "Questions", time: "timestamp" },
];

async function openLastMonth({ token, startAtReport }, changes) {
  await startAtReport({ range: "last-month", ...changes }, token({ scope: EVERY_SCOPE }));
}

/** Returns the simulator's rows of a month, counted from the current one. */
async function rowsOfMonth({ site, project }, { path, route }, month) {
  const dates = { dateFrom: firstOfMonth(month), dateTo: firstOfMonth(month + 1) };
  return (await site.upstream.report({ report: path, projectId: project, ...dates }))[route];
}

for (const report of REPORTS) {
  test(
    `the chart of ${report.route} counts the rows of each day and compares them`,
    repeats(report.route !== "feedback"),
    async ({ visitor }) => {
      const { page, untilLoaded } = visitor;
      await openLastMonth(visitor, { route: report.route });
      await untilLoaded();
      const [rows, earlier] = await Promise.all(
        [-1, -2].map((month) => rowsOfMonth(visitor, report, month)),
      );
      const chart = page.getByRole("img", { name: new RegExp(`^${report.title} per day`) });
      const dated = rows.filter((row) => row[report.time]);
      const total = inWords(dated.length);
      await expect(chart).toHaveAccessibleName(
        new RegExp(` ${report.title} ${total}\\. The table`),
      );
      await page.getByText("Comparison", { exact: true }).waitFor();
      await page.getByText("Show as a table").click();
      const undated = page.getByText(`${rows.length - dated.length} without a date`);
      await expect(undated).toHaveCount(dated.length < rows.length ? 1 : 0);
      const table = page.getByRole("table", { name: `${report.title} per day` });
      const day = firstOfMonth(-1);
      const onFirst = dated.filter((row) => row[report.time].startsWith(day)).length;
      await expect(table.getByRole("cell").first()).toHaveText(String(onFirst));

      const strip = page.locator(".totals_strip-figure").first();
      const part = Math.abs(rows.length - earlier.length) / earlier.length;
      const percent = part.toLocaleString("en-US", { style: "percent", maximumFractionDigits: 1 });
      await expect(strip).toContainText(rows.length === earlier.length ? "No change" : percent);

      const slider = page.getByRole("slider", { name: "Explore the chart" });
      await slider.focus();
      await page.keyboard.press("Home");
      await expect(slider).toHaveAttribute("aria-valuetext", / \d+, Total \d+ vs \d+/);
      const [, now, before] = /^(.*?), \d{4},.*, ([^,]*), \d{4}$/.exec(
        await slider.getAttribute("aria-valuetext"),
      );
      const weekdayOf = (text) => new Date(`${text}, ${day.slice(0, 4)} UTC`).getUTCDay();
      assert.equal(weekdayOf(now), weekdayOf(before));
      await checkBothSchemes(page, report.route);
    },
  );
}
