import { expect, test } from "./fixtures.mjs";

/** Longer than the list of jobs waits before it asks again. */
const POLLED_MS = 15_000;
const LOGIN = "https://login.example/cdn-cgi/access/login";
/** How proxies answer after their own session has ended. */
const ANSWERS = {
  "a redirect": { status: 302, headers: { location: LOGIN } },
  "an HTML page": { status: 200, contentType: "text/html", body: "<h1>Log in</h1>" },
  "a 401 in HTML": {
    status: 401,
    contentType: "text/html; charset=utf-8",
    body: "<h1>Log in</h1>",
  },
};

test("after an answer of a proxy, a report offers to reload the page", async ({ visitor }) => {
  const { page, startSession, openReport } = visitor;
  await startSession();
  for (const [name, answer] of Object.entries(ANSWERS)) {
    await openReport();
    await page.route("**/v1/**", (route) => route.fulfill(answer));
    await page.keyboard.press("q");
    const problem = page.getByRole("alert").filter({ hasText: "Your session ended" });
    await problem.waitFor();
    await expect(problem, name).not.toContainText("Mintlify");
    await page.unrouteAll();
    await problem.getByRole("button", { name: "Reload" }).click();
    await page.locator(".report_table-table").waitFor();
    await page.waitForURL(/range=last-90-days/);
  }
});

test("the list of jobs shows why it can’t be updated", async ({ visitor }) => {
  const { page, signIn } = visitor;
  await page.clock.install();
  await page.route("**/jobs/events", (route) => route.abort());
  await signIn();
  await page.getByText(/^Updated /).waitFor();
  await page.route(/\/jobs\?/, (route) => route.fulfill({ status: 503, body: "" }));
  await page.clock.runFor(POLLED_MS);
  await page.getByText(/^Not updated since /).waitFor();
  await page.unroute(/\/jobs\?/);
  await page.clock.runFor(POLLED_MS);
  await page.getByText(/^Updated /).waitFor();

  await page.route("**/v2/**", (route) => route.fulfill(ANSWERS["a redirect"]));
  await page.clock.runFor(POLLED_MS);
  const problem = page.getByRole("alert").filter({ hasText: "Your session ended" });
  await problem.getByRole("button", { name: "Reload" }).waitFor();
  await page.getByText(/^Not updated since .* Your session ended\.$/).waitFor();
});

test("a list that failed is not live until the page has requested it again", async ({
  visitor,
}) => {
  const { page, signIn } = visitor;
  await page.clock.install();
  await signIn();
  const live = page.getByText("Live", { exact: true });
  await live.waitFor();
  await page.route(/\/jobs\?/, (route) => route.fulfill({ status: 503, body: "" }));
  await page.getByRole("main").getByRole("button", { name: "Refresh" }).click();
  await page.getByText(/^Not updated since /).waitFor();
  await page.unroute(/\/jobs\?/);
  await page.clock.runFor(POLLED_MS);
  await live.waitFor();
});

test("a proxy’s sign-in page does not sign the page out", async ({ visitor }) => {
  const { page, signIn } = visitor;
  await signIn();
  await page.route("**/session", (route) => route.fulfill(ANSWERS["a 401 in HTML"]));
  await page.reload();
  await page.getByRole("alert").filter({ hasText: "Your session ended" }).waitFor();
  await page.unrouteAll();
  await page.getByRole("button", { name: "Reload" }).click();
  await page.getByRole("button", { name: "Sign out" }).waitFor();
});

test("a blocked request names content blockers", async ({ visitor }) => {
  const { page, startSession, project } = visitor;
  await startSession();
  await page.route("**/v1/analytics/**", (route) => route.abort("blockedbyclient"));
  await page.goto(`${visitor.site.url}/?route=views&project=${project}`);
  const problem = page.getByRole("alert").filter({ hasText: "Something blocked this request" });
  await expect(problem).toContainText("Turn off content blockers");
});
