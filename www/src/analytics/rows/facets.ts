/**
 * Filters of a report by column. The reports on feedback and conversations have filters, and each
 * filter selects the rows with one value.
 */
import { spell } from "../../shell/wording.ts";
import { FACET_NAMES, type FacetName, type Facets } from "../period/address_words.ts";
import type { ReportName, ReportRow } from "./report.ts";

export interface Facet {
  name: FacetName;
  label: string;
  /** The choice that shows all rows. */
  all: string;
  /** The label of rows without a value. */
  none: string;
  /** The kind of values. The page spells out a `word`, such as `in_progress`. */
  kind: "text" | "word";
}

const FACETS: Partial<Record<ReportName, readonly Facet[]>> = {
  feedback: [
    { name: "helpful", label: "Helpful", all: "All ratings", none: "Not rated", kind: "text" },
    { name: "status", label: "Status", all: "All statuses", none: "No status", kind: "word" },
    { name: "source", label: "Source", all: "All sources", none: "No source", kind: "word" },
  ],
  conversations: [
    { name: "answer", label: "Answer", all: "All answers", none: "No answer status", kind: "word" },
    {
      name: "category",
      label: "Category",
      all: "All categories",
      none: "No category",
      kind: "text",
    },
  ],
};

export interface FacetValue {
  /** Empty for rows without a value. */
  value: string;
  count: number;
}

/** Returns the filters that a report offers. */
export function facetsOf(report: ReportName): readonly Facet[] {
  return FACETS[report] ?? [];
}

/** Returns the chosen values of a report's filters. */
export function pickFacets(report: ReportName, facets: Facets): Facets {
  const offered = facetsOf(report).flatMap(({ name }) => {
    const value = facets[name];
    return value === undefined ? [] : [[name, value.normalize("NFC")] as const];
  });
  return Object.fromEntries(offered);
}

/** Returns the rows that have all chosen values. */
export function filterByFacets(rows: readonly ReportRow[], facets: Facets): readonly ReportRow[] {
  const names = FACET_NAMES.filter((name) => facets[name] !== undefined);
  if (names.length === 0) return rows;
  return rows.filter((row) => names.every((name) => facetValue(row, name) === facets[name]));
}

/** Returns the values of a column with their counts, most frequent first. */
export function valuesOf(rows: readonly ReportRow[], name: FacetName): FacetValue[] {
  const counts = new Map<string, number>();
  for (const row of rows) {
    const value = facetValue(row, name);
    counts.set(value, (counts.get(value) ?? 0) + 1);
  }
  const values = [...counts].map(([value, count]) => ({ value, count }));
  return values.sort((a, b) => b.count - a.count || (a.value < b.value ? -1 : 1));
}

export function valueLabel({ name, none, kind }: Facet, value: string): string {
  if (value === "") return none;
  if (name === "helpful") return value === "Yes" ? "Helpful" : "Not helpful";
  return kind === "word" ? spell(value) : value;
}

export function hasFacets(facets: Facets): boolean {
  return Object.keys(facets).length > 0;
}

function facetValue(row: ReportRow, name: FacetName): string {
  return String(row[name] ?? "")
    .trim()
    .normalize("NFC");
}
