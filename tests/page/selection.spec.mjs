import assert from "node:assert/strict";
import { checkBothSchemes } from "./browser.mjs";
import { expect, test } from "./fixtures.mjs";
import { download, readCsv } from "./reports.mjs";

test("several pages are one job, and a file", async ({ visitor }) => {
  const { page, startAtReport } = visitor;
  await startAtReport({ range: "last-month", compare: "none" });
  await page.getByRole("button", { name: "Select rows" }).click();
  const boxes = page.getByRole("checkbox");
  const names = [];
  for (const at of [0, 2]) {
    names.push((await boxes.nth(at).getAttribute("aria-label")).replace("Select ", ""));
    await boxes.nth(at).check();
  }
  const bar = page.getByRole("region", { name: "Selected rows" });
  await bar.getByText("2 pages selected").waitFor();
  await checkBothSchemes(page, "selected rows");

  // Another order keeps the selection.
  await page.getByRole("columnheader", { name: "AI", exact: true }).getByRole("button").click();
  await bar.getByText("2 pages selected").waitFor();

  const save = bar.getByRole("button", { name: "Save as CSV" });
  const { rows } = readCsv((await download(page, () => save.click())).text);
  assert.deepEqual(rows.map(([path]) => path).sort(), [...names].sort());

  await bar.getByRole("button", { name: "Start a job" }).click();
  const box = page.getByLabel("Prompt", { exact: true });
  await expect(box).toHaveValue(/^Do these 2 tasks in one pull request\./);
  const prompt = await box.inputValue();
  for (const name of names) assert.ok(prompt.includes(`Update the page ${name}.`), prompt);
  assert.equal(prompt.split("[What should change, and why.]").length, 2);
});
