import { signal } from "@preact/signals";
import { describeProblem, isRefusal, type Problem } from "./problem.ts";
import { forget, recall, remember } from "./tab_storage.ts";

interface Attempt {
  text: string;
  idempotencyKey: string;
  /** Why nobody knows whether the attempt was carried out; null when there is no such doubt. */
  doubt: Problem | null;
}

/** How a prompt goes out: by which key, and whether even if that may do it twice. */
export interface SendOptions {
  idempotencyKey: string;
  force: boolean;
}

export type Submit = (prompt: string, options: SendOptions) => Promise<void>;

/**
 * A prompt that is being written, kept in this tab until it is sent.
 *
 * Sending the same text again after a failure uses the same idempotency key, so that a prompt
 * whose answer was lost does not start a second job. When nobody knows what became of an attempt,
 * the same text goes out again only by {@link sendAnyway}.
 */
export class Draft {
  readonly text = signal("");
  readonly sending = signal(false);
  readonly problem = signal<Problem | null>(null);
  #attempt: Attempt | null = null;
  readonly #name: string;

  constructor(name: string) {
    this.#name = `draft.${name}`;
    const kept = recall(this.#name) as { text?: unknown; attempt?: Attempt | null } | null;
    if (typeof kept?.text === "string") this.text.value = kept.text;
    this.#attempt = kept?.attempt ?? null;
    this.problem.value = this.#doubt();
  }

  edit(text: string): void {
    this.text.value = text;
    this.#keep();
  }

  /**
   * Sends the text, unless it is on its way already or may have arrived before. Says whether it
   * was sent.
   */
  async send(submit: Submit): Promise<boolean> {
    const doubt = this.#doubt();
    if (doubt === null) return this.#send(submit, false);
    this.problem.value = doubt;
    return false;
  }

  /** Sends the text even if that does what it asks for twice. Says whether it was sent. */
  sendAnyway(submit: Submit): Promise<boolean> {
    return this.#send(submit, this.#doubt() !== null);
  }

  /** Leaves the text as it is, unsent, until the person decides otherwise. */
  putAside(): void {
    this.problem.value = null;
  }

  async #send(submit: Submit, force: boolean): Promise<boolean> {
    if (this.sending.peek()) return false;
    this.sending.value = true;
    this.problem.value = null;
    const attempt = this.#attemptFor(this.text.peek());
    try {
      await submit(attempt.text, { idempotencyKey: attempt.idempotencyKey, force });
      this.#clear();
      return true;
    } catch (error) {
      const problem = describeProblem(error, Date.now(), "write");
      this.problem.value = problem;
      if (isRefusal(error)) this.#attempt = null;
      else if (problem.remedy === "look first") this.#attempt = { ...attempt, doubt: problem };
      this.#keep();
      return false;
    } finally {
      this.sending.value = false;
    }
  }

  #doubt(): Problem | null {
    return this.#attempt?.text === this.text.peek() ? (this.#attempt.doubt ?? null) : null;
  }

  #attemptFor(text: string): Attempt {
    if (this.#attempt?.text !== text) {
      this.#attempt = { text, idempotencyKey: crypto.randomUUID(), doubt: null };
    }
    this.#keep();
    return this.#attempt;
  }

  #keep(): void {
    remember(this.#name, { text: this.text.peek(), attempt: this.#attempt });
  }

  #clear(): void {
    this.#attempt = null;
    this.text.value = "";
    forget(this.#name);
  }
}
