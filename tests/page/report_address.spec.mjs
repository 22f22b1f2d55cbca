import assert from "node:assert/strict";
import { test } from "./fixtures.mjs";

for (const timezoneId of ["Pacific/Kiritimati", "Pacific/Pago_Pago"]) {
  test.describe(timezoneId, () => {
    test.use({ timezoneId });

    test(`feedback times are days of the period in ${timezoneId}`, async ({ visitor }) => {
      const { page, startAtReport } = visitor;
      await startAtReport({ route: "feedback", range: "yesterday" });
      await page.getByRole("columnheader", { name: "Submitted (UTC)" }).waitFor();
      const yesterday = new Date(Date.now() - 86_400_000);
      const day = new Intl.DateTimeFormat("en-US", { dateStyle: "medium", timeZone: "UTC" });
      // Some entries have no time.
      const texts = await page.locator("td[data-column=created] time").allTextContents();
      assert.ok(texts.length > 0);
      for (const text of texts) assert.ok(text.startsWith(day.format(yesterday)), text);
      const title = await page
        .locator("td[data-column=created] time")
        .first()
        .getAttribute("title");
      assert.match(title, /your time$/);
    });
  });
}
