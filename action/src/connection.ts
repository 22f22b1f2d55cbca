/** Sends writes to the gateway, and waits for what they started. */

import {
  ApiError,
  type ApiPromise,
  Client,
  ConflictError,
  ConnectionError,
  type CreateOptions,
  DecodeError,
  OutcomeUnknownError,
  type QuillgateError,
  RateLimitError,
  RequestTimeoutError,
  ServerError,
  TimeoutError,
  type WaitOptions,
} from "quillgate/inline";
import { type Identity, IdentityError } from "./identity.js";
import type { Place } from "./inputs.js";
import { Reachability } from "./reachability.js";
import type { Runner } from "./runner.js";

/**
 * How long a write may continue after the step was cancelled, in milliseconds. The runner ends the
 * step 7.5 s after the cancellation.
 */
const WRITE_GRACE = 3_000;
/**
 * How long to retry a failed write, in milliseconds. The gateway starts only one job or deployment
 * per idempotency key, so a retry cannot start a second one.
 */
const RETRY_PERIOD = 30_000;
const MAX_RETRIES = 10;
/** The pause before waiting again after a failed wait, in milliseconds. */
const WAIT_PAUSE = 1_000;

export interface Connection {
  client: Client;
  /** Aborts when GitHub refuses to issue another token. The reason is the {@link IdentityError}. */
  identityLost: AbortSignal;
  reachability: Reachability;
  /** The errors of the retried attempts of the write, oldest first. */
  failedAttempts: QuillgateError[];
  /** Called before a write is retried. `wait` is in milliseconds. */
  onRetry: ((error: QuillgateError, wait: number) => void) | undefined;
}

/** The response to a write. */
export interface Written<T> {
  data: T;
  /** Whether an earlier step with the same idempotency key sent the write. */
  isReused: boolean;
}

/** The end of a wait. `state` is the last known state. */
export type Ending<T> =
  | { kind: "ended"; state: T }
  /**
   * `trouble` is the reason why the step could not follow the state, such as an outage of the
   * gateway. It is a sentence without a full stop.
   */
  | { kind: "timed-out"; state: T; after: string; trouble: string | undefined }
  | { kind: "cancelled"; state: T }
  | { kind: "failed"; state: T; error: unknown };

/** Creates a client that renews its token when needed. Sends no request. */
export function connect(
  inputs: Place,
  identity: Identity,
  token: string,
  runner: Runner,
): Connection {
  const identityLost = new AbortController();
  const reachability = new Reachability(inputs.gateway, runner);
  const debug = (message: string, ...rest: unknown[]) => {
    runner.debug([message, ...rest].map(String).join(" "));
  };
  const connection: Omit<Connection, "client"> = {
    ...{ identityLost: identityLost.signal, reachability },
    ...{ failedAttempts: [], onRetry: undefined },
  };
  const client = new Client({
    baseUrl: inputs.gateway,
    projectId: inputs.project,
    auth: { token },
    fetch: async (url, init) => {
      const current = await identity.token(init.signal).catch((error: unknown) => {
        // The client treats every error of `fetch` as a broken connection, which it retries.
        if (error instanceof IdentityError && !error.isRetryable) identityLost.abort(error);
        throw error;
      });
      const headers = { ...init.headers, authorization: `Bearer ${current}` };
      return reachability.send(new Request(url, { ...init, headers }));
    },
    defaultHeaders: { "user-agent": "quillgate-action" },
    logger: { error: debug, warn: debug, info: debug, debug },
    logLevel: runner.isDebug ? "debug" : "off",
    onRetry: ({ error, wait }) => connection.onRetry?.(error, wait),
  });
  return Object.assign(connection, { client });
}

/**
 * Sends a write. If the step is cancelled meanwhile, still waits a few seconds for the response.
 *
 * @throws {QuillgateError | IdentityError} or the signal's reason if the step is cancelled
 */
export async function sendWrite<T>(
  connection: Connection,
  send: (options: CreateOptions) => ApiPromise<T>,
  options: {
    key: string;
    /** In milliseconds. */
    timeout: number;
    /** How long to retry after a 429, in milliseconds. @default the same as after other failures */
    limitPeriod?: number;
    runner: Runner;
    signal: AbortSignal;
  },
): Promise<Written<T>> {
  const { key, timeout, limitPeriod = RETRY_PERIOD, runner, signal } = options;
  signal.throwIfAborted();
  const abort = new AbortController();
  const begin = performance.now();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const onAbort = () => {
    timer = setTimeout(() => abort.abort(signal.reason), WRITE_GRACE);
  };
  signal.addEventListener("abort", onAbort);
  connection.failedAttempts = [];
  const requestsBefore = connection.reachability.requests;
  connection.onRetry = (error, wait) => {
    connection.failedAttempts.push(error);
    const period = error instanceof RateLimitError ? limitPeriod : RETRY_PERIOD;
    const end = begin + Math.min(period, timeout);
    // After a conflict, an earlier attempt is still running. The client limits that wait itself.
    if (performance.now() + wait > end && !(error instanceof ConflictError)) {
      abort.abort(error);
      return;
    }
    const why = connection.reachability.connectFailure?.summary ?? error.message;
    runner.info(`${why}; trying again in ${Math.ceil(wait / 1_000)} s`);
  };
  try {
    const signals = AbortSignal.any([abort.signal, connection.identityLost]);
    const sent = send({ idempotencyKey: key, signal: signals, maxRetries: MAX_RETRIES });
    const { data, response } = await sent.withResponse();
    const isFirst = connection.reachability.requests === requestsBefore + 1;
    return { data, isReused: isReplayed(response) && isFirst };
  } finally {
    connection.onRetry = undefined;
    clearTimeout(timer);
    signal.removeEventListener("abort", onAbort);
  }
}

/** Waits until the state is final, the timeout expires, the step is cancelled or waiting fails. */
export async function waitForEnd<T>(
  { identityLost, reachability }: Connection,
  started: T,
  options: {
    wait: (options: WaitOptions<T>) => Promise<T>;
    /** In milliseconds. */
    timeout: number;
    /** The timeout as written in the workflow, such as `30m`. Appears in messages. */
    after: string;
    signal: AbortSignal;
    /** Called with every update. Returns the new state. */
    onUpdate: (next: T, state: T) => T;
    /** Explains an error. Throws it again if it is a bug. */
    explain: (error: unknown) => string;
  },
): Promise<Ending<T>> {
  const { wait, timeout, after, signal, onUpdate, explain } = options;
  const end = performance.now() + timeout;
  let state = started;
  /** Why waiting last failed; `undefined` after an update of the state. */
  let failure: string | undefined;
  const expire = (): Ending<T> => {
    return { kind: "timed-out", state, after, trouble: reachability.outage ?? failure };
  };
  reachability.logsChanges = true;
  for (;;) {
    try {
      await wait({
        timeout: Math.max(1, Math.ceil(end - performance.now())),
        signal: AbortSignal.any([signal, identityLost]),
        onUpdate: (next) => {
          failure = undefined;
          state = onUpdate(next, state);
        },
      });
      return { kind: "ended", state };
    } catch (error) {
      if (signal.aborted) return { kind: "cancelled", state };
      if (error instanceof TimeoutError && !(error instanceof RequestTimeoutError)) return expire();
      const cause = identityLost.aborted ? identityLost.reason : error;
      if (identityLost.aborted || !isRetryable(error))
        return { kind: "failed", state, error: cause };
      failure = explain(cause);
    }
    if (performance.now() + WAIT_PAUSE >= end) return expire();
    await new Promise((resolve) => setTimeout(resolve, WAIT_PAUSE));
    if (signal.aborted) return { kind: "cancelled", state };
  }
}

function isRetryable(error: unknown): boolean {
  return [ConnectionError, RequestTimeoutError, ServerError].some((type) => error instanceof type);
}

/**
 * Returns whether a write may have started something although it failed. It cannot have if no request
 * reached a gateway, or if the gateway rejected the request.
 */
export function mayHaveStarted(given: unknown, connection: Connection): boolean {
  const error = unwrap(given);
  const { reachability, failedAttempts } = connection;
  if (error instanceof IdentityError) {
    // The last attempt sent nothing, so only earlier ones may have started the job.
    return failedAttempts.some((earlier) => mayHaveStarted(earlier, connection));
  }
  if (error instanceof ApiError) {
    // The gateway's own errors have a code. Without one, a proxy responded, and may have forwarded
    // the request.
    return error instanceof OutcomeUnknownError || (error.status >= 500 && error.code === null);
  }
  if (error instanceof DecodeError) return !isForeign(error);
  if (reachability.requests === 0 || reachability.connectFailure !== undefined) return false;
  return [ConnectionError, RequestTimeoutError].some((type) => error instanceof type);
}

/** Returns whether the gateway responded to an earlier request with the same idempotency key. */
export function isReplayed({ headers }: Pick<Response, "headers">): boolean {
  return headers.get("idempotent-replayed") === "true";
}

/** Returns the reason why a 2xx response cannot be read, or else the error itself. */
export function unwrap(error: unknown): unknown {
  const isUnreadable = error instanceof OutcomeUnknownError && error.cause instanceof DecodeError;
  return isUnreadable ? error.cause : error;
}

/** Returns whether the response shows that the input `gateway` is not a gateway. */
export function isForeign(error: ApiError | DecodeError): boolean {
  if ((error.headers.get("content-type") ?? "").includes("json")) return false;
  return error instanceof DecodeError || (error.code === null && error.status < 500);
}

/** Returns the last path segment of a problem's type, such as `identity-not-mapped`. */
export function readProblemKind(error: unknown): string | undefined {
  return error instanceof ApiError ? error.code?.split("/").at(-1) : undefined;
}
