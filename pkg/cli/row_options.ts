/** The flags of commands that write rows. */

import type { Option } from "./command.js";

export const FORMAT: Option = {
  type: "text",
  value: "FORMAT",
  choices: ["table", "csv", "ndjson", "json"],
  summary:
    "The format of rows. Default: by the file's name, else table on a terminal and ndjson elsewhere.",
};
export const OUTPUT: Option = {
  type: "text",
  value: "FILE",
  summary: "Write to this file instead of stdout.",
};
export const RANGE: Readonly<Record<string, Option>> = {
  from: { type: "text", value: "DATE", summary: "The first day or instant." },
  to: { type: "text", value: "DATE", summary: "The end of the range, exclusive." },
  last: {
    type: "text",
    value: "DAYS",
    summary: "The last complete days in UTC, such as 28d or 4w. Replaces --from and --to.",
  },
};
