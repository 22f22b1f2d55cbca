import { batch, useSignal } from "@preact/signals";
import type { RefObject } from "preact";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { nextTask } from "../../shell/next_task.ts";
import { isPrinting } from "../rows/printing.ts";
import { joinSlices, type Slice, SPARE_ROWS, visibleSlice } from "../rows/rows.ts";

/** Lists up to this length are rendered in full, for find in page, copying and screen readers. */
const MAX_DRAWN_ROWS = 1000;
export const MAX_PRINTED_ROWS = 500;
/** Lists up to this length are rendered in one task. */
const MAX_ROWS_PER_TASK = 100;
/** Rows of longer lists rendered per frame, to keep each task below 50 ms even on a phone. */
export const ROWS_PER_BLOCK = 10;
/** Rows between renders while scrolling. Fewer than the spare rows, so that no gap is visible. */
const ROWS_PER_SCROLL = SPARE_ROWS / 2;
/**
 * The maximum time that rows wait for other rows to load, because a request can be retried for
 * minutes.
 */
const MAX_PAUSE_MS = 1000;
/** In pixels. Used until the first row is measured. */
const DEFAULT_ROW_HEIGHT = 34;
/** The visible height in pixels until it is measured. A small one renders faster. */
const FIRST_SIGHT = 100;

interface DrawnRows {
  /** The rows to render: one slice, or the first rows and the visible ones. */
  slices: Slice[];
  /** The height of a row in pixels. */
  rowHeight: number;
}

/**
 * Returns the rows to render. Right after a response, while more rows are loading, it adds only
 * visible rows, because the next response renders all of them again.
 */
export function useDrawnRows(
  table: RefObject<HTMLTableElement | null>,
  count: number,
  viewKey: string,
  isLoading: boolean,
): DrawnRows {
  const { sight, rowHeight } = useSight(table);
  useListBeginning(table, viewKey);
  const drawn = useSignal({ viewKey, end: 0 });
  const end = drawn.value.viewKey === viewKey ? Math.min(drawn.value.end, count) : 0;
  const visible = visibleSlice(sight.value, rowHeight.value, count);
  const isDrawnWhole = count <= MAX_DRAWN_ROWS;
  const isPaused = usePause(isLoading, count);
  // Not `useEffect`, which would take another frame.
  useLayoutEffect(() => {
    if (!isDrawnWhole || isPaused || end >= count) return;
    let isCancelled = false;
    const draw = () => {
      if (isCancelled) return;
      const next = count <= MAX_ROWS_PER_TASK ? MAX_ROWS_PER_TASK : end + ROWS_PER_BLOCK;
      drawn.value = { viewKey, end: next };
    };
    // One block per frame, in its own task: the frame's layout of the last block is another.
    requestAnimationFrame(() => nextTask().then(draw));
    return () => {
      isCancelled = true;
    };
  }, [isDrawnWhole, isPaused, count, end, viewKey]);
  const slices = isPrinting.value
    ? [{ start: 0, end: Math.min(count, MAX_PRINTED_ROWS) }]
    : joinSlices({ start: 0, end: isDrawnWhole ? end : 0 }, visible);
  return { slices, rowHeight: rowHeight.value };
}

/** Returns whether rows are loading, until the number of rows has stayed the same for a second. */
function usePause(isLoading: boolean, count: number): boolean {
  const overdueCount = useSignal(-1);
  useEffect(() => {
    if (!isLoading) return;
    const timer = setTimeout(() => {
      overdueCount.value = count;
    }, MAX_PAUSE_MS);
    return () => clearTimeout(timer);
  }, [isLoading, count]);
  return isLoading && overdueCount.value !== count;
}

/**
 * Returns the visible part of the list, in pixels from the first row, and the height of a row. To
 * avoid forced reflows, measures after the browser's own layout. The only exception is a render
 * while the list is scrolled.
 */
function useSight(table: RefObject<HTMLTableElement | null>) {
  const sight = useSignal({ scrollTop: 0, height: FIRST_SIGHT });
  const rowHeight = useSignal(DEFAULT_ROW_HEIGHT);
  function measure() {
    const body = table.current?.tBodies[0];
    if (!body) return;
    // Scrolling renders again only after this many pixels, because each rendering costs a layout.
    const step = ROWS_PER_SCROLL * rowHeight.peek();
    const top = Math.max(0, -body.getBoundingClientRect().top);
    const scrollTop = Math.floor(top / step) * step;
    const height = window.innerHeight;
    const { value } = sight;
    if (value.scrollTop === scrollTop && value.height === height) return;
    sight.value = { scrollTop, height };
  }
  // Content above the table may have grown, or the list may end above the scroll position.
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

/** When the period, the selection or the order changes, scrolls up to the first row. */
function useListBeginning(table: RefObject<HTMLTableElement | null>, viewKey: string) {
  const last = useRef(viewKey);
  useLayoutEffect(() => {
    if (last.current === viewKey) return;
    last.current = viewKey;
    const top = table.current?.getBoundingClientRect().top ?? 0;
    if (top < 0) scrollBy({ top, behavior: "instant" });
  }, [viewKey]);
}
