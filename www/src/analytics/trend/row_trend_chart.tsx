import { useMemo, useRef } from "preact/hooks";
import { parseInstant } from "quillgate/values";
import { address } from "../../shell/navigation.ts";
import { addDays } from "../period/range.ts";
import { today } from "../period/today.ts";
import { filterByFacets, hasFacets } from "../rows/facets.ts";
import type { Listing } from "../rows/listing.ts";
import type { Report, ReportRow } from "../rows/report.ts";
import { filterRows, textOf } from "../rows/rows.ts";
import type { TableModel } from "../table/table_model.ts";
import { IntervalTrend } from "./interval_trend.tsx";
import { rowTrend, type TimedRows } from "./row_trend.ts";
import { MEASURES } from "./trend.ts";
import { TrendSpace } from "./trend_space.tsx";

interface RowTrendChartProps {
  listing: Listing;
  table: TableModel;
}

/** The chart of the loaded rows that match the filters. Without a row, there is no chart. */
export function RowTrendChart({ listing, table }: RowTrendChartProps) {
  const { earlier, facets, filter } = table;
  const { interval } = address.value.analytics;
  const day = today.value;
  const rows = listing.rows.value;
  const state = listing.state.value;
  const isFiltered = filter.trim() !== "" || hasFacets(facets);
  // Parts of the caption come and go while the rows load, and would move those below.
  const isLoading = [listing, earlier].some((one) => one?.state.value === "loading");
  const isShown = useRef(false);
  isShown.current ||= !isLoading;
  const trend = useMemo(() => {
    if (!isShown.current) return null;
    const choose = (all: readonly ReportRow[]) =>
      filterRows(filterByFacets(all, facets), filter, listing.report.key);
    const query = {
      measure: MEASURES[listing.report.name === "feedback" ? "feedback" : "conversations"],
      period: listing.range,
      now: timedRows(listing, choose),
      earlier: earlier && timedRows(earlier, choose),
      scope: isFiltered ? ", filtered" : "",
      interval,
      isWithoutToday: listing.range.to >= day,
    };
    return rowTrend(query, day);
  }, [rows, state, earlier?.rows.value, earlier?.state.value, facets, filter, interval, day]);
  if (!isShown.current) return <TrendSpace />;
  if (rows.length === 0) return state === "loading" ? <TrendSpace /> : null;
  return trend && <IntervalTrend trend={trend} isPending={state === "loading"} />;
}

function timedRows(
  { report, bounds, rows, state }: Listing,
  choose: (rows: readonly ReportRow[]) => readonly ReportRow[],
): TimedRows {
  const { dateFrom, dateTo } = bounds.value;
  const timesOf = (some: readonly ReportRow[]) => some.map((row) => timeOf(report, row));
  return {
    // A period that is cut off ends with a part of a day.
    days: { from: dateFrom, to: addDays(dateTo.slice(0, 10), -1) },
    loaded: timesOf(rows.value),
    counted: timesOf(choose(rows.value)),
    isComplete: state.value === "complete",
  };
}

/** The parsed times, because a chart is drawn again with every change of a filter. */
const instants = new WeakMap<ReportRow, number | null>();

function timeOf({ time }: Report, row: ReportRow): number | null {
  const known = instants.get(row);
  if (known !== undefined) return known;
  const parsed = parseInstant(textOf(time && row[time]));
  instants.set(row, parsed);
  return parsed;
}
