import { describeProblem, kindOf, type Problem, type Words } from "../shell/problem.ts";
import { PROMPT, type SendKind } from "./send_kind.ts";
import { SEND_WORDS } from "./words.ts";

/** Describes a failed write. It may have been processed nevertheless. */
export function describeSendProblem(error: unknown, now: number, kind: SendKind = PROMPT): Problem {
  return { ...describeProblem(error, now), ...wordsFor(Object(error), kind) };
}

/** Returns whether the write succeeded earlier, and an operator has deleted its record since. */
export function isRecordDeleted(error: unknown): boolean {
  return kindOf(Object(error)) === "record-deleted";
}

const UNKNOWN: Partial<Words> = {
  title: SEND_WORDS.forgotten,
  advice: SEND_WORDS.doubtHint,
  remedy: "look first",
};

/** By the last segment of the problem's `type`. */
const WORDS_OF_KINDS: Record<string, (kind: SendKind) => Partial<Words>> = {
  "idempotency-key-in-use": () => ({
    title: SEND_WORDS.pending,
    advice: SEND_WORDS.pendingHint,
    remedy: "retry",
  }),
  "record-deleted": ({ one }) => ({
    title: SEND_WORDS.sentBefore,
    advice: SEND_WORDS.sentBeforeHint(one),
    remedy: "other input",
  }),
  "idempotency-key-reused": () => ({
    title: SEND_WORDS.keyReused,
    advice: SEND_WORDS.keyReusedHint,
    remedy: "retry",
  }),
};

function wordsFor(
  { name, code }: { name?: unknown; code?: unknown },
  kind: SendKind,
): Partial<Words> {
  if (name === "OutcomeUnknownError") return UNKNOWN;
  // Without a response, the gateway may or may not have received the request.
  if (name === "ConnectionError" || name === "RequestTimeoutError") {
    return { advice: SEND_WORDS.connectionHint(kind.same) };
  }
  return WORDS_OF_KINDS[kindOf({ code })]?.(kind) ?? {};
}
