/** Derives a command from each declared report. */

import type { Argument, Command, Option } from "./command.js";
import { findFigures } from "./figures.js";
import type { DeclaredOperation, Parameter } from "./generated/operations.js";
import { OPERATIONS } from "./generated/operations.js";
import { toArgument, toImperative, toKebabCase, toOption } from "./operations.js";
import { COMPARE, FORMAT, GRAPH, OUTPUT, RANGE, WIDE } from "./row_options.js";

const PREFIX = "analytics.";
/** Parameters that `--from`, `--to`, `--last`, `--rows` or the client's pagination sets. */
const COMMON_PARAMETERS = ["dateFrom", "dateTo", "limit", "offset", "page", "cursor"];

const ROWS: Option = {
  type: "text",
  value: "N",
  summary: "Maximum number of rows. Default: 50 in a table, otherwise every row.",
};
const EXPORT: Readonly<Record<string, Option>> = {
  format: FORMAT,
  output: OUTPUT,
  resume: {
    type: "switch",
    summary: "Complete the file of an interrupted export. Otherwise begin one.",
  },
  wait: {
    type: "text",
    value: "TIME",
    default: "0s",
    summary: "Maximum total wait while the hour's requests are used up, such as 1h.",
  },
  rows: ROWS,
};
const describeExport = (maxRows: number | null | undefined): string[] => [
  "Without --rows, csv, ndjson and json have every row, and a table has the first 50. Mintlify allows the whole " +
    `organization 100 requests an hour, each for at most ${maxRows} rows.`,
  "While it writes a file, FILE.quillgate-progress records the progress. If the command is interrupted, run " +
    "it again with --resume to complete the file. A finished file is overwritten, even with --resume.",
];

export const STATS: Command = {
  name: "stats",
  summary: "Show the totals of a period beside those of the previous one, across reports.",
  description: [
    "Views, visitors, searches, questions to the assistant and feedback. It uses ten of the hour's requests. Feedback is unknown if more than 100 pages have some.",
  ],
  connects: true,
  arguments: [],
  options: { ...RANGE, wide: WIDE },
  examples: [
    { text: "The last 28 days", line: "quillgate stats" },
    { text: "The last week as JSON", line: "quillgate stats --last 7d --json" },
  ],
  load: () => import("./stats.js"),
};

/**
 * Returns a command for each report that has none yet.
 *
 * @param covered the operations that already have a command
 */
export function makeReportCommands(covered: readonly string[]): Command[] {
  return OPERATIONS.filter(({ name }) => name.startsWith(PREFIX) && !covered.includes(name)).map(
    makeCommand,
  );
}

function makeCommand(operation: DeclaredOperation): Command {
  const name = toKebabCase(operation.name.slice(PREFIX.length));
  const positional = operation.parameters.filter(({ isRequired }) => isRequired).map(toArgument);
  return {
    name,
    operations: [operation.name],
    summary: toImperative(operation.summary),
    ...(operation.isPaginated ? { description: describeExport(findLimit(operation)?.max) } : {}),
    connects: true,
    arguments: positional,
    options: makeOptions(operation),
    examples: makeExamples(name, operation, positional),
    load: () => (operation.isPaginated ? import("./report.js") : import("./single_report.js")),
  };
}

function findLimit({ parameters }: DeclaredOperation): Parameter | undefined {
  return parameters.find(({ name }) => name === "limit");
}

function makeOptions(operation: DeclaredOperation): Record<string, Option> {
  const { parameters, isPaginated } = operation;
  const own = parameters.filter(
    ({ name, isRequired }) => !isRequired && !COMMON_PARAMETERS.includes(name),
  );
  const limit = findLimit(operation);
  return {
    ...(parameters.some(({ name }) => name === "dateFrom") ? RANGE : {}),
    ...(isPaginated ? EXPORT : {}),
    wide: WIDE,
    ...(findFigures(operation.name) === undefined ? {} : { compare: COMPARE, graph: GRAPH }),
    ...(isPaginated || limit === undefined
      ? {}
      : { rows: { ...ROWS, summary: `Maximum number of rows, at most ${limit.max}.` } }),
    ...Object.fromEntries(own.map(({ name }) => [toKebabCase(name), toOption(operation, name)])),
  };
}

function makeExamples(
  name: string,
  { isPaginated, parameters }: DeclaredOperation,
  positional: readonly Argument[],
): { text: string; line: string }[] {
  const words = [name, ...positional.map((argument) => argument.name)].join(" ");
  const hasRange = parameters.some((parameter) => parameter.name === "dateFrom");
  const line = `quillgate ${words}${hasRange ? " --last 7d" : ""}`;
  if (!isPaginated)
    return [
      {
        text: hasRange ? "The last seven days" : "As JSON",
        line: hasRange ? line : `${line} --json`,
      },
    ];
  return [
    { text: "The first rows of the last seven days", line },
    { text: "Every row, as a file for a spreadsheet", line: `${line} -o ${name}.csv` },
    { text: "Complete an interrupted file", line: `${line} -o ${name}.csv --resume` },
  ];
}
