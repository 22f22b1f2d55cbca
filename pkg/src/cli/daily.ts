/** `quillgate daily` */

import { writeFile } from "node:fs/promises";
import { type Context, readText, UsageError } from "./command.js";
import { type GatewaySettings, readGatewaySettings } from "./connection.js";
import { readRange } from "./duration.js";
import { chooseFormat, type Format } from "./format.js";
import { readRoute, toAnalyticsPath } from "./gateway_request.js";
import { findOutputFile } from "./output_file.js";
import { writeTable } from "./table.js";

/** A day, week or month, as the gateway answers it. */
interface Group {
  date: string;
  human: number | null;
  ai: number | null;
  total: number | null;
  days: number;
  missing: string[];
  visitors: { human: number | null; ai: number | null; total: number | null } | null;
}

interface Series {
  views: Group[];
  /** The days that are not held. */
  missing: string[];
}

const CSV_COLUMNS = ["date", "human", "ai", "total", "days", "missing", "visitors"] as const;

export async function run(context: Context): Promise<undefined> {
  const { output } = context;
  const format = chooseFormat(context);
  const [from, to, last] = ["from", "to", "last"].map((name) => readText(context, name));
  const { dateFrom, dateTo } = readRange({ from, to, last }, Date.now());
  if (dateFrom === undefined || dateTo === undefined) {
    throw new UsageError("the days are missing: --last 28d, or --from and --to");
  }
  const file = await findOutputFile(context);
  const settings = await readGatewaySettings(context);
  const [path, prefix, group] = ["path", "prefix", "group"].map((name) => readText(context, name));
  const query = { dateFrom, dateTo, path, prefix, group };
  const series = await readSeries(settings, query, context.signal);
  const text = writeSeries(series, format, file === undefined ? output.columns : undefined);
  if (file === undefined) await output.writeRows(new TextEncoder().encode(text));
  else await writeFile(file, text);
  if (series.missing.length > 0) {
    const count = series.missing.length;
    const days = count === 1 ? "1 day is" : `${count} days are`;
    output.warn(`${days} not in the archive, and counted nowhere: quillgate archive status`);
  }
}

/** Reads every page of the series. */
async function readSeries(
  settings: GatewaySettings,
  query: Record<string, string | undefined>,
  signal: AbortSignal,
): Promise<Series> {
  const path = toAnalyticsPath(settings.projectId, "views/daily");
  const series: Series = { views: [], missing: [] };
  let cursor: string | undefined;
  do {
    const page = await readRoute(settings, path, { ...query, limit: "1000", cursor }, signal);
    const { views, missing, nextCursor } = page as Partial<Series> & { nextCursor?: unknown };
    if (!Array.isArray(views) || !Array.isArray(missing)) {
      throw new Error("the gateway's answer is not a series of days");
    }
    series.views.push(...views);
    series.missing.push(...missing);
    const next = typeof nextCursor === "string" ? nextCursor : undefined;
    if (next !== undefined && next === cursor) throw new Error("the series does not go on");
    cursor = next;
  } while (cursor !== undefined);
  return series;
}

function writeSeries({ views }: Series, format: Format, width: number | undefined): string {
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
        width,
      );
  }
}

/** A record of numbers and days only, which need no quotes. The missing days are separated by spaces. */
function writeRecord({ missing, visitors, ...counts }: Group): string {
  const row: Record<string, unknown> = {
    ...counts,
    missing: missing.join(" "),
    visitors: visitors?.total,
  };
  return CSV_COLUMNS.map((name) => String(row[name] ?? "").replace(/[^\w. -]/g, "")).join(",");
}
