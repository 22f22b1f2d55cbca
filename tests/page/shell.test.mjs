/** What every route has around it: shortcuts, messages, sizes, colours of the person's own. */
import assert from "node:assert/strict";
import { describe } from "node:test";
import { accessibilityFaults, overflow } from "./browser.mjs";
import { startSite } from "./site.mjs";

const site = startSite();
const { visiting } = site;
const heading = (page, name) => page.getByRole("heading", { level: 1, name });

describe("shortcuts", () => {
  visiting("lead from route to route", async ({ page, signIn }) => {
    await signIn();
    await page.keyboard.press("g");
    await page.keyboard.press("v");
    await heading(page, "Page views").waitFor();
    await page.keyboard.press("g");
    await page.keyboard.press("j");
    await heading(page, "Agent jobs").waitFor();
  });

  visiting("leave text boxes and the browser's own keys alone", async (visitor) => {
    const { page, signIn, openComposer } = visitor;
    await signIn();
    const box = await openComposer();
    await box.pressSequentially("gvn?");
    assert.equal(await box.inputValue(), "gvn?");
    await box.evaluate((element) => element.blur());
    await page.keyboard.press("g");
    await page.keyboard.press("Alt+v");
    assert.equal(await page.getByRole("dialog").count(), 0);
    await heading(page, "Agent jobs").waitFor();
  });

  visiting("are listed by ?, and the focus comes back", async ({ page, signIn }) => {
    await signIn();
    const link = page.getByRole("link", { name: "Page views" });
    await link.focus();
    await page.keyboard.press("?");
    const dialog = page.getByRole("dialog", { name: "Keyboard shortcuts" });
    await dialog.getByRole("term").filter({ hasText: "Agent jobs" }).waitFor();
    assert.deepEqual(await accessibilityFaults(page), []);
    await page.keyboard.press("Escape");
    await dialog.waitFor({ state: "detached" });
    assert.ok(await link.evaluate((element) => element === document.activeElement));
  });

  visiting("can be switched off for good", async ({ page, signIn }) => {
    await signIn();
    await page.getByRole("button", { name: /Session of/ }).click();
    await page.getByRole("button", { name: "Keyboard shortcuts" }).click();
    await page.getByLabel("Use shortcuts of single keys").uncheck();
    await page.getByRole("button", { name: "Close" }).click();
    await page.reload();
    await heading(page, "Agent jobs").waitFor();
    await page.keyboard.press("?");
    await page.keyboard.press("g");
    await page.keyboard.press("v");
    await heading(page, "Agent jobs").waitFor();
    assert.equal(await page.getByRole("dialog").count(), 0);
  });
});

describe("text", () => {
  visiting("is measured from 16 pixels, and hints have 13", async ({ page, signIn }) => {
    await page.goto(site.gateway.url);
    await page.getByLabel("Access token").waitFor();
    const sizes = await page.evaluate(() => {
      const size = (element) => getComputedStyle(element).fontSize;
      return [document.documentElement, document.querySelector(".hint")].map(size);
    });
    assert.deepEqual(sizes, ["16px", "13px"]);
    await signIn();
    await page.getByRole("link", { name: "Page views" }).click();
    await page.getByRole("table").waitFor();
    const { cell, serif } = await page.evaluate(() => ({
      cell: getComputedStyle(document.querySelector("td")).fontSize,
      serif: [...document.querySelectorAll("main *")]
        .filter((element) => /Georgia/.test(getComputedStyle(element).fontFamily))
        .map((element) => element.className),
    }));
    assert.equal(cell, "14px");
    assert.deepEqual(serif, []);
  });

  visiting(
    "in inputs is large enough that a phone does not zoom in",
    async ({ page, signIn }) => {
      const small = () =>
        page.evaluate(() =>
          [...document.querySelectorAll("input, select, textarea")]
            .filter((input) => Number.parseFloat(getComputedStyle(input).fontSize) < 16)
            .map((input) => input.id || input.className),
        );
      await page.goto(site.gateway.url);
      await page.getByLabel("Access token").waitFor();
      assert.deepEqual(await small(), []);
      await signIn();
      assert.deepEqual(await small(), []);
      await page.getByRole("link", { name: "Page views" }).click();
      await page.getByRole("table").waitFor();
      assert.deepEqual(await small(), []);
    },
    { viewport: { width: 360, height: 720 } },
  );
});

describe("with forced colours", () => {
  for (const width of [1280, 360]) {
    visiting(
      `the page is complete at ${width} pixels`,
      async ({ page, signIn }) => {
        await page.goto(site.gateway.url);
        await page.getByLabel("Access token").waitFor();
        assert.deepEqual(await accessibilityFaults(page), []);
        await signIn();
        const underlines = await page
          .getByRole("navigation", { name: "Main" })
          .getByRole("link")
          .evaluateAll((links) => links.map((link) => getComputedStyle(link).borderBottomWidth));
        assert.deepEqual(underlines, ["3px", "0px", "0px", "0px", "0px"]);
        assert.deepEqual(await accessibilityFaults(page), []);
        assert.ok((await overflow(page)) <= 0);
      },
      { forcedColors: "active", viewport: { width, height: 720 } },
    );
  }
});
