/** Requests that are not operations. */

import { ValidationError } from "./errors.js";
import type { RawMethod, RawOptions } from "./options.js";
import type { CoreRequest } from "./task.js";

const METHODS: RawMethod[] = ["GET", "POST", "PUT", "PATCH", "DELETE"];

/**
 * Builds a request. The core checks `path`.
 *
 * @throws {ValidationError} if the method, the query or the body is invalid
 */
export function buildRaw(
  method: string,
  path: string,
  { query, body }: Pick<RawOptions, "query" | "body">,
): CoreRequest {
  if (!METHODS.includes(method as RawMethod)) {
    throw new ValidationError(`method must be one of ${METHODS.join(", ")}`, "method", "one-of");
  }
  if (body !== undefined && method === "GET") {
    throw new ValidationError("body must not be combined with GET", "body", "unknown");
  }
  const pairs = Object.entries(query ?? {}).flatMap(([name, value]) =>
    [value ?? []].flat().map((each) => {
      if (["string", "number", "boolean"].includes(typeof each)) return [name, String(each)];
      throw new ValidationError("query must have strings, numbers and booleans", "query", "text");
    }),
  );
  const search = new URLSearchParams(pairs).toString().replaceAll("+", "%20");
  return { method, target: search ? `${path}?${search}` : path, body: toJson(body) };
}

function toJson(body: unknown): string | null {
  try {
    return JSON.stringify(body) ?? null;
  } catch {
    throw new ValidationError("body must be a JSON value", "body", "text");
  }
}

/** Reads a JSON body; `null` if it is empty. */
export async function readRaw(response: Response): Promise<unknown> {
  const text = await response.text();
  return text === "" ? null : JSON.parse(text);
}
