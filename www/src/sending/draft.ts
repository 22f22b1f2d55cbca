import { computed, signal } from "@preact/signals";
import type { Entry } from "../session/person_data.ts";
import { currentTime } from "../shell/clock_skew.ts";
import { HOUR_MS, MINUTE_MS } from "../shell/durations.ts";
import type { Problem } from "../shell/problem.ts";
import { isRefusal } from "./refusal.ts";
import { PROMPT, type SendKind } from "./send_kind.ts";
import { describeSendProblem, isRecordDeleted } from "./send_problem.ts";
import { SEND_WORDS } from "./words.ts";

interface Attempt {
  text: string;
  idempotencyKey: string;
  /** Why a retry is unsafe; null while a retry with the same key is safe. */
  doubt: Problem | null;
  /** The time of the first attempt by the gateway's clock, in milliseconds since the epoch. */
  sentAt: number;
}

/** Gateways store a key for 24 hours. After that, a retry with the key could start a second job. */
const KEY_LIFE_MS = 23 * HOUR_MS;

/** How to send a prompt. `force` sends it even if it may already have been processed. */
export interface SendOptions {
  idempotencyKey: string;
  force: boolean;
  /** Whether an earlier attempt has used the key. Not an option of the client. */
  isRetry: boolean;
  signal: AbortSignal;
}

export type Submit = (prompt: string, options: SendOptions) => Promise<void>;

/**
 * A draft of a prompt or of another write. It is stored in this browser until it is sent or discarded, and shared by
 * all tabs.
 *
 * A retry of the same prompt uses the same idempotency key, so that a lost response does not start
 * a second job. If a retry could start a second job nevertheless, only {@link sendAnyway} sends the
 * prompt again.
 */
export class Draft {
  readonly text = signal("");
  readonly sending = signal(false);
  readonly problem = signal<Problem | null>(null);
  readonly isEmpty = computed(() => this.text.value.trim() === "");
  /** Whether storage refused the last change. It then lasts until the page reloads. */
  readonly isRefused = signal(false);
  /** The time of the last change, in milliseconds since the epoch. */
  changedAt = 0;
  readonly #entry: Entry;
  readonly #kind: SendKind;
  #attempt: Attempt | null = null;
  /** This tab's attempt, after another tab's took its place. */
  #replaced: Attempt | null = null;
  #call: AbortController | null = null;

  constructor(entry: Entry, kind: SendKind = PROMPT) {
    this.#entry = entry;
    this.#kind = kind;
    this.#recall();
    this.problem.value = this.#doubt();
  }

  /** The draft's storage key, which is unique. */
  get key(): string {
    return this.#entry.key;
  }

  edit(text: string): void {
    this.text.value = text;
    if (this.#replaced?.text === text) {
      this.#attempt = this.#replaced;
      this.#replaced = null;
    }
    this.#keep();
  }

  /** Loads changes from another tab, unless this tab is sending the draft. */
  renew(): void {
    if (this.sending.peek()) return;
    this.#recall();
    this.problem.value = this.#doubt();
  }

  /** Returns whether this prompt was sent without a definite response. */
  hasSent(text: string): boolean {
    return this.#attempt?.text === text;
  }

  /** Takes over the idempotency key of another draft with the same prompt. */
  inherit(other: Draft): void {
    this.#attempt = other.#attempt;
    this.#keep();
  }

  /**
   * Sends the prompt, unless it is being sent or may already have been processed. Returns whether
   * it was sent.
   */
  async send(submit: Submit): Promise<boolean> {
    const doubt = this.#doubt();
    if (doubt === null) return this.#send(submit, false);
    this.problem.value = doubt;
    return false;
  }

  /** Sends the prompt even if it may already have been processed. Returns whether it was sent. */
  sendAnyway(submit: Submit): Promise<boolean> {
    return this.#send(submit, this.#doubt() !== null);
  }

  /** Stops waiting for a response. The prompt keeps its key, so sending it again is safe. */
  cancel(): void {
    this.#call?.abort(new DOMException("no longer waited for", "AbortError"));
  }

  /** Hides the problem and keeps the unsent prompt. */
  putAside(): void {
    this.problem.value = null;
  }

  /** Deletes the draft. The returned function restores it. */
  discard(): () => void {
    const kept = this.#entry.read();
    this.#clear();
    return () => {
      this.#write(kept);
      this.renew();
    };
  }

  async #send(submit: Submit, force: boolean): Promise<boolean> {
    if (this.sending.peek()) return false;
    this.sending.value = true;
    this.problem.value = null;
    const before = this.#attempt;
    const attempt = this.#attemptFor(this.text.peek());
    const { idempotencyKey } = attempt;
    const call = new AbortController();
    const how = { idempotencyKey, force, isRetry: attempt === before, signal: call.signal };
    this.#call = call;
    try {
      await submit(attempt.text, how);
      const next = this.#readNext(attempt);
      this.text.value = next?.text ?? "";
      this.#attempt = next?.attempt ?? null;
      this.#keep();
      return true;
    } catch (error) {
      // Closing the session or its project aborts the request, too.
      if (call.signal.aborted || Object(error).name === "AbortError") {
        // The gateway recognizes the key, so sending again is safe.
        this.#attempt = { ...attempt, doubt: null };
        this.problem.value = describeWait(this.#kind);
      } else {
        this.#noteFailure(attempt, how, error);
      }
      const next = this.#readNext(attempt);
      if (next !== null) this.text.value = next.text;
      if (next?.attempt) {
        this.#replaced = this.#attempt;
        this.#attempt = next.attempt;
      }
      this.#keep();
      return false;
    } finally {
      this.#call = null;
      this.sending.value = false;
    }
  }

  #noteFailure(attempt: Attempt, how: SendOptions, error: unknown): void {
    const problem = describeSendProblem(error, currentTime(), this.#kind);
    this.problem.value = problem;
    const isDone = this.#kind.isRepeatable && isRecordDeleted(error);
    if (isRefusal(error, how) || isDone) this.#attempt = null;
    else if (problem.remedy === "look first") this.#attempt = { ...attempt, doubt: problem };
  }

  #doubt(): Problem | null {
    const attempt = this.#attempt;
    if (attempt === null || attempt.text !== this.text.peek()) return null;
    return attempt.doubt ?? (isForgotten(attempt) ? FORGOTTEN : null);
  }

  #attemptFor(text: string): Attempt {
    const before = this.#attempt;
    const attempt =
      before?.text === text
        ? before
        : { text, idempotencyKey: crypto.randomUUID(), doubt: null, sentAt: currentTime() };
    this.#attempt = attempt;
    this.#keep();
    return attempt;
  }

  /** Returns the next prompt if another tab wrote or sent one while this tab was sending. */
  #readNext(sent: Attempt): { text: string; attempt: Attempt | null } | null {
    const { text, attempt } = Object(this.#entry.read()) as Partial<Record<string, unknown>>;
    if (typeof text !== "string" || text === sent.text) return null;
    const other = attemptFrom(attempt);
    return { text, attempt: other?.text === text ? other : null };
  }

  #recall(): void {
    const kept = this.#entry.read() as Partial<Record<string, unknown>> | null;
    this.text.value = typeof kept?.text === "string" ? kept.text : "";
    this.changedAt = typeof kept?.changedAt === "number" ? kept.changedAt : 0;
    this.#attempt = attemptFrom(kept?.attempt);
  }

  #keep(): void {
    this.changedAt = Date.now();
    const [text, attempt] = [this.text.peek(), this.#attempt];
    if (text === "" && attempt === null) this.#remove();
    else this.#write({ text, attempt, changedAt: this.changedAt });
  }

  #clear(): void {
    this.#attempt = null;
    this.#replaced = null;
    this.text.value = "";
    this.problem.value = null;
    this.#remove();
  }

  #write(value: unknown): void {
    this.isRefused.value = this.#entry.write(value) !== "stored";
  }

  #remove(): void {
    this.isRefused.value = false;
    this.#entry.remove();
  }
}

const NO_ANSWER = { requestId: null, retryAt: null, isLimit: false };

function describeWait({ many, same }: SendKind): Problem {
  return {
    ...NO_ANSWER,
    title: SEND_WORDS.stopped,
    cause: SEND_WORDS.stoppedCause,
    advice: SEND_WORDS.stoppedHint(many, same),
    remedy: "retry",
  };
}

const FORGOTTEN: Problem = {
  ...NO_ANSWER,
  title: SEND_WORDS.forgotten,
  cause: SEND_WORDS.forgottenCause,
  advice: SEND_WORDS.doubtHint,
  remedy: "look first",
};

/** Returns whether the gateway may no longer store the key. A clock that was set back can't tell. */
function isForgotten({ sentAt }: Attempt): boolean {
  const age = currentTime() - sentAt;
  return age > KEY_LIFE_MS || age < -MINUTE_MS;
}

function attemptFrom(kept: unknown): Attempt | null {
  const { text, idempotencyKey, doubt = null, sentAt } = (kept ?? {}) as Partial<Attempt>;
  if (typeof text !== "string" || typeof idempotencyKey !== "string") return null;
  return { text, idempotencyKey, doubt, sentAt: typeof sentAt === "number" ? sentAt : 0 };
}
