/** Shows a command's progress: a bar on a terminal, plain lines elsewhere. */

import { type Budget, readBudget } from "./budget.js";
import { showDuration, showWait } from "./duration.js";
import type { Output, StatusLine } from "./output.js";
import { toLine, writeNumber } from "./table.js";

const BAR = 20;
/** Without a terminal, one line is written per this number of requests. */
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
    const line = [...toLine(this.line())].slice(0, this.output.statusColumns - 1).join("");
    this.output.draw(`\r${line}\u001b[K`);
    this.#drawn = true;
  }
}

/** The progress of a command that reads rows, one request at a time. */
export class RowProgress extends LiveLine {
  readonly #label: string;
  readonly #most: number | undefined;
  readonly #now: () => number;
  readonly #started: number;
  /** The number of rows that earlier runs have read. */
  readonly #before: number;
  #rows: number;
  #requests = 0;
  /** The number of responses that came from the gateway's cache. */
  #kept = 0;
  /** The value of `#requests` at the last plain line. */
  #told = 0;
  #budget: Budget | null = null;
  /** When the wait for more requests ends, on the clock of `#now`; `null` if not waiting. */
  #waitEnd: number | null = null;

  /**
   * @param options `rows` is the number of rows that earlier runs have read, `most` the maximum
   *   number of rows, and `now` returns milliseconds since 1970
   */
  constructor(
    output: Output,
    label: string,
    options: { rows?: number; most?: number | undefined; now?: () => number } = {},
  ) {
    super(output);
    this.#label = label;
    this.#most = options.most;
    this.#now = options.now ?? Date.now;
    this.#started = this.#now();
    this.#before = options.rows ?? 0;
    this.#rows = this.#before;
    this.begin();
  }

  get rows(): number {
    return this.#rows;
  }

  /** Counts a request, and records the budget and the wait that its response announces. */
  addResponse({ status, headers }: SeenResponse): void {
    this.#requests++;
    if (/;\s*hit\b/.test(headers.get("cache-status") ?? "")) this.#kept++;
    this.#budget = readBudget(headers) ?? this.#budget;
    const wait = status === 429 ? Number(headers.get("retry-after")) : Number.NaN;
    this.#waitEnd = wait > 0 ? this.#now() + wait * 1000 : null;
    if (this.output.interactive) {
      this.draw();
    } else if (this.#waitEnd !== null) {
      this.output.note(`${this.describe()}; no request is left for ${showWait(wait)}`);
    }
  }

  /** Ends the wait, because another request is being sent. */
  endWait(): void {
    this.#waitEnd = null;
  }

  setRows(rows: number): void {
    this.#rows = rows;
    this.draw();
    if (this.output.interactive || this.#requests - this.#told < REQUESTS_PER_LINE) return;
    this.#told = this.#requests;
    this.output.note(this.describe());
  }

  /** Returns the rows, the requests and the remaining budget as a phrase. */
  describe(): string {
    const requests = `${writeNumber(this.#requests)} request${this.#requests === 1 ? "" : "s"}`;
    const kept = this.#kept === 0 ? "" : ` (${writeNumber(this.#kept)} from the gateway's cache)`;
    const left = this.#budget === null ? "" : `, ${writeNumber(this.#budget.left)} left`;
    return `${this.#label}: ${writeNumber(this.#rows)} rows in ${requests}${kept}${left}`;
  }

  /**
   * The bar shows rows if their maximum is known, otherwise the budget: lists do not include their
   * length.
   */
  protected override line(): string {
    const most = this.#most;
    const share = most === undefined ? this.#budgetShare() : this.#rows / most;
    const bar = share === null ? "" : ` ${drawBar(share)}`;
    return `${this.describe()}${bar} ${this.#time()}`;
  }

  /** Returns the used share of the budget, from 0 to 1, or `null` if unknown. */
  #budgetShare(): number | null {
    if (this.#budget === null || !this.#budget.limit) return null;
    return 1 - this.#budget.left / this.#budget.limit;
  }

  #time(): string {
    const now = this.#now();
    if (this.#waitEnd !== null) return `waiting, ${showDuration(this.#waitEnd - now)} left`;
    const passed = now - this.#started;
    const fresh = this.#rows - this.#before;
    if (this.#most === undefined || fresh === 0) return showDuration(passed);
    return `${showDuration((passed / fresh) * Math.max(0, this.#most - this.#rows))} left`;
  }
}

/** The progress of a wait, with the remaining time. */
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
