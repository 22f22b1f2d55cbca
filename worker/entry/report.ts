/** What a gate tells of a request beside its answer: for the log and `Server-Timing`. */
import type { Answer } from "./core.js";
import type { Exchange } from "./upstream.js";

export interface Report {
  upstream?: Exchange;
  /** `hit`, `miss`, `stale` … as in `Cache-Status`. */
  cache?: string;
  /** Slots left in the budget. */
  budgetLeft?: number;
  /** What the operator has to mend. */
  operator?: string;
}

/** A whole answer, and how it came about. */
export interface Reported {
  answer: Answer;
  report: Report;
}

/** An answer with further header fields. */
export function withHeaders(answer: Answer, headers: Record<string, string>): Answer {
  return { ...answer, headers: { ...headers, ...answer.headers } };
}

/** A problem as the answer to another request (RFC 9457, section 3.1.5). */
export function withInstance(answer: Answer, id: string): Answer {
  if (answer.body === null) return answer;
  const problem: unknown = JSON.parse(answer.body);
  return { ...answer, body: JSON.stringify({ ...(problem as object), instance: id }) };
}
