/** Runs the commands of reports without pages, such as `quillgate caller-stats`. */

import { type Context, readSwitch } from "./command.js";
import { connect } from "./connection.js";
import { compareRows, findFigures, type Row } from "./figures.js";
import { explainNoRows } from "./no_rows.js";
import { printReport } from "./print_table.js";
import { findPreviousRange, showRanges } from "./range.js";
import { callReport, readLimit, readReport, readReportParams } from "./report_params.js";
import { showValue } from "./table.js";
import { openTarget } from "./target.js";

type Result = Readonly<Record<string, unknown>>;

export async function run(context: Context): Promise<undefined> {
  const { output, command, signal } = context;
  const operation = readReport(command);
  const now = Date.now();
  const selected = readReportParams(context, now);
  const params = { ...selected, ...readLimit(context) };
  const previous = readSwitch(context, "compare") ? findPreviousRange(selected, now) : undefined;
  const { client } = await connect(context);
  const call = (range: object) =>
    callReport(client, operation, { ...params, ...range }, signal) as Promise<Result>;
  const result = await call({});
  const earlier = previous === undefined ? undefined : await call(previous);
  const { rows: name } = operation;
  const figures = findFigures(operation.name);
  const readRows = (from: Result) => (name === null ? toRows(from) : (from[name] as Row[]));
  const rows =
    earlier === undefined || figures === undefined
      ? readRows(result)
      : compareRows(readRows(result), readRows(earlier), earlier.hasMore !== true, figures);
  if (output.json) {
    const compared =
      earlier === undefined ? {} : name === null ? { previous: earlier } : { [name]: rows };
    await output.printJson({ ...result, ...compared });
    return;
  }
  const target = await openTarget(context);
  const shape = name === null ? { ...operation, columns: ["origin", "count"] } : operation;
  await printReport(context, target, shape, rows, showRanges(selected, previous));
  if (rows.length === 0) explainNoRows(context);
  if (result.hasMore === true) {
    output.note(`there are more rows than the ${showValue(rows.length)} shown`);
  }
}

/** Converts a result of counts to rows. */
function toRows(result: Result): Row[] {
  const counts = Object.entries(result).filter(
    ([, count]) => count === null || typeof count === "number",
  );
  return counts.map(([origin, count]) => ({ origin, count }));
}
