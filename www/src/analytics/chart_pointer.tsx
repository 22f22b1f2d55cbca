import type { Signal } from "@preact/signals";
import type { Bar } from "./chart_layout.ts";
import type { DrawableTrend } from "./daily_trend.ts";
import type { TrendPoint } from "./trend.ts";
import { pointLines } from "./trend_words.ts";

/** Half of the tooltip's width in pixels, which keeps it within the chart. */
const TIP_REACH = 112;

interface ChartPointerProps {
  trend: DrawableTrend;
  bars: readonly Bar[];
  /** Left edge of the plot, in pixels. */
  left: number;
  pointed: Signal<number | null>;
  onOpen(point: TrendPoint): void;
}

/**
 * Covers the chart and shows a tooltip at the pointer, finger or arrow keys. A click, a second tap
 * or Enter opens the bar's days. Screen readers see a slider over the bars.
 */
export function ChartPointer({ trend, bars, left, pointed, onOpen }: ChartPointerProps) {
  const last = bars.length - 1;
  const index = pointed.value === null ? null : Math.min(pointed.value, last);
  const lines = index === null ? [] : linesAt(trend, index);

  function indexAt(event: PointerEvent): number {
    const { left: edge, width } = (event.currentTarget as Element).getBoundingClientRect();
    const part = (event.clientX - edge - left) / Math.max(1, width - left);
    return Math.min(last, Math.max(0, Math.floor(part * bars.length)));
  }

  /** The first tap only shows the tooltip, because touch screens cannot hover. */
  function press(event: PointerEvent) {
    const next = indexAt(event);
    const isSecondTap = pointed.peek() === next;
    pointed.value = next;
    if (event.pointerType === "mouse" || isSecondTap) open(next);
  }

  function open(at: number) {
    const point = trend.points[at];
    if (point && trend.points.length > 1) onOpen(point);
  }

  function pressKey(event: KeyboardEvent) {
    const at = index ?? last;
    const moves: Record<string, number> = {
      ArrowLeft: at - 1,
      ArrowDown: at - 1,
      ArrowRight: at + 1,
      ArrowUp: at + 1,
      Home: 0,
      End: last,
    };
    const next = moves[event.key];
    if (next !== undefined) pointed.value = Math.min(last, Math.max(0, next));
    else if (event.key === "Enter") open(at);
    else if (event.key === "Escape") pointed.value = null;
    else return;
    event.preventDefault();
  }

  return (
    <>
      <div
        class="trend-pointer"
        role="slider"
        tabIndex={0}
        aria-label="Explore the chart"
        aria-valuemin={0}
        aria-valuemax={last}
        aria-valuenow={index ?? last}
        aria-valuetext={linesAt(trend, index ?? last).join(", ")}
        onPointerMove={(event) => {
          if (event.pointerType === "mouse") pointed.value = indexAt(event);
        }}
        onPointerLeave={(event) => {
          if (event.pointerType === "mouse") pointed.value = null;
        }}
        onClick={(event) => press(event as unknown as PointerEvent)}
        onFocus={(event) => {
          if (event.currentTarget.matches(":focus-visible")) pointed.value ??= last;
        }}
        onBlur={() => {
          pointed.value = null;
        }}
        onKeyDown={pressKey}
      />
      {index !== null && (
        <p class="trend-tip" aria-hidden="true" style={{ left: tipPosition(bars[index], left) }}>
          {lines.map((line, at) => (
            <span key={line} class={at === 0 ? "trend-tip-title" : ""}>
              {line}
            </span>
          ))}
        </p>
      )}
    </>
  );
}

function linesAt({ points, earlier }: DrawableTrend, index: number): string[] {
  const point = points[index];
  return point ? pointLines(point, earlier[index]) : [];
}

function tipPosition(bar: Bar | undefined, left: number): string {
  const x = left + (bar ? bar.x + bar.width / 2 : 0);
  return `clamp(${TIP_REACH}px, ${x}px, calc(100% - ${TIP_REACH}px))`;
}
