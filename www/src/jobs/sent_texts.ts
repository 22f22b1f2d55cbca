import { signal } from "@preact/signals";
import { keep, onKeptElsewhere, readKept } from "./browser_storage.ts";
import type { SentTexts } from "./thread.ts";

interface SentEntry extends SentTexts {
  id: string;
}

/** How many jobs are remembered, and how many of the last messages of each. */
const MAX_JOBS = 50;
const MAX_MESSAGES = 50;
/** A browser stores five million characters for a site: drafts need some of them. */
const MAX_CHARACTERS = 1_000_000;
const NOTHING: SentTexts = { prompt: null, messages: [] };

/**
 * The prompts and follow-ups that were sent from this browser to the jobs of a project, newest job
 * first. Of a gateway that keeps first lines alone, no more of them can be had than that.
 */
export class SentTextMemory {
  readonly #entries = signal<readonly SentEntry[]>([]);
  readonly #name: string;

  constructor(owner: string, ended: AbortSignal) {
    this.#name = `sent.${owner}`;
    this.#entries.value = entriesFrom(readKept(this.#name));
    onKeptElsewhere((name) => {
      if (name === this.#name) this.#entries.value = entriesFrom(readKept(name));
    }, ended);
  }

  of(id: string): SentTexts {
    return this.#entries.value.find((entry) => entry.id === id) ?? NOTHING;
  }

  notePrompt(id: string, prompt: string): void {
    this.#note(id, ({ messages }) => ({ prompt, messages }));
  }

  noteMessage(id: string, text: string, sentAt: number): void {
    this.#note(id, ({ prompt, messages }) => ({
      prompt,
      messages: [...messages, { text, sentAt }].slice(-MAX_MESSAGES),
    }));
  }

  forget(id: string): void {
    this.#save(entriesFrom(readKept(this.#name)).filter((entry) => entry.id !== id));
  }

  #note(id: string, change: (texts: SentTexts) => SentTexts): void {
    // Another tab may have sent something in the meantime.
    const kept = entriesFrom(readKept(this.#name));
    const entries = kept.length > 0 ? kept : this.#entries.peek();
    const before = entries.find((entry) => entry.id === id) ?? NOTHING;
    const others = entries.filter((entry) => entry.id !== id);
    this.#save(keepNewest([{ id, ...change(before) }, ...others].slice(0, MAX_JOBS)));
  }

  #save(entries: readonly SentEntry[]): void {
    this.#entries.value = entries;
    keep(this.#name, entries);
  }
}

/** As many of the newest as there is room for. */
function keepNewest(entries: readonly SentEntry[]): SentEntry[] {
  let left = MAX_CHARACTERS;
  return entries.filter((entry) => {
    left -= JSON.stringify(entry).length;
    return left >= 0;
  });
}

/** Entries as this page wrote them; whatever else is found there is left out. */
function entriesFrom(kept: unknown): SentEntry[] {
  if (!Array.isArray(kept)) return [];
  return kept
    .filter((entry) => typeof entry?.id === "string" && Array.isArray(entry.messages))
    .map(({ id, prompt, messages }) => ({
      id,
      prompt: typeof prompt === "string" ? prompt : null,
      messages: messages.filter(
        (message: { text?: unknown; sentAt?: unknown } | null) =>
          typeof message?.text === "string" && typeof message.sentAt === "number",
      ),
    }));
}
