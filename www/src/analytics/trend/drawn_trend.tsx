import { type Signal, useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import { address, visit } from "../../shell/navigation.ts";
import { compactCount, count } from "../../shell/wording.ts";
import type { Day } from "../period/address_words.ts";
import { axisDay, periodOf, rangeLabel } from "../period/range.ts";
import { today } from "../period/today.ts";
import { type BarSelection, isSelected } from "./bar_selection.ts";
import { type Bar, type Chart, layOutChart, linePoints } from "./chart_layout.ts";
import { ChartPointer } from "./chart_pointer.tsx";
import * as styles from "./drawn_trend.module.css";
import type { DrawableTrend, Measure, TrendPoint } from "./trend.ts";
import { TrendTable } from "./trend_table.tsx";
import { gapSentence, markdownNote, markdownStep, mergeMarks, mergeNote } from "./trend_words.ts";

const PLOT_HEIGHT = 132;
const LEFT = 48;
const TOP = 8;
const BOTTOM = 22;
const HEIGHT = TOP + PLOT_HEIGHT + BOTTOM;
const HATCH = "trend-hatch";

export interface DrawnTrendProps {
  trend: DrawableTrend;
  /** Whether newer data is loading. */
  isPending: boolean;
  /** The days on which a pull request about the page was merged. */
  merges?: readonly Day[] | undefined;
  /** Controls at the end of the caption. */
  children?: ComponentChildren;
}

/** A bar chart with a line for the comparison, and a table of the bars. */
export function DrawnTrend({ trend, isPending, merges = [], children }: DrawnTrendProps) {
  const { measure, range, scope, group, points, earlier, gap } = trend;
  const box = useRef<HTMLDivElement>(null);
  const width = useWidth(box);
  const title = `${measure.title} per ${group}${scope}`;
  const missing = points.reduce((sum, { days, held }) => sum + days - held, 0);
  const note = markdownNote(trend);
  const marks = mergeMarks(points, merges);
  const isPartial = points.some(({ days, span }) => days < span);
  return (
    <figure class={styles.trend} aria-busy={isPending}>
      <figcaption>
        <h2 class={styles.title}>{title}</h2>
        {measure.hasParts && (
          <>
            <span class={`${styles.key} ${styles.humanKey}`}>People</span>
            <span class={`${styles.key} ${styles.aiKey}`}>AI</span>
          </>
        )}
        {earlier.length > 0 && (
          <span class={`${styles.key} ${styles.earlierKey}`}>
            {trend.isEarlierPart ? "Comparison (partly loaded)" : "Comparison"}
          </span>
        )}
        {missing > 0 && (
          <span class={`${styles.key} ${styles.missingKey}`}>{gapSentence(gap, missing)}</span>
        )}
        {isPartial && <span class={`${styles.key} ${styles.partialKey}`}>Part of a {group}</span>}
        {note !== null && <span class="hint">{note}</span>}
        {marks.days.length > 0 && (
          <span class={`${styles.key} ${styles.mergeKey}`}>{mergeNote(marks.days)}</span>
        )}
        {trend.isWithoutToday && <span class="hint">Today is not in the chart</span>}
        {children}
      </figcaption>
      <div ref={box} class={styles.box}>
        {width.value > 0 && (
          <Plot
            label={`${title}, ${rangeLabel(range)}. ${summaryOf(trend, missing)}`}
            trend={trend}
            width={width.value}
            merged={marks.bars}
          />
        )}
      </div>
      <details class={styles.table}>
        <summary>Show as a table</summary>
        <TrendTable trend={trend} />
        {trend.undated ? <p class="hint">{count(trend.undated)} without a date</p> : null}
      </details>
    </figure>
  );
}

function useWidth(box: { current: HTMLElement | null }): Signal<number> {
  const width = useSignal(0);
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
  return width;
}

interface PlotProps {
  label: string;
  trend: DrawableTrend;
  width: number;
  merged: readonly number[];
}

function Plot({ label, trend, width, merged }: PlotProps) {
  const { points, earlier } = trend;
  const selection = useSignal<BarSelection | null>(null);
  const size = { width: Math.max(1, width - LEFT), height: PLOT_HEIGHT };
  const chart = layOutChart(points, size, earlier);
  const step = chart.bars[markdownStep(trend) ?? -1];
  return (
    <>
      <svg
        role="img"
        aria-label={label}
        // A translator would replace the labels by elements that SVG does not draw.
        class="notranslate"
        width={width}
        height={HEIGHT}
        // Paper is narrower than most windows, and a browser prints without calling observers.
        viewBox={`0 0 ${width} ${HEIGHT}`}
      >
        <HatchPattern />
        <g transform={`translate(${LEFT} ${TOP})`}>
          <Axes chart={chart} width={size.width} />
          {chart.bars.map((bar, index) => (
            <BarShape
              key={bar.point.from}
              bar={bar}
              isPointed={isSelected(selection.value, index)}
            />
          ))}
          {step !== undefined && (
            <line class={styles.step} x1={step.x} x2={step.x} y1={0} y2={PLOT_HEIGHT} />
          )}
          {merged.map((index) => {
            const x = (chart.bars[index]?.x ?? 0) + (chart.bars[index]?.width ?? 0) / 2;
            return <line key={index} class={styles.merge} x1={x} x2={x} y1={0} y2={PLOT_HEIGHT} />;
          })}
          {earlier.length > 0 && (
            <polyline class={styles.earlier} points={linePoints(chart, earlier)} />
          )}
        </g>
      </svg>
      <ChartPointer
        trend={trend}
        bars={chart.bars}
        left={LEFT}
        selection={selection}
        onOpen={openPeriod}
      />
    </>
  );
}

/** Opens the days of the selected bars. */
function openPeriod({ from, to }: TrendPoint): void {
  const { range } = address.peek().analytics;
  visit({ analytics: { range: periodOf({ from, to }, today.peek(), range) } });
}

function HatchPattern() {
  return (
    <defs>
      <pattern
        id={HATCH}
        width="6"
        height="6"
        patternUnits="userSpaceOnUse"
        patternTransform="rotate(45)"
      >
        <line class={styles.hatchLine} x1="0" x2="0" y1="0" y2="6" />
      </pattern>
    </defs>
  );
}

function Axes({ chart: { yTicks, xTicks }, width }: { chart: Chart; width: number }) {
  return (
    <>
      {yTicks.map(({ y, value }) => (
        <g key={value}>
          <line class={styles.line} x1={0} x2={width} y1={y} y2={y} />
          <text class={styles.label} x={-8} y={y} dy="0.32em" text-anchor="end">
            {compactCount(value)}
          </text>
        </g>
      ))}
      {xTicks.map(({ x, point }) => (
        <text
          key={point.from}
          class={styles.label}
          x={Math.min(Math.max(x, 20), width - 20)}
          y={PLOT_HEIGHT + 16}
          text-anchor="middle"
        >
          {axisDay(point.from)}
        </text>
      ))}
    </>
  );
}

function BarShape({ bar, isPointed }: { bar: Bar; isPointed: boolean }) {
  const { x, width, human, ai, point } = bar;
  const inner = { x: x + 0.5, y: 0.5, width: Math.max(0, width - 1), height: PLOT_HEIGHT - 1 };
  return (
    <g>
      {isPointed && <rect class={styles.slot} x={x} y={0} width={width} height={PLOT_HEIGHT} />}
      {point.held < point.days && <rect class={styles.missing} {...inner} />}
      {point.held > 0 && (
        <>
          <rect class={styles.human} x={x} width={width} {...human} />
          <rect class={styles.ai} x={x} width={width} {...ai} />
        </>
      )}
      {point.held > 0 && point.days < point.span && (
        <rect
          fill={`url(#${HATCH})`}
          x={x}
          width={width}
          y={ai.y}
          height={ai.height + human.height}
        />
      )}
    </g>
  );
}

function summaryOf({ measure, points, gap }: DrawableTrend, missing: number): string {
  const total = gap === "Not loaded" ? "" : totalOf(measure, points);
  const without = missing === 0 ? "" : `${gapSentence(gap, missing)}. `;
  return `${total}${without}The table below has each bar.`;
}

function totalOf({ title, hasParts, isAdditive }: Measure, points: readonly TrendPoint[]): string {
  if (!isAdditive) return "";
  const human = points.reduce((sum, point) => sum + point.human, 0);
  if (!hasParts) return `${title} ${count(human)}. `;
  const ai = points.reduce((sum, point) => sum + point.ai, 0);
  return `People ${count(human)}, AI ${count(ai)}. `;
}
