/** Shows a command's progress as a bar on a terminal. Elsewhere, reports print plain lines. */

import { type RateLimit, readLimits } from "../rate_limit.js";
import { truncate } from "./display_width.js";
import { showDuration, showWait } from "./duration.js";
import type { Output, StatusLine } from "./output.js";
import { toLine, writeNumber } from "./table.js";

const BAR = 20;
/** Without a terminal, the minimum number of requests between two lines of progress. */
const REQUESTS_PER_LINE = 10;
const TICK_MS = 500;

/** The parts of a response that affect the progress. */
export interface SeenResponse {
  status: number;
  headers: Pick<Headers, "get">;
}

/** A status line that is redrawn after every change and every half second. */
abstract class LiveLine implements StatusLine {
  protected readonly output: Output;
  #timer: ReturnType<typeof setInterval> | undefined;
  #drawn = false;

  constructor(output: Output) {
    this.output = output;
  }

  /** Returns the current content. */
  protected abstract line(): string;

  /** Shows the line if the output is interactive. */
  protected begin(): void {
    if (!this.output.interactive) return;
    this.#timer = setInterval(() => this.draw(), TICK_MS);
    this.#timer.unref();
    this.output.setStatus(this);
  }

  /** Removes the line. */
  end(): void {
    if (this.#timer === undefined) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
    this.output.setStatus(undefined);
  }

  erase(): void {
    if (this.#drawn) this.output.draw("\r\u001b[K");
    this.#drawn = false;
  }

  draw(): void {
    if (this.#timer === undefined) return;
    const line = truncate(toLine(this.line()), this.output.statusColumns - 1, "");
    this.output.draw(`\r${line}\u001b[K`);
    this.#drawn = true;
  }
}

/** The progress of a command that reads rows, one request at a time. */
export class RowProgress extends LiveLine {
  readonly #label: string;
  readonly #max: number | undefined;
  readonly #now: () => number;
  readonly #started: number;
  /** The number of rows that earlier runs have read. */
  readonly #before: number;
  #rows: number;
  #requests = 0;
  /** The number of responses that came from the gateway's cache. */
  #cached = 0;
  /** The number of requests when a line was last printed. */
  #printedRequests = 0;
  #budget: RateLimit | null = null;
  /** When the server accepts requests again, on the clock of `#now`; `null` if it does now. */
  #waitEnd: number | null = null;

  /**
   * @param options `rows` is the number of rows that earlier runs have read, `max` the maximum
   *   number of rows, and `now` returns milliseconds since 1970
   */
  constructor(
    output: Output,
    label: string,
    options: { rows?: number; max?: number | undefined; now?: () => number } = {},
  ) {
    super(output);
    this.#label = label;
    this.#max = options.max;
    this.#now = options.now ?? Date.now;
    this.#started = this.#now();
    this.#before = options.rows ?? 0;
    this.#rows = this.#before;
    this.begin();
  }

  get rows(): number {
    return this.#rows;
  }

  /** Counts a response, and reads the remaining budget and the wait from its header fields. */
  addResponse({ status, headers }: SeenResponse): void {
    this.#requests++;
    if (/;\s*hit\b/.test(headers.get("cache-status") ?? "")) this.#cached++;
    this.#budget = readLimits(headers)[0] ?? this.#budget;
    const wait = status === 429 ? Number(headers.get("retry-after")) : Number.NaN;
    this.#waitEnd = wait > 0 ? this.#now() + wait * 1000 : null;
    if (this.output.interactive) {
      this.draw();
    } else if (this.#waitEnd !== null) {
      this.output.note(`${this.describe()}; no request is left for ${showWait(wait)}`);
    }
  }

  /** Stops showing a wait. Call this when another request is sent. */
  endWait(): void {
    this.#waitEnd = null;
  }

  setRows(rows: number): void {
    this.#rows = rows;
    this.draw();
    if (this.output.interactive || this.#requests - this.#printedRequests < REQUESTS_PER_LINE)
      return;
    this.#printedRequests = this.#requests;
    this.output.note(this.describe());
  }

  /** Returns text such as `views: 500 rows in 2 requests, 98 left`. */
  describe(): string {
    const requests = `${writeNumber(this.#requests)} request${this.#requests === 1 ? "" : "s"}`;
    const cached =
      this.#cached === 0 ? "" : ` (${writeNumber(this.#cached)} from the gateway's cache)`;
    const left = this.#budget === null ? "" : `, ${writeNumber(this.#budget.left)} left`;
    return `${this.#label}: ${writeNumber(this.#rows)} rows in ${requests}${cached}${left}`;
  }

  /** The bar shows the rows, or the used budget if there is no maximum number of rows. */
  protected override line(): string {
    const max = this.#max;
    const share = max === undefined ? this.#budgetShare() : this.#rows / max;
    const bar = share === null ? "" : ` ${drawBar(share)}`;
    return `${this.describe()}${bar} ${this.#time()}`;
  }

  /** Returns the used share of the budget, from 0 to 1, or `null` if unknown. */
  #budgetShare(): number | null {
    if (this.#budget === null || !this.#budget.quota) return null;
    return 1 - this.#budget.left / this.#budget.quota;
  }

  #time(): string {
    const now = this.#now();
    if (this.#waitEnd !== null) return `waiting, ${showDuration(this.#waitEnd - now)} left`;
    const passed = now - this.#started;
    const fresh = this.#rows - this.#before;
    if (this.#max === undefined || fresh === 0) return showDuration(passed);
    return `${showDuration((passed / fresh) * Math.max(0, this.#max - this.#rows))} left`;
  }
}

/** The progress of waiting for a job, with the remaining time. */
export class WaitProgress extends LiveLine {
  readonly #timeout: number;
  readonly #now: () => number;
  readonly #started: number;
  #text: string;

  /** @param timeout in milliseconds */
  constructor(output: Output, text: string, timeout: number, now: () => number = Date.now) {
    super(output);
    this.#text = text;
    this.#timeout = timeout;
    this.#now = now;
    this.#started = now();
    this.begin();
  }

  setText(text: string): void {
    this.#text = text;
    this.draw();
  }

  protected override line(): string {
    const passed = this.#now() - this.#started;
    const left = showDuration(this.#timeout - passed);
    return `${this.#text} ${drawBar(passed / this.#timeout)} ${left} left`;
  }
}

function drawBar(share: number): string {
  const filled = Math.round(Math.min(1, Math.max(0, share)) * BAR);
  return `[${"=".repeat(filled)}${" ".repeat(BAR - filled)}]`;
}
