/** `quillgate archive views`: writes the views of each page from the gateway's archive. */

import { createWriteStream } from "node:fs";
import { writeFile } from "node:fs/promises";
import { Writable } from "node:stream";
import type { ArchivedViewsList, PageView } from "../index.js";
import { type Context, readText } from "./command.js";
import { connectToGateway } from "./connection.js";
import { readCount, readRange } from "./duration.js";
import { UsageError } from "./errors.js";
import { chooseFormat } from "./format.js";
import type { Output } from "./output.js";
import { findOutputFile } from "./output_file.js";
import { writeTable } from "./table.js";

/** The default maximum number of rows in a table. */
const DEFAULT_ROWS = "50";

export async function run(context: Context): Promise<undefined> {
  const { output, signal } = context;
  const format = chooseFormat(context);
  const [from, to, last] = ["from", "to", "last"].map((name) => readText(context, name));
  const { dateFrom, dateTo } = readRange({ from, to, last }, Date.now());
  if (dateFrom === undefined || dateTo === undefined) {
    throw new UsageError("the days are missing: --last 28d, or --from and --to");
  }
  const maxRows = readCount(readText(context, "rows") ?? DEFAULT_ROWS, "--rows");
  const file = await findOutputFile(context);
  const { client } = await connectToGateway(context);
  const list = client.analytics.archivedViews({ dateFrom, dateTo }, { signal });
  if (format === "csv" || format === "ndjson") {
    await list.export({ format, signal }).pipeTo(openSink(output, file), { signal });
  } else {
    const rows = await list.all();
    const text =
      format === "json" ? toJson(rows) : toTable(rows, maxRows, file ? 0 : output.columns);
    if (file === undefined) await output.writeRows(new TextEncoder().encode(text));
    else await writeFile(file, text);
    if (format === "table" && rows.length > maxRows) {
      output.note(`${maxRows} of ${rows.length} pages: --rows N, or --format csv`);
    }
  }
  await warnOfMissingDays(output, list);
}

function openSink(output: Output, file: string | undefined): WritableStream<Uint8Array> {
  if (file !== undefined) return Writable.toWeb(createWriteStream(file));
  return new WritableStream({ write: (chunk) => output.writeRows(chunk) });
}

function toJson(rows: readonly PageView[]): string {
  return `${JSON.stringify(rows, null, 2)}\n`;
}

/** Returns a table of the pages with the most views. */
function toTable(rows: readonly PageView[], maxRows: number, width: number | undefined): string {
  const most = [...rows].sort((a, b) => (b.total ?? 0) - (a.total ?? 0)).slice(0, maxRows);
  const columns = [
    { head: "PATH", value: ({ path }: PageView) => path },
    { head: "HUMAN", value: ({ human }: PageView) => human },
    { head: "AI", value: ({ ai }: PageView) => ai },
    { head: "TOTAL", value: ({ total }: PageView) => total },
  ];
  return writeTable(most, columns, { width: width === 0 ? undefined : width });
}

/**
 * Warns if the counts leave out days. Every page of the list names all of them, so this requests
 * only one page.
 */
async function warnOfMissingDays(output: Output, list: ArchivedViewsList): Promise<void> {
  const { missing } = await list;
  if (missing.length === 0) return;
  const days = missing.length === 1 ? "1 day is" : `${missing.length} days are`;
  output.warn(`${days} not in the archive, and counted nowhere: quillgate archive status`);
}
