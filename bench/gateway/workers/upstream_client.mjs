/** Sends requests upstream. The Hono Worker uses only the timeout and the readers of responses. */
import { env } from "cloudflare:workers";
import { isJsonType } from "./rules.mjs";

const KEY = `Bearer ${env.ADMIN_API_KEY}`;
/** Maximum error response, in bytes. */
const MAX_ERROR = 64 * 1024;

/** Timeout of a request upstream, in milliseconds. */
export const TIMEOUT = Number(env.UPSTREAM_TIMEOUT_SECONDS) * 1000;

/**
 * Sends a request and reads the whole response.
 *
 * @typedef {{ status: number, kind: string, more?: object }} Failure fields of a problem
 *
 * @param {{ method: string, target: string, body?: string }} request
 * @param {{ maxBytes: number, isValid: (json: unknown) => boolean }} expected
 * @returns {Promise<{ response: Response, text: string, json: object } | { failure: Failure }>}
 */
export async function requestJson({ method, target, body }, { maxBytes, isValid }) {
  const controller = new AbortController();
  const timer = setTimeout(() => controller.abort(), TIMEOUT);
  const headers = { accept: "application/json", authorization: KEY };
  if (body !== undefined) headers["content-type"] = "application/json";
  const init = { method, headers, body, redirect: "manual", signal: controller.signal };
  try {
    const response = await fetch(env.UPSTREAM_BASE_URL + target, init);
    if (!response.ok) return { failure: await readFailure(response) };
    const isJson = isJsonType(response.headers.get("content-type"));
    const text = isJson ? await readText(response, maxBytes) : undefined;
    const json = text === undefined ? undefined : JSON.parse(text);
    return isValid(json) ? { response, text, json } : { failure: INVALID_RESPONSE };
  } catch {
    return { failure: controller.signal.aborted ? TIMED_OUT : INVALID_RESPONSE };
  } finally {
    clearTimeout(timer);
  }
}

const INVALID_RESPONSE = { status: 502, kind: "upstream-invalid" };
const TIMED_OUT = { status: 504, kind: "upstream-timeout" };

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

/**
 * Reads a response that is not 2xx. A redirect, 401 and 403 become 502, so the caller does not
 * learn that upstream rejected the admin key.
 */
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
