/** How far a command has come: a bar on a terminal, plain lines elsewhere. */

import { type Budget, readBudget } from "./budget.js";
import { showDuration, showWait } from "./duration.js";
import type { Output, StatusLine } from "./output.js";
import { toLine, writeNumber } from "./table.js";

const BAR = 20;
/** Elsewhere there is a line for so many requests. */
const REQUESTS_PER_LINE = 10;
const TICK_MS = 500;

/** What can be said of a request's answer. */
export interface SeenResponse {
  status: number;
  headers: Pick<Headers, "get">;
}

/** A line at the end of the terminal, drawn again at every change and every half second. */
abstract class LiveLine implements StatusLine {
  protected readonly output: Output;
  #timer: ReturnType<typeof setInterval> | undefined;
  #drawn = false;

  constructor(output: Output) {
    this.output = output;
  }

  /** What the line says now. */
  protected abstract line(): string;

  /** Shows the line, where somebody watches. */
  protected begin(): void {
    if (!this.output.interactive) return;
    this.#timer = setInterval(() => this.draw(), TICK_MS);
    this.#timer.unref();
    this.output.setStatus(this);
  }

  /** Takes the line away. */
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

/** The progress of what reads rows, a request at a time. */
export class RowProgress extends LiveLine {
  readonly #label: string;
  readonly #most: number | undefined;
  readonly #now: () => number;
  readonly #started: number;
  readonly #before: number;
  #rows: number;
  #requests = 0;
  /** How many of them the gateway answered with what it had kept. */
  #kept = 0;
  /** How many there were at the last plain line. */
  #told = 0;
  #budget: Budget | null = null;
  #waitEnd: number | null = null;

  /**
   * @param options `rows` are those of an earlier run, `most` is how many there will be at most
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

  /** Counts a request, and keeps what its answer says of the budget. */
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

  /** Another request is sent: nothing is waited for any more. */
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

  /** Rows, requests and what is left, in words. */
  describe(): string {
    const requests = `${writeNumber(this.#requests)} request${this.#requests === 1 ? "" : "s"}`;
    const kept = this.#kept === 0 ? "" : ` (${writeNumber(this.#kept)} from the gateway's cache)`;
    const left = this.#budget === null ? "" : `, ${writeNumber(this.#budget.left)} left`;
    return `${this.#label}: ${writeNumber(this.#rows)} rows in ${requests}${kept}${left}`;
  }

  /** With a known end the bar is of rows, otherwise of the budget: no list says how long it is. */
  protected override line(): string {
    const most = this.#most;
    const share = most === undefined ? this.#budgetShare() : this.#rows / most;
    const bar = share === null ? "" : ` ${drawBar(share)}`;
    return `${this.describe()}${bar} ${this.#time()}`;
  }

  /** Which part of the budget is used. */
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

/** The progress of a wait: how long it still may take. */
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
