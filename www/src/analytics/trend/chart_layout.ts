import type { TrendPoint } from "./trend.ts";

export interface Size {
  width: number;
  height: number;
}

/** A bar of the chart, in pixels from the top left of the plot. */
export interface Bar {
  point: TrendPoint;
  x: number;
  width: number;
  /** People form the lower part of the bar. */
  human: { y: number; height: number };
  /** AI forms the upper part of the bar. */
  ai: { y: number; height: number };
}

export interface Chart {
  bars: Bar[];
  yTicks: { y: number; value: number }[];
  xTicks: { x: number; point: TrendPoint }[];
  /** Converts a count to a height in pixels. */
  scale(count: number): number;
}

/**
 * Returns the `points` of a polyline through the totals of the comparison. Skips points without
 * data.
 */
export function linePoints({ bars, yTicks, scale }: Chart, earlier: readonly TrendPoint[]): string {
  const bottom = yTicks[0]?.y ?? 0;
  const known = bars.flatMap(({ x, width }, index) => {
    const point = earlier[index];
    if (point === undefined || point.held === 0) return [];
    return [`${x + width / 2},${bottom - scale(point.human + point.ai)}`];
  });
  return known.join(" ");
}

const MAX_Y_TICKS = 4;
const X_TICK_WIDTH = 80;
const MAX_X_TICKS = 8;
/** In pixels. A single day is a bar, too. */
const MAX_BAR_WIDTH = 96;

/** Lays out bars on a scale that also fits the points of the comparison. */
export function layOutChart(
  points: readonly TrendPoint[],
  { width, height }: Size,
  earlier: readonly TrendPoint[] = [],
): Chart {
  const compared = earlier.slice(0, points.length);
  const most = [...points, ...compared].reduce(
    (max, { human, ai }) => Math.max(max, human + ai),
    0,
  );
  const step = tickStep(most);
  const top = Math.max(step, Math.ceil(most / step) * step);
  const slot = points.length === 0 ? width : width / points.length;
  const gap = slot >= 4 ? Math.min(12, slot * 0.3) : 0;
  const barWidth = Math.min(MAX_BAR_WIDTH, slot - gap);
  const scale = (count: number) => (count / top) * height;
  const bars = points.map((point, index): Bar => {
    const people = scale(point.human);
    const ai = scale(point.ai);
    return {
      point,
      x: index * slot + (slot - barWidth) / 2,
      width: barWidth,
      human: { y: height - people, height: people },
      ai: { y: height - people - ai, height: ai },
    };
  });
  const yTicks = Array.from({ length: Math.round(top / step) + 1 }, (_, index) => ({
    y: height - scale(index * step),
    value: index * step,
  }));
  return { bars, yTicks, xTicks: xTicksOf(bars, width), scale };
}

/** Returns a step of 1, 2 or 5 times a power of ten that needs at most five grid lines. */
function tickStep(most: number): number {
  if (most <= MAX_Y_TICKS) return 1;
  const rough = most / MAX_Y_TICKS;
  const power = 10 ** Math.floor(Math.log10(rough));
  const factor = [1, 2, 5, 10].find((one) => one * power >= rough) ?? 10;
  return factor * power;
}

function xTicksOf(bars: readonly Bar[], width: number): Chart["xTicks"] {
  const room = Math.max(1, Math.min(MAX_X_TICKS, Math.floor(width / X_TICK_WIDTH)));
  const every = Math.max(1, Math.ceil(bars.length / room));
  return bars
    .filter((_, index) => index % every === 0)
    .map(({ x, width: bar, point }) => ({ x: x + bar / 2, point }));
}
