import type { ReportRow } from "./report.ts";

/** A folder with the sums of all that is below it, or a page. */
export interface TreeNode {
  /** The whole path: a folder's ends with a slash. */
  path: string;
  /** The last segment. */
  name: string;
  level: number;
  /** How many pages it holds; 0 for a page. */
  pages: number;
  row: ReportRow;
  children: TreeNode[];
}

/** A row of a list, or a row of the tree of folders. */
export type Line = ReportRow | TreeNode;

export function isNode(line: Line): line is TreeNode {
  return "children" in line;
}

export function rowOf(line: Line): ReportRow {
  return isNode(line) ? line.row : line;
}
