import assert from "node:assert/strict";
import axe from "axe-core";
import { finishAnimations, overflow } from "./browser.mjs";
import { test } from "./fixtures.mjs";

const WEIGHTS = ["400", "500", "600"];
const COLORS = ["var(--accent)", "var(--people)", "var(--ai)"];
const SURFACES = ["var(--paper)", "var(--sheet)", "var(--well)"];

test("fonts and colours keep to the design", async ({ visitor }) => {
  const { site, page, signIn, startJob, openComposer } = visitor;
  const found = new Set();
  const collectWeights = async () => {
    // One call: an element that was removed since it was found has no style.
    const weights = await page.evaluate(() =>
      [...document.querySelectorAll("body *")].map((one) => getComputedStyle(one).fontWeight),
    );
    for (const weight of weights) found.add(weight);
  };
  const sizeOf = (selector) =>
    page
      .locator(selector)
      .first()
      .evaluate((element) => getComputedStyle(element).fontSize);
  await page.goto(site.url);
  await page.getByLabel("Access token").waitFor();
  await collectWeights();
  assert.deepEqual([await sizeOf("html"), await sizeOf(".hint")], ["16px", "13px"]);
  for (const colorScheme of ["light", "dark"]) {
    await page.emulateMedia({ colorScheme });
    await finishAnimations(page);
    const [accent, ...counts] = await contrastsOf(page, COLORS);
    for (const { color } of counts) assert.notEqual(color, accent.color);
    assertVisible(counts, colorScheme);
  }
  await signIn();
  await startJob("Fix the typos");
  await openComposer();
  await collectWeights();
  for (const colorScheme of ["light", "dark"]) {
    await page.emulateMedia({ colorScheme });
    await finishAnimations(page);
    const borders = await page
      .locator("input:not([type=checkbox], [type=radio]), select, textarea")
      .evaluateAll((inputs) => inputs.map((input) => getComputedStyle(input).borderTopColor));
    assert.ok(borders.length >= 2);
    assertVisible(await contrastsOf(page, borders), colorScheme);
  }
  await page.getByRole("link", { name: "Page views" }).click();
  await page.getByRole("table").waitFor();
  await collectWeights();
  assert.deepEqual([...found].sort(), WEIGHTS);
  assert.equal(await sizeOf("td"), "14px");
  const serif = await page.evaluate(() =>
    [...document.querySelectorAll("main *")]
      .filter((element) => /Georgia/.test(getComputedStyle(element).fontFamily))
      .map((element) => element.className),
  );
  assert.deepEqual(serif, []);
});

function assertVisible(contrasts, scheme) {
  for (const { color, ratios } of contrasts) {
    assert.ok(Math.min(...ratios) >= 3, `${color}, ${scheme}: ${ratios}`);
  }
}

/** Returns colours as the browser computes them, with their contrast to each surface. */
async function contrastsOf(page, colors) {
  await page.evaluate(axe.source);
  return page.evaluate(
    ({ colors, surfaces }) => {
      const { Color, getContrast } = globalThis.axe.commons.color;
      const probe = document.body.appendChild(document.createElement("i"));
      const parse = (css) => {
        probe.style.color = css;
        const color = new Color();
        color.parseString(getComputedStyle(probe).color);
        return color;
      };
      return colors.map(parse).map((color) => ({
        color: color.toHexString(),
        ratios: surfaces.map((surface) => getContrast(parse(surface), color)),
      }));
    },
    { colors, surfaces: SURFACES },
  );
}

for (const [width, where] of [
  [1440, "beside the list"],
  [390, "over the whole screen"],
]) {
  test(`the composer appears ${where}, without scrolling sideways`, async ({ visitor }) => {
    const { page, signIn, startJob, openComposer } = visitor;
    await page.setViewportSize({ width, height: 844 });
    await signIn();
    await startJob("Fix the typos");
    const jobs = page.getByRole("region", { name: "Jobs in this project" });
    const list = await jobs.getByRole("list").boundingBox();
    await openComposer();
    const composer = page.getByRole("region", { name: "New job" });
    await composer.evaluate((element) =>
      Promise.all(element.getAnimations().map(({ finished }) => finished)),
    );
    const { x, width: room } = await composer.boundingBox();
    assert.equal(x + room, await page.evaluate(() => document.body.clientWidth));
    assert.ok(width === 390 ? x === 0 : list.x < x, `${list.x} and ${x}`);
    assert.ok((await overflow(page)) <= 0);
    const animations = await composer.evaluate((composer) => {
      composer.style.animation = "none";
      composer.getBoundingClientRect();
      composer.style.animation = "";
      const started = composer.getAnimations();
      for (const animation of started) {
        animation.pause();
        animation.currentTime = 0;
      }
      return started.length;
    });
    assert.equal(animations, 1);
    assert.ok((await overflow(page)) <= 0);
  });
}

test("text is set in Geist once cached, without its unused slices", async ({ visitor }) => {
  const { site, page, record } = visitor;
  await page.goto(site.url);
  await page.getByLabel("Access token").waitFor();
  await page.evaluate(() => document.fonts.ready);
  const urls = record.urls.filter((url) => url.endsWith(".woff2"));
  const fonts = urls.map((url) => new URL(url).pathname.replace(/-[^-]+\.woff2$/, ""));
  assert.deepEqual(fonts, ["/assets/geist-basic"]);
  await page.reload();
  await page.getByLabel("Access token").waitFor();
  await page.evaluate(() => document.fonts.ready);
  const heading = page.getByRole("heading", { name: "Sign in" });
  assert.deepEqual(await platformFonts(page, heading), ["Geist"]);
});

/** Returns the families of the fonts that an element's text is drawn in. */
async function platformFonts(page, locator) {
  const session = await page.context().newCDPSession(page);
  await session.send("DOM.enable");
  await session.send("CSS.enable");
  const { root } = await session.send("DOM.getDocument");
  const selector = await locator.evaluate((element) => {
    element.setAttribute("data-measured", "");
    return "[data-measured]";
  });
  const { nodeId } = await session.send("DOM.querySelector", { nodeId: root.nodeId, selector });
  const { fonts } = await session.send("CSS.getPlatformFontsForNode", { nodeId });
  await session.detach();
  return fonts.map(({ familyName }) => familyName);
}
