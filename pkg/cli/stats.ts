/** `quillgate stats`: the totals of a period beside those of the period before, across reports. */

import type { DateBounds } from "../last_days.js";
import type { Context } from "./command.js";
import { connect } from "./connection.js";
import { findExitCode, getExitCode } from "./exit_codes.js";
import { printTable } from "./print_table.js";
import { findPreviousRange, readRange, showRanges } from "./range.js";
import { type Column, toLine, writePercentage } from "./table.js";
import { openTarget } from "./target.js";

type Analytics = Awaited<ReturnType<typeof connect>>["client"]["analytics"];
/** The counts of a report. `null` is unknown. */
type Counts = Readonly<Record<string, number | null>>;
type Read = (
  analytics: Analytics,
  range: Partial<DateBounds>,
  options: { signal: AbortSignal },
) => Promise<Counts>;

/** The reports, and a function that reads the counts of a period in one request. */
const REPORTS: Readonly<Record<string, Read>> = {
  views: async (analytics, range, options) => ({
    ...(await analytics.views({ ...range, limit: 1 }, options)).totals,
  }),
  visitors: async (analytics, range, options) => ({
    ...(await analytics.visitors({ ...range, limit: 1 }, options)).totals,
  }),
  searches: async (analytics, range, options) => ({
    total: (await analytics.searches({ ...range, limit: 1 }, options)).totalSearches,
  }),
  questions: async (analytics, range, options) => ({
    ...(await analytics.callerStats(range, options)),
  }),
  feedback: async (analytics, range, options) => {
    const { feedback, hasMore } = await analytics.feedbackByPage({ ...range, limit: 100 }, options);
    const sum = (name: "thumbsUp" | "thumbsDown" | "total") =>
      hasMore === true ? null : feedback.reduce((all, row) => all + (row[name] ?? 0), 0);
    return { thumbsUp: sum("thumbsUp"), thumbsDown: sum("thumbsDown"), total: sum("total") };
  },
};

interface Figure {
  name: string;
  current: number | null;
  before: number | null;
}

const COLUMNS: readonly Column<Figure>[] = [
  { head: "FIGURE", value: ({ name }) => name, isKey: true },
  { head: "NOW", value: ({ current }) => current, isKey: true },
  { head: "BEFORE", value: ({ before }) => before, isKey: true },
  { head: "CHANGE", value: showChange },
];

export async function run(context: Context): Promise<undefined> {
  const { output, signal } = context;
  const now = Date.now();
  const period = readRange(context, now);
  const previous = findPreviousRange(period, now);
  const { client } = await connect(context);
  const reports: Record<string, { current: Counts; previous: Counts }> = {};
  for (const [name, read] of Object.entries(REPORTS)) {
    try {
      const both = [period, previous].map((range) => read(client.analytics, range, { signal }));
      const [current = {}, before = {}] = await Promise.all(both);
      reports[name] = { current, previous: before };
    } catch (error) {
      // A plan or a token can lack one report, such as the assistant's.
      const isForbidden = findExitCode(error) === getExitCode("access");
      if (!isForbidden || Object.keys(reports).length === 0) throw error;
      output.warn(`${name}: ${toLine((error as Error).message)}`);
    }
  }
  if (output.json) return output.printJson({ period, previous, reports }).then(() => undefined);
  const figures = Object.entries(reports).flatMap(([report, found]) =>
    Object.entries(found.current).map(([name, current]) => ({
      name: name === "total" ? report : `${report} (${name})`,
      current,
      before: found.previous[name] ?? null,
    })),
  );
  const title = showRanges(period, previous);
  await printTable(context, await openTarget(context), figures, COLUMNS, title);
}

function showChange({ current, before }: Figure): string | null {
  if (current === null || before === null) return null;
  if (before === 0) return current === 0 ? "0%" : "new";
  const change = ((current - before) / before) * 100;
  return `${change > 0 ? "+" : ""}${writePercentage(change, 0)}`;
}
