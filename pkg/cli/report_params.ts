/** Converts the flags of a report's command to the parameters of its operation. */

import type { Analytics, Client } from "../index.js";
import { type Command, type Context, readText } from "./command.js";
import { readCount } from "./duration.js";
import type { DeclaredOperation } from "./generated/operations.js";
import { findOperation, toKebabCase } from "./operations.js";
import { readRange } from "./range.js";

/** The warning about a list whose totals changed between two pages. */
export const MIXED =
  "the report's totals changed while it was read: rows can be missing or repeated";

/** Returns the operation of a report's command. */
export function readReport({ operations: [name = ""] = [] }: Command): DeclaredOperation {
  return findOperation(name);
}

/**
 * Returns the parameters that the flags and the positional arguments set.
 *
 * @param now in milliseconds since 1970
 */
export function readReportParams(context: Context, now: number): Record<string, string> {
  const { parameters } = readReport(context.command);
  const hasDates = parameters.some(({ name }) => name === "dateFrom");
  const params: Record<string, string> = hasDates ? { ...readRange(context, now) } : {};
  const required = parameters.filter(({ isRequired }) => isRequired);
  required.forEach(({ name }, at) => {
    params[name] = context.arguments[at] ?? "";
  });
  for (const { name, isRequired } of parameters) {
    const value = readText(context, toKebabCase(name));
    if (!isRequired && value !== undefined) params[name] = value;
  }
  return params;
}

/** Calls the method of a report. `conversation` takes only the thread's id. */
export function callReport(
  { analytics }: Client,
  { name }: DeclaredOperation,
  params: Readonly<Record<string, string | number | undefined>>,
  signal: AbortSignal,
): unknown {
  const method = name.split(".")[1] as keyof Analytics;
  const argument = method === "conversation" ? params.threadId : params;
  // Each report validates its parameters and rejects unknown ones, so the cast is safe.
  return analytics[method](argument as never, { signal });
}

/** Returns `--rows` as the parameter `limit` of a report that is not paginated. */
export function readLimit(context: Context): { limit?: number } {
  const rows = readText(context, "rows");
  return rows === undefined ? {} : { limit: readCount(rows, "--rows") };
}
