import { batch, useSignal } from "@preact/signals";
import type { RefObject } from "preact";
import { useEffect, useLayoutEffect, useMemo, useRef } from "preact/hooks";
import { announce } from "../shell/announcer.tsx";
import { count } from "../shell/wording.ts";
import { isNode, type Line, rowOf } from "./line.ts";
import { linkToPage } from "./page_link.ts";
import type { Cell, Column, ColumnDefinition, ReportRow } from "./report.ts";
import { formatCell } from "./report_cell.tsx";
import { mostOf, nextSorting, numberOf, type Sorting, textOf, visibleSlice } from "./rows.ts";

/** Until the first row is measured. */
const DEFAULT_ROW_HEIGHT = 34;
/** Until the window is measured: few rows, which are drawn the sooner. */
const FIRST_SIGHT = 100;

interface ReportTableProps {
  label: string;
  /** What says that the rows are a part; null when they are not. */
  describedBy: string | null;
  lines: readonly Line[];
  columns: readonly ColumnDefinition[];
  sorting: Sorting;
  onSort(sorting: Sorting): void;
  /** The site's address, for links to its pages; null when it is not known. */
  site: string | null;
  openFolders: ReadonlySet<string>;
  onToggle(folder: string): void;
  /** Shows a comment in full. */
  onOpen(row: ReportRow): void;
  /** Changes with the order and the filter: the list then begins at its first row again. */
  viewKey: string;
}

/** Every line, of which only those in sight are in the document. The page itself scrolls. */
export function ReportTable(props: ReportTableProps) {
  const { label, lines, columns, sorting, viewKey } = props;
  const table = useRef<HTMLTableElement>(null);
  const { sight, rowHeight } = useSight(table);
  useListBeginning(table, viewKey);
  const { start, end } = visibleSlice(sight.value, rowHeight.value, lines.length);
  const tint = useMemo(() => tintOf(lines, columns, sorting), [lines, columns, sorting.column]);

  return (
    <table
      ref={table}
      class={`report sorted-${sorting.column}`}
      aria-label={label}
      aria-describedby={props.describedBy ?? undefined}
      aria-rowcount={lines.length + 1}
    >
      <Headings columns={columns} sorting={sorting} onSort={props.onSort} />
      <tbody>
        <Gap rows={start} rowHeight={rowHeight.value} />
        {lines.slice(start, end).map((line, index) => renderRow(props, line, start + index, tint))}
        <Gap rows={lines.length - end} rowHeight={rowHeight.value} />
      </tbody>
    </table>
  );
}

/**
 * Which part of the rows the window shows, in pixels from the first row, and the height of a row.
 * Both are measured once the browser has laid out the table, so that it does that once a frame.
 */
function useSight(table: RefObject<HTMLTableElement | null>) {
  const sight = useSignal({ scrollTop: 0, height: FIRST_SIGHT });
  const rowHeight = useSignal(DEFAULT_ROW_HEIGHT);
  function measure() {
    const body = table.current?.tBodies[0];
    if (!body) return;
    const scrollTop = Math.max(0, -body.getBoundingClientRect().top);
    const height = window.innerHeight;
    const { value } = sight;
    if (value.scrollTop === scrollTop && value.height === height) return;
    sight.value = { scrollTop, height };
  }
  // What is above the table can grow, and the rows can become fewer than the page had scrolled by.
  useLayoutEffect(() => {
    if (sight.peek().scrollTop > 0) measure();
  });
  useEffect(() => {
    const observer = new ResizeObserver(() => {
      const row = table.current?.querySelector("tbody tr[aria-rowindex]");
      const height = row?.getBoundingClientRect().height ?? 0;
      batch(() => {
        if (height > 0) rowHeight.value = height;
        measure();
      });
    });
    if (table.current) observer.observe(table.current);
    addEventListener("scroll", measure, { passive: true });
    addEventListener("resize", measure);
    return () => {
      observer.disconnect();
      removeEventListener("scroll", measure);
      removeEventListener("resize", measure);
    };
  }, []);
  return { sight, rowHeight };
}

/** Another order or filter is another list, which is read from its beginning. */
function useListBeginning(table: RefObject<HTMLTableElement | null>, viewKey: string) {
  const last = useRef(viewKey);
  useLayoutEffect(() => {
    if (last.current === viewKey) return;
    last.current = viewKey;
    const top = table.current?.getBoundingClientRect().top ?? 0;
    if (top < 0) scrollBy({ top, behavior: "instant" });
  }, [viewKey]);
}

interface HeadingsProps {
  columns: readonly ColumnDefinition[];
  sorting: Sorting;
  onSort(sorting: Sorting): void;
}

function Headings({ columns, sorting, onSort }: HeadingsProps) {
  return (
    <thead>
      <tr aria-rowindex={1}>
        {columns.map(({ id, label, kind }) => (
          <th
            key={id}
            scope="col"
            class={`cell-${kind} column-${id}`}
            aria-sort={sorting.column === id ? sorting.direction : undefined}
          >
            <button
              type="button"
              onClick={() => {
                const next = nextSorting(sorting, id);
                onSort(next);
                announce(`Sorted by ${label}, ${next.direction}`);
              }}
            >
              {label}
              <span class="sort-mark" aria-hidden="true" />
            </button>
          </th>
        ))}
      </tr>
    </thead>
  );
}

interface Tint {
  column: Column;
  most: number;
}

/** The sorted column when it has numbers, else the last count: as long as its part of the most. */
function tintOf(
  lines: readonly Line[],
  columns: readonly ColumnDefinition[],
  { column }: Sorting,
): Tint {
  const isNumber = ({ kind }: ColumnDefinition) =>
    kind === "count" || kind === "share" || kind === "change";
  const sorted = columns.find(({ id }) => id === column);
  const counted = columns.findLast(({ kind }) => kind === "count");
  const tinted = sorted && isNumber(sorted) ? column : (counted?.id ?? "total");
  return { column: tinted, most: mostOf(lines.map(rowOf), tinted) };
}

/** A row and all that is in it are no components: there are many, and none has a state. */
function renderRow(props: ReportTableProps, line: Line, position: number, tint: Tint) {
  const row = rowOf(line);
  const part = tint.most === 0 ? 0 : Math.abs(numberOf(row[tint.column])) / tint.most;
  return (
    <tr
      key={isNode(line) && line.pages > 0 ? `folder ${line.path}` : position}
      aria-rowindex={position + 2}
      style={{ "--tint": `${part * 100}%` }}
    >
      {props.columns.map(({ id, kind }, index) =>
        index === 0 ? (
          <th key={id} scope="row" class={`cell-${kind} column-${id}`}>
            {renderName(props, line, textOf(row[id]))}
          </th>
        ) : (
          <td key={id} class={`cell-${kind} column-${id}${signClass(kind, row[id])}`}>
            {renderContent(row, id, kind, props.onOpen)}
          </td>
        ),
      )}
    </tr>
  );
}

function renderContent(
  row: ReportRow,
  column: Column,
  kind: ColumnDefinition["kind"],
  onOpen: ReportTableProps["onOpen"],
) {
  const content = formatCell(row[column] ?? null, kind);
  // A comment of spaces alone has nothing more to say in full.
  if (column !== "comment" || !textOf(row.comment)?.trim()) return content;
  return (
    <button type="button" class="cell-button" aria-haspopup="dialog" onClick={() => onOpen(row)}>
      {content}
    </button>
  );
}

function renderName(
  { site, openFolders, onToggle }: ReportTableProps,
  line: Line,
  name: string | null,
) {
  if (!isNode(line)) return renderPageName(name, textOf(line.path), site);
  const indent = { "--level": String(line.level - 1) };
  if (line.pages === 0) {
    return (
      <span class="tree-name" style={indent}>
        {renderPageName(line.name, line.path, site)}
      </span>
    );
  }
  return (
    <span class="tree-name" style={indent}>
      <button
        type="button"
        class="tree-toggle"
        aria-expanded={openFolders.has(line.path)}
        onClick={() => onToggle(line.path)}
      >
        <bdi class="path" dir="ltr">
          {line.name}
        </bdi>
      </button>
      <span class="hint tree-pages">{count(line.pages)}</span>
    </span>
  );
}

/** Isolated, since a path can have letters that would turn the row around. */
function renderPageName(name: string | null, path: string | null, site: string | null) {
  const href = linkToPage(site, path);
  const text = (
    <bdi class="path" dir="ltr">
      {name ?? "(none)"}
    </bdi>
  );
  if (href === null) return <span title={path ?? undefined}>{text}</span>;
  return (
    <a href={href} title={href} target="_blank" rel="noreferrer">
      {text}
    </a>
  );
}

function signClass(kind: ColumnDefinition["kind"], value: Cell | undefined): string {
  if (kind !== "change" || typeof value !== "number" || value === 0) return "";
  return value > 0 ? " rise" : " fall";
}

interface GapProps {
  rows: number;
  rowHeight: number;
}

/**
 * Keeps the page as long as if the rows out of sight were there. One cell does: to span columns that a
 * narrow window leaves out would give those a width again.
 */
function Gap({ rows, rowHeight }: GapProps) {
  if (rows === 0) return null;
  return (
    // biome-ignore lint/a11y/noAriaHiddenOnFocusable: a table row takes no focus
    <tr class="gap" aria-hidden="true">
      <td style={{ height: `${rows * rowHeight}px` }} />
    </tr>
  );
}
