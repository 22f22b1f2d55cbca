/** The idempotency keys and requested failures of the fake gateway. */

import { type ProblemName, problemKind, problemReply, type Reply } from "./fake_response.js";
import type { Route } from "./generated/routes.js";
import type { Operations } from "./types.js";

/**
 * A failure: the problem that the gateway returns, `connection-error` for a connection that breaks, or
 * `no-response` for a request that is never answered.
 */
export type FakeFailure = ProblemName | "connection-error" | "no-response";

/** Options of `FakeGateway.fail`. */
export interface FailOptions {
  /** Fails requests of this operation only. @default every operation */
  operation?: keyof Operations | undefined;
  /** Number of requests that fail. @default 1 */
  times?: number | undefined;
  /** The `Retry-After` of a problem that has one, in seconds. @default 1 */
  retryAfter?: number | undefined;
  /** The `detail` of the problem. @default its title */
  detail?: string | undefined;
}

/** The failures that a test requested. */
export class FakeFailures {
  #planned: (FailOptions & { failure: FakeFailure; times: number })[] = [];

  add(failure: FakeFailure, options: FailOptions): void {
    this.#planned.push({ ...options, times: options.times ?? 1, failure });
  }

  /** Returns the planned failure of a request, if any. Each call uses up one. */
  take(operation: string): (FailOptions & { failure: FakeFailure }) | undefined {
    const fits = (each: FailOptions) => !each.operation || each.operation === operation;
    const planned = this.#planned.find(fits);
    if (planned === undefined) return undefined;
    planned.times -= 1;
    this.#planned = this.#planned.filter(({ times }) => times > 0);
    return planned;
  }
}

/**
 * Returns the reply of a requested problem.
 *
 * @internal
 */
export function failureReply(name: ProblemName, route: Route, options: FailOptions): Reply {
  const { title, headers: declared, isUncertain } = problemKind(name);
  const { retryAfter = 1, detail = title } = options;
  const headers: Record<string, string> = {};
  const members: Record<string, unknown> = {};
  if (declared.includes("Retry-After")) headers["retry-after"] = String(retryAfter);
  if (name === "quota-exceeded") {
    headers.ratelimit = `"${route.policy}";r=0;t=${retryAfter}`;
    members["violated-policies"] = [route.policy];
  }
  if (name === "upstream-error") members.upstream = { status: 502, error: detail, details: [] };
  const isUnknown = name === "outcome-unknown" || (isUncertain && route.method === "POST");
  if (isUnknown) members.outcome = "unknown";
  return problemReply(name, detail, members, headers);
}

/** Deduplicates writes by their `Idempotency-Key`. Does not store failed writes. */
export class FakeKeys {
  /** The outcomes by key. Without a reply, the outcome is unknown. */
  readonly #outcomes = new Map<string, { content: string; reply: Reply | undefined }>();

  /**
   * Performs a write. If an earlier write with the same key succeeded, returns its reply instead.
   * If its outcome is unknown, returns a problem, unless `Idempotency-Retry` is `force`.
   *
   * @param content the address and body of the request, which must be the same for the same key
   */
  run(request: Request, content: string, perform: () => Reply): Reply {
    const key = request.headers.get("idempotency-key");
    if (key === null) return perform();
    const earlier = this.#outcomes.get(key);
    const isForced = request.headers.get("idempotency-retry") === "force";
    if (earlier && (earlier.content !== content || earlier.reply || !isForced)) {
      return repeatedReply(earlier, content);
    }
    const reply = perform();
    const isUnknown = (reply.body as { outcome?: unknown }).outcome === "unknown";
    if (isUnknown || reply.status < 300) {
      this.#outcomes.set(key, { content, reply: isUnknown ? undefined : reply });
    }
    return reply;
  }
}

function repeatedReply(
  earlier: { content: string; reply: Reply | undefined },
  content: string,
): Reply {
  if (earlier.content !== content) {
    return problemReply("idempotency-key-reused", "this key was used for another request");
  }
  if (earlier.reply) {
    const headers = { ...earlier.reply.headers, "idempotent-replayed": "true" };
    return { ...earlier.reply, headers };
  }
  const detail = "the outcome of the first request with this key is unknown";
  return problemReply("outcome-unknown", detail, { outcome: "unknown" });
}

/** Never resolves. Rejects when the request is aborted. */
export function neverRespond({ signal }: Request): Promise<Response> {
  return new Promise((_, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason));
  });
}
