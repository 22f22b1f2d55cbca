import { describeProblem, kindOf, type Problem, type Words } from "../shell/problem.ts";

/** An error of a call that starts something: what has failed may have been done all the same. */
export function describeSendProblem(error: unknown, now: number): Problem {
  return { ...describeProblem(error, now), ...wordsFor(Object(error)) };
}

function wordsFor({ name, code }: { name?: unknown; code?: unknown }): Partial<Words> {
  if (name === "OutcomeUnknownError") {
    return {
      title: "Nobody knows whether this was done",
      advice: "Look first: doing it again may do it twice.",
      remedy: "look first",
    };
  }
  // No answer came: the gateway may have had the request or not.
  if (name === "ConnectionError" || name === "RequestTimeoutError") {
    return {
      advice:
        "Check your connection, then send it again. That is safe: the gateway knows this attempt " +
        "by its key and does it once.",
    };
  }
  switch (kindOf({ code })) {
    case "idempotency-key-in-use":
      return {
        title: "Your first attempt is still on its way",
        advice:
          "Wait a moment, then send it again: you get the first attempt’s result, not a second job.",
        remedy: "retry",
      };
    case "record-deleted":
      return {
        title: "This was sent before",
        advice: "Mintlify has it, but an operator deleted the job from this list.",
        remedy: "other input",
      };
    case "idempotency-key-reused":
      return {
        title: "The gateway took this for another request",
        advice:
          "Nothing was done this time: this draft’s key belongs to another text. Send it again; it goes with a new key.",
        remedy: "retry",
      };
    default:
      return {};
  }
}
