/** `quillgate daily` and `quillgate archive views`: writes views from the gateway's archive. */

import { writeHeader, writeRows } from "../export_format.js";
import { type Context, readText } from "./command.js";
import { connectToGateway } from "./connection.js";
import { readCount } from "./duration.js";
import type { Row } from "./figures.js";
import { chooseFormat, type Format } from "./format.js";
import { printReport } from "./print_table.js";
import { readArchivedRange, showRanges } from "./range.js";
import { callReport, MIXED, readReport } from "./report_params.js";
import { openTarget, writeToTarget } from "./target.js";
import { escapeJson } from "./workflow_commands.js";

interface AnyList {
  pages(): AsyncIterable<{ views: Row[]; missing: string[]; isMixed: boolean }>;
}

export async function run(context: Context): Promise<undefined> {
  const { output, signal, command } = context;
  const format = chooseFormat(context);
  const range = readArchivedRange(context, Date.now());
  const rowsFlag = readText(context, "rows");
  const max = rowsFlag === undefined ? Number.POSITIVE_INFINITY : readCount(rowsFlag, "--rows");
  const target = await openTarget(context);
  const { client } = await connectToGateway(context);
  const filters = ["path", "prefix", "group"].map((name) => [name, readText(context, name)]);
  const params = { ...range, ...Object.fromEntries(filters) };
  const operation = readReport(command);
  const list = callReport(client, operation, params, signal) as AnyList;
  const rows: Row[] = [];
  const missing = new Set<string>();
  let isMixed = false;
  for await (const page of list.pages()) {
    isMixed ||= page.isMixed;
    rows.push(...page.views);
    for (const day of page.missing) missing.add(day);
  }
  if (format === "table") {
    const isDaily = operation.name === "analytics.dailyViews";
    const total = (row: Row) => Number(row.total ?? 0);
    const shown = isDaily ? rows : rows.sort((a, b) => total(b) - total(a)).slice(0, max);
    await printReport(context, target, operation, shown, showRanges(range, undefined));
    if (rows.length > max) output.note(`${max} of ${rows.length} pages: --rows N, or --format csv`);
  } else {
    const text = writeAs(format, operation.name, rows);
    await writeToTarget(target, format === "csv" ? text : escapeJson(text, context.host));
  }
  if (isMixed) output.warn(MIXED);
  if (missing.size > 0) {
    const days = missing.size === 1 ? "1 day is" : `${missing.size} days are`;
    output.warn(`${days} not in the archive, and counted nowhere: quillgate archive status`);
  }
}

function writeAs(format: Exclude<Format, "table">, list: string, rows: readonly Row[]): string {
  if (format === "json") return `${JSON.stringify(rows, null, 2)}\n`;
  const header = format === "csv" ? writeHeader(list) : "";
  return header + writeRows(list, format, JSON.stringify({ views: rows }), []);
}
