/** `quillgate daily`: writes views per day, week or month from the gateway's archive. */

import { writeFile } from "node:fs/promises";
import type { AnalyticsDailyViewsParams, DailyViews, GroupedViews } from "../index.js";
import { type Context, readText } from "./command.js";
import { connectToGateway } from "./connection.js";
import { readRange } from "./duration.js";
import { UsageError } from "./errors.js";
import { chooseFormat, type Format } from "./format.js";
import { findOutputFile } from "./output_file.js";
import { writeTable } from "./table.js";

const CSV_COLUMNS = ["date", "human", "ai", "total", "days", "missing", "visitors"] as const;

export async function run(context: Context): Promise<undefined> {
  const { output, signal } = context;
  const format = chooseFormat(context);
  const [from, to, last] = ["from", "to", "last"].map((name) => readText(context, name));
  const { dateFrom, dateTo } = readRange({ from, to, last }, Date.now());
  if (dateFrom === undefined || dateTo === undefined) {
    throw new UsageError("the days are missing: --last 28d, or --from and --to");
  }
  const file = await findOutputFile(context);
  const { client } = await connectToGateway(context);
  const [path, prefix, group] = ["path", "prefix", "group"].map((name) => readText(context, name));
  // The cast is safe, because the parser has validated `--group`.
  const params = { dateFrom, dateTo, path, prefix, group } as AnalyticsDailyViewsParams;
  const views: GroupedViews[] = [];
  const missing: DailyViews["missing"] = [];
  for await (const page of client.analytics.dailyViews(params, { signal }).pages()) {
    views.push(...page.views);
    missing.push(...page.missing);
  }
  const text = writeViews(views, format, file === undefined ? output.columns : undefined);
  if (file === undefined) await output.writeRows(new TextEncoder().encode(text));
  else await writeFile(file, text);
  if (missing.length > 0) {
    const days = missing.length === 1 ? "1 day is" : `${missing.length} days are`;
    output.warn(`${days} not in the archive, and counted nowhere: quillgate archive status`);
  }
}

function writeViews(views: GroupedViews[], format: Format, width: number | undefined): string {
  switch (format) {
    case "json":
      return `${JSON.stringify(views, null, 2)}\n`;
    case "ndjson":
      return views.map((row) => `${JSON.stringify(row)}\n`).join("");
    case "csv":
      return [CSV_COLUMNS.join(","), ...views.map(writeRecord)]
        .map((line) => `${line}\r\n`)
        .join("");
    case "table":
      return writeTable(
        views,
        [
          { head: "DATE", value: ({ date }) => date },
          { head: "HUMAN", value: ({ human }) => human },
          { head: "AI", value: ({ ai }) => ai },
          { head: "TOTAL", value: ({ total }) => total },
          { head: "VISITORS", value: ({ visitors }) => visitors?.total },
          { head: "DAYS", value: ({ days }) => days },
          { head: "MISSING", value: ({ missing }) => missing.length },
        ],
        { width },
      );
  }
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
