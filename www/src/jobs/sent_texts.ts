import { KeptList } from "../session/kept_list.ts";
import type { PersonData } from "../session/person_data.ts";
import type { SentMessage, SentTexts } from "./thread.ts";

/** The maximum number of remembered jobs, and of messages per job. */
const MAX_JOBS = 50;
const MAX_MESSAGES = 50;
/** Browsers store about five million characters per site. Drafts need some of that. */
const MAX_CHARACTERS = 1_000_000;
const NOTHING: SentTexts = { prompt: null, messages: [] };

/**
 * The prompts and follow-ups that this browser sent to a project's jobs. For gateways that store
 * only first lines, this is the only complete copy.
 */
export class SentTextMemory {
  readonly #kept: KeptList<SentTexts>;

  constructor(data: PersonData, projectId: string, ended: AbortSignal) {
    this.#kept = new KeptList(data, ["sent", projectId], sentTextsFrom, ended);
  }

  of(id: string): SentTexts {
    return this.#kept.find(id)?.item ?? NOTHING;
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
    const kept = this.#kept.find(id);
    if (kept !== null) this.#kept.remove(kept);
  }

  #note(id: string, change: (texts: SentTexts) => SentTexts): void {
    this.#kept.put(id, change(this.#kept.read(id)?.item ?? NOTHING));
    this.#dropOldest();
  }

  /** Keeps the newest jobs that fit. */
  #dropOldest(): void {
    let left = MAX_CHARACTERS;
    const newest = this.#kept.all.peek().toReversed();
    for (const [index, kept] of newest.entries()) {
      left -= JSON.stringify(kept.item).length;
      if (left < 0 || index >= MAX_JOBS) this.#kept.remove(kept);
    }
  }
}

function sentTextsFrom(value: unknown): SentTexts | null {
  const { prompt, messages } = Object(value) as Partial<Record<keyof SentTexts, unknown>>;
  if (!Array.isArray(messages)) return null;
  return {
    prompt: typeof prompt === "string" ? prompt : null,
    messages: messages.filter(isMessage),
  };
}

function isMessage(value: unknown): value is SentMessage {
  const { text, sentAt } = Object(value) as Partial<Record<keyof SentMessage, unknown>>;
  return typeof text === "string" && typeof sentAt === "number";
}
