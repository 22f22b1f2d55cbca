/** `quillgate archive status` */

import type { Context } from "./command.js";
import { readGatewaySettings } from "./connection.js";
import { readRoute, toAnalyticsPath } from "./gateway_request.js";
import { toLine, writeNumber } from "./table.js";

export async function run(context: Context): Promise<undefined> {
  const { output, signal } = context;
  const settings = await readGatewaySettings(context);
  const path = toAnalyticsPath(settings.projectId, "views/daily/status");
  const status = await readRoute(settings, path, {}, signal);
  if (output.json) {
    await output.printJson(status);
    return;
  }
  const fields = writeFields([
    ["first day", status.dateFrom],
    ["days held", status.complete],
    ["days begun", status.partial],
    ["days that fail", status.failed],
    ["requests needed", status.requests],
    ["hours needed", status.hours ?? "never: the archive's share of the budget is too small"],
    ["complete at", status.completeAt],
    ["database", status.bytes == null ? null : `${writeNumber(Number(status.bytes))} bytes`],
  ]);
  await output.write(fields);
  for (const gap of toList(status.missing)) {
    await output.print(`missing: from ${show(gap.dateFrom)} to before ${show(gap.dateTo)}`);
  }
  for (const { date, problem, attempts, retryAt } of toList(status.failures)) {
    const again = `${show(attempts)} attempts, again at ${show(retryAt)}`;
    await output.print(`fails: ${show(date)}, ${show(problem)} (${again})`);
  }
}

/** Writes names and values, one below another. */
export function writeFields(fields: readonly (readonly [string, unknown])[]): string {
  const width = Math.max(...fields.map(([name]) => name.length));
  return fields.map(([name, value]) => `${name.padEnd(width)}  ${show(value)}\n`).join("");
}

function show(value: unknown): string {
  if (value === null || value === undefined) return "-";
  return typeof value === "number" ? writeNumber(value) : toLine(String(value));
}

function toList(value: unknown): Record<string, unknown>[] {
  return Array.isArray(value) ? value : [];
}
