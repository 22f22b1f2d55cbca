/** What can go wrong, each class with the data a caller needs to act. */

import {
  DETAIL_PATHS,
  MAX_DETAILS,
  MAX_MESSAGE,
  MESSAGE_PATHS,
  REASONS,
  RULES,
} from "./generated/protocol.js";
import type { AgentJob, ProblemCode, Rule } from "./types.js";

const BRAND = Symbol.for("quillgate.error");

/** A problem as in RFC 9457, with the gateway's and the platform's own members. */
export interface Problem {
  type?: string;
  title?: string;
  status?: number;
  detail?: string;
  instance?: string;
  [member: string]: unknown;
}

/** The parent of every error that a call of this package rejects with, aborts aside. */
export class QuillgateError extends Error {
  constructor(message: string, options?: { cause?: unknown }) {
    super(message, options);
    Object.defineProperty(this, BRAND, { value: true });
  }
}

/** Bad input; nothing was sent. */
export class ValidationError extends QuillgateError {
  /** The parameter, spelled as the platform spells it. */
  readonly field: string;
  /** The stable name of the rule that the value breaks. */
  readonly rule: Rule;

  constructor(message: string, field: string, rule: Rule) {
    super(message);
    this.field = field;
    this.rule = rule;
  }
}

/** The data of an {@link ApiError}. */
export interface ApiErrorData {
  status: number;
  details: string[];
  code: ProblemCode | (string & {}) | null;
  requestId: string | null;
  retryAfter: number | null;
  body: unknown;
  headers: Headers;
}

/** The server answered, and the answer is not 2xx. */
export class ApiError extends QuillgateError {
  /** The HTTP status. 0 where a browser hides that of a redirect, which is not followed. */
  readonly status: number;
  /** Further messages of the server. */
  readonly details: string[];
  /** The `type` of the problem (RFC 9457), or `null`. A server other than a gateway has other types. */
  readonly code: ProblemCode | (string & {}) | null;
  /** `X-Request-Id`, when the answer has one. */
  readonly requestId: string | null;
  /** How long the server asks to wait, in seconds, when it does. */
  readonly retryAfter: number | null;
  /** The answer's headers. */
  readonly headers: Headers;
  /** The parsed body, when it was JSON: an RFC 9457 problem from a gateway. */
  readonly problem: Problem | null;

  constructor(message: string, data: ApiErrorData) {
    super(message);
    this.status = data.status;
    this.details = data.details;
    this.code = data.code;
    this.requestId = data.requestId;
    this.retryAfter = data.retryAfter;
    this.headers = data.headers;
    const { body } = data;
    this.problem = typeof body === "object" && body !== null ? (body as Problem) : null;
  }
}

/** 400, or another 4xx without a class of its own. */
export class BadRequestError extends ApiError {}
/** 401: no credential, or one that is not accepted. */
export class AuthenticationError extends ApiError {}
/** 403: the credential does not allow this. */
export class PermissionError extends ApiError {}
/** 404. */
export class NotFoundError extends ApiError {}
/** 409. */
export class ConflictError extends ApiError {}
/** 429: `retryAfter` says when to come back, when the server does. */
export class RateLimitError extends ApiError {}
/** 5xx. */
export class ServerError extends ApiError {}
/**
 * A gateway says that nobody knows whether a write was carried out: the platform failed or gave
 * no answer to it (5xx), or to an earlier attempt with the same `Idempotency-Key` (409). Nothing
 * more is sent. Look first: doing it again may do it twice.
 */
export class OutcomeUnknownError extends ApiError {}

/** No answer: the connection failed or broke. `cause` is the host's own error. */
export class ConnectionError extends QuillgateError {}

/** The package's wasm could not be fetched or compiled. Nothing was sent; `cause` is the host's own error. */
export class WasmLoadError extends QuillgateError {}

/** No complete answer in time. */
export class TimeoutError extends QuillgateError {
  /** The limit that ran out, in milliseconds. */
  readonly after: number;

  constructor(message: string, after: number) {
    super(message);
    this.after = after;
  }
}

/** A success whose body is not what the operation promises. */
export class DecodeError extends QuillgateError {
  /** The path in the JSON, as in `views[3].human`; empty for the whole body. */
  readonly where: string;
  /** What is wrong there. */
  readonly what: string;
  /** `X-Request-Id`, when the answer has one. */
  readonly requestId: string | null;
  /** The answer's headers. */
  readonly headers: Headers;

  constructor(
    message: string,
    data: { where: string; what: string; requestId: string | null; headers: Headers },
  ) {
    super(message);
    this.where = data.where;
    this.what = data.what;
    this.requestId = data.requestId;
    this.headers = data.headers;
  }
}

/** The job was not finished when the wait's time ran out. */
export class JobWaitTimeoutError extends QuillgateError {
  /** The job as last seen, when it was seen at all. */
  readonly job: AgentJob | null;

  constructor(message: string, job: AgentJob | null) {
    super(message);
    this.job = job;
  }
}

for (const [name, type] of Object.entries({
  QuillgateError,
  ValidationError,
  ApiError,
  BadRequestError,
  AuthenticationError,
  PermissionError,
  NotFoundError,
  ConflictError,
  RateLimitError,
  ServerError,
  OutcomeUnknownError,
  ConnectionError,
  WasmLoadError,
  TimeoutError,
  DecodeError,
  JobWaitTimeoutError,
})) {
  // Written out, since a minifier renames classes.
  Object.defineProperty(type.prototype, "name", { value: name, configurable: true });
}

/** Whether `error` is one of this package's, whichever copy or realm it comes from. */
export function isQuillgateError(error: unknown): error is QuillgateError {
  return typeof error === "object" && error !== null && BRAND in error;
}

const CLASSES: Record<number, typeof ApiError> = {
  401: AuthenticationError,
  403: PermissionError,
  404: NotFoundError,
  409: ConflictError,
  429: RateLimitError,
};

function classOf(status: number, body: unknown): typeof ApiError {
  if ((body as Problem | null | undefined)?.outcome === "unknown") return OutcomeUnknownError;
  if (status >= 500) return ServerError;
  return CLASSES[status] ?? (status >= 400 ? BadRequestError : ApiError);
}

/**
 * Returns the error of a response that is not 2xx.
 *
 * @param received the parsed body; `undefined` when it is not JSON
 * @param retryAfter in seconds
 * @param credential the request's credential, which the error must not repeat
 * @internal
 */
export function toApiError(
  response: Response,
  received: unknown,
  retryAfter: number | null,
  credential: string | undefined,
): ApiError {
  const { status } = response;
  const body = redactBody(received, credential);
  const headers = withoutCredential(response.headers, credential);
  const stated = MESSAGE_PATHS.map((path) => path.reduce<unknown>(member, body)).find(
    (text) => typeof text === "string" && text !== "",
  );
  const words = REASONS.find(([from, to]) => from <= status && status <= to)?.[2];
  const details = DETAIL_PATHS.flatMap(([name, of]) => {
    const list = member(body, name);
    return Array.isArray(list) ? list.slice(0, MAX_DETAILS).map((item) => member(item, of)) : [];
  });
  const code = member(body, "type");
  return new (classOf(status, body))(`${status} ${stated ? shorten(stated as string) : words}`, {
    status,
    details: details.filter((text) => typeof text === "string").map(shorten),
    code: typeof code === "string" ? shorten(code) : null,
    requestId: headers.get("x-request-id"),
    retryAfter,
    body: body ?? null,
    headers,
  });
}

function member(value: unknown, name: string): unknown {
  return (value as Record<string, unknown> | null | undefined)?.[name];
}

/** No credential is shorter. A shorter string would be part of ordinary words. */
const MIN_CREDENTIAL = 8;
const REDACTED = "[redacted]";

/** Returns JSON without a credential. */
function redactBody(body: unknown, credential = ""): unknown {
  if (credential.length < MIN_CREDENTIAL) return body;
  try {
    const json = JSON.stringify(body);
    const quoted = JSON.stringify(credential).slice(1, -1);
    return json.includes(quoted) ? JSON.parse(json.replaceAll(quoted, REDACTED)) : body;
  } catch {
    return undefined; // Only a custom `fetch` has a body that is not JSON.
  }
}

/** Returns headers without a credential. */
function withoutCredential(headers: Headers, credential = ""): Headers {
  if (credential.length < MIN_CREDENTIAL || !(headers instanceof Headers)) return headers;
  const pairs = [...headers];
  if (!pairs.some(([, value]) => value.includes(credential))) return headers;
  return new Headers(pairs.map(([name, value]) => [name, value.replaceAll(credential, REDACTED)]));
}

/** A message for people stays one: its first characters. */
function shorten(text: string): string {
  if (text.length <= MAX_MESSAGE) return text;
  const characters = [...text];
  if (characters.length <= MAX_MESSAGE) return text;
  return `${characters.slice(0, MAX_MESSAGE).join("")}…`;
}

/**
 * The error of a value that the core refused.
 *
 * @param rule its number
 * @param text a line each: the field, what completes the rule's words, and what was found in place
 *   of what the rule asks for
 * @internal
 */
export function toValidationError(rule: number, text: string): ValidationError {
  const [field = "", detail, found] = text.split("\n");
  const [name, words] = RULES[rule] as (typeof RULES)[number];
  const message = `${field} ${words}${detail}${found && `, found ${found}`}`;
  return new ValidationError(message, field, name);
}

/**
 * Returns the error of a missing parameter or option.
 *
 * @internal
 */
export function toRequiredError(field: string): ValidationError {
  return new ValidationError(`${field} is required`, field, "required");
}

/**
 * The error of a body that is not what the operation promises.
 *
 * @internal
 */
export function toDecodeError(where: string, what: string, response: Response | null): DecodeError {
  const headers = response?.headers ?? new Headers();
  const requestId = headers.get("x-request-id");
  return new DecodeError(`${where || "the body"} ${what}`, { where, what, requestId, headers });
}

/**
 * Returns the error of a core that could not be loaded.
 *
 * @internal
 */
export function toWasmLoadError(cause: unknown): WasmLoadError {
  const advice = 'if your bundler left out core_bg.wasm, import from "quillgate/inline"';
  return new WasmLoadError(`the package's wasm could not be loaded; ${advice}`, { cause });
}

/**
 * Returns the error of a time limit that was reached.
 *
 * @param after the limit in milliseconds
 * @internal
 */
export function toTimeoutError(after: number, host: string): TimeoutError {
  return new TimeoutError(`no complete answer from ${host} within ${after} ms`, after);
}

/** Remembers the line that a call was made on. */
export function captureCallSite(): Error {
  return new Error();
}

/**
 * What a call rejects with: an error of this package with its stack at the line of the call.
 * Anything else, such as a signal's reason, is passed on as it is.
 */
export function locate(error: unknown, site: Error, signal?: AbortSignal): unknown {
  // A reason may look like anything, and is still the caller's own.
  if (signal?.aborted && error === signal.reason) return error;
  if (!(error instanceof QuillgateError)) return error;
  const frames = site.stack?.split("\n    at ").slice(1);
  if (frames?.length) {
    const own = HERE ? frames.findIndex((frame) => !frame.includes(HERE)) : 0;
    const rest = own > 0 ? frames.slice(own) : frames;
    error.stack = [`${error.name}: ${error.message}`, ...rest].join("\n    at ");
  }
  return error;
}

/**
 * The package's folder as stack frames spell it: a URL in Node, a file path under loaders such as tsx.
 * `undefined` in a bundle, where the caller's code is in the same file, and in workerd.
 */
const HERE = /(\/[^/].*\/)errors\.js$/.exec(import.meta.url ?? "")?.[1];
