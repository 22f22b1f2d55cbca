/** `quillgate archive views`: writes the views of each page from the gateway's archive. */

import { createWriteStream } from "node:fs";
import { Writable } from "node:stream";
import type { ArchivedViewsList, PageView } from "../index.js";
import { type Context, readText } from "./command.js";
import { connectToGateway } from "./connection.js";
import { readArchivedRange, readCount, showRanges } from "./duration.js";
import { chooseFormat } from "./format.js";
import type { Output } from "./output.js";
import { printTable } from "./print_table.js";
import type { Column } from "./table.js";
import { openTarget, type Target, writeToTarget } from "./target.js";
import { escapeCommands } from "./workflow_commands.js";

const COLUMNS: readonly Column<PageView>[] = [
  { head: "PATH", value: ({ path }) => path, isKey: true },
  { head: "HUMAN", value: ({ human }) => human },
  { head: "AI", value: ({ ai }) => ai },
  { head: "TOTAL", value: ({ total }) => total, isKey: true },
];
/** The default maximum number of rows in a table. */
const DEFAULT_ROWS = "50";

export async function run(context: Context): Promise<undefined> {
  const { output, signal } = context;
  const format = chooseFormat(context);
  const range = readArchivedRange(context, Date.now());
  const maxRows = readCount(readText(context, "rows") ?? DEFAULT_ROWS, "--rows");
  const target = await openTarget(context);
  const { client } = await connectToGateway(context);
  const list = client.analytics.archivedViews(range, { signal });
  if (format === "csv" || format === "ndjson") {
    await list.export({ format, signal }).pipeTo(openSink(target), { signal });
  } else if (format === "json") {
    const json = `${JSON.stringify(await list.all(), null, 2)}\n`;
    await writeToTarget(target, escapeCommands(json, context.host));
  } else {
    const rows = await list.all();
    const most = rows.sort((a, b) => (b.total ?? 0) - (a.total ?? 0)).slice(0, maxRows);
    await printTable(context, target, most, COLUMNS, showRanges(range, undefined));
    if (rows.length > maxRows) {
      output.note(`${maxRows} of ${rows.length} pages: --rows N, or --format csv`);
    }
  }
  await warnOfMissingDays(output, list);
}

function openSink(target: Target): WritableStream<Uint8Array> {
  if (target.kind === "file") return Writable.toWeb(createWriteStream(target.path));
  return new WritableStream({ write: (chunk) => target.write(chunk), close: () => target.close() });
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
