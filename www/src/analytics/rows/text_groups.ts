import { foldText } from "../../shell/readable_text.ts";
import type { ReportRow } from "./report.ts";
import { numberOf, textOf } from "./rows.ts";

/** Questions or search terms that readers wrote in nearly the same way. */
export interface TextGroup {
  /** The most frequent spelling. */
  text: string;
  /** The rows, most frequent spelling first. */
  rows: readonly ReportRow[];
  /** How often readers asked or searched. */
  count: number;
}

/**
 * Groups the rows of questions or search terms, most frequent group first. Texts of one group have
 * the same letters and digits: case, punctuation, spaces and the form of characters differ.
 */
export function groupTexts(rows: readonly ReportRow[]): TextGroup[] {
  const groups = new Map<string, ReportRow[]>();
  for (const row of rows) {
    const text = textOf(row.query);
    if (text === null) continue;
    const key = groupKey(text);
    if (key === "") continue;
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [row]);
    else group.push(row);
  }
  return [...groups.values()].map(toGroup).sort((a, b) => b.count - a.count);
}

/** Returns the string that the texts of a group share: its words without punctuation. */
export function groupKey(text: string): string {
  return foldText(text)
    .replace(/[^\p{L}\p{M}\p{N}]+/gu, " ")
    .trim();
}

function toGroup(rows: readonly ReportRow[]): TextGroup {
  const spellings = new Map<string, number>();
  for (const row of rows) {
    const text = textOf(row.query) ?? "";
    spellings.set(text, (spellings.get(text) ?? 0) + timesOf(row));
  }
  const frequency = (row: ReportRow) => spellings.get(textOf(row.query) ?? "") ?? 0;
  const sorted = [...rows].sort((a, b) => frequency(b) - frequency(a));
  const count = rows.reduce((sum, row) => sum + timesOf(row), 0);
  return { text: textOf(sorted[0]?.query) ?? "", rows: sorted, count };
}

/** A question is one row each time. A search term has one row with its number of searches. */
function timesOf({ hits }: ReportRow): number {
  return hits === undefined ? 1 : numberOf(hits);
}
