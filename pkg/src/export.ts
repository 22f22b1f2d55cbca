/** Exports a list as CSV or NDJSON. */

import { type ApiError, ValidationError } from "./errors.js";
import { follow, sleep } from "./exchange.js";
import { writeHeader, writeRows } from "./export_format.js";
import { ownProperties, refuseUnknown } from "./known.js";
import type {
  ExportOptions,
  ExportStream,
  ListName,
  ListPosition,
  PageResult,
  Source,
} from "./list_types.js";

const OPTIONS = ["format", "resumeFrom", "signal", "wait"];
const MAX_WAIT = 86_400_000;
const MIN_WAIT = 1_000;
/** Parameters that select a position in a list. All others select the list. */
const POSITIONS = ["limit", "offset", "page", "cursor", "resumeFrom"];

/** Starts to read the pages of a list. After an error, `next` requests the same page again. */
type PagesClass<Name extends ListName> = new (
  source: Source<Name>,
  signal: AbortSignal,
) => {
  next(): Promise<PageResult<Name> | null>;
  end(): void;
};

/** A page of an export, and the position after it. */
interface FormattedPage<Name extends ListName> {
  text: string;
  isMixed: boolean;
  nextPosition: ListPosition<Name> | null;
}

/**
 * Opens the stream of an export.
 *
 * @internal
 */
export function openExport<Name extends ListName>(
  source: Source<Name>,
  given: ExportOptions<Name>,
  Pages: PagesClass<Name>,
): ExportStream<Name> {
  const options = ownProperties(given);
  const left = new AbortController();
  const { signal } = left;
  const pages = formatPages(source, options, left, Pages);
  signal.addEventListener("abort", () => pages.return());
  const pull = async (controller: ReadableStreamDefaultController<Uint8Array<ArrayBuffer>>) => {
    let page: FormattedPage<Name> | undefined;
    do {
      if (signal.aborted) throw signal.reason;
      page = (await pages.next()).value ?? undefined;
      if (page === undefined) throw signal.reason; // An abort ended the iterator.
      const { text, nextPosition, isMixed } = page;
      if (text !== "") controller.enqueue(new TextEncoder().encode(text));
      Object.assign(stream, { nextPosition }, isMixed && { isMixed });
      // Continue after an empty page: a stream calls `pull` again only after a chunk.
    } while (page.text === "" && page.nextPosition !== null);
    if (page.nextPosition !== null) return;
    controller.close();
    await pages.return();
  };
  const stream = Object.assign(
    new ReadableStream({ pull, cancel: () => left.abort() }, { highWaterMark: 0 }),
    { nextPosition: options.resumeFrom, isMixed: false },
  );
  return stream;
}

/** Yields the formatted rows of each page. After a 429, waits and retries if `wait` allows it. */
async function* formatPages<Name extends ListName>(
  source: Source<Name>,
  options: ExportOptions<Name>,
  left: AbortController,
  Pages: PagesClass<Name>,
): AsyncGenerator<FormattedPage<Name>, void> {
  refuse(source, options);
  const { name } = source;
  const { format } = options;
  const { resumeFrom } = options;
  let { wait: remainingWait = 0 } = options;
  let header = format === "csv" && resumeFrom === undefined ? writeHeader(name) : "";
  let body = "";
  const readBody = async (response: Response): Promise<unknown> => {
    body = await response.text();
    return JSON.parse(body);
  };
  const leave = [source.options.signal, options.signal].map((signal) => follow(left, signal));
  const params = resumeFrom === undefined ? source.params : { resumeFrom };
  const run = new Pages({ ...source, params, readBody }, left.signal);
  try {
    for (;;) {
      try {
        const result = await run.next();
        if (result === null) return;
        const { nextPosition, isMixed } = result.page;
        const rows = writeRows(name, format, body, result.repeated);
        yield { text: header + rows, nextPosition, isMixed };
        header = "";
      } catch (error) {
        const wait = left.signal.aborted ? Number.NaN : readWait(error);
        if (!(wait <= remainingWait)) throw error;
        remainingWait -= wait;
        await sleep(wait, left.signal);
      }
    }
  } finally {
    run.end();
    for (const end of leave) end();
  }
}

/**
 * Validates the options of an export.
 *
 * @throws {ValidationError} if an option is invalid, or the position belongs to another list
 */
function refuse<Name extends ListName>(source: Source<Name>, options: ExportOptions<Name>): void {
  refuseUnknown(options, OPTIONS);
  const { format, wait = 0, resumeFrom } = options;
  if (format !== "csv" && format !== "ndjson") {
    throw new ValidationError("format must be one of csv, ndjson", "format", "one-of");
  }
  if (!(Number.isInteger(wait) && wait >= 0 && wait <= MAX_WAIT)) {
    const rule = `must be an integer of milliseconds from 0 to ${MAX_WAIT}`;
    throw new ValidationError(`wait ${rule}`, "wait", "milliseconds");
  }
  if (resumeFrom === undefined) return;
  if (typeof resumeFrom !== "object" || resumeFrom === null) {
    const message = "resumeFrom must be the position of an export that has not finished, not null";
    throw new ValidationError(message, "resumeFrom", "required");
  }
  for (const [name, value] of Object.entries(source.params)) {
    if (value == null || typeof value === "object" || POSITIONS.includes(name)) continue;
    if (value !== (resumeFrom as Record<string, unknown>)[name]) {
      const message = `resumeFrom must be a position in a list with the same ${name}`;
      throw new ValidationError(message, "resumeFrom", "one-of");
    }
  }
}

/**
 * Returns the `Retry-After` of a 429 in milliseconds, at least 1000. Returns `NaN` for other
 * errors, and for a 429 without that header.
 */
function readWait(error: unknown): number {
  const { status, retryAfter } = error as Partial<ApiError>;
  if (status !== 429 || retryAfter == null) return Number.NaN;
  return Math.max(MIN_WAIT, Math.ceil(retryAfter * 1000));
}
