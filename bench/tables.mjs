/** Formats tables and judgements as Markdown. */
import { estimateError, median } from "./gateway/statistics.mjs";

export function formatTable(head, lines) {
  const rule = head.map((_, at) => (at === 0 ? "---" : "--:"));
  return [head, rule, ...lines].map((cells) => `| ${cells.join(" | ")} |`).join("\n");
}

export function formatJudgement({ isReached, isClose }) {
  return `${isReached ? "yes" : "**no**"}${isClose ? ", within the error" : ""}`;
}

export function formatMedian(values, digits = median(values) < 10 ? 2 : 1) {
  return `${median(values).toFixed(digits)} ± ${estimateError(values).toFixed(digits)}`;
}
