import { count, counted } from "../../shell/wording.ts";
import { isNode, type Line, rowOf } from "../rows/line.ts";
import type { Report, ReportRow } from "../rows/report.ts";

/** The ids of the selected rows; null while the person selects nothing. */
export type Selection = ReadonlySet<string> | null;

/**
 * Identifies a row across orders, filters and refreshes. Entries and questions can have equal texts
 * or no time, and the questions of a conversation share its id, so all of these belong to the id.
 */
export function idOfRow({ key, time }: Report, row: ReportRow): string {
  const at = time && row[time];
  const { id = row.turn?.id, comment = row.turn?.response } = row;
  // Answers can be long, so they belong to the id only where nothing else tells rows apart.
  return JSON.stringify([row[key], at, id, at && id ? null : comment]);
}

/** Returns the selected rows in the order of the table. Folders cannot be selected. */
export function selectedRows(
  report: Report,
  lines: readonly Line[],
  selection: Selection,
): ReportRow[] {
  if (selection === null) return [];
  const rows = lines.filter((line) => !(isNode(line) && line.pages > 0)).map(rowOf);
  return rows.filter((row) => selection.has(idOfRow(report, row)));
}

export function toggleRow(report: Report, selection: Selection, row: ReportRow): Selection {
  const next = new Set(selection);
  const id = idOfRow(report, row);
  if (!next.delete(id)) next.add(id);
  return next;
}

/** Returns the label of the button that starts a job about some of the selected rows. */
export function startLabel({ one, many }: Report, selected: number, covered: number): string {
  if (covered === selected) return "Start a job";
  return `Start a job about ${count(covered)} of ${counted(selected, one, many)}`;
}
