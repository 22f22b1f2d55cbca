/** Splits the chunks of an export into records, and joins rows to a JSON array. */

const QUOTE = 0x22;
const LINE_FEED = 0x0a;

/** Records at the start of a chunk. A CSV record can have several lines if a field is quoted. */
export interface Records {
  bytes: Uint8Array;
  count: number;
}

/** Returns the first `max` records of a chunk, or all of them if it has fewer. */
export function takeRecords(
  chunk: Uint8Array,
  format: "csv" | "ndjson",
  max = Number.POSITIVE_INFINITY,
): Records {
  let count = 0;
  let quoted = false;
  for (let at = 0; at < chunk.length; at++) {
    const byte = chunk[at];
    if (byte === QUOTE && format === "csv") quoted = !quoted;
    else if (byte === LINE_FEED && !quoted && ++count >= max) {
      return { bytes: chunk.subarray(0, at + 1), count };
    }
  }
  return { bytes: chunk, count };
}

/**
 * Converts rows, one per line, to part of a JSON array.
 *
 * @param isFirst whether this part starts the array
 * @param isLast whether this part ends the array
 */
export function toJsonPart(lines: string, isFirst: boolean, isLast: boolean): string {
  const rows = lines.split("\n").filter((line) => line !== "");
  const begin = isFirst ? "[" : "";
  const text = rows.map((row, at) => `${isFirst && at === 0 ? "\n" : ",\n"}${row}`).join("");
  return `${begin}${text}${isLast ? "\n]\n" : ""}`;
}
