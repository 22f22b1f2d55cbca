import type { JobRecord } from "quillgate";
import { firstLine } from "./job_state.ts";

/** How much of a text is known. */
export type Extent = "whole" | "first line" | "nothing";

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

/**
 * What was said to a job, in order: what the gateway keeps, in the words of this browser where it
 * sent them, and what this browser sent and the gateway does not tell of.
 */
export function buildThread(
  record: JobRecord | null,
  sent: SentTexts,
  listed: { prompt: string | null; createdBy: string | null; createdAt: string | null } | null,
): ThreadMessage[] {
  const job = record?.job ?? listed;
  const own = [...sent.messages];
  const recorded = (record?.messages ?? []).map((message): ThreadMessage => {
    const sentAt = timeOf(message.sentAt);
    const place = own.findIndex((one) => isSame(one, message.prompt, sentAt));
    const [known] = place < 0 ? [] : own.splice(place, 1);
    const text = chooseText(known?.text ?? null, message.prompt);
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
      ...chooseText(sent.prompt, record?.prompt ?? job?.prompt ?? null, job?.prompt ?? null),
      author: job?.createdBy ?? null,
      sentAt: timeOf(job?.createdAt ?? null),
    },
    ...messages,
  ];
}

/** The text that was sent, when this browser sent it; otherwise what the gateway has of it. */
function chooseText(
  sent: string | null,
  kept: string | null,
  line: string | null = kept,
): { text: string; extent: Extent } {
  if (sent !== null) return { text: sent, extent: "whole" };
  if (kept === null || kept === "") return { text: "", extent: "nothing" };
  // Only a whole text has a second line, or is longer than the line that is listed.
  const isWhole = kept.trim().includes("\n") || kept !== line;
  return { text: kept, extent: isWhole ? "whole" : "first line" };
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
