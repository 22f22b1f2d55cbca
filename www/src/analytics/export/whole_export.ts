import { signal } from "@preact/signals";
import { currentTime } from "../../shell/clock_skew.ts";
import { describeProblem, type Problem } from "../../shell/problem.ts";
import type { ExportFormat } from "../rows/rows_text.ts";

/** The part of the package's export stream that this module uses. */
export interface ByteStream {
  getReader(): {
    read(): Promise<{ done: boolean; value?: Uint8Array | undefined }>;
    cancel(): Promise<void>;
  };
  /** The position after the last chunk. */
  readonly nextPosition?: unknown;
  /** Whether the totals changed between two pages. */
  readonly isMixed?: boolean;
}

/** Opens the stream of the whole report, from a position or from the start. */
export type OpenStream = (
  format: "csv" | "ndjson",
  resumeFrom: unknown,
  signal: AbortSignal,
) => ByteStream;

/**
 * An export file with all rows of a report. After a failure, it resumes without reading any page
 * twice.
 */
export class WholeExport {
  readonly format: ExportFormat;
  /** The number of pages read so far. */
  readonly pages = signal(0);
  /** The reason for an interruption; null while the export runs. */
  readonly problem = signal<Problem | null>(null);
  /** Whether the totals changed during the export. Rows can then be missing or repeated. */
  isMixed = false;
  readonly #open: OpenStream;
  readonly #chunks: Uint8Array[] = [];
  #position: unknown;
  #controller = new AbortController();

  constructor(format: ExportFormat, open: OpenStream) {
    this.format = format;
    this.#open = open;
  }

  /** Reads the missing pages. Returns whether the file is complete. */
  async run(): Promise<boolean> {
    const controller = new AbortController();
    this.#controller = controller;
    this.problem.value = null;
    try {
      await this.#read(controller.signal);
      return !controller.signal.aborted;
    } catch (error) {
      if (!controller.signal.aborted) this.problem.value = describeProblem(error, currentTime());
      return false;
    }
  }

  /** Stops and discards the pages read so far. */
  cancel(): void {
    this.#chunks.length = 0;
    this.#controller.abort();
  }

  /** Returns the complete file. A JSON file starts with the properties of `about`. */
  parts(about: Readonly<Record<string, unknown>>): BlobPart[] {
    if (this.format !== "json") return this.#chunks as BlobPart[];
    const decoder = new TextDecoder();
    const lines = this.#chunks.map((chunk) => decoder.decode(chunk).trimEnd()).filter(Boolean);
    const rows = lines.join("\n").replaceAll("\n", ",\n");
    const head = JSON.stringify(about).slice(0, -1);
    return [`${head === "{" ? head : `${head},`}"rows":[\n${rows}\n]}\n`];
  }

  async #read(signal: AbortSignal): Promise<void> {
    const stream = this.#open(this.format === "csv" ? "csv" : "ndjson", this.#position, signal);
    const reader = stream.getReader();
    for (;;) {
      const { done, value } = await reader.read();
      if (signal.aborted) return;
      this.isMixed ||= stream.isMixed === true;
      if (done) return;
      if (value !== undefined) this.#chunks.push(value);
      this.#position = stream.nextPosition;
      this.pages.value += 1;
    }
  }
}
