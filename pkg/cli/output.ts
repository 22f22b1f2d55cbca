/** Writes a command's results to stdout and everything else to stderr. */

import { showRelativeTime } from "./duration.js";
import type { Host, Stream } from "./host.js";
import { replaceControls, toLine } from "./table.js";
import { supportsColor, supportsLinks } from "./terminal.js";
import { escapeJson } from "./workflow_commands.js";

/** A line at the bottom of the terminal that is redrawn in place. */
export interface StatusLine {
  erase(): void;
  draw(): void;
}

/** The flags that control the output. */
export interface OutputOptions {
  json: boolean;
  quiet: boolean;
}

export class Output {
  readonly json: boolean;
  readonly quiet: boolean;
  /** Whether to draw a status line on stderr and to ask questions. */
  readonly interactive: boolean;
  readonly #host: Host;
  #stdout: Stream;
  #status: StatusLine | undefined;
  readonly #hints = new Set<string>();
  readonly #urgentHints = new Set<string>();

  constructor(host: Host, { json, quiet }: OutputOptions) {
    this.#host = host;
    this.#stdout = host.stdout;
    this.json = json;
    this.quiet = quiet;
    this.interactive = !quiet && !json && host.stderr.isTTY === true && host.env.TERM !== "dumb";
  }

  /** Sends the result through a filter instead of directly to stdout. */
  filterWith(filter: Stream): void {
    this.#stdout = filter;
  }

  get isTerminal(): boolean {
    return this.#stdout.isTTY === true;
  }

  /** Whether stdout shows colors. */
  get hasColor(): boolean {
    return supportsColor(this.#stdout, this.#host.env);
  }

  /** Whether stdout shows hyperlinks. */
  get hasLinks(): boolean {
    return supportsLinks(this.#stdout, this.#host.env);
  }

  /**
   * Formats an instant for a terminal: relative to now, or as a date if it is at least 30 days
   * away. Elsewhere, or if the string is not an instant, returns it unchanged.
   */
  showTime(time: string | null): string | null {
    return time === null || !this.isTerminal ? time : showRelativeTime(time, Date.now());
  }

  /**
   * The width of stdout in columns; `undefined` if stdout is not a terminal, or one that does not
   * know its width. Such a terminal reports 0.
   */
  get columns(): number | undefined {
    return (this.isTerminal && this.#stdout.columns) || undefined;
  }

  /** The width of stderr in columns; 80 if unknown. */
  get statusColumns(): number {
    return this.#host.stderr.columns || 80;
  }

  /** Writes a line of the result to stdout. */
  print(line: string): Promise<void> {
    return this.write(`${line}\n`);
  }

  /** Writes a value as JSON, indented on a terminal. */
  printJson(value: unknown): Promise<void> {
    return this.print(this.toJson(value, this.isTerminal ? 2 : 0));
  }

  /** Writes a value as a line of JSON. */
  printJsonLine(value: unknown): Promise<void> {
    return this.print(this.toJson(value));
  }

  /** Returns a value as JSON: see {@link escapeJson}. */
  toJson(value: unknown, indent = 0): string {
    return escapeJson(JSON.stringify(value, null, indent), this.#host);
  }

  /** Writes rows from a server. Replaces control characters on a terminal, and only there. */
  writeRows(rows: string | Uint8Array): Promise<void> {
    return this.write(this.isTerminal ? replaceControlsOfRows(rows) : rows);
  }

  /** Writes part of the result to stdout. Resolves when the stream has processed it. */
  async write(data: string | Uint8Array): Promise<void> {
    // The status line is on the same terminal, so the result would be appended to it.
    if (this.isTerminal) this.#status?.erase();
    await writeAll(this.#stdout, data);
    if (this.isTerminal) this.#status?.draw();
  }

  /** Writes a message that is not part of the result, unless `--quiet` or `--json` is set. */
  note(text: string): void {
    if (!this.quiet && !this.json) this.#say(text);
  }

  /**
   * Writes a warning about the result unless `--quiet` is set. With `--json`, it is a line of JSON.
   */
  warn(message: string): void {
    if (this.quiet) return;
    this.#say(this.json ? this.toJson({ warning: { message } }) : `quillgate: ${message}`);
  }

  /** Writes a line of the client's log, unless `--quiet` is set. `QUILLGATE_LOG` enables the log. */
  log(message: string): void {
    if (this.quiet) return;
    this.#say(this.json ? this.toJson({ log: { message } }) : message);
  }

  /** Adds a suggestion to show if the command fails. Returns a function that removes it. */
  hint(text: string): () => void {
    this.#hints.add(text);
    return () => this.#hints.delete(text);
  }

  /** Adds a {@link hint} that `--quiet` does not omit, such as the path of a typed prompt. */
  urgentHint(text: string): () => void {
    this.#urgentHints.add(text);
    return () => this.#urgentHints.delete(text);
  }

  /** Reports why a command failed, with the hints. `--quiet` without `--json` omits most of them. */
  fail(error: ErrorReport): void {
    const all = [...error.hints, ...this.#hints, ...this.#urgentHints];
    const hints = this.quiet && !this.json ? [...this.#urgentHints] : all;
    if (this.json) {
      this.#say(this.toJson({ error: { ...error, hints } }));
      return;
    }
    this.#say(`quillgate: ${error.message}`);
    // A gateway's error often has one detail, which repeats the message.
    for (const detail of error.details) {
      if (!error.message.includes(toLine(detail))) this.#say(`  ${toLine(detail)}`);
    }
    if (error.requestId !== null) this.#say(`  request ${error.requestId}`);
    for (const hint of hints) this.#say(`  ${hint}`);
  }

  /** Writes the status line or the help to stderr, verbatim. */
  draw(text: string): void {
    this.#host.stderr.write(text);
  }

  /** Sets the status line; `undefined` removes it. */
  setStatus(status: StatusLine | undefined): void {
    this.#status?.erase();
    this.#status = status;
    status?.draw();
  }

  #say(text: string): void {
    this.#status?.erase();
    this.#host.stderr.write(`${replaceControls(text)}\n`);
    this.#status?.draw();
  }
}

/** The error of a failed command, in the form that `--json` prints. */
export interface ErrorReport {
  name: string;
  message: string;
  exitCode: number;
  /** The HTTP status; `null` if there was no response. */
  status: number | null;
  /** The problem's `type`: the path of the gateway's page about it. */
  type: string | null;
  requestId: string | null;
  details: readonly string[];
  hints: readonly string[];
}

/** Replaces control characters in rows from a server, for a terminal. */
export function replaceControlsOfRows(rows: string | Uint8Array): string {
  const text = typeof rows === "string" ? rows : new TextDecoder().decode(rows);
  return replaceControls(text.replaceAll("\r\n", "\n"));
}

/** Writes to a stream. Resolves when the stream has processed the data. */
export function writeAll(stream: Stream, data: string | Uint8Array): Promise<void> {
  return new Promise((resolve, reject) => {
    stream.write(data, (error) => (error ? reject(error) : resolve()));
  });
}
