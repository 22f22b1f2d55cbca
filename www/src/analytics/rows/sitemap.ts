import { toPageId } from "./page_path.ts";
import type { ReportRow } from "./report.ts";
import { textOf } from "./rows.ts";

/** The pages of a site, and its origin if the sitemap names it. */
export interface Sitemap {
  origin: string | null;
  paths: readonly string[];
  /** A sentence about the addresses that are not pages of the site; null without them. */
  ignored: string | null;
}

/** Returns the pages of a sitemap that have no row. Lists each page once. */
export function findNeverRead(paths: readonly string[], rows: readonly ReportRow[]): ReportRow[] {
  const known = new Set(rows.map((row) => toPageId(textOf(row.path) ?? "")));
  return paths
    .filter((path) => known.size < known.add(toPageId(path)).size)
    .map((path) => ({ path, human: 0, ai: 0, total: 0, share: null, earlier: null, change: null }));
}
