import type { TreeNode } from "./line.ts";
import { decodePath, toPageId, toPagePath } from "./page_path.ts";
import { type Cell, type ReportRow, shareOf } from "./report.ts";
import { countOf, type Sorting, sortRows, textOf } from "./rows.ts";

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
  const found = new Map<string, Folder>();
  for (const row of rows) {
    const path = toPageId(textOf(row.path) ?? "");
    const parent = path.slice(0, path.lastIndexOf("/") + 1);
    let folder = found.get(parent);
    if (folder === undefined) {
      folder = folderAt(root, parent.split("/").slice(1, -1).slice(0, MAX_LEVELS));
      found.set(parent, folder);
    }
    folder.pages.push(row);
  }
  return nodeOf(root).children;
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

function nodeOf(folder: Folder): TreeNode {
  const level = folder.level + 1;
  const folders = [...folder.folders.values()].map(nodeOf);
  let children: TreeNode[] | null = null;
  return {
    path: folder.path,
    name: folder.name,
    level: folder.level,
    pages: folders.reduce((sum, node) => sum + node.pages, folder.pages.length),
    row: sumOf(folder.path, [...folders.map(({ row }) => row), ...folder.pages]),
    // Only open folders need nodes for their pages, and there are thousands of pages.
    get children() {
      children ??= [
        ...folders,
        ...folder.pages.map((row): TreeNode => {
          const path = textOf(row.path) ?? "";
          return { path, name: nameOf(path, folder.path), level, pages: 0, row, children: [] };
        }),
      ];
      return children;
    },
  };
}

/**
 * Returns the name of a page in its folder. Each spelling, such as `a.md`, and each query string can
 * have its own row.
 */
function nameOf(path: string, folder: string): string {
  if (path === "") return "(no path)";
  const [query = ""] = /[?#].*$/s.exec(path) ?? [];
  const spelled = decodePath(toPagePath(path)).normalize("NFC");
  const page = spelled.startsWith(folder) && spelled !== folder ? spelled : toPageId(path);
  return (page.slice(folder.length) || "/") + query;
}

/** Adds up known counts. A sum without any known count is null. */
function sumOf(path: string, rows: readonly ReportRow[]): ReportRow {
  let human: number | null = null;
  let ai: number | null = null;
  let total: number | null = null;
  let earlier: number | null = null;
  let change: number | null = null;
  // One unknown change makes the folder's change and earlier count unknown.
  let isCompared = true;
  for (const row of rows) {
    human = add(human, row.human);
    ai = add(ai, row.ai);
    total = add(total, row.total);
    earlier = add(earlier, row.earlier);
    change = add(change, row.change);
    isCompared &&= countOf(row.change) !== null;
  }
  if (!isCompared) earlier = change = null;
  return { path, human, ai, total, share: shareOf(ai, total), earlier, change };
}

function add(sum: number | null, cell: Cell | undefined): number | null {
  const count = countOf(cell);
  return count === null ? sum : (sum ?? 0) + count;
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
