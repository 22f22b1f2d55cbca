import { useComputed, useSignal } from "@preact/signals";
import { useLayoutEffect, useRef } from "preact/hooks";
import type { PageView } from "quillgate";
import { announce } from "./announcer.tsx";
import type { Listing } from "./listing.ts";
import { address, adjust } from "./navigation.ts";
import { COLUMNS, filterRows, nextSorting, sortRows, visibleSlice } from "./rows.ts";
import { count, counted } from "./wording.ts";

/** Until the first row is measured. */
const USUAL_ROW_HEIGHT = 44;

/** Every row that is loaded, of which only those in sight are in the document. */
export function ViewsTable({ views }: { views: Listing }) {
  const sorted = useComputed(() => sortRows(views.rows.value, address.value.sorting));
  const shown = useComputed(() => filterRows(sorted.value, address.value.filter));
  const most = useComputed(() =>
    views.rows.value.reduce((max, row) => Math.max(max, row.total ?? 0), 0),
  );
  const box = useRef<HTMLElement>(null);
  const scroll = useSignal({ scrollTop: 0, height: 640 });
  const rowHeight = useSignal(USUAL_ROW_HEIGHT);
  const rows = shown.value;
  const { start, end } = visibleSlice(scroll.value, rowHeight.value, rows.length);

  useLayoutEffect(() => {
    const row = box.current?.querySelector("tbody tr[aria-rowindex]");
    const height = row?.getBoundingClientRect().height ?? 0;
    if (height > 0) rowHeight.value = height;
  });

  function track(element: HTMLElement) {
    scroll.value = { scrollTop: element.scrollTop, height: element.clientHeight };
  }

  if (rows.length === 0) return <EmptyTable views={views} />;
  return (
    <section
      ref={box}
      class="table-box"
      aria-label="Page views by path"
      // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
      tabIndex={0}
      onScroll={(event) => track(event.currentTarget)}
    >
      <table aria-rowcount={rows.length + 1}>
        <Headings />
        <tbody>
          <Gap rows={start} rowHeight={rowHeight.value} />
          {rows.slice(start, end).map((row, index) => (
            <Row key={start + index} row={row} position={start + index} most={most.value} />
          ))}
          <Gap rows={rows.length - end} rowHeight={rowHeight.value} />
        </tbody>
      </table>
    </section>
  );
}

function Headings() {
  const { sorting } = address.value;
  return (
    <thead>
      <tr aria-rowindex={1}>
        {COLUMNS.map(({ id, label }) => (
          <th
            key={id}
            scope="col"
            class={`column-${id}`}
            aria-sort={sorting.column === id ? sorting.direction : undefined}
          >
            <button
              type="button"
              onClick={() => {
                const next = nextSorting(address.peek().sorting, id);
                adjust({ sorting: next });
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

interface RowProps {
  row: PageView;
  position: number;
  most: number;
}

function Row({ row, position, most }: RowProps) {
  return (
    <tr aria-rowindex={position + 2}>
      <th scope="row" class="column-path" title={row.path ?? undefined}>
        <span class="path">{row.path ?? "(no path)"}</span>
        <span class="bar" aria-hidden="true" style={barStyle(row, most)} />
      </th>
      <td>{count(row.human)}</td>
      <td>{count(row.ai)}</td>
      <td>{count(row.total)}</td>
    </tr>
  );
}

/** As long as the row's part of the highest row, and split into human and AI. */
function barStyle(row: PageView, most: number): Record<string, string> {
  const total = row.total ?? 0;
  const human = total === 0 ? 0 : ((row.human ?? 0) / total) * 100;
  return { "--length": `${most === 0 ? 0 : (total / most) * 100}%`, "--human": `${human}%` };
}

/** Keeps the scroll bar as long as if the rows out of sight were there. */
function Gap({ rows, rowHeight }: { rows: number; rowHeight: number }) {
  if (rows === 0) return null;
  return (
    // biome-ignore lint/a11y/noAriaHiddenOnFocusable: a table row takes no focus
    <tr class="gap" aria-hidden="true">
      <td colSpan={COLUMNS.length} style={{ height: `${rows * rowHeight}px` }} />
    </tr>
  );
}

function EmptyTable({ views }: { views: Listing }) {
  if (views.requests.value === 0) return null;
  const { filter } = address.value;
  if (views.rows.value.length === 0) {
    return (
      <div class="empty">
        <p class="empty-title">No page views in this range</p>
        <p>Choose more days, or check that the project is the right one.</p>
      </div>
    );
  }
  return (
    <div class="empty">
      <p class="empty-title">No path contains “{filter}”</p>
      <p>None of the {counted(views.rows.value.length, "page")} loaded so far matches.</p>
      <button type="button" onClick={() => adjust({ filter: "" })}>
        Clear the filter
      </button>
    </div>
  );
}
