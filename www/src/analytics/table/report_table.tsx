import type { VNode } from "preact";
import { useMemo, useRef } from "preact/hooks";
import { announce } from "../../shell/announcer.tsx";
import { Plus } from "../../shell/icons.tsx";
import { isBlank, nameOfText } from "../../shell/readable_text.ts";
import { count, counted } from "../../shell/wording.ts";
import { isNode, type Line, rowOf } from "../rows/line.ts";
import { decodePath } from "../rows/page_path.ts";
import {
  type CellKind,
  type Column,
  type ColumnDefinition,
  NUMBERS,
  type ReportRow,
  shareOf,
} from "../rows/report.ts";
import {
  countOf,
  mostOf,
  nextSorting,
  numberOf,
  type Slice,
  type Sorting,
  textOf,
} from "../rows/rows.ts";
import { toneOf } from "../rows/sums.ts";
import { MAX_PRINTED_ROWS, ROWS_PER_BLOCK, useDrawnRows } from "./drawn_rows.ts";
import { type PageTargets, renderPageCell, renderPageName } from "./page_name.tsx";
import { formatCell } from "./report_cell.tsx";
import * as styles from "./report_table.module.css";

/** The maximum number of texts in a tooltip. */
const MAX_LISTED = 20;

interface ReportTableProps extends PageTargets {
  label: string;
  /** The id of the bar with notices about the rows; null without a bar. */
  describedBy: string | null;
  lines: readonly Line[];
  columns: readonly ColumnDefinition[];
  sorting: Sorting;
  onSort(sorting: Sorting): void;
  openFolders: ReadonlySet<string>;
  onToggle(folder: string): void;
  /** Shows an entry in full. */
  onOpen(row: ReportRow): void;
  /** Returns whether a row has a button to start a job. */
  offersJob(row: ReportRow): boolean;
  onStartJob(row: ReportRow): void;
  /** The selection of rows; null if no rows can be selected now. */
  selection: { has(row: ReportRow): boolean; toggle(row: ReportRow): void } | null;
  /** The column whose changes are shown. */
  compared: Column;
  /** Whether more rows are expected soon. */
  isLoading: boolean;
  /** Changes with the period, selection and order. The list then scrolls to its first row. */
  viewKey: string;
}

/** The table of a report. The page scrolls, not the table. Long lists are virtualized. */
export function ReportTable(props: ReportTableProps) {
  const { label, lines, columns, sorting, viewKey, isLoading } = props;
  const table = useRef<HTMLTableElement>(null);
  const { slices, rowHeight } = useDrawnRows(table, lines.length, viewKey, isLoading);
  const tint = useMemo(() => tintOf(lines, columns, sorting), [lines, columns, sorting.column]);
  const blocks = useMemo(() => new Map<string, VNode>(), [props]);

  return (
    <>
      <table
        ref={table}
        class={classOf(props)}
        data-sorted={sorting.column}
        aria-label={label}
        aria-describedby={props.describedBy ?? undefined}
        aria-rowcount={lines.length + 1}
      >
        <Headings columns={columns} sorting={sorting} onSort={props.onSort} />
        {slices.flatMap((slice, index) => [
          <Gap
            key={`gap ${index}`}
            rows={slice.start - (slices[index - 1]?.end ?? 0)}
            rowHeight={rowHeight}
          />,
          ...renderBlocks(props, slice, tint, blocks),
        ])}
        <Gap key="last gap" rows={lines.length - (slices.at(-1)?.end ?? 0)} rowHeight={rowHeight} />
      </table>
      {lines.length > MAX_PRINTED_ROWS && (
        <p class="print-only">and {count(lines.length - MAX_PRINTED_ROWS)} more</p>
      )}
    </>
  );
}

/** Strings are aligned to the start, numbers to the end. */
const KIND_CLASSES: Record<CellKind, string | undefined> = {
  name: `${styles.start} ${styles.name}`,
  text: styles.start,
  word: styles.start,
  time: `${styles.start} ${styles.time}`,
  count: undefined,
  share: undefined,
  percentage: undefined,
  change: undefined,
};

/**
 * Returns classes for styles that depend on the columns. `:has()` would restyle all rows for each
 * new row.
 */
function classOf({ columns, compared }: ReportTableProps): string {
  const hasColumn = (column: Column) => columns.some(({ id }) => id === column);
  return [
    styles.table,
    compared === "human" && styles.comparesHuman,
    hasColumn("human") && styles.hasPeople,
    hasColumn("up") && styles.hasRatings,
  ]
    .filter(Boolean)
    .join(" ");
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
            class={KIND_CLASSES[kind]}
            data-column={id}
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
              <span class={styles.sortMark} aria-hidden="true" />
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

/**
 * Chooses the column that tints the rows: the sorted one if it is numeric, else the last count.
 */
function tintOf(
  lines: readonly Line[],
  columns: readonly ColumnDefinition[],
  { column }: Sorting,
): Tint {
  const sorted = columns.find(({ id }) => id === column);
  const counted = columns.findLast(({ kind }) => kind === "count");
  const tinted = sorted && NUMBERS.includes(sorted.kind) ? column : (counted?.id ?? "total");
  return { column: tinted, most: mostOf(lines.map(rowOf), tinted) };
}

/**
 * Renders rows in blocks, each a row group. Preact and the browser's layout skip earlier blocks, so
 * the cost of new rows hardly depends on the number of earlier ones.
 */
function renderBlocks(
  props: ReportTableProps,
  { start, end }: Slice,
  tint: Tint,
  blocks: Map<string, VNode>,
): VNode[] {
  const rendered: VNode[] = [];
  for (let from = start; from < end; ) {
    const block = Math.floor(from / ROWS_PER_BLOCK);
    const to = Math.min(end, (block + 1) * ROWS_PER_BLOCK);
    const range = `${from}-${to}`;
    let rows = blocks.get(range);
    if (rows === undefined) {
      const first = from;
      const lines = props.lines.slice(first, to);
      const children = lines.map((line, index) => renderRow(props, line, first + index, tint));
      rows = <tbody key={`block ${block}`}>{children}</tbody>;
      blocks.set(range, rows);
    }
    rendered.push(rows);
    from = to;
  }
  return rendered;
}

/** Rows are plain functions, because thousands of stateless components would be slow. */
function renderRow(props: ReportTableProps, line: Line, position: number, tint: Tint) {
  const row = rowOf(line);
  const hasJobButton = !(isNode(line) && line.pages > 0) && props.offersJob(row);
  const part = tint.most === 0 ? 0 : Math.abs(numberOf(row[tint.column])) / tint.most;
  return (
    <tr
      key={isNode(line) && line.pages > 0 ? `folder ${line.path}` : position}
      aria-rowindex={position + 2}
      style={{ "--tint": `${part * 100}%` }}
    >
      {props.columns.map(({ id, kind }, index) =>
        index === 0 ? (
          <th
            key={id}
            scope="row"
            // biome-ignore lint/a11y/noRedundantRoles: Safari takes rows that are flex boxes for layout
            role="rowheader"
            class={`${KIND_CLASSES[kind]} ${row.turn ? styles.hasQuestion : ""} ${hasJobButton ? styles.hasJob : ""}`}
            data-column={id}
            // The job button is not part of the row's name.
            aria-label={hasJobButton ? nameOfText(textOf(row[id]) ?? "") : undefined}
          >
            {props.selection !== null && !(isNode(line) && line.pages > 0) && (
              <input
                type="checkbox"
                class={styles.select}
                aria-label={`Select ${nameOfText(textOf(row[id]) ?? "")}`}
                checked={props.selection.has(row)}
                onChange={() => props.selection?.toggle(row)}
              />
            )}
            {row.turn
              ? renderQuestion(row, props.onOpen)
              : renderName(props, line, textOf(row[id]))}
            {row.spellings && row.spellings.length > 1 && renderSpellings(row.spellings)}
            {hasJobButton && renderJobButton(row, textOf(row[id]), props.onStartJob)}
          </th>
        ) : (
          <td
            key={id}
            // biome-ignore lint/a11y/noRedundantRoles: as above
            role="cell"
            class={KIND_CLASSES[kind]}
            data-column={id}
            data-tone={toneOfCell(id, row)}
          >
            {renderContent(props, row, { id, kind })}
          </td>
        ),
      )}
    </tr>
  );
}

function renderJobButton(
  row: ReportRow,
  name: string | null,
  onStartJob: ReportTableProps["onStartJob"],
) {
  const label = `Start a job about ${name ?? "this row"}`;
  return (
    <button
      type="button"
      class={styles.job}
      aria-label={label}
      title="Start a job"
      onClick={() => onStartJob(row)}
    >
      <Plus />
    </button>
  );
}

function renderContent(
  props: ReportTableProps,
  row: ReportRow,
  { id, kind }: Pick<ColumnDefinition, "id" | "kind">,
) {
  const text = textOf(row[id]);
  if (id === "clicked" || id === "page") return renderPageCell(props, text);
  const content = formatCell(row[id] ?? null, kind);
  // A blank comment needs no dialog.
  if (id !== "comment" || isBlank(text ?? "")) return content;
  return (
    <button
      type="button"
      class={styles.cellButton}
      aria-haspopup="dialog"
      onClick={() => props.onOpen(row)}
    >
      {content}
    </button>
  );
}

function renderName(props: ReportTableProps, line: Line, name: string | null) {
  const { openFolders, onToggle } = props;
  if (!isNode(line)) return renderPageName(props, name, textOf(line.path));
  const indent = { "--level": String(line.level - 1) };
  if (line.pages === 0) {
    return (
      <span class={styles.treeName} style={indent}>
        {renderPageName(props, line.name, line.path)}
      </span>
    );
  }
  return (
    <span class={styles.treeName} style={indent}>
      <button
        type="button"
        class={styles.treeToggle}
        aria-expanded={openFolders.has(line.path)}
        onClick={() => onToggle(line.path)}
      >
        <bdi class={styles.path} dir="ltr">
          {decodePath(line.name)}
        </bdi>
      </button>
      <span class={`hint ${styles.treePages}`}>{count(line.pages)}</span>
    </span>
  );
}

/** Says how many other texts a group has. The tooltip lists them. */
function renderSpellings([, ...others]: readonly string[]) {
  return (
    <span class={`hint ${styles.spellings}`} title={others.slice(0, MAX_LISTED).join("\n")}>
      and {counted(others.length, "similar one")}
    </span>
  );
}

/** A question opens its conversation. */
function renderQuestion(row: ReportRow, onOpen: ReportTableProps["onOpen"]) {
  const text = textOf(row.query)?.trim() ?? "";
  const question = isBlank(text) ? "(no question)" : text;
  return (
    <button
      type="button"
      class={styles.cellButton}
      aria-haspopup="dialog"
      onClick={() => onOpen(row)}
    >
      <bdi class={styles.path} title={question}>
        {question}
      </bdi>
    </button>
  );
}

function toneOfCell(column: Column, row: ReportRow): string | undefined {
  const { answer, change, earlier, up } = row;
  if (column === "answer" && answer === "unanswered") return answer;
  if (column !== "change" || typeof change !== "number") return undefined;
  // More feedback about a page is not a gain.
  if (up !== undefined) return undefined;
  return toneOf({ difference: change, part: shareOf(change, countOf(earlier)) });
}

interface GapProps {
  rows: number;
  rowHeight: number;
}

/** Reserves the height of rows that are not rendered. */
function Gap({ rows, rowHeight }: GapProps) {
  if (rows === 0) return null;
  return (
    <tbody class={styles.gap} aria-hidden="true">
      <tr>
        <td style={{ height: `${rows * rowHeight}px` }} />
      </tr>
    </tbody>
  );
}
