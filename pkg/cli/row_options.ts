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
  summary: "Write to this file instead of stdout. - is stdout; a FIFO or /dev/fd/N works too.",
};
export const RANGE: Readonly<Record<string, Option>> = {
  from: { type: "text", value: "DATE", summary: "The first day or instant." },
  to: { type: "text", value: "DATE", summary: "The end of the range, exclusive." },
  last: {
    type: "text",
    value: "DAYS",
    summary:
      "The last days in UTC, with today, such as 7d or 4w. Replaces --from and --to. Default: 28d.",
  },
};
/** The range of commands that read the archive. */
export const ARCHIVED_RANGE: Readonly<Record<string, Option>> = {
  ...RANGE,
  last: { ...(RANGE.last as Option), summary: `${RANGE.last?.summary} The archive lacks today.` },
};
export const WIDE: Option = {
  type: "switch",
  summary: "Show every column of a table, in full, even if the lines wrap.",
};
export const COMPARE: Option = {
  type: "switch",
  summary:
    "Show each figure beside that of the previous period of equal length. Needs the format table or json.",
};
export const GRAPH: Option = {
  type: "switch",
  summary: "Show a table of the main figure, with bars. Other formats are unchanged.",
};
export const YES: Option = { type: "switch", summary: "Do not ask for confirmation." };
/** The flags of a list of jobs or deployments. */
export const LISTING: Readonly<Record<string, Option>> = {
  rows: { type: "text", value: "N", default: "25", summary: "Maximum number of rows." },
  format: {
    ...FORMAT,
    choices: ["table", "ndjson", "json"],
    summary: "The format. Default: table on a terminal and ndjson elsewhere.",
  },
  wide: WIDE,
};
