/** The timeout and the readers of upstream responses. */
import { env } from "cloudflare:workers";

/** Maximum error response, in bytes. */
const MAX_ERROR = 64 * 1024;

/** Timeout of a request upstream, in milliseconds. */
export const TIMEOUT = Number(env.UPSTREAM_TIMEOUT_SECONDS) * 1000;

/** Reads a body, or returns `undefined` if it exceeds `maxBytes`. */
export async function readText(response, maxBytes) {
  const { body, headers } = response;
  const length = headers.get("content-length");
  if (length !== null && !headers.has("content-encoding")) {
    return Number(length) <= maxBytes ? await response.text() : undefined;
  }
  const decoder = new TextDecoder();
  let text = "";
  let size = 0;
  for await (const chunk of body ?? []) {
    size += chunk.byteLength;
    if (size > maxBytes) return undefined;
    text += decoder.decode(chunk, { stream: true });
  }
  return text + decoder.decode();
}

/** A redirect, 401 and 403 become 502, so that callers learn nothing about the admin key. */
export async function readFailure(response) {
  const { status } = response;
  if (status < 400 || status === 401 || status === 403) {
    return { status: 502, kind: "upstream-credential" };
  }
  const upstream = { status, error: await readError(response) };
  return { status, kind: "upstream-error", more: { upstream } };
}

async function readError(response) {
  try {
    return JSON.parse(await readText(response, MAX_ERROR)).error;
  } catch {
    return undefined;
  }
}
