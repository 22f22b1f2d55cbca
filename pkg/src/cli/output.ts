/** What a command prints: results on standard output, everything else on standard error. */

import type { Host, Stream } from "./command.js";
import { escapeControls, replaceControls, toLine } from "./table.js";

/** A line that stands last on the terminal and is drawn again and again. */
export interface StatusLine {
  erase(): void;
  draw(): void;
}

export interface OutputOptions {
  json: boolean;
  quiet: boolean;
}

export class Output {
  readonly json: boolean;
  readonly quiet: boolean;
  /** Whether a person watches standard error, on a terminal that can go back in a line. */
  readonly interactive: boolean;
  readonly #host: Host;
  #status: StatusLine | undefined;
  readonly #hints: string[] = [];

  constructor(host: Host, { json, quiet }: OutputOptions) {
    this.#host = host;
    this.json = json;
    this.quiet = quiet;
    this.interactive = !quiet && !json && host.stderr.isTTY === true && host.env.TERM !== "dumb";
  }

  /** Whether results go to a terminal. */
  get isTerminal(): boolean {
    return this.#host.stdout.isTTY === true;
  }

  /** How many characters a line of the terminal has, where results go to one. */
  get columns(): number | undefined {
    return this.isTerminal ? this.#host.stdout.columns : undefined;
  }

  /** How many characters a line of standard error has. */
  get statusColumns(): number {
    return this.#host.stderr.columns ?? 80;
  }

  /** Writes a line of the result. */
  print(line: string): Promise<void> {
    return this.write(`${line}\n`);
  }

  /** Writes a value as JSON. */
  printJson(value: unknown): Promise<void> {
    if (!this.isTerminal) return this.print(JSON.stringify(value));
    return this.print(escapeControls(JSON.stringify(value, null, 2)));
  }

  /** Writes rows as a server has them; a terminal gets none that it would obey. */
  writeRows(rows: Uint8Array): Promise<void> {
    if (!this.isTerminal) return this.write(rows);
    return this.write(replaceControls(new TextDecoder().decode(rows).replaceAll("\r\n", "\n")));
  }

  /** Writes a part of the result, and resolves when there is room for more. */
  async write(data: string | Uint8Array): Promise<void> {
    // On a terminal the result and the status line would share a line.
    if (this.isTerminal) this.#status?.erase();
    await writeAll(this.#host.stdout, data);
    if (this.isTerminal) this.#status?.draw();
  }

  /** Tells people something that is not the result. */
  note(text: string): void {
    if (!this.quiet && !this.json) this.#say(text);
  }

  /** Tells people and programs what they should know of a result. */
  warn(message: string): void {
    if (this.quiet) return;
    this.#say(this.json ? JSON.stringify({ warning: { message } }) : `quillgate: ${message}`);
  }

  /** Writes a line of the log that `QUILLGATE_LOG` asks for. */
  log(message: string): void {
    if (this.quiet) return;
    this.#say(this.json ? JSON.stringify({ log: { message } }) : message);
  }

  /** Remembers what the user can do if the command does not succeed. */
  hint(text: string): void {
    this.#hints.push(text);
  }

  /** Says why a command has failed, with the hints. */
  fail(error: ErrorReport): void {
    const hints = [...error.hints, ...this.#hints];
    if (this.json) {
      this.#say(JSON.stringify({ error: { ...error, hints } }));
      return;
    }
    this.#say(`quillgate: ${error.message}`);
    // A gateway's only detail is often the message itself.
    for (const detail of error.details) {
      if (!error.message.includes(toLine(detail))) this.#say(`  ${toLine(detail)}`);
    }
    if (error.requestId !== null) this.#say(`  request ${error.requestId}`);
    if (!this.quiet) for (const hint of hints) this.#say(`  ${hint}`);
  }

  /** Writes on standard error without a line's end, for a status line. */
  draw(text: string): void {
    this.#host.stderr.write(text);
  }

  /** Makes a line the status line, until it is taken away by `undefined`. */
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

/** Why a command has failed. */
export interface ErrorReport {
  name: string;
  message: string;
  exitCode: number;
  status: number | null;
  requestId: string | null;
  details: readonly string[];
  hints: readonly string[];
}

function writeAll(stream: Stream, data: string | Uint8Array): Promise<void> {
  return new Promise((resolve, reject) => {
    stream.write(data, (error) => (error ? reject(error) : resolve()));
  });
}
