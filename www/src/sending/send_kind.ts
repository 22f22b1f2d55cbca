import { HOUR_MS } from "../shell/durations.ts";

/** The words and the key of the writes of a draft. */
export interface SendKind {
  /** As in "the list of jobs". */
  many: string;
  /** As in "the gateway starts the same prompt only once". */
  same: string;
  /** As in "deleted its job". */
  one: string;
  /** How long a retry uses the same idempotency key, in milliseconds. */
  keyLife: number;
  /** Whether a later retry asks first, or starts something new. */
  afterKey: "ask" | "start over";
}

export const PROMPT: SendKind = {
  many: "jobs",
  same: "the same prompt",
  one: "job",
  // Gateways remember a key for an hour longer. A later retry could start a second job.
  keyLife: 23 * HOUR_MS,
  afterKey: "ask",
};
