/** The error classes, and the functions that create errors from responses and the core's output. */

import {
  DETAIL_PATHS,
  MAX_DETAILS,
  MAX_MESSAGE,
  MESSAGE_PATHS,
  REASONS,
  RULES,
} from "./generated/protocol.js";
import {
  type ConnectionFailure,
  type ConnectionFailureReason,
  explainResponse,
} from "./opaque_failure.js";
import type { AgentJob, Deployment, ProblemCode, Rule } from "./types.js";

const BRAND = Symbol.for("quillgate.error");

/** A problem (RFC 9457), with extension members of the gateway and Mintlify. */
export interface Problem {
  type?: string;
  title?: string;
  status?: number;
  detail?: string;
  instance?: string;
  [member: string]: unknown;
}

/**
 * The base class of this package's error classes. If you abort a call, it rejects with the reason
 * of your signal instead.
 */
export class QuillgateError extends Error {
  constructor(message: string, options?: { cause?: unknown }) {
    super(message, options);
    Object.defineProperty(this, BRAND, { value: true });
  }
}

/** Invalid input. The client sent no request. */
export class ValidationError extends QuillgateError {
  /** The name of the parameter or option. */
  readonly field: string;
  /** The rule that the value breaks. Rule names are stable across versions. */
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

/** A response whose status is not 2xx. */
export class ApiError extends QuillgateError {
  /** The HTTP status. Redirects are not followed. Browsers hide their status, so it is 0 there. */
  readonly status: number;
  /** Additional messages from the body, such as one per invalid field. */
  readonly details: string[];
  /** The `type` of the problem (RFC 9457), or `null`. Known values come from a gateway. */
  readonly code: ProblemCode | (string & {}) | null;
  /** The `X-Request-Id` of the response, or `null`. */
  readonly requestId: string | null;
  /** The delay from `Retry-After`, in seconds, or `null`. */
  readonly retryAfter: number | null;
  /** The headers of the response. */
  readonly headers: Headers;
  /** The parsed body if it is a JSON object, otherwise `null`. Gateways send problems. */
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
    const isObject = typeof body === "object" && body !== null && !Array.isArray(body);
    this.problem = isObject ? (body as Problem) : null;
  }
}

/** Status 400: the request is malformed or a parameter is invalid. */
export class BadRequestError extends ApiError {}
/** Status 401: the credential is missing or invalid. */
export class AuthenticationError extends ApiError {}
/** Status 403: the credential does not permit this operation. */
export class PermissionError extends ApiError {}
/** Status 404: the resource or the route does not exist. */
export class NotFoundError extends ApiError {}
/** Status 409: the request conflicts with the current state. */
export class ConflictError extends ApiError {}
/** Status 422: the request is well-formed, but the server rejects its content. */
export class UnprocessableEntityError extends ApiError {}
/** Status 429: a rate limit is exceeded. `retryAfter` is the delay in seconds, if the server sent one. */
export class RateLimitError extends ApiError {}
/** Status 5xx: the server failed. */
export class ServerError extends ApiError {}
/**
 * A write with an unknown outcome: the gateway can't tell whether Mintlify performed it. The status
 * is 5xx for this attempt, or 409 for an earlier attempt with the same `Idempotency-Key`. The status
 * is 2xx if the response cannot be read, for example because a created job has no id.
 *
 * The client does not retry. Check whether the write took effect before you repeat it with `force`,
 * because Mintlify may perform it twice. After a 2xx of a gateway that broke off, repeat
 * it with the same `idempotencyKey` and without `force`: the gateway answers with the same response.
 */
export class OutcomeUnknownError extends ApiError {}

/** The connection failed before the response was complete. `cause` is the error of `fetch`. */
export class ConnectionError extends QuillgateError {
  /** The cause of the failure, such as `dns`, `refused`, `proxy` or `certificate`. */
  readonly reason: ConnectionFailureReason;
  /** `no` if the connection failed before the request was sent. */
  readonly sent: "no" | "maybe";
  /** Whether a retry can succeed. `false` for example after an untrusted certificate. */
  readonly canRetry: boolean;

  constructor({ summary, advice, reason, sent, canRetry }: ConnectionFailure, cause: unknown) {
    super(advice === "" ? summary : `${summary}; ${advice}`, { cause });
    this.reason = reason;
    this.sent = sent;
    this.canRetry = canRetry;
  }
}

/**
 * `fetch` itself failed, not the connection: it refused an option or the URL, or a custom `fetch` has a
 * bug. The client does not retry. `cause` is the error of `fetch`.
 */
export class RequestError extends QuillgateError {}

/** The WebAssembly core failed to load. No request was sent. `cause` is the runtime's error. */
export class WasmLoadError extends QuillgateError {}

/**
 * A time limit expired. The base class of {@link RequestTimeoutError}, {@link JobWaitTimeoutError} and
 * {@link DeploymentWaitTimeoutError}.
 */
export class TimeoutError extends QuillgateError {
  /** The time limit in milliseconds. */
  readonly timeout: number;

  constructor(message: string, timeout: number) {
    super(message);
    this.timeout = timeout;
  }
}

/** The response was not complete within `timeout` or `totalTimeout`. */
export class RequestTimeoutError extends TimeoutError {}

/**
 * A 2xx response or an event that does not match the operation's result type, or a page that
 * contradicts its list.
 */
export class DecodeError extends QuillgateError {
  /** The path of the invalid value, such as `views[3].human`. Empty for the whole body. */
  readonly path: string;
  /** The reason, such as `must be JSON`. */
  readonly reason: string;
  /** The `X-Request-Id` of the response, or `null`. */
  readonly requestId: string | null;
  /** The headers of the response. */
  readonly headers: Headers;

  constructor(
    message: string,
    data: { path: string; reason: string; requestId: string | null; headers: Headers },
  ) {
    super(message);
    this.path = data.path;
    this.reason = data.reason;
    this.requestId = data.requestId;
    this.headers = data.headers;
  }
}

/** The job did not finish within the `timeout` of `wait` or `watch`. The job itself continues. */
export class JobWaitTimeoutError extends TimeoutError {
  /** The last known state of the job; `null` if the client received none. */
  readonly job: AgentJob | null;

  constructor(message: string, timeout: number, job: AgentJob | null) {
    super(message, timeout);
    this.job = job;
  }
}

/**
 * The deployment did not end within the `timeout` of `wait` or `watch`. The deployment itself
 * continues.
 */
export class DeploymentWaitTimeoutError extends TimeoutError {
  /** The last known state of the deployment; `null` if the client received none. */
  readonly deployment: Deployment | null;

  constructor(message: string, timeout: number, deployment: Deployment | null) {
    super(message, timeout);
    this.deployment = deployment;
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
  UnprocessableEntityError,
  RateLimitError,
  ServerError,
  OutcomeUnknownError,
  ConnectionError,
  RequestError,
  WasmLoadError,
  TimeoutError,
  RequestTimeoutError,
  DecodeError,
  JobWaitTimeoutError,
  DeploymentWaitTimeoutError,
})) {
  // Explicit names, because minifiers rename classes. As for built-in errors, callers can change them.
  Object.defineProperty(type.prototype, "name", {
    value: name,
    writable: true,
    configurable: true,
  });
}

/**
 * Returns whether `error` comes from this package. Unlike `instanceof`, it also recognizes errors from
 * another copy of the package or another realm.
 */
export function isQuillgateError(error: unknown): error is QuillgateError {
  return typeof error === "object" && error !== null && BRAND in error;
}

const CLASSES: Record<number, typeof ApiError> = {
  400: BadRequestError,
  401: AuthenticationError,
  403: PermissionError,
  404: NotFoundError,
  409: ConflictError,
  422: UnprocessableEntityError,
  429: RateLimitError,
};

function classOf(status: number, body: unknown): typeof ApiError {
  if ((body as Problem | null | undefined)?.outcome === "unknown") return OutcomeUnknownError;
  if (status >= 500) return ServerError;
  return CLASSES[status] ?? ApiError;
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
  const foreign = explainResponse({ status, headers }, received);
  const reason = REASONS.find(([from, to]) => from <= status && status <= to)?.[2];
  const details = DETAIL_PATHS.flatMap(([name, of]) => {
    const list = member(body, name);
    return Array.isArray(list) ? list.slice(0, MAX_DETAILS).map((item) => member(item, of)) : [];
  });
  const code = member(body, "type");
  const words = foreign ? `${foreign.summary}; ${foreign.advice}` : (stated as string) || reason;
  return new (classOf(status, body))(`${status} ${shorten(words ?? "")}`, {
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

/** Shorter strings are not redacted, because they could be part of ordinary words. */
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
    return undefined; // A custom `fetch` can return a body that JSON cannot represent.
  }
}

/** Returns headers without a credential. */
function withoutCredential(headers: Headers, credential = ""): Headers {
  const isList = typeof headers?.[Symbol.iterator] === "function";
  if (credential.length < MIN_CREDENTIAL || !isList) return headers;
  const pairs = [...headers];
  if (!pairs.some(([, value]) => value.includes(credential))) return headers;
  return new Headers(pairs.map(([name, value]) => [name, value.replaceAll(credential, REDACTED)]));
}

/** Truncates a long message of the server. */
function shorten(text: string): string {
  if (text.length <= MAX_MESSAGE) return text;
  const characters = [...text];
  if (characters.length <= MAX_MESSAGE) return text;
  return `${characters.slice(0, MAX_MESSAGE).join("")}…`;
}

/**
 * Returns the error of a value that the core rejected.
 *
 * @param rule the number of the rule
 * @param text three lines: the field, the end of the rule's message, and a description of the value received
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
 * Returns the error of a body that does not match the operation's result type.
 *
 * @internal
 */
export function toDecodeError(
  path: string,
  reason: string,
  response: Response | null,
): DecodeError {
  const headers = response?.headers ?? new Headers();
  const requestId = headers.get("x-request-id");
  const message = `${path || "the body"} ${reason}`;
  return new DecodeError(message, { path, reason, requestId, headers });
}

/**
 * Returns the error of a write whose 2xx response cannot be read, for example because it has no id.
 *
 * @internal
 */
export function toUnreadableWriteError(
  { status, headers }: Response,
  cause: QuillgateError,
): OutcomeUnknownError {
  const message = `the response of the write can't be read: ${cause.message}`;
  const data = {
    status,
    details: [],
    code: null,
    requestId: headers.get("x-request-id"),
    retryAfter: null,
    body: null,
    headers,
  };
  return Object.assign(new OutcomeUnknownError(message, data), { cause });
}

/**
 * Returns the error of a core that could not be loaded.
 *
 * @internal
 */
export function toWasmLoadError(cause: unknown): WasmLoadError {
  const advice = /CSP|unsafe-eval/.test(`${(cause as Error | null)?.message}`)
    ? "add 'wasm-unsafe-eval' to script-src of your CSP"
    : 'if your bundler left out core_bg.wasm, import from "quillgate/inline"';
  return new WasmLoadError(`the package's wasm could not be loaded; ${advice}`, { cause });
}

/**
 * Returns the error of a request that exceeded a time limit.
 *
 * @param timeout the limit in milliseconds
 * @internal
 */
export function toRequestTimeoutError(timeout: number, host: string): RequestTimeoutError {
  return new RequestTimeoutError(`no complete answer from ${host} within ${timeout} ms`, timeout);
}

/**
 * Returns the error of a watch that reached its time limit.
 *
 * @param operation the operation that reads the job or the deployment
 * @param timeout the limit in milliseconds
 * @param state the last known state
 * @internal
 */
export function toWaitTimeoutError(
  operation: string,
  timeout: number,
  state: object | null,
): JobWaitTimeoutError | DeploymentWaitTimeoutError {
  const limit = `within ${timeout} ms`;
  if (operation === "deployments.get") {
    const message = `the deployment did not end ${limit}`;
    return new DeploymentWaitTimeoutError(message, timeout, state as Deployment | null);
  }
  return new JobWaitTimeoutError(
    `the job did not finish ${limit}`,
    timeout,
    state as AgentJob | null,
  );
}

/** The path of the package's folder in a stack frame, as a URL or a path. */
const HERE = /([^\s(]*[\\/])(?:errors\.js|quillgate\.cjs):\d+/;

/** Captures the stack of the caller, for {@link locate}. */
export function captureCallSite(): Error {
  return new Error();
}

/**
 * Changes the stack of one of this package's errors so that it shows the line of the call. Returns the
 * error. Returns other values, such as the reason of a signal, unchanged.
 */
export function locate(error: unknown, site: Error, signal?: AbortSignal): unknown {
  // The reason belongs to the caller, even if it is an error of this package.
  if (signal?.aborted && error === signal.reason) return error;
  if (!(error instanceof QuillgateError)) return error;
  const frames = site.stack?.split("\n    at ").slice(1);
  if (frames?.length) {
    // The first frame is that of `captureCallSite`. In other bundles, the caller's code is in the same
    // file, so nothing is removed.
    const here = HERE.exec(frames[0] as string)?.[1];
    const own = here ? frames.findIndex((frame) => !frame.includes(here)) : 0;
    const rest = own > 0 ? frames.slice(own) : frames;
    error.stack = [`${error.name}: ${error.message}`, ...rest].join("\n    at ");
  }
  return error;
}
