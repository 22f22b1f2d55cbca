import { describeProblem, kindOf, type Problem, type Words } from "../shell/problem.ts";
import { SEND_WORDS } from "./words.ts";

/** Describes a failed write. It may have been processed nevertheless. */
export function describeSendProblem(error: unknown, now: number): Problem {
  return { ...describeProblem(error, now), ...wordsFor(Object(error)) };
}

const UNKNOWN: Partial<Words> = {
  title: SEND_WORDS.forgotten,
  advice: SEND_WORDS.doubtHint,
  remedy: "look first",
};

/** By the last segment of the problem's `type`. */
const WORDS_OF_KINDS: Record<string, Partial<Words>> = {
  "idempotency-key-in-use": {
    title: SEND_WORDS.pending,
    advice: SEND_WORDS.pendingHint,
    remedy: "retry",
  },
  "record-deleted": {
    title: SEND_WORDS.sentBefore,
    advice: SEND_WORDS.sentBeforeHint,
    remedy: "other input",
  },
  "idempotency-key-reused": {
    title: SEND_WORDS.keyReused,
    advice: SEND_WORDS.keyReusedHint,
    remedy: "retry",
  },
};

function wordsFor({ name, code }: { name?: unknown; code?: unknown }): Partial<Words> {
  if (name === "OutcomeUnknownError") return UNKNOWN;
  // Without a response, the gateway may or may not have received the request.
  if (name === "ConnectionError" || name === "RequestTimeoutError") {
    return { advice: SEND_WORDS.connectionHint };
  }
  return WORDS_OF_KINDS[kindOf({ code })] ?? {};
}
