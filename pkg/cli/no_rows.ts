/** Explains reports without rows. */

import { type Context, readText } from "./command.js";

/**
 * Says that a site may not collect feedback if a report on feedback has no rows. Mintlify then
 * returns an empty report instead of an error. Says nothing if a filter may have excluded all rows.
 */
export function explainNoRows(context: Context): void {
  const { command, output } = context;
  if (!command.name.startsWith("feedback")) return;
  if (["source", "status"].some((name) => readText(context, name) !== undefined)) return;
  output.note("no feedback: the site may not collect it; check its settings in Mintlify");
}
