import { checkBothSchemes } from "./browser.mjs";
import {
  DEPLOYMENT_SITE,
  deleteRecord,
  deployElsewhere,
  ENDS,
  endDeployment,
} from "./deployments.mjs";
import { expect, test } from "./fixtures.mjs";

test.use({ siteOptions: DEPLOYMENT_SITE });

test("Today shows and follows failed deployments that are not live", async ({ visitor }) => {
  const { page, site, project, token, startSession } = visitor;
  const { statusId: failed } = await deployElsewhere(visitor, { branch: "docs/broken" });
  const { statusId: warned } = await deployElsewhere(visitor, { branch: "docs/warned" });
  await endDeployment(visitor, failed, ENDS.failed);
  await endDeployment(visitor, warned, ENDS.warning);
  await startSession(token({ scope: "deployments:read" }));
  await page.goto(`${site.url}/?route=today&project=${project}`);
  const section = page.getByRole("region", { name: "Deployments that failed" });
  const rows = section.getByRole("listitem");
  await expect(rows).toHaveCount(1);
  await rows.getByText("Preview of docs/broken").waitFor();
  await rows.getByText("Unable to find docs.json or mint.json").waitFor();
  await checkBothSchemes(page, "today");

  const { statusId: later } = await deployElsewhere(visitor);
  await endDeployment(visitor, later, ENDS.failed);
  await expect(rows).toHaveCount(2);
  await rows.first().getByText("Site", { exact: true }).waitFor();
  await deleteRecord(visitor, later);
  await expect(rows).toHaveCount(1);
  await rows.getByRole("link", { name: "Open deployment" }).click();
  await page.getByRole("heading", { level: 1, name: "Preview of docs/broken" }).waitFor();
});
