/** Browser translation, which replaces each text node of the page by a `font` element. */
import assert from "node:assert/strict";
import { matrixOf } from "./browser.mjs";
import { expect, test } from "./fixtures.mjs";

/** Replaces text nodes like Google Translate does, but keeps the words. */
const translate = (page) =>
  page.evaluate(() => {
    const skipped = "script, style, textarea, font, [translate=no], .notranslate";
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    const nodes = [];
    while (walker.nextNode()) {
      const { currentNode } = walker;
      if (currentNode.data.trim() && !currentNode.parentElement.closest(skipped))
        nodes.push(currentNode);
    }
    for (const node of nodes) {
      const outer = document.createElement("font");
      outer.append(document.createElement("font"));
      outer.firstChild.textContent = node.data;
      node.replaceWith(outer);
    }
    return nodes.length;
  });

/** Returns the start of the page's text, because tables get more rows, without times. */
async function textOf(page) {
  const text = await page.locator("main").innerText();
  return text
    .replace(/\d+:\d\d [AP]M|\d+ s\b|just now/gi, "…")
    .replace(/\s+/g, " ")
    .slice(0, 1500);
}

/** Fails if the page shows other text than after loading it again. */
async function expectCurrent(page, untilLoaded) {
  const shown = await textOf(page);
  await page.reload();
  await untilLoaded();
  await expect.poll(() => textOf(page)).toBe(shown);
}

/** The reports, with the column that sorts them. Entries of readers have none. */
const SORTED = { views: "People", visitors: "People", searches: "Searches" };

for (const [route, options] of matrixOf([...Object.keys(SORTED), "feedback", "conversations"])) {
  test(`translated ${route} show right figures after each change`, options, async ({ visitor }) => {
    const { page, token, startAtReport, untilLoaded } = visitor;
    await startAtReport({ route }, token({ scope: "analytics:read analytics:conversations" }));
    assert.ok((await translate(page)) > 20);
    const before = await textOf(page);
    await page.keyboard.press("w");
    await page.waitForURL(/range=last-7-days/);
    await untilLoaded();
    await translate(page);
    await page.getByLabel(/^Filter by/).fill("e");
    await page.waitForURL(/path=e/);
    await translate(page);
    const name = SORTED[route];
    if (name !== undefined) {
      await page.getByRole("columnheader").getByRole("button", { name }).first().click();
      await page.waitForURL(/sort=/);
    }
    assert.notEqual(await textOf(page), before);
    await expectCurrent(page, untilLoaded);
  });
}

test("the page shows its own words again after the translation ends", async ({ visitor }) => {
  const { page, signIn } = visitor;
  await signIn();
  await page.getByText("No jobs yet").waitFor();
  await page.getByText("Live", { exact: true }).waitFor();
  const before = await textOf(page);
  await page.evaluate(() => {
    const title = [...document.querySelectorAll("main p")].find((it) =>
      it.textContent.includes("No jobs yet"),
    );
    const text = title.firstChild;
    const font = Object.assign(document.createElement("font"), { textContent: "Noch keine Jobs" });
    text.replaceWith(font);
    globalThis.revert = () => font.replaceWith(text);
  });
  await page.getByText("Noch keine Jobs").waitFor();
  await page.evaluate(() => globalThis.revert());
  await expect.poll(() => textOf(page)).toBe(before);
});
