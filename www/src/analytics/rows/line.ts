import type { ReportRow } from "./report.ts";

/** A page, or a folder with the sums of its pages. */
export interface TreeNode {
  /** The full path. A folder's path ends with a slash. */
  path: string;
  /**
   * The path below the parent folder: the last segment, except beyond the maximum depth of the
   * tree.
   */
  name: string;
  level: number;
  /** The number of pages in a folder and its subfolders; 0 for a page. */
  pages: number;
  row: ReportRow;
  children: TreeNode[];
}

/** A row of a list or of the folder tree. */
export type Line = ReportRow | TreeNode;

export function isNode(line: Line): line is TreeNode {
  return "children" in line;
}

export function rowOf(line: Line): ReportRow {
  return isNode(line) ? line.row : line;
}
