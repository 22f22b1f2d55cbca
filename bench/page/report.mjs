/** Formats the measurements of the page as Markdown. */

import { median } from "../gateway/statistics.mjs";
import { formatTable } from "../tables.mjs";

const isFull = (value) => value === 100;
const GOALS = [
  { name: "performance", what: "performance", isReached: (value) => value >= 98, goal: "≥ 98" },
  { name: "accessibility", what: "accessibility", isReached: isFull, goal: "100" },
  { name: "best-practices", what: "best practices", isReached: isFull, goal: "100" },
  { name: "cls", what: "layout shift", isReached: (value) => value <= 0.01, goal: "≤ 0.01" },
];
const TIMES = [
  { name: "lcp", what: "largest paint, ms" },
  { name: "tbt", what: "blocking, ms" },
];

export function reportPage({ browser, lighthouse, routes, faults }, runs) {
  const head = ["route", ...GOALS.map(({ what, goal }) => `${what} (${goal})`)];
  head.push(...TIMES.map(({ what }) => what));
  const lines = Object.entries(routes).map(([route, figures]) => [
    route,
    ...GOALS.map(({ name, isReached }) => formatGoal(median(figures[name]), isReached)),
    ...TIMES.map(({ name }) => Math.round(median(figures[name]))),
  ]);
  const failed = Object.entries(faults).filter(([, audits]) => audits.length > 0);
  return [
    `The page, measured by one run of \`npm run bench -- page\` with Lighthouse ${lighthouse} in Chromium ${browser}. Lighthouse emulates its default phone and network. As at Cloudflare's edge, Brotli compresses the responses. Figures are medians of ${runs} runs. Bold figures miss their goal.`,
    formatTable(head, lines),
    ...failed.map(([route, audits]) => `${route}: ${audits.join("; ")}`),
  ].join("\n\n");
}

function formatGoal(value, isReached) {
  const text = Number.isInteger(value) ? String(value) : value.toFixed(3);
  return isReached(value) ? text : `**${text}**`;
}
