/** Chooses the output format of rows from the flags or the file's extension. */

import { type Context, readSwitch, readText } from "./command.js";
import { UsageError } from "./errors.js";
import { readFileName } from "./target.js";

export type Format = "table" | "csv" | "ndjson" | "json";

const BY_EXTENSION: Record<string, Format> = {
  csv: "csv",
  ndjson: "ndjson",
  jsonl: "ndjson",
  json: "json",
  txt: "table",
};

/**
 * Returns the format that the flags or the file's extension select. Without either, it is `table`
 * on a terminal and `ndjson` elsewhere.
 *
 * @throws {UsageError} if the flags contradict each other, or the extension is unknown
 */
export function chooseFormat(context: Context): Format {
  const { output } = context;
  const format = readText(context, "format") as Format | undefined;
  if (output.json && format !== undefined && format !== "json") {
    throw new UsageError("--json is --format json: give one of them");
  }
  if (format !== undefined) return format;
  if (output.json) return "json";
  if (readSwitch(context, "graph")) return "table";
  const file = readFileName(context);
  if (file === undefined) return output.isTerminal ? "table" : "ndjson";
  const extension = /\.([a-z]+)$/i.exec(file)?.[1]?.toLowerCase() ?? "";
  const found = BY_EXTENSION[extension];
  if (found !== undefined) return found;
  throw new UsageError("the file's name does not say the format: give --format");
}
