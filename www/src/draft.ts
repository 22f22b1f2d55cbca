import { signal } from "@preact/signals";
import { describeProblem, type Problem } from "./problem.ts";
import { forget, recall, remember } from "./tab_storage.ts";

interface Attempt {
  text: string;
  idempotencyKey: string;
}

export type Submit = (prompt: string, idempotencyKey: string) => Promise<void>;

/**
 * A prompt that is being written, kept in this tab until it is sent.
 *
 * Sending the same text again after a failure uses the same idempotency key, so that a prompt
 * whose answer was lost does not start a second job.
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
  }

  edit(text: string): void {
    this.text.value = text;
    this.#keep();
  }

  /** Sends the text, unless it is on its way already. Says whether it was sent. */
  async send(submit: Submit): Promise<boolean> {
    if (this.sending.peek()) return false;
    this.sending.value = true;
    this.problem.value = null;
    const attempt = this.#attemptFor(this.text.peek());
    try {
      await submit(attempt.text, attempt.idempotencyKey);
      this.#clear();
      return true;
    } catch (error) {
      this.problem.value = describeProblem(error, Date.now());
      return false;
    } finally {
      this.sending.value = false;
    }
  }

  #attemptFor(text: string): Attempt {
    if (this.#attempt?.text !== text) {
      this.#attempt = { text, idempotencyKey: crypto.randomUUID() };
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
