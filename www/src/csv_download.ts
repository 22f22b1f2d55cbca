import type { PageView } from "quillgate";
import { csvFileName, toCsv } from "./csv.ts";
import type { DayRange } from "./range.ts";

/** Has the browser save rows as a CSV file; returns the file's name. */
export function downloadCsv(projectId: string, range: DayRange, rows: readonly PageView[]): string {
  const name = csvFileName(projectId, range);
  const url = URL.createObjectURL(new Blob([toCsv(rows)], { type: "text/csv;charset=utf-8" }));
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  // The browser reads the address after this task, not during the click.
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
  return name;
}
