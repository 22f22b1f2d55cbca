import assert from "node:assert/strict";
import { checkBothSchemes } from "./browser.mjs";
import { expect, test } from "./fixtures.mjs";
import { show } from "./reports.mjs";
import { LARGE_SITE } from "./sites.mjs";
import { EVERY_SCOPE } from "./visitor.mjs";

test.use({ siteOptions: LARGE_SITE });

test("questions of equal wording are one row with their number", async ({ visitor }) => {
  const { page, startAtReport, token, untilLoaded } = visitor;
  await startAtReport(
    { route: "conversations", range: "last-month", compare: "none", answer: "unanswered" },
    token({ scope: EVERY_SCOPE }),
  );
  const rows = async () => Number(await page.getByRole("table").getAttribute("aria-rowcount")) - 1;
  const plain = await rows();
  await show(page, /^Grouped/);
  await untilLoaded();
  const texts = await page.locator("td[data-column=times]").allTextContents();
  const times = texts.map((text) => Number(text.replace(/,/g, "")));
  assert.ok(times[0] > 1, times.join());
  const descending = times.toSorted((a, b) => b - a);
  assert.deepEqual(times, descending);
  // Groups of one come last, and the document has only the first rows.
  const further = (await rows()) - times.length;
  assert.equal(times.at(-1), 1);
  assert.equal(times.reduce((sum, count) => sum + count) + further, plain);
  await checkBothSchemes(page, "grouped questions");

  const start = page.getByRole("button", { name: /^Start a job about/ });
  await start.first().click();
  const prompt = page.getByLabel("Prompt", { exact: true });
  await expect(prompt).toHaveValue(new RegExp(`Readers asked the assistant ${times[0]} times`));
});
