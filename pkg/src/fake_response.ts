/** Responses of the fake gateway. */

import { PROBLEMS } from "./generated/routes.js";
import type { ProblemCode } from "./types.js";

/** The name of a problem: its `code` without `/problems/`. */
export type ProblemName = ProblemCode extends `/problems/${infer Name}` ? Name : never;

/** A response before it is sent. */
export interface Reply {
  status: number;
  headers: Record<string, string>;
  /** JSON, or `undefined` for no content. */
  body: unknown;
}

/** Thrown to refuse a request. */
export class Refusal extends Error {
  readonly reply: Reply;

  constructor(reply: Reply) {
    super((reply.body as { detail: string }).detail);
    this.reply = reply;
  }
}

/** Returns a successful reply. */
export function jsonReply(body: unknown, status = 200): Reply {
  return { status, headers: { "content-type": "application/json" }, body };
}

/** Returns the reply of a problem (RFC 9457). */
export function problemReply(
  name: ProblemName,
  detail: string,
  members: Record<string, unknown> = {},
  headers: Record<string, string> = {},
): Reply {
  const { status, title } = problemKind(name);
  const body = { type: `/problems/${name}`, title, status, detail, ...members };
  return { status, headers: { "content-type": "application/problem+json", ...headers }, body };
}

/** Returns Mintlify's 404 in the form in which a gateway forwards it. */
export function upstreamNotFound(detail: string, ...details: string[]): Reply {
  const upstream = { status: 404, error: detail, details };
  const listed = details.length > 0 && { details: details.map((message) => ({ message })) };
  const reply = problemReply("upstream-error", detail, { status: 404, upstream, ...listed });
  return { ...reply, status: 404 };
}

/** Returns the refusal of a parameter that breaks a rule. */
export function invalidParameter(field: string, rule: string, words: string): Refusal {
  const detail = `${field} ${words}`;
  return new Refusal(
    problemReply("invalid-request", detail, { errors: [{ field, rule, detail }] }),
  );
}

/**
 * Returns the declared status, title and headers of a problem.
 *
 * @internal
 */
export function problemKind(name: ProblemName) {
  return PROBLEMS[name] as NonNullable<(typeof PROBLEMS)[string]>;
}

/** Converts a reply to a response with the id of its request. */
export function toResponse({ status, headers, body }: Reply, requestId: string): Response {
  const common = { "cache-control": "no-store", "x-request-id": requestId };
  const init = { status, headers: { ...common, ...headers } };
  if (body === undefined) return new Response(null, init);
  const isProblem = headers["content-type"] === "application/problem+json";
  const content = isProblem ? { ...(body as object), instance: requestId } : body;
  return new Response(JSON.stringify(content), init);
}
