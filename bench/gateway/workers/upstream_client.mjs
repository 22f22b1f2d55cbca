/** Requests to the upstream, for the hand-written Worker and the Durable Objects. */
import { env } from "cloudflare:workers";
import { isJsonType } from "./rules.mjs";

const KEY = `Bearer ${env.ADMIN_API_KEY}`;
/** The longest error that is read, in bytes. */
const MAX_ERROR = 64 * 1024;

/** How long an exchange may take, in milliseconds. */
export const TIMEOUT = Number(env.UPSTREAM_TIMEOUT_SECONDS) * 1000;

/**
 * Sends a request and reads the whole answer.
 *
 * @typedef {{ status: number, kind: string, more?: object }} Failure what a problem is built from
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
    return isValid(json) ? { response, text, json } : { failure: INVALID_ANSWER };
  } catch {
    return { failure: controller.signal.aborted ? TIMED_OUT : INVALID_ANSWER };
  } finally {
    clearTimeout(timer);
  }
}

const INVALID_ANSWER = { status: 502, kind: "upstream-invalid" };
const TIMED_OUT = { status: 504, kind: "upstream-timeout" };

/** Reads a body of at most `maxBytes`; `undefined` when it is longer. */
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

/** Reads an answer that is not 2xx. The gateway's own key is none of the caller's business. */
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
