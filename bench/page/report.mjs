/** Writes down what Lighthouse has measured of the page. */

import { median } from "../gateway/statistics.mjs";

const GOALS = [
  { name: "performance", what: "performance", holds: (value) => value >= 98, goal: "≥ 98" },
  { name: "accessibility", what: "accessibility", holds: (value) => value === 100, goal: "100" },
  { name: "best-practices", what: "best practices", holds: (value) => value === 100, goal: "100" },
  { name: "cls", what: "layout shift", holds: (value) => value <= 0.01, goal: "≤ 0.01" },
];
const TIMES = [
  { name: "lcp", what: "largest paint, ms" },
  { name: "tbt", what: "blocking, ms" },
];

/**
 * @param {import("./measure.mjs").Measured} measured
 * @param {Awaited<ReturnType<typeof import("./large_site.mjs").measureLargeSite>>} largeSite
 * @param {number} runs
 */
export function reportPage({ browser, lighthouse, routes, faults }, largeSite, runs) {
  const head = ["route", ...GOALS.map(({ what, goal }) => `${what} (${goal})`)];
  head.push(...TIMES.map(({ what }) => what));
  const lines = Object.entries(routes).map(([route, figures]) => [
    route,
    ...GOALS.map(({ name, holds }) => writeGoal(median(figures[name]), holds)),
    ...TIMES.map(({ name }) => Math.round(median(figures[name]))),
  ]);
  const found = Object.entries(faults).filter(([, audits]) => audits.length > 0);
  return [
    `The page: one run of \`npm run bench -- page\`, Lighthouse ${lighthouse} in Chromium ${browser}, its usual phone and network, medians of ${runs}. What is over its goal is bold.`,
    writeTable(head, lines),
    reportLargeSite(largeSite),
    ...found.map(([route, audits]) => `${route}: ${audits.join("; ")}`),
  ].join("\n\n");
}

/** Sorting and searching many rows, beside the page as it was. */
function reportLargeSite({ now, before }) {
  const most = (values) => (values.length === 0 ? "none" : `${Math.round(Math.max(...values))} ms`);
  const usual = (values) => `${median(values).toFixed(0)} ms`;
  const line = (what, goal, write) => [what, goal, before ? write(before) : "–", write(now)];
  return [
    `With ${now.rows} rows, from the click or the key to the next frame; medians of ${now.sort.length}, and beside them the page of an earlier commit in the same run:`,
    writeTable(
      ["what", "goal", "before", "now"],
      [
        line("sort", "≤ 60 ms", ({ sort }) => usual(sort)),
        line("search", "≤ 60 ms", ({ search }) => usual(search)),
        line("longest task while loading, sorting and searching", "≤ 100 ms", ({ tasks }) =>
          most(tasks),
        ),
      ],
    ),
  ].join("\n\n");
}

function writeGoal(value, holds) {
  const text = Number.isInteger(value) ? String(value) : value.toFixed(3);
  return holds(value) ? text : `**${text}**`;
}

function writeTable(head, lines) {
  const rows = [head, head.map(() => "---"), ...lines];
  return rows.map((cells) => `| ${cells.join(" | ")} |`).join("\n");
}
