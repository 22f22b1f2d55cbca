import type { ReportRow } from "./report.ts";
import { textOf } from "./rows.ts";

/** The pages that a site has, and where it is when the sitemap says so. */
export interface Sitemap {
  origin: string | null;
  /** Those that none of these rows is of. */
  findNeverRead(rows: readonly ReportRow[]): readonly ReportRow[];
}

/** A path as it is compared: decoded, without a slash, `index` or `.html` at its end. */
export function comparablePath(path: string): string {
  const decoded = decodePath(path.replace(/[?#].*$/s, ""));
  const short = decoded.replace(/(?:\/index)?(?:\.html?|\.mdx?)?\/*$/i, "");
  return short === "" ? "/" : short;
}

/** The pages of a sitemap that no row has. */
export function findNeverRead(paths: readonly string[], rows: readonly ReportRow[]): ReportRow[] {
  const read = new Set(rows.map((row) => comparablePath(textOf(row.path) ?? "")));
  return paths
    .filter((path) => !read.has(comparablePath(path)))
    .map((path) => ({ path, human: 0, ai: 0, total: 0, share: null, earlier: null, change: null }));
}

/** A path without its escapes, where they can be read. */
export function decodePath(path: string): string {
  try {
    return decodeURI(path);
  } catch {
    return path;
  }
}
