import type { JobRecord } from "quillgate";
import { parseInstant } from "quillgate/values";
import type { KeptPrompts } from "../session/claims.ts";
import { firstLine } from "./job_state.ts";

/** The known part of a message. */
export type Extent = "whole" | "start" | "nothing";

/** A follow-up sent from this browser. */
export interface SentMessage {
  text: string;
  sentAt: number;
}

/** The prompt and follow-ups that this browser sent to a job. */
export interface SentTexts {
  prompt: string | null;
  messages: readonly SentMessage[];
}

export interface ThreadMessage {
  kind: "prompt" | "follow-up";
  text: string;
  extent: Extent;
  author: string | null;
  /** In milliseconds since the epoch. */
  sentAt: number | null;
}

/** The maximum clock difference when matching messages by time only. */
const SAME_MESSAGE_MS = 120_000;

/** The fields of a job that its thread uses. */
interface ListedPrompt {
  prompt: string | null;
  createdBy: string | null;
  createdAt: string | null;
}

/**
 * Returns the prompt and follow-ups of a job in order. Merges those stored by the gateway with
 * those sent from this browser, whose text is complete.
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
    const sentAt = parseInstant(message.sentAt);
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
      sentAt: parseInstant(job?.createdAt),
    },
    ...messages,
  ];
}

/** Returns the message sent from this browser, or else the part that the gateway stores. */
function chooseText(
  sent: string | null,
  kept: string | null,
  line: string | null,
  keeps: KeptPrompts,
): { text: string; extent: Extent } {
  if (sent !== null) return { text: sent, extent: "whole" };
  if (kept === null || kept === "") return { text: "", extent: "nothing" };
  // Only a whole message has several lines or differs from the listed line. A line stored before
  // the gateway kept whole prompts may be truncated.
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
