import assert from "node:assert/strict";
import { checkBothSchemes } from "./browser.mjs";
import { expect, test } from "./fixtures.mjs";
import { LARGE_SITE } from "./sites.mjs";
import { EVERY_SCOPE } from "./visitor.mjs";

test.use({ siteOptions: LARGE_SITE });

const PERIOD = { range: "last-month", compare: "none" };
const numbers = (texts) => texts.map((text) => Number(text.replace(/,/g, "")));
const sum = (values) => values.reduce((total, value) => total + value, 0);

async function column(page, name) {
  return numbers(await page.locator(`td[data-column=${name}]`).allTextContents());
}

test("questions of equal wording are one row with their number", async ({ visitor }) => {
  const { page, startAtReport, token, untilLoaded } = visitor;
  await startAtReport(
    { ...PERIOD, route: "conversations", answer: "unanswered" },
    token({ scope: EVERY_SCOPE }),
  );
  const rows = async () => Number(await page.getByRole("table").getAttribute("aria-rowcount")) - 1;
  const plain = await rows();
  await page.getByRole("button", { name: /^Show/ }).click();
  await page.getByRole("button", { name: /^Grouped/ }).click();
  await untilLoaded();
  const times = await column(page, "times");
  assert.ok(times[0] > 1, times.join());
  assert.deepEqual(
    times,
    times.toSorted((a, b) => b - a),
  );
  // Groups of one come last, and the document has only the first rows.
  const further = (await rows()) - times.length;
  assert.equal(times.at(-1), 1);
  assert.equal(sum(times) + further, plain);
  await checkBothSchemes(page, "grouped questions");

  await page
    .getByRole("button", { name: /^Start a job about/ })
    .first()
    .click();
  const prompt = page.getByLabel("Prompt", { exact: true });
  await expect(prompt).toHaveValue(new RegExp(`Readers asked the assistant ${times[0]} times`));
});
