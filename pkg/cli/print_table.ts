/** Prints tables so that they fit the terminal. */

import { type Context, readSwitch } from "./command.js";
import type { Row } from "./figures.js";
import { makeColumns } from "./report_columns.js";
import { type Column, layOut } from "./table.js";
import { type Target, writeToTarget } from "./target.js";

/**
 * Writes a table. On a terminal, the title precedes it, and columns that do not fit are dropped unless
 * `--wide` is set. Elsewhere, the table is complete, and the title goes to stderr.
 *
 * @param title the period of the rows; `null` without one
 */
export async function printTable<Row>(
  context: Context,
  target: Target,
  rows: readonly Row[],
  columns: readonly Column<Row>[],
  title: string | null = null,
): Promise<void> {
  const { output } = context;
  const isShown = isOnTerminal(context, target);
  const width = isShown && !readSwitch(context, "wide") ? output.columns : undefined;
  const hasLinks = isShown && output.hasLinks;
  const { text, dropped } = layOut(rows, columns, { width, hasLinks });
  if (title !== null && !isShown) output.note(title);
  if (title !== null && isShown) await output.print(title);
  // `layOut` has replaced control characters, and terminals need those of hyperlinks.
  if (target.kind === "stdout") await output.write(text);
  else await writeToTarget(target, text);
  if (dropped.length > 0) output.note(`not shown: ${dropped.join(", ")}; to show them: --wide`);
}

/** Writes the table of a report. With `--graph`, shows only its main figure, with bars. */
export async function printReport(
  context: Context,
  target: Target,
  operation: Parameters<typeof makeColumns>[0],
  rows: readonly Row[],
  title: string | null,
): Promise<void> {
  const output = isOnTerminal(context, target) ? context.output : undefined;
  const columns = makeColumns(operation, rows, output, { hasGraph: readSwitch(context, "graph") });
  await printTable(context, target, rows, columns, title);
}

function isOnTerminal({ output }: Pick<Context, "output">, target: Target): boolean {
  return target.kind === "stdout" && output.isTerminal;
}
