/** Runs the commands of paginated reports, such as `quillgate views`. */

import { writeFile } from "node:fs/promises";
import type { Client, ListName, ListPosition } from "../index.js";
import { type Command, type Context, readSwitch, readText } from "./command.js";
import { connect } from "./connection.js";
import { readCount, readDuration } from "./duration.js";
import { UsageError } from "./errors.js";
import { ExportFile, type ExportIdentity } from "./export_file.js";
import { chooseFormat } from "./format.js";
import type { DeclaredOperation } from "./generated/operations.js";
import { explainNoRows } from "./no_rows.js";
import { findOutputFile } from "./output_file.js";
import { RowProgress, type SeenResponse } from "./progress.js";
import { makeColumns } from "./report_columns.js";
import { type ReportMethod, readReport, readReportParams } from "./report_params.js";
import { takeRecords, toJsonPart } from "./rows.js";
import { writeTable } from "./table.js";

type ExportFormat = "csv" | "ndjson" | "json";

/** The default of `--rows` for a table. */
const DEFAULT_ROWS = "50";
const MAX_WAIT_MS = 86_400_000;
/** The flags that do not change which rows an export has. */
const OUTPUT_FLAGS = ["format", "output", "resume", "wait"];

/** The methods of the client's lists that this file uses. Rows can have any type. */
interface AnyList {
  all(options: { maxRows: number; onProgress(state: { rows: number }): void }): Promise<object[]>;
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
  const params = readReportParams(context, Date.now());
  if (format === "table") await printTable(context, params, wait);
  else await exportRows(context, format, params, wait);
}

async function printTable(
  context: Context,
  params: Record<string, string>,
  wait: number,
): Promise<void> {
  const { output, command, signal } = context;
  if (readSwitch(context, "resume")) {
    throw new UsageError("--resume cannot be combined with the format table");
  }
  if (wait > 0) throw new UsageError("--wait cannot be combined with the format table");
  const max = readCount(readText(context, "rows") ?? DEFAULT_ROWS, "--rows");
  const file = await findOutputFile(context);
  const watched = watchProgress();
  const { client } = await connect(context, watched.hooks);
  const progress = new RowProgress(output, command.name, { max });
  watched.progress = progress;
  const operation = readReport(command);
  const limit = Math.min(max, readMaxLimit(operation));
  const list = makeList(client, command, { ...params, limit }, signal);
  const rows = await list
    .all({ maxRows: max, onProgress: (state) => progress.setRows(state.rows) })
    .finally(() => progress.end());
  const table = writeTable(rows, makeColumns(operation, file === undefined ? output : undefined), {
    width: file === undefined ? output.columns : undefined,
  });
  if (file === undefined) await output.write(table);
  else await writeFile(file, table);
  output.note(progress.describe());
  if (rows.length === 0) explainNoRows(context);
  if (rows.length === max) output.note(`there may be more rows: --rows N, or --format csv`);
}

async function exportRows(
  context: Context,
  format: ExportFormat,
  params: Record<string, string>,
  wait: number,
): Promise<void> {
  const { output, command, signal } = context;
  const maxRows = readMaxRows(readText(context, "rows"));
  const path = await findOutputFile(context);
  const watched = watchProgress();
  const { client, baseUrl, projectId } = await connect(context, watched.hooks);
  const flags = readRowFlags(context);
  const identity = { report: command.name, format, projectId, baseUrl, flags };
  const sink = await openSink(context, path, identity, params, maxRows);
  const progress = new RowProgress(output, command.name, { rows: sink.rows, max: sink.maxRows });
  watched.progress = progress;
  let isMixed = false;
  try {
    if (sink.position !== null) {
      const list = makeList(client, command, sink.params, signal);
      isMixed = await copy(list, format, sink, progress, { signal, wait });
    }
  } finally {
    progress.end();
    await sink.close();
  }
  output.note(progress.describe());
  if (isMixed) output.note("the totals changed during the export: rows can be missing or repeated");
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
  path: string | undefined,
  identity: ExportIdentity,
  params: Record<string, string>,
  maxRows: number | undefined,
): Promise<Sink> {
  const { output } = context;
  const resume = readSwitch(context, "resume");
  if (path === undefined) {
    if (resume) throw new UsageError("--resume needs the file of the export: -o FILE");
    return {
      position: undefined,
      params,
      rows: 0,
      maxRows,
      isEmpty: true,
      write: (chunk) => output.writeRows(chunk),
      close: async () => {},
    };
  }
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

/** Returns the maximum of the parameter `limit`. */
function readMaxLimit({ parameters }: DeclaredOperation): number {
  return parameters.find(({ name }) => name === "limit")?.max ?? Number.POSITIVE_INFINITY;
}

function makeList(
  { analytics }: Client,
  command: Command,
  params: Record<string, string | number>,
  signal: AbortSignal,
): AnyList {
  // Each report validates its parameters and rejects unknown ones, so the cast is safe.
  const method = readReport(command).name.split(".")[1] as ReportMethod;
  return analytics[method](params as never, { signal }) as unknown as AnyList;
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
