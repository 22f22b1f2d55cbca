/** Runs the commands of paginated reports, such as `quillgate views`. */

import type { ListName, ListPosition } from "../index.js";
import type { DateBounds } from "../last_days.js";
import { type Context, readSwitch, readText } from "./command.js";
import { connect } from "./connection.js";
import { readCount, readDuration } from "./duration.js";
import { UsageError } from "./errors.js";
import { ExportFile, type ExportIdentity } from "./export_file.js";
import { compareRows, findFigures, type Row } from "./figures.js";
import { chooseFormat } from "./format.js";
import { explainNoRows } from "./no_rows.js";
import { readMaxLimit } from "./operations.js";
import { printReport } from "./print_table.js";
import { RowProgress, type SeenResponse } from "./progress.js";
import { findPreviousRange, showRanges } from "./range.js";
import { callReport, MIXED, readReport, readReportParams } from "./report_params.js";
import { takeRecords, toJsonPart } from "./rows.js";
import { openTarget, type Target, writeToTarget } from "./target.js";
import { escapeJson } from "./workflow_commands.js";

type ExportFormat = "csv" | "ndjson" | "json";

/** The maximum of `--rows`. */
const MAX_ROWS = 999_999_999;
const VISITORS =
  "visitors are counted once across pages, so rows and columns do not add up to totals";
/** The default of `--rows` for a table. */
const DEFAULT_ROWS = "50";
const MAX_WAIT_MS = 86_400_000;
/** The flags that do not change which rows an export has. */
const OUTPUT_FLAGS = ["format", "output", "resume", "wait", "wide", "compare", "graph"];

interface AllOptions {
  maxRows: number;
  onProgress(state: { rows: number; isMixed: boolean }): void;
}

/** The methods of the client's lists that this file uses. */
interface AnyList {
  all(options: AllOptions): Promise<Row[]>;
  export(options: {
    format: "csv" | "ndjson";
    resumeFrom: ListPosition<ListName> | undefined;
    signal: AbortSignal;
    wait: number;
  }): ReadableStream<Uint8Array> & {
    nextPosition: ListPosition<ListName> | null | undefined;
    isMixed: boolean;
  };
}

/** The destination of an export. */
interface Sink {
  /** Where the export resumes; `undefined` at the start, `null` when it is complete. */
  position: ListPosition<ListName> | null | undefined;
  params: Record<string, string>;
  /** The number of rows already written. */
  rows: number;
  /** The value of `--rows`. */
  maxRows: number | undefined;
  /** Whether nothing has been written yet. */
  isEmpty: boolean;
  write(chunk: Uint8Array, next: ListPosition<ListName> | null, rows: number): Promise<void>;
  close(): Promise<void>;
}

export async function run(context: Context): Promise<undefined> {
  const format = chooseFormat(context);
  const wait = readDuration(readText(context, "wait") ?? "0s", "--wait", MAX_WAIT_MS);
  const now = Date.now();
  const params = readReportParams(context, now);
  const isCompared = readSwitch(context, "compare");
  if (!isCompared && format !== "table") return exportRows(context, format, params, wait);
  const what = isCompared ? "--compare" : "the format table";
  if (format !== "table" && format !== "json") {
    throw new UsageError("--compare needs the format table or json");
  }
  if (readSwitch(context, "resume"))
    throw new UsageError(`--resume cannot be combined with ${what}`);
  if (wait > 0) throw new UsageError(`--wait cannot be combined with ${what}`);
  const previous = isCompared ? findPreviousRange(params, now) : undefined;
  return printRows(context, format, params, previous);
}

/** Reads rows, compares them if there is a previous range, and prints them. */
async function printRows(
  context: Context,
  format: "table" | "json",
  params: Record<string, string>,
  previous: DateBounds | undefined,
): Promise<undefined> {
  const { output, command, signal } = context;
  const typed = readText(context, "rows");
  const max = readMaxRows(typed ?? (format === "table" ? DEFAULT_ROWS : undefined));
  const target = await openTarget(context);
  const watched = watchProgress();
  const { client } = await connect(context, watched.hooks);
  const progress = new RowProgress(output, command.name, { max });
  watched.progress = progress;
  const operation = readReport(command);
  const maxLimit = readMaxLimit(operation);
  const read = (range: object, maxRows: number, onProgress: AllOptions["onProgress"]) => {
    const limit = Math.min(maxRows, maxLimit);
    const list = callReport(client, operation, { ...params, ...range, limit }, signal) as AnyList;
    return list.all({ maxRows, onProgress });
  };
  const figures = findFigures(operation.name);
  let rows: Row[];
  let isMixed = false;
  try {
    rows = await read({}, max ?? MAX_ROWS, (state) => {
      progress.setRows(state.rows);
      isMixed ||= state.isMixed;
    });
    if (previous !== undefined && figures !== undefined) {
      const maxEarlier = max === undefined ? MAX_ROWS : Math.max(max, maxLimit);
      const earlier = await read(previous, maxEarlier, (state) => {
        isMixed ||= state.isMixed;
      });
      rows = compareRows(rows, earlier, earlier.length < maxEarlier, figures);
    }
  } finally {
    progress.end();
  }
  if (isMixed) output.warn(MIXED);
  if (format === "json") {
    const lines = rows.map((row) => JSON.stringify(row)).join("\n");
    await writeToTarget(target, escapeJson(toJsonPart(lines, true, true), context.host));
    return;
  }
  await printReport(context, target, operation, rows, showRanges(params, previous));
  output.note(progress.describe());
  if (rows.length === 0) explainNoRows(context);
  if (rows.length === max) output.note("there may be more rows: --rows N, or --format csv");
  if (operation.name === "analytics.visitors" && rows.length > 0) output.note(VISITORS);
}

async function exportRows(
  context: Context,
  format: ExportFormat,
  params: Record<string, string>,
  wait: number,
): Promise<undefined> {
  const { output, command, signal } = context;
  const maxRows = readMaxRows(readText(context, "rows"));
  const target = await openTarget(context);
  const watched = watchProgress();
  const { client, baseUrl, projectId } = await connect(context, watched.hooks);
  const flags = readRowFlags(context);
  const identity = { report: command.name, format, projectId, baseUrl, flags };
  const sink = await openSink(context, target, identity, params, maxRows);
  const progress = new RowProgress(output, command.name, { rows: sink.rows, max: sink.maxRows });
  watched.progress = progress;
  let isMixed = false;
  try {
    if (sink.position !== null) {
      const list = callReport(client, readReport(command), sink.params, signal) as AnyList;
      isMixed = await copy(list, format, sink, progress, { signal, wait });
    }
  } finally {
    progress.end();
    await sink.close();
  }
  output.note(progress.describe());
  if (isMixed) output.warn(MIXED);
  if (progress.rows === 0) explainNoRows(context);
}

/**
 * Copies an export chunk by chunk, until it ends or `maxRows` is reached. Returns whether the totals
 * changed between two pages.
 */
async function copy(
  list: AnyList,
  format: ExportFormat,
  sink: Sink,
  progress: RowProgress,
  options: { signal: AbortSignal; wait: number },
): Promise<boolean> {
  const lines = format === "csv" ? "csv" : "ndjson";
  const resumeFrom = sink.position ?? undefined;
  const stream = list.export({ format: lines, resumeFrom, ...options });
  const decoder = new TextDecoder();
  const { maxRows } = sink;
  let { isEmpty } = sink;
  let headers = format === "csv" && resumeFrom === undefined ? 1 : 0;
  const write = async (chunk: Uint8Array) => {
    const max = maxRows === undefined ? undefined : maxRows - progress.rows + headers;
    const { bytes, count } = takeRecords(chunk, lines, max);
    const rows = progress.rows + count - headers;
    const next = rows === maxRows ? null : (stream.nextPosition ?? null);
    const part =
      format === "json"
        ? new TextEncoder().encode(toJsonPart(decoder.decode(bytes), isEmpty, next === null))
        : bytes;
    [isEmpty, headers] = [false, 0];
    await sink.write(part, next, rows);
    progress.setRows(rows);
    return next === null;
  };
  let ended = false;
  for await (const chunk of stream) {
    ended = await write(chunk);
    if (ended) break;
  }
  // The last page can be empty and yield no chunk. Mark the export as complete anyway.
  if (!ended) await write(new Uint8Array());
  return stream.isMixed;
}

async function openSink(
  context: Context,
  target: Target,
  identity: ExportIdentity,
  params: Record<string, string>,
  maxRows: number | undefined,
): Promise<Sink> {
  const { output, host } = context;
  const resume = readSwitch(context, "resume");
  if (target.kind !== "file") {
    if (resume) throw new UsageError("--resume needs a regular file: -o FILE");
    const isCsv = identity.format === "csv";
    return {
      position: undefined,
      params,
      rows: 0,
      maxRows,
      isEmpty: true,
      write: (chunk) =>
        target.write(isCsv ? chunk : escapeJson(new TextDecoder().decode(chunk), host)),
      close: () => target.close(),
    };
  }
  const { path } = target;
  const file = await (resume
    ? ExportFile.resume(path, identity, params)
    : ExportFile.begin(path, identity, params));
  const { state } = file;
  const shown = readText(context, "output");
  const hint = once(() => output.hint(`to complete ${shown}: the same command with --resume`));
  if (state.bytes > 0) hint();
  return {
    position: state.position,
    params: state.params,
    rows: state.rows,
    maxRows: readMaxRows(state.flags.rows),
    isEmpty: state.bytes === 0,
    write: async (chunk, next, rows) => {
      await file.write(chunk, next, rows);
      hint();
    },
    close: () => file.close(),
  };
}

function readMaxRows(text: string | undefined): number | undefined {
  return text === undefined ? undefined : readCount(text, "--rows");
}

function once(work: () => void): () => void {
  let left = true;
  return () => {
    if (left) work();
    left = false;
  };
}

/** Returns the flags that select rows, as typed. */
function readRowFlags(context: Context): Record<string, string> {
  const names = Object.keys(context.command.options).filter((name) => !OUTPUT_FLAGS.includes(name));
  const flags = names.map((name) => [name, readText(context, name)] as const);
  return Object.fromEntries(flags.filter(([, value]) => value !== undefined)) as Record<
    string,
    string
  >;
}

/** Returns hooks for the client. They update `progress`, which the caller sets later. */
function watchProgress() {
  const watched = {
    progress: undefined as RowProgress | undefined,
    hooks: {
      onRequest: () => watched.progress?.endWait(),
      onResponse: (response: SeenResponse) => watched.progress?.addResponse(response),
    },
  };
  return watched;
}
