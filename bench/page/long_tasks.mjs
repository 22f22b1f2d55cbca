/**
 * Measures the longest task of each action on a report with many rows.
 *
 * The actions run inside the page, because Playwright's locators would add long tasks. This module
 * measures the CPU time of tasks, which other programs on the machine hardly change.
 */

/** Longer than the page waits before it shows loaded rows. */
const SETTLED_MS = 600;

/**
 * @typedef {Record<string, number>} LongestTasks milliseconds of CPU time by action
 *
 * @param {import("playwright-core").Page} page with the first rows of a report on page views
 * @param {{ hasComparison: boolean }} options
 * @returns {Promise<LongestTasks>}
 */
export async function measureLongTasks(page, { hasComparison }) {
  const devtools = await page.context().newCDPSession(page);
  const longest = {};
  const measure = async (name, act, argument) => {
    longest[name] = await longestTask(devtools, () => page.evaluate(act, argument));
  };
  await page.evaluate(installActions, SETTLED_MS);
  await measure("load all rows", () => actions.loadRest("#answer-bar .notices-notice > button"));
  if (hasComparison) {
    await measure("load the comparison", () => actions.loadRest(".notices-quietNotice > button"));
  }
  for (const column of ["human", "path", "share", ...(hasComparison ? ["change"] : []), "total"]) {
    await measure(`sort by ${column}`, (column) => actions.sort(column), column);
  }
  for (const text of ["a", "api guides", "/api", "**/a*b*e*", ""]) {
    await measure(`filter by "${text}"`, (text) => actions.filter(text), text);
  }
  await measure("show folders", () => actions.show("Folders"));
  await measure("open a folder", () => actions.openFolder());
  await measure('filter folders by "a"', () => actions.filter("a"));
  await measure("show all folders", () => actions.filter(""));
  const arrangements = ["Mostly AI", "Least read", ...(hasComparison ? ["Biggest gains"] : [])];
  for (const name of [...arrangements, "All pages"]) {
    await measure(`show ${name.toLowerCase()}`, (name) => actions.show(name), name);
  }
  await measure("scroll to the end", () => actions.scrollToEnd());
  await devtools.detach();
  return longest;
}

/** Returns the CPU time of the longest task on the page's main thread, in milliseconds. */
async function longestTask(devtools, act) {
  const events = [];
  const collect = ({ value }) => events.push(...value);
  devtools.on("Tracing.dataCollected", collect);
  const traceConfig = { includedCategories: ["toplevel", "devtools.timeline"] };
  await devtools.send("Tracing.start", { transferMode: "ReportEvents", traceConfig });
  await act();
  const completed = new Promise((resolve) => devtools.once("Tracing.tracingComplete", resolve));
  await devtools.send("Tracing.end");
  await completed;
  devtools.off("Tracing.dataCollected", collect);
  const threadOf = ({ pid, tid }) => `${pid} ${tid}`;
  const threads = events.filter(({ args }) => args?.name === "CrRendererMain").map(threadOf);
  const tasks = events.filter(
    (event) => event.name.endsWith("RunTask") && threads.includes(threadOf(event)),
  );
  return tasks.reduce((most, { tdur = 0 }) => Math.max(most, tdur / 1000), 0);
}

/** Defines the actions. Runs in the page. */
function installActions(settledMs) {
  const wait = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));
  const frame = () => new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));
  const until = async (test) => {
    while (!test()) await frame();
  };
  /** Waits for the rendering of an action, and for modules that it loads. */
  const settle = () => wait(100).then(frame);
  const find = (selector) => document.querySelector(selector);
  globalThis.actions = {
    async loadRest(selector) {
      await until(() => find(selector));
      find(selector).click();
      await frame();
      await until(() => !find("#answer-bar progress") && !find(selector));
      await wait(settledMs);
    },
    async sort(column) {
      find(`thead [data-column=${column}] button`).click();
      await settle();
    },
    async filter(text) {
      const input = find("#filter");
      input.value = text;
      input.dispatchEvent(new Event("input", { bubbles: true }));
      await settle();
    },
    async show(name) {
      const named = (start) => (button) => button.textContent.trim().startsWith(start);
      const buttons = () => [...document.querySelectorAll(".toolbar button")];
      buttons().find(named("Show")).click();
      await until(() => buttons().some(named(name)));
      buttons().find(named(name)).click();
      await settle();
    },
    async openFolder() {
      await until(() => find(".report_table-treeToggle"));
      find(".report_table-treeToggle").click();
      await settle();
    },
    async scrollToEnd() {
      const steps = 20;
      const { scrollHeight } = document.documentElement;
      for (let step = 1; step <= steps; step++) {
        scrollTo(0, (scrollHeight * step) / steps);
        await frame();
      }
    },
  };
}
