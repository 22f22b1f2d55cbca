import type { JobRecord } from "quillgate";
import type { KeptPrompts } from "../session/claims.ts";
import { firstLine } from "./job_state.ts";

/** How much of a text is known. */
export type Extent = "whole" | "start" | "nothing";

/** A follow-up as this browser sent it. */
export interface SentMessage {
  text: string;
  sentAt: number;
}

/** What this browser itself sent to a job. */
export interface SentTexts {
  prompt: string | null;
  messages: readonly SentMessage[];
}

export interface ThreadMessage {
  kind: "prompt" | "follow-up";
  text: string;
  extent: Extent;
  author: string | null;
  /** Milliseconds since 1970. */
  sentAt: number | null;
}

/** How far the clocks of a browser and a gateway may differ for a message without a text. */
const SAME_MESSAGE_MS = 120_000;

/** The part of a job that its thread needs. */
interface ListedPrompt {
  prompt: string | null;
  createdBy: string | null;
  createdAt: string | null;
}

/**
 * Returns the prompt and follow-ups of a job in order: those that the gateway stores, with the texts of
 * this browser where it sent them, and those that only this browser knows.
 */
export function buildThread(
  record: JobRecord | null,
  sent: SentTexts,
  listed: ListedPrompt | null,
  keeps: KeptPrompts,
): ThreadMessage[] {
  const job = record?.job ?? listed;
  const own = [...sent.messages];
  const recorded = (record?.messages ?? []).map((message): ThreadMessage => {
    const sentAt = timeOf(message.sentAt);
    const place = own.findIndex((one) => isSame(one, message.prompt, sentAt));
    const [known] = place < 0 ? [] : own.splice(place, 1);
    const text = chooseText(known?.text ?? null, message.prompt, message.prompt, keeps);
    return { kind: "follow-up", ...text, author: message.author, sentAt };
  });
  const unrecorded = own.map(
    ({ text, sentAt }): ThreadMessage => ({
      kind: "follow-up",
      text,
      extent: "whole",
      author: null,
      sentAt,
    }),
  );
  const messages = [...recorded, ...unrecorded].sort(
    (one, other) => (one.sentAt ?? 0) - (other.sentAt ?? 0),
  );
  return [
    {
      kind: "prompt",
      ...chooseText(sent.prompt, record?.prompt ?? job?.prompt ?? null, job?.prompt ?? null, keeps),
      author: job?.createdBy ?? null,
      sentAt: timeOf(job?.createdAt ?? null),
    },
    ...messages,
  ];
}

/** Returns the string that this browser sent, or else the part that the gateway stores. */
function chooseText(
  sent: string | null,
  kept: string | null,
  line: string | null,
  keeps: KeptPrompts,
): { text: string; extent: Extent } {
  if (sent !== null) return { text: sent, extent: "whole" };
  if (kept === null || kept === "") return { text: "", extent: "nothing" };
  // Only a whole text has a second line, or is longer than the line that is listed. A line that was
  // stored before the gateway kept whole prompts may be cut.
  const isLonger = kept.trim().includes("\n") || kept !== line;
  const isWhole = isLonger || (keeps === "whole" && !kept.endsWith("…"));
  return { text: kept, extent: isWhole ? "whole" : "start" };
}

function isSame(sent: SentMessage, kept: string | null, sentAt: number | null): boolean {
  if (kept !== null) return sent.text === kept || isFirstLineOf(kept, sent.text);
  return sentAt !== null && Math.abs(sentAt - sent.sentAt) <= SAME_MESSAGE_MS;
}

function isFirstLineOf(line: string, text: string): boolean {
  const first = firstLine(text);
  return first === line || (line.endsWith("…") && first.startsWith(line.slice(0, -1)));
}

function timeOf(instant: string | null): number | null {
  const time = instant === null ? Number.NaN : Date.parse(instant);
  return Number.isNaN(time) ? null : time;
}
