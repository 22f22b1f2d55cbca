/** Prints the lists of jobs and deployments that a gateway keeps. */

import type { Client } from "../index.js";
import { type Context, readText } from "./command.js";
import { connect } from "./connection.js";
import { readCount } from "./duration.js";
import { chooseFormat } from "./format.js";
import { findOperation, readMaxLimit } from "./operations.js";
import { printTable } from "./print_table.js";
import type { Column } from "./table.js";
import { openTarget } from "./target.js";

export interface Listing<Row> {
  /** The operation that returns a page. */
  operation: string;
  /** The message without rows. */
  none: string;
  load(client: Client, size: { limit: number; maxRows: number }): Promise<Row[]>;
  makeColumns(rows: readonly Row[]): Column<Row>[];
}

/** Prints rows in the format that the flags select, at most `--rows`. */
export async function printListing<Row>(
  context: Context,
  { operation, none, load, makeColumns }: Listing<Row>,
): Promise<void> {
  const { output } = context;
  const format = chooseFormat(context);
  const maxRows = readCount(readText(context, "rows") ?? "25", "--rows");
  const { client } = await connect(context);
  const limit = Math.min(maxRows, readMaxLimit(findOperation(operation)));
  const rows = await load(client, { limit, maxRows });
  if (format === "json") {
    await output.printJson(rows);
  } else if (format === "ndjson") {
    for (const row of rows) await output.printJsonLine(row);
  } else if (rows.length === 0) {
    output.note(`quillgate: ${none}`);
  } else {
    await printTable(context, await openTarget(context), rows, makeColumns(rows));
  }
}
