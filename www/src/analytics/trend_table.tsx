import { count } from "../shell/wording.ts";
import type { DrawableTrend } from "./daily_trend.ts";
import { pointLabel } from "./trend_words.ts";

const FIRST = { day: "Day", week: "Week", month: "Month" };

/** The chart's data as a table. */
export function TrendTable({ trend: { points, group } }: { trend: DrawableTrend }) {
  return (
    <table class="figures">
      <caption class="visually-hidden">Views per {group}</caption>
      <thead>
        <tr>
          <th scope="col">{FIRST[group]}</th>
          <th scope="col">People</th>
          <th scope="col">AI</th>
          <th scope="col">Total</th>
        </tr>
      </thead>
      <tbody>
        {points.map((point) => (
          <tr key={point.from}>
            <th scope="row">{pointLabel(point)}</th>
            {point.held === 0 ? (
              <td colSpan={3}>No data</td>
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
