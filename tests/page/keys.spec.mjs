import assert from "node:assert/strict";
import { expect, test } from "./fixtures.mjs";
import { createGate } from "./waiting.mjs";

/** Dispatches a key as a keyboard with another layout or an input method reports it. */
const press = (page, init) =>
  page.evaluate((init) => {
    const target = document.activeElement ?? document.body;
    const event = new KeyboardEvent("keydown", { bubbles: true, cancelable: true, ...init });
    return target.dispatchEvent(event);
  }, init);

const search = (page) =>
  page.getByRole("dialog", { name: "Command palette" }).getByRole("combobox");

test("keys typed before the palette has loaded go to its search", async ({ visitor }) => {
  const { page, startAtReport } = visitor;
  await startAtReport();
  const address = page.url();
  const { opened, open } = createGate();
  await page.route("**/assets/palette-*.js", async (route) => {
    await opened;
    await route.continue();
  });
  await page.keyboard.press("Control+k");
  // "q", "t" and "r" are shortcuts of the report.
  await page.keyboard.type("quickstarz");
  await page.keyboard.press("Backspace");
  await page.keyboard.type("t r");
  open();
  await expect(search(page)).toHaveValue("quickstart r");
  assert.equal(page.url(), address);

  await page.keyboard.press("Escape");
  await expect(search(page)).toHaveCount(0);
  await page.keyboard.press("Control+k");
  await page.keyboard.type("quick");
  await expect(search(page)).toHaveValue("quick");
  assert.equal(page.url(), address);
});

for (const [layout, palette, g, v, earlier] of [
  ["Russian", "л", "п", "м", "х"],
  ["Greek", "κ", "γ", "ω", "["],
  ["Latin with Caps Lock", "K", "G", "V", "["],
]) {
  test(`shortcuts work on a keyboard with the layout ${layout}`, async ({ visitor }) => {
    const { page, signIn } = visitor;
    await signIn();
    await page.getByText("No jobs yet").waitFor();
    await press(page, { key: g, code: "KeyG" });
    await press(page, { key: v, code: "KeyV" });
    await page.waitForURL(/route=views/);
    await page.getByRole("button", { name: /^Period/ }).waitFor();
    await press(page, { key: earlier, code: "BracketLeft" });
    await page.waitForURL(/from=/);
    await press(page, { key: palette, code: "KeyK", ctrlKey: true });
    await expect(search(page)).toBeFocused();
  });
}

test("signs typed with AltGr are shortcuts, and chords are not", async ({ visitor }) => {
  const { page, startAtReport } = visitor;
  await startAtReport({ range: "last-month" });
  const sign = { key: "[", code: "Digit8" };
  for (const chord of [
    { ...sign, ctrlKey: true, altKey: true },
    { ...sign, altKey: true },
    { ...sign, metaKey: true, modifierAltGraph: true },
    { key: "q", code: "KeyQ", ctrlKey: true, altKey: true, modifierAltGraph: true },
  ]) {
    assert.ok(await press(page, chord), JSON.stringify(chord));
  }
  for (const modifiers of [
    { modifierAltGraph: true },
    { modifierAltGraph: true, ctrlKey: true, altKey: true },
  ]) {
    assert.ok(!(await press(page, { ...sign, ...modifiers })), JSON.stringify(modifiers));
  }
});

test("a key of an input method triggers nothing in any input", async ({ visitor }) => {
  const { page, project, startSession, openReport, openComposer } = visitor;
  await startSession();
  const composition = { isComposing: true };
  // Safari reports the key that ends a composition in this way.
  const afterComposition = { keyCode: 229 };
  async function pressAll() {
    for (const state of [composition, afterComposition]) {
      for (const key of ["Escape", "Enter", "ArrowDown"]) {
        assert.ok(await press(page, { key, ...state }), `${key} keeps its effect`);
        assert.ok(await press(page, { key, ctrlKey: true, ...state }), `Ctrl+${key}`);
      }
      assert.ok(await press(page, { key: "k", code: "KeyK", ctrlKey: true, ...state }));
    }
  }
  await page.goto(`${visitor.site.url}/?route=jobs&project=${project}`);
  const box = await openComposer();
  await box.fill("日本語");
  await box.focus();
  await pressAll();
  await expect(box).toBeFocused();
  assert.equal((await visitor.upstreamTargets()).filter((it) => it.endsWith("/job")).length, 0);

  await openReport();
  await page.getByLabel("Filter by path").focus();
  await pressAll();
  await page.keyboard.press("Control+k");
  await search(page).fill("last");
  const active = await search(page).getAttribute("aria-activedescendant");
  await pressAll();
  await expect(search(page)).toBeFocused();
  await expect(search(page)).toHaveAttribute("aria-activedescendant", active);
});
