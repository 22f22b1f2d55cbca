import type { TreeNode } from "./line.ts";
import { type Column, type ReportRow, shareOf } from "./report.ts";
import { countOf, type Sorting, sortRows } from "./rows.ts";
import "../styles/folders.css";

/** Visitors can request paths with thousands of slashes. Deeper levels stay in one name. */
const MAX_LEVELS = 64;

interface Folder {
  path: string;
  name: string;
  level: number;
  folders: Map<string, Folder>;
  pages: ReportRow[];
}

/** Groups pages by folder. `/guides` is a page next to the folder `/guides/`. */
export function buildTree(rows: readonly ReportRow[]): TreeNode[] {
  const root: Folder = { path: "/", name: "", level: 0, folders: new Map(), pages: [] };
  for (const row of rows) {
    const path = typeof row.path === "string" ? row.path : "";
    const segments = path.split("/").slice(1, -1).slice(0, MAX_LEVELS);
    folderAt(root, segments).pages.push(row);
  }
  return nodesOf(root).children;
}

function folderAt(root: Folder, segments: readonly string[]): Folder {
  let folder = root;
  for (const name of segments) {
    let next = folder.folders.get(name);
    if (next === undefined) {
      const path = `${folder.path}${name}/`;
      next = { path, name: `${name}/`, level: folder.level + 1, folders: new Map(), pages: [] };
      folder.folders.set(name, next);
    }
    folder = next;
  }
  return folder;
}

function nodesOf(folder: Folder): TreeNode {
  const level = folder.level + 1;
  const folders = [...folder.folders.values()].map(nodesOf);
  const pages = folder.pages.map((row): TreeNode => {
    const path = typeof row.path === "string" ? row.path : "";
    return { path, name: nameOf(path, folder), level, pages: 0, row, children: [] };
  });
  const children = [...folders, ...pages];
  const count = folders.reduce((sum, node) => sum + node.pages, pages.length);
  return {
    path: folder.path,
    name: folder.name,
    level: folder.level,
    pages: count,
    row: sumOf(folder.path, children),
    children,
  };
}

function nameOf(path: string, folder: Folder): string {
  const name = path.startsWith(folder.path) ? path.slice(folder.path.length) : path;
  return name || path || "(no path)";
}

function sumOf(path: string, nodes: readonly TreeNode[]): ReportRow {
  const rows = nodes.map(({ row }) => row);
  const [human, ai, total] = [sum(rows, "human"), sum(rows, "ai"), sum(rows, "total")];
  // One unknown change makes the folder's change unknown.
  const isCompared = rows.every((row) => countOf(row.change) !== null);
  const earlier = isCompared ? sum(rows, "earlier") : null;
  const change = isCompared ? sum(rows, "change") : null;
  return { path, human, ai, total, share: shareOf(ai, total), earlier, change };
}

/** Returns the sum of the known values of a column; null if none is known. */
function sum(rows: readonly ReportRow[], column: Column): number | null {
  const counts = rows.map((row) => countOf(row[column])).filter((count) => count !== null);
  return counts.length === 0 ? null : counts.reduce((all, count) => all + count, 0);
}

/** Returns the visible rows of the tree in order. Each open folder is followed by its content. */
export function flattenTree(
  nodes: readonly TreeNode[],
  open: ReadonlySet<string>,
  sorting: Sorting,
): TreeNode[] {
  const byRow = new Map(nodes.map((node) => [node.row, node]));
  const sorted = sortRows([...byRow.keys()], sorting).map((row) => byRow.get(row) as TreeNode);
  return sorted.flatMap((node) =>
    node.pages > 0 && open.has(node.path)
      ? [node, ...flattenTree(node.children, open, sorting)]
      : [node],
  );
}
