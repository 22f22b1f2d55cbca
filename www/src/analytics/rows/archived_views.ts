import type { Client } from "quillgate";
import { nextTask } from "../../shell/next_task.ts";
import type { Bounds } from "../period/range.ts";
import { type ReportRow, type Totals, toCountRow } from "./report.ts";

/** All pages with views in a range of days. */
export interface ArchivedViews {
  rows: readonly ReportRow[];
  totals: Totals;
}

const PAGE_SIZE = 1000;

/** Returns whether bounds consist of whole days. The archive has no parts of days. */
export function areWholeDays({ dateFrom, dateTo }: Bounds): boolean {
  return !dateFrom.includes("T") && !dateTo.includes("T");
}

/**
 * Reads all pages with views from the gateway's archive, which costs no request to Mintlify.
 * Returns `null` if the archive lacks a day or a request fails. Rejects if `signal` is aborted.
 */
export async function readArchivedViews(
  client: Client,
  { dateFrom, dateTo }: Bounds,
  signal: AbortSignal,
): Promise<ArchivedViews | null> {
  const list = client.analytics.archivedViews(
    { dateFrom, dateTo, limit: PAGE_SIZE },
    { signal, maxRetries: 0 },
  );
  const pages: ReportRow[][] = [];
  try {
    for await (const { views, totals, missing, nextCursor } of list.pages()) {
      await nextTask();
      signal.throwIfAborted();
      if (missing.length > 0) return null;
      pages.push(views.map(toCountRow));
      if (nextCursor === null) return { rows: pages.flat(), totals };
    }
  } catch {
    signal.throwIfAborted();
  }
  return null;
}
