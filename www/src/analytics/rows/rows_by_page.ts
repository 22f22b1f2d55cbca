import { type PageId, toPageId } from "./page_path.ts";
import type { ReportRow } from "./report.ts";
import { textOf } from "./rows.ts";

/** Groups rows by page. Leaves out rows without a path. */
export function groupByPage(rows: Iterable<ReportRow>): Map<PageId, ReportRow[]> {
  const pages = new Map<PageId, ReportRow[]>();
  for (const row of rows) {
    const path = textOf(row.path);
    if (path === null) continue;
    const page = toPageId(path);
    const others = pages.get(page);
    if (others === undefined) pages.set(page, [row]);
    else others.push(row);
  }
  return pages;
}
