import { describeProblem, kindOf, type Problem, type Words } from "../shell/problem.ts";
import { SEND_WORDS } from "./words.ts";

/** Describes a failed write. It may have been processed nevertheless. */
export function describeSendProblem(error: unknown, now: number): Problem {
  return { ...describeProblem(error, now), ...wordsFor(Object(error)) };
}

function wordsFor({ name, code }: { name?: unknown; code?: unknown }): Partial<Words> {
  if (name === "OutcomeUnknownError") {
    return {
      title: SEND_WORDS.forgotten,
      advice: SEND_WORDS.doubtHint,
      remedy: "look first",
    };
  }
  // Without a response, the gateway may or may not have received the request.
  if (name === "ConnectionError" || name === "RequestTimeoutError") {
    return {
      advice: SEND_WORDS.connectionHint,
    };
  }
  switch (kindOf({ code })) {
    case "idempotency-key-in-use":
      return {
        title: SEND_WORDS.pending,
        advice: SEND_WORDS.pendingHint,
        remedy: "retry",
      };
    case "record-deleted":
      return {
        title: SEND_WORDS.sentBefore,
        advice: SEND_WORDS.sentBeforeHint,
        remedy: "other input",
      };
    case "idempotency-key-reused":
      return {
        title: SEND_WORDS.keyReused,
        advice: SEND_WORDS.keyReusedHint,
        remedy: "retry",
      };
    default:
      return {};
  }
}
