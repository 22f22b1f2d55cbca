import { percentage } from "../../shell/wording.ts";
import type { Arrangement } from "../period/address_words.ts";
import { isGone } from "./comparison.ts";
import { type Column, REPORTS, type Report, type ReportName, type ReportRow } from "./report.ts";
import { numberOf, type Sorting } from "./rows.ts";
import { hasLowClickRate, hasNoClicks, LOW_CLICK_RATE } from "./search_clicks.ts";

interface ArrangementDefinition {
  id: Arrangement;
  label: string;
  hint: string;
  reports: readonly ReportName[];
}

export const ARRANGEMENTS: readonly ArrangementDefinition[] = [
  { id: "pages", label: "All pages", hint: "", reports: ["views", "visitors"] },
  {
    id: "folders",
    label: "Folders",
    hint: "Pages by folder, with sums",
    reports: ["views"],
  },
  {
    id: "mostly-ai",
    label: "Mostly AI",
    hint: "Over 50% AI views",
    reports: ["views"],
  },
  {
    id: "mostly-people",
    label: "Mostly people",
    hint: "Over 50% views by people",
    reports: ["views"],
  },
  {
    id: "least-read",
    label: "Least read",
    hint: "Fewest views first",
    reports: ["views", "visitors"],
  },
  {
    id: "never-read",
    label: "Unread",
    hint: "In your sitemap, without views",
    reports: ["views"],
  },
  {
    id: "rises",
    label: "Biggest gains",
    hint: "vs previous period",
    reports: ["views", "visitors", "searches"],
  },
  {
    id: "falls",
    label: "Biggest drops",
    hint: "vs previous period",
    reports: ["views", "visitors", "searches"],
  },
  {
    id: "people-rises",
    label: "Gained people",
    hint: "Compared without AI",
    reports: ["views", "visitors"],
  },
  {
    id: "people-falls",
    label: "Lost people",
    hint: "Compared without AI",
    reports: ["views", "visitors"],
  },
  {
    id: "no-clicks",
    label: "No clicks",
    hint: "No reader opened a result",
    reports: ["searches"],
  },
  {
    id: "low-click-rate",
    label: "Low click rate",
    hint: `A click in under ${percentage(LOW_CLICK_RATE)} of searches`,
    reports: ["searches"],
  },
  {
    id: "grouped",
    label: "Grouped",
    hint: "Equal wording in one row",
    reports: ["searches", "conversations"],
  },
  {
    id: "by-page",
    label: "By page",
    hint: "Ratings of each page",
    reports: ["feedback", "feedbackByPage"],
  },
];

/**
 * Returns the arrangements that a report supports. The plain list of rows is always one of them.
 */
export function arrangementsOf({ name, many }: Report): readonly ArrangementDefinition[] {
  const offered = ARRANGEMENTS.filter(
    ({ id, reports }) => id === "pages" || reports.includes(name),
  );
  const rows = name === "feedbackByPage" ? REPORTS.feedback.many : many;
  return offered.map((one) => (one.id === "pages" ? { ...one, label: `All ${rows}` } : one));
}

const COMPARED: readonly Arrangement[] = ["rises", "falls", "people-rises", "people-falls"];

export function needsComparison(arrangement: Arrangement): boolean {
  return COMPARED.includes(arrangement);
}

/** Returns the column whose changes an arrangement shows. */
export function comparedColumn(arrangement: Arrangement, main: Column): Column {
  return arrangement === "people-rises" || arrangement === "people-falls" ? "human" : main;
}

export function usualSorting(arrangement: Arrangement, { main, name }: Report): Sorting {
  switch (arrangement) {
    case "mostly-ai":
      return { column: "ai", direction: "descending" };
    case "mostly-people":
      return { column: "human", direction: "descending" };
    case "least-read":
      return { column: "total", direction: "ascending" };
    case "never-read":
      return { column: "path", direction: "ascending" };
    case "rises":
    case "people-rises":
      return { column: "change", direction: "descending" };
    case "falls":
    case "people-falls":
      return { column: "change", direction: "ascending" };
    case "by-page":
      return { column: "total", direction: "descending" };
    case "grouped":
      return { column: main ?? "times", direction: "descending" };
    default:
      if (name === "feedback") return { column: "created", direction: "descending" };
      if (name === "conversations") return { column: "answer", direction: "descending" };
      return { column: main ?? "path", direction: "descending" };
  }
}

/** Returns the rows that an arrangement selects, in their order. */
export function arrangeRows(
  rows: readonly ReportRow[],
  arrangement: Arrangement,
  main: Column,
): readonly ReportRow[] {
  switch (arrangement) {
    case "mostly-ai":
      return rows.filter((row) => numberOf(row.ai) * 2 > numberOf(row.total));
    case "mostly-people":
      return rows.filter((row) => numberOf(row.human) * 2 > numberOf(row.total));
    case "rises":
    case "people-rises":
      return rows.filter((row) => numberOf(row.change) > 0);
    case "falls":
    case "people-falls":
      return rows.filter((row) => numberOf(row.change) < 0);
    case "no-clicks":
      return rows.filter(hasNoClicks);
    case "low-click-rate":
      return rows.filter(hasLowClickRate);
    case "least-read":
      return rows.filter((row) => !isGone(row, main));
    default:
      return rows;
  }
}
