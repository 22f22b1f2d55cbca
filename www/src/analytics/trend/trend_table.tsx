import { count } from "../../shell/wording.ts";
import type { DrawableTrend, Measure, TrendPoint } from "./trend.ts";
import * as styles from "./trend_table.module.css";
import { pointLabel } from "./trend_words.ts";

const FIRST = { day: "Day", week: "Week", month: "Month" };

/** The counts of the chart's bars as a table. It does not include the comparison. */
export function TrendTable({ trend }: { trend: DrawableTrend }) {
  const { measure, points, group, gap } = trend;
  const columns = columnsOf(measure);
  return (
    <table class={styles.figures}>
      <caption class="visually-hidden">
        {measure.title} per {group}
      </caption>
      <thead>
        <tr>
          <th scope="col">{FIRST[group]}</th>
          {columns.map(({ label }) => (
            <th key={label} scope="col">
              {label}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {points.map((point) => (
          <tr key={point.from}>
            <th scope="row">{pointLabel(point)}</th>
            {point.held === 0 ? (
              <td colSpan={columns.length}>{gap}</td>
            ) : (
              columns.map(({ label, countOf }) => <td key={label}>{count(countOf(point))}</td>)
            )}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

interface CountColumn {
  label: string;
  countOf(point: TrendPoint): number;
}

function columnsOf({ title, hasParts }: Measure): CountColumn[] {
  if (!hasParts) return [{ label: title, countOf: ({ human }) => human }];
  return [
    { label: "People", countOf: ({ human }) => human },
    { label: "AI", countOf: ({ ai }) => ai },
    { label: "Total", countOf: ({ human, ai }) => human + ai },
  ];
}
