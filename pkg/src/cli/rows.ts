/** The rows within the chunks of an export: counted, or made a JSON list. */

const QUOTE = 0x22;
const LINE_FEED = 0x0a;

/** Counts records: lines, but for those within quotes. */
export function countRecords(chunk: Uint8Array, format: "csv" | "ndjson"): number {
  let count = 0;
  let quoted = false;
  for (const byte of chunk) {
    if (byte === QUOTE && format === "csv") quoted = !quoted;
    else if (byte === LINE_FEED && !quoted) count++;
  }
  return count;
}

/**
 * Makes a part of a JSON list of rows that are a line each.
 *
 * @param isFirst whether the list begins with this part
 * @param isLast whether it ends with it
 */
export function toJsonPart(lines: string, isFirst: boolean, isLast: boolean): string {
  const rows = lines.split("\n").filter((line) => line !== "");
  const begin = isFirst ? "[" : "";
  const text = rows.map((row, at) => `${isFirst && at === 0 ? "\n" : ",\n"}${row}`).join("");
  return `${begin}${text}${isLast ? "\n]\n" : ""}`;
}
