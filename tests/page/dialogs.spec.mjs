import { expect, test } from "./fixtures.mjs";
import { show } from "./reports.mjs";

const TYPED = "https://docs.example.com/with/a/long/path";

async function drag(page, from, to) {
  await page.mouse.move(...from);
  await page.mouse.down();
  await page.mouse.move(...to, { steps: 5 });
  await page.mouse.up();
}

test("a click outside, Escape and Close end a dialog, but no drag", async ({ visitor }) => {
  const { page, startAtReport } = visitor;
  await startAtReport({ range: "last-month" });
  const open = () => page.getByRole("button", { name: "Set site URL" }).click();
  await open();
  const dialog = page.getByRole("dialog", { name: "Set site URL" });
  const input = dialog.getByRole("textbox");
  await input.fill(TYPED);
  const [outer, inner] = [await dialog.boundingBox(), await input.boundingBox()];
  const inside = [inner.x + inner.width / 2, inner.y + inner.height / 2];
  const outside = [outer.x / 2, outer.y + outer.height / 2];
  await drag(page, inside, outside);
  await expect(input).toHaveValue(TYPED);
  await drag(page, outside, inside);
  await expect(input).toHaveValue(TYPED);

  await page.mouse.click(...outside);
  await dialog.waitFor({ state: "detached" });
  await open();
  await page.keyboard.press("Escape");
  await dialog.waitFor({ state: "detached" });
  await open();
  await dialog.getByRole("button", { name: "Close" }).click();
  await dialog.waitFor({ state: "detached" });
});

test("a dialog without its opener focuses the heading and does not scroll", async ({ visitor }) => {
  const { page, startAtReport } = visitor;
  await startAtReport({ range: "last-month" });
  const opener = page.getByRole("button", { name: "Set site URL" });
  await opener.click();
  await opener.evaluate((button) => button.remove());
  await page.evaluate(() => scrollTo(0, 200));
  await page.keyboard.press("Escape");
  await expect(page.getByRole("heading", { level: 1 })).toBeFocused();
  expect(await page.evaluate(() => scrollY)).toBe(200);
});

test("the same sitemap file can be chosen again", async ({ visitor }) => {
  const { page, startAtReport } = visitor;
  await startAtReport({ range: "last-month" });
  await show(page, /^Unread/);
  const dialog = page.getByRole("dialog", { name: "Find unread pages" });
  const input = dialog.getByLabel("Sitemap files");
  await input.setInputFiles({
    name: "sitemap.xml",
    mimeType: "application/xml",
    buffer: Buffer.from("<urlset></urlset>"),
  });
  await expect(dialog.getByRole("alert")).not.toBeEmpty();
  // Choosing the file that an input already has is not a change.
  await expect(input).toHaveValue("");
});

test("closing a file picker without a file keeps the pasted sitemap", async ({ visitor }) => {
  const { page, startAtReport } = visitor;
  await startAtReport({ range: "last-month" });
  await show(page, /^Unread/);
  const dialog = page.getByRole("dialog", { name: "Find unread pages" });
  const pasted = dialog.getByRole("textbox");
  await pasted.fill(TYPED);
  // Playwright cannot close a file picker, so the event is the browser's in form.
  const files = dialog.getByLabel("Sitemap files");
  await files.evaluate((input) => input.dispatchEvent(new Event("cancel", { bubbles: true })));
  await expect(pasted).toHaveValue(TYPED);
});
