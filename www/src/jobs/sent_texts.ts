import { signal } from "@preact/signals";
import { keep, onKeptElsewhere, readKept } from "./browser_storage.ts";
import type { SentTexts } from "./thread.ts";

interface SentEntry extends SentTexts {
  id: string;
}

/** The maximum number of remembered jobs, and of messages per job. */
const MAX_JOBS = 50;
const MAX_MESSAGES = 50;
/** Browsers store about five million characters per site. Drafts need some of that. */
const MAX_CHARACTERS = 1_000_000;
const NOTHING: SentTexts = { prompt: null, messages: [] };

/**
 * The prompts and follow-ups that this browser sent to a project's jobs. The job with the latest
 * message comes first. For gateways that store only first lines, this is the only complete copy.
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
    // Another tab may have sent a message meanwhile.
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

/** Returns as many of the newest entries as fit. */
function keepNewest(entries: readonly SentEntry[]): SentEntry[] {
  let left = MAX_CHARACTERS;
  return entries.filter((entry) => {
    left -= JSON.stringify(entry).length;
    return left >= 0;
  });
}

/** Reads stored entries. Ignores anything malformed. */
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
