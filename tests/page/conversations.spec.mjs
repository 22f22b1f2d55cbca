import assert from "node:assert/strict";
import { accessibilityFaults, untilDrawn } from "./browser.mjs";
import { expect, test } from "./fixtures.mjs";
import { reportOfMonth } from "./reports.mjs";
import { changeResponses, EVERY_SCOPE } from "./visitor.mjs";

async function openConversations({ token, startAtReport, page }) {
  const lastMonth = { route: "conversations", range: "last-month" };
  await startAtReport(lastMonth, token({ scope: EVERY_SCOPE }));
  return page.getByRole("table", { name: "Questions to the assistant" });
}

async function questionsOfLastMonth(visitor) {
  const { conversations } = await reportOfMonth(visitor, "assistant");
  assert.ok(conversations.length > 50, "the simulator has questions");
  return conversations;
}

const changeAnswers = (page, change) =>
  changeResponses(page, /\/assistant\?/, (body) => ({
    ...body,
    conversations: body.conversations.map(change),
  }));

const questionAt = (table, place) =>
  table.getByRole("rowheader").nth(place).getByRole("button").first();
const dialogOf = (page) => page.getByRole("dialog", { name: "Conversation" });
const unanswered = ({ resolutionStatus }) => resolutionStatus === "unanswered";
async function questionsIn(table) {
  await untilDrawn(table.page());
  const questions = table.getByRole("rowheader").getByRole("button", { name: /^(?!Start a job)/ });
  return questions.allTextContents();
}

test("turns that share an id are all listed and open separately", async ({ visitor }) => {
  const { page } = visitor;
  const id = "01J9Z3K4M5N6P7Q8R9S0T1V2W3";
  await changeAnswers(page, (turn) => ({ ...turn, id, timestamp: "2026-01-01 22:30:00" }));
  const table = await openConversations(visitor);
  const all = await questionsOfLastMonth(visitor);
  await questionAt(table, all.length - 1).waitFor();
  const listed = await questionsIn(table);
  assert.deepEqual(listed.toSorted(), all.map(({ query }) => query.trim()).toSorted());
  const dialog = dialogOf(page);
  for (const place of [0, 1]) {
    await questionAt(table, place).click();
    await dialog.getByText(listed[place], { exact: true }).waitFor();
    await expect(dialog).toContainText(/Jan 1, 2026, 10:30/);
    await page.keyboard.press("Escape");
    await dialog.waitFor({ state: "hidden" });
  }
});

test("a row opens its question, answer and sources without a request", async ({ visitor }) => {
  const { page, record } = visitor;
  const table = await openConversations(visitor);
  const all = await questionsOfLastMonth(visitor);
  const turn = all.find(({ sources }) => sources.length > 1);
  assert.ok(!unanswered(turn), "only answers have sources");
  const place = all.filter(unanswered).length + all.filter((one) => !unanswered(one)).indexOf(turn);
  const requested = () => record.urls.filter((url) => url.includes("/analytics/"));
  const before = requested();
  const row = questionAt(table, place);
  await row.click();
  const dialog = dialogOf(page);
  const answer = answerIn(dialog);
  await answer.waitFor();
  const words = turn.response.match(/[A-Za-z]{4,}/g) ?? [];
  const shown = await answer.textContent();
  for (const word of words.filter((one) => one !== "bash")) assert.ok(shown.includes(word), word);
  const links = await dialog
    .getByRole("list", { name: "Sources" })
    .getByRole("link")
    .evaluateAll((found) => found.map(({ href, target, rel }) => ({ href, target, rel })));
  const outside = { target: "_blank", rel: "noopener noreferrer" };
  const expected = turn.sources.map(({ url }) => ({ href: new URL(url).href, ...outside }));
  assert.deepEqual(links, expected);
  assert.deepEqual(requested(), before);
  assert.deepEqual(await accessibilityFaults(page), []);
  await page.keyboard.press("Escape");
  await dialog.waitFor({ state: "detached" });
  await expect(row).toBeFocused();

  await row.click();
  await dialog.getByRole("button", { name: "Start a job" }).click();
  const prompt = page.getByLabel("Prompt", { exact: true });
  await expect(prompt).toHaveValue(/^(Answer a|Improve the documentation for a) reader’s question/);
  const text = await prompt.inputValue();
  assert.ok(text.includes(`\n> ${turn.query.trim().split("\n", 1)[0]}`), text);
});

/** Returns the assistant's answer. Questions can contain the word "assistant" too. */
function answerIn(dialog) {
  const heading = dialog.page().getByRole("heading", { name: /^Assistant/ });
  return dialog.locator("section").filter({ has: heading }).locator(".conversation_dialog-body");
}

test("hostile Markdown adds no element, no script and no request", async ({ visitor }) => {
  const { page, record } = visitor;
  const response = [
    "<script>window.isHacked = true</script>",
    "<img src=x onerror='window.isHacked = true'>",
    "![track](https://tracker.example/pixel.png)",
    "[click](javascript:window.isHacked=true) [data](data:text/html,x)",
    "<iframe src='https://evil.example'></iframe><form action=//evil.example><input></form>",
    "<style>body { display: none }</style><svg onload=alert(1)>",
    "&lt;img src=x onerror=alert(1)&gt;",
    "**end of answer**",
  ].join("\n\n");
  const faults = [];
  page.on("console", (message) => {
    if (/Content.Security.Policy/i.test(message.text())) faults.push(message.text());
  });
  await changeAnswers(page, (turn) => ({ ...turn, response, sources: [] }));
  await questionAt(await openConversations(visitor), 0).click();
  const answer = answerIn(dialogOf(page));
  await answer.getByText("end of answer").waitFor();
  const found = await answer.evaluate((element) => ({
    names: [...new Set([...element.querySelectorAll("*")].map(({ localName }) => localName))],
    hrefs: [...element.querySelectorAll("a")].map(({ href }) => href),
  }));
  assert.deepEqual(found.names.sort(), ["a", "bdi", "p", "strong"]);
  assert.deepEqual(found.hrefs, ["https://tracker.example/pixel.png"]);
  await expect(answer).toContainText(/<script>window\.isHacked = true<\/script>/);
  assert.equal(await page.evaluate(() => window.isHacked), undefined);
  assert.deepEqual(faults, []);
  assert.ok(!record.urls.some((url) => /tracker|evil/.test(url)));
});

test("the whole conversation loads on request, and again after a failure", async ({ visitor }) => {
  const { page, site } = visitor;
  const table = await openConversations(visitor);
  await questionAt(table, 0).click();
  const dialog = dialogOf(page);
  await page.route("**/assistant/threads/*", (route) =>
    route.fulfill({ status: 404, contentType: "application/problem+json", body: "{}" }),
  );
  const load = dialog.getByRole("button", { name: "Show the whole conversation" });
  await load.click();
  await dialog.getByRole("alert").waitFor();
  await page.unroute("**/assistant/threads/*");
  await page.keyboard.press("Escape");
  await questionAt(table, 0).click();
  await load.click();
  const transcript = dialog.getByRole("group", { name: "Whole conversation" });
  await transcript.waitFor();
  await expect(transcript).toBeFocused();
  const [newest] = (await questionsOfLastMonth(visitor)).filter(unanswered);
  await transcript.getByText(newest.query.trim(), { exact: true }).first().waitFor();
  assert.ok((await transcript.getByRole("heading").count()) >= 2);
  const { byOperation } = await site.upstream.counters();
  assert.equal(byOperation["analytics.conversation"], 1);
  assert.deepEqual(await accessibilityFaults(page), []);
});
