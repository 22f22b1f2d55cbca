/** `quillgate daily`: writes views per day, week or month from the gateway's archive. */

import type { AnalyticsDailyViewsParams, DailyViews, GroupedViews } from "../index.js";
import { type Context, readSwitch, readText } from "./command.js";
import { connectToGateway } from "./connection.js";
import { readArchivedRange, showRanges } from "./duration.js";
import { makeBars } from "./figures.js";
import { chooseFormat, type Format } from "./format.js";
import { printTable } from "./print_table.js";
import type { Column } from "./table.js";
import { openTarget, writeToTarget } from "./target.js";
import { escapeCommands } from "./workflow_commands.js";

const CSV_COLUMNS = ["date", "human", "ai", "total", "days", "missing", "visitors"] as const;

export async function run(context: Context): Promise<undefined> {
  const { output, signal } = context;
  const format = chooseFormat(context);
  const range = readArchivedRange(context, Date.now());
  const target = await openTarget(context);
  const { client } = await connectToGateway(context);
  const [path, prefix, group] = ["path", "prefix", "group"].map((name) => readText(context, name));
  // The cast is safe, because the parser has validated `--group`.
  const params = { ...range, path, prefix, group } as AnalyticsDailyViewsParams;
  const views: GroupedViews[] = [];
  const missing: DailyViews["missing"] = [];
  for await (const page of client.analytics.dailyViews(params, { signal }).pages()) {
    views.push(...page.views);
    missing.push(...page.missing);
  }
  if (format === "table") {
    await printTable(
      context,
      target,
      views,
      makeColumns(context, views),
      showRanges(range, undefined),
    );
  } else {
    const text = writeViews(views, format);
    await writeToTarget(target, format === "csv" ? text : escapeCommands(text, context.host));
  }
  if (missing.length > 0) {
    const days = missing.length === 1 ? "1 day is" : `${missing.length} days are`;
    output.warn(`${days} not in the archive, and counted nowhere: quillgate archive status`);
  }
}

function writeViews(views: GroupedViews[], format: Exclude<Format, "table">): string {
  switch (format) {
    case "json":
      return `${JSON.stringify(views, null, 2)}\n`;
    case "ndjson":
      return views.map((row) => `${JSON.stringify(row)}\n`).join("");
    case "csv":
      return [CSV_COLUMNS.join(","), ...views.map(writeRecord)]
        .map((line) => `${line}\r\n`)
        .join("");
  }
}

function makeColumns(context: Context, views: GroupedViews[]): Column<GroupedViews>[] {
  const date: Column<GroupedViews> = { head: "DATE", value: (row) => row.date, isKey: true };
  const total: Column<GroupedViews> = { head: "TOTAL", value: (row) => row.total, isKey: true };
  if (readSwitch(context, "graph")) {
    return [date, total, makeBars(views, (row) => row.total, context.output.columns)];
  }
  return [
    date,
    { head: "HUMAN", value: ({ human }) => human },
    { head: "AI", value: ({ ai }) => ai },
    total,
    { head: "VISITORS", value: ({ visitors }) => visitors?.total },
    { head: "DAYS", value: ({ days }) => days },
    { head: "MISSING", value: ({ missing }) => missing.length },
  ];
}

/**
 * Formats a CSV record of numbers and dates. Removes other characters, so no field needs quotes.
 */
function writeRecord({ missing, visitors, ...counts }: GroupedViews): string {
  const row: Record<string, unknown> = {
    ...counts,
    missing: missing.join(" "),
    visitors: visitors?.total,
  };
  return CSV_COLUMNS.map((name) => String(row[name] ?? "").replace(/[^\w. -]/g, "")).join(",");
}
