import { computed, type Signal, signal } from "@preact/signals";
import { Draft, type Submit } from "../sending/draft.ts";
import type { Entry, PersonData } from "../session/person_data.ts";

/** The maximum number of drafts of new jobs. */
export const MAX_DRAFTS = 10;

/** The drafts of a project's new jobs. A new draft never replaces another one. */
export class DraftShelf {
  readonly current: Signal<Draft>;
  /** The non-empty drafts and the current one. */
  readonly shown = computed(() =>
    this.#drafts.value.filter((draft) => draft === this.current.value || !draft.isEmpty.value),
  );
  readonly #drafts = signal<readonly Draft[]>([]);
  readonly #data: PersonData;
  readonly #projectId: string;

  constructor(data: PersonData, projectId: string, ended: AbortSignal) {
    this.#data = data;
    this.#projectId = projectId;
    const drafts = data.entries("draft", projectId).map((entry) => new Draft(entry));
    drafts.sort((one, other) => one.changedAt - other.changedAt);
    this.#drafts.value = drafts;
    this.current = signal(drafts.at(-1) ?? this.#addEmpty());
    data.onChangeElsewhere(["draft", projectId], (entry) => this.#renew(entry), ended);
  }

  open(draft: Draft): void {
    this.current.value = draft;
  }

  /** Opens a draft with a prompt and keeps all others. Returns whether there was room. */
  write(text: string): boolean {
    const drafts = this.#drafts.peek();
    const free =
      drafts.find((draft) => draft.text.peek() === text) ??
      drafts.find((draft) => draft.isEmpty.peek() && !draft.sending.peek());
    if (free === undefined && this.shown.peek().length >= MAX_DRAFTS) return false;
    const draft = free ?? this.#addEmpty();
    if (draft.text.peek() !== text) draft.edit(text);
    this.open(draft);
    return true;
  }

  /** Sends a draft. Reuses the key of another draft that has an open attempt with this prompt. */
  send(draft: Draft, submit: Submit): Promise<boolean> {
    const text = draft.text.peek();
    const other = this.#drafts.peek().find((one) => one !== draft && one.hasSent(text));
    if (other && !draft.hasSent(text)) draft.inherit(other);
    return draft.send(submit);
  }

  /** Opens an empty draft and keeps all others. Returns whether there was room. */
  startEmpty(): boolean {
    return this.write("");
  }

  /** Deletes a draft. The returned function restores it. */
  discard(draft: Draft): () => void {
    const restore = draft.discard();
    this.#leave(draft);
    return () => {
      if (!this.#drafts.peek().includes(draft)) {
        this.#drafts.value = [...this.#drafts.peek(), draft];
      }
      restore();
      this.open(draft);
    };
  }

  /**
   * Removes a draft that was sent, unless it has text again. If the draft was open, opens another
   * draft.
   */
  leaveSent(draft: Draft): void {
    if (draft.isEmpty.peek()) this.#leave(draft);
  }

  #leave(draft: Draft): void {
    const others = this.#drafts.peek().filter((other) => other !== draft);
    this.#drafts.value = others;
    if (this.current.peek() !== draft) return;
    this.current.value = others.findLast((other) => !other.isEmpty.peek()) ?? this.#addEmpty();
  }

  #addEmpty(): Draft {
    const entry = this.#data.entry("draft", this.#projectId, crypto.randomUUID());
    const draft = new Draft(entry);
    this.#drafts.value = [...this.#drafts.peek(), draft];
    return draft;
  }

  #renew(entry: Entry): void {
    const known = this.#drafts.peek().find(({ key }) => key === entry.key);
    if (known) known.renew();
    else this.#drafts.value = [...this.#drafts.peek(), new Draft(entry)];
  }
}
