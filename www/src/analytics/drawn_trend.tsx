import { type Signal, useSignal } from "@preact/signals";
import { useLayoutEffect, useRef } from "preact/hooks";
import { compactCount, count, counted } from "../shell/wording.ts";
import { type Bar, layOutChart } from "./chart_layout.ts";
import type { DrawableTrend } from "./daily_trend.ts";
import { axisDay, rangeLabel, shortDay } from "./range.ts";
import type { TrendGroup, TrendPoint } from "./trend.ts";

const PLOT_HEIGHT = 132;
const LEFT = 48;
const TOP = 8;
const BOTTOM = 22;
interface DrawnTrendProps {
  trend: DrawableTrend;
  /** Whether another one is on its way. */
  isPending: boolean;
}

/** Bars of people with AI on top, and the same as a table. */
export function DrawnTrend({ trend, isPending }: DrawnTrendProps) {
  const { range, prefix, group, points } = trend;
  const box = useRef<HTMLDivElement>(null);
  const width = useSignal(0);
  const pointed = useSignal<TrendPoint | null>(null);
  useLayoutEffect(() => {
    const element = box.current;
    if (element === null) return;
    const measure = () => {
      width.value = element.clientWidth;
    };
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  const title = `Views per ${group}${prefix === null ? "" : ` below ${prefix}/`}`;
  const missing = points.reduce((sum, { days, held }) => sum + days - held, 0);
  return (
    <figure class="trend" aria-busy={isPending}>
      <figcaption>
        <h2 class="trend-title">{title}</h2>
        <span class="trend-key trend-key-human">People</span>
        <span class="trend-key trend-key-ai">AI</span>
        {missing > 0 && (
          <span class="trend-key trend-key-missing">
            {counted(missing, "day")} missing from the archive
          </span>
        )}
        <span class="trend-pointed" aria-hidden="true">
          {pointed.value && pointSentence(pointed.value)}
        </span>
      </figcaption>
      <div ref={box} class="trend-box">
        {width.value > 0 && (
          <Plot
            label={`${title}, ${rangeLabel(range)}. ${summaryOf(points, missing)}`}
            points={points}
            width={width.value}
            pointed={pointed}
          />
        )}
      </div>
      <details class="trend-table">
        <summary>Show as a table</summary>
        <TrendTable points={points} group={group} />
      </details>
    </figure>
  );
}

interface PlotProps {
  label: string;
  points: readonly TrendPoint[];
  width: number;
  pointed: Signal<TrendPoint | null>;
}

function Plot({ label, points, width, pointed }: PlotProps) {
  const size = { width: Math.max(1, width - LEFT), height: PLOT_HEIGHT };
  const { bars, yTicks, xTicks } = layOutChart(points, size);
  return (
    <svg
      role="img"
      aria-label={label}
      width={width}
      height={PLOT_HEIGHT + TOP + BOTTOM}
      onPointerLeave={() => {
        pointed.value = null;
      }}
    >
      <g transform={`translate(${LEFT} ${TOP})`}>
        {yTicks.map(({ y, value }) => (
          <g key={value}>
            <line class="trend-line" x1={0} x2={size.width} y1={y} y2={y} />
            <text class="trend-label" x={-8} y={y} dy="0.32em" text-anchor="end">
              {compactCount(value)}
            </text>
          </g>
        ))}
        {bars.map((bar) => (
          <BarShape key={bar.point.from} bar={bar} pointed={pointed} />
        ))}
        {xTicks.map(({ x, point }) => (
          <text
            key={point.from}
            class="trend-label"
            x={Math.min(Math.max(x, 20), size.width - 20)}
            y={PLOT_HEIGHT + 16}
            text-anchor="middle"
          >
            {axisDay(point.from)}
          </text>
        ))}
      </g>
    </svg>
  );
}

function BarShape({ bar, pointed }: { bar: Bar; pointed: Signal<TrendPoint | null> }) {
  const { x, width, human, ai, point } = bar;
  return (
    <g
      onPointerEnter={() => {
        pointed.value = point;
      }}
    >
      <rect class="trend-slot" x={x} y={0} width={width} height={PLOT_HEIGHT} />
      {point.held < point.days && (
        <rect
          class="trend-missing"
          x={x + 0.5}
          y={0.5}
          width={Math.max(0, width - 1)}
          height={PLOT_HEIGHT - 1}
        />
      )}
      {point.held > 0 && (
        <>
          <rect class="trend-human" x={x} width={width} {...human} />
          <rect class="trend-ai" x={x} width={width} {...ai} />
        </>
      )}
    </g>
  );
}

function TrendTable({ points, group }: { points: readonly TrendPoint[]; group: TrendGroup }) {
  const first = { day: "Day", week: "Week", month: "Month" }[group];
  return (
    <table class="figures">
      <caption class="visually-hidden">Views per {group}</caption>
      <thead>
        <tr>
          <th scope="col">{first}</th>
          <th scope="col">People</th>
          <th scope="col">AI</th>
          <th scope="col">Total</th>
        </tr>
      </thead>
      <tbody>
        {points.map((point) => (
          <tr key={point.from}>
            <th scope="row">
              {pointLabel(point)}
              {point.held > 0 && point.held < point.days && (
                <span class="hint"> {`${point.held} of ${counted(point.days, "day")}`}</span>
              )}
            </th>
            {point.held === 0 ? (
              <td colSpan={3}>Missing</td>
            ) : (
              <>
                <td>{count(point.human)}</td>
                <td>{count(point.ai)}</td>
                <td>{count(point.human + point.ai)}</td>
              </>
            )}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function pointLabel({ from, to }: TrendPoint): string {
  return from === to ? shortDay(from) : rangeLabel({ from, to });
}

function pointSentence(point: TrendPoint): string {
  if (point.held === 0) return `${pointLabel(point)}: missing`;
  const { human, ai } = point;
  const days = point.held < point.days ? ` (${point.held} of ${counted(point.days, "day")})` : "";
  return `${pointLabel(point)}${days}: people ${count(human)}, AI ${count(ai)}`;
}

function summaryOf(points: readonly TrendPoint[], missing: number): string {
  const [human, ai] = points.reduce(
    ([people, machines], point) => [people + point.human, machines + point.ai],
    [0, 0],
  );
  const without = missing === 0 ? "" : ` ${counted(missing, "day")} missing.`;
  return `People ${count(human)}, AI ${count(ai)}.${without} The table below has each bar.`;
}
