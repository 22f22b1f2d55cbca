import type { ReportRow } from "./report.ts";
import { textOf } from "./rows.ts";

/** The pages of a site, and its origin if the sitemap names it. */
export interface Sitemap {
  origin: string | null;
  /** Returns the pages of the sitemap that have no row. */
  findNeverRead(rows: readonly ReportRow[]): readonly ReportRow[];
}

/**
 * Decodes a path for comparison. Drops the query, the fragment, a final `/` and `/index`, and the
 * extensions `.htm`, `.html`, `.md` and `.mdx`.
 */
export function comparablePath(path: string): string {
  const decoded = decodePath(path.replace(/[?#].*$/s, ""));
  const short = decoded.replace(/(?:\/index)?(?:\.html?|\.mdx?)?\/*$/i, "");
  return short === "" ? "/" : short;
}

/** Returns the pages of a sitemap that have no row. */
export function findNeverRead(paths: readonly string[], rows: readonly ReportRow[]): ReportRow[] {
  const read = new Set(rows.map((row) => comparablePath(textOf(row.path) ?? "")));
  return paths
    .filter((path) => !read.has(comparablePath(path)))
    .map((path) => ({ path, human: 0, ai: 0, total: 0, share: null, earlier: null, change: null }));
}

/** Decodes a path. Returns a path with an invalid escape unchanged. */
export function decodePath(path: string): string {
  try {
    return decodeURI(path);
  } catch {
    return path;
  }
}
