/** Runs the commands of the core: sends requests, waits, and returns results. */

import type { Task as CoreTask } from "./core.js";
import { attach } from "./core.js";
import { type Core, explain } from "./engine.js";
import {
  ConnectionError,
  type DeploymentWaitTimeoutError,
  type JobWaitTimeoutError,
  type QuillgateError,
  RequestError,
  toApiError,
  toDecodeError,
  toRequestTimeoutError,
  toUnreadableWriteError,
  toValidationError,
  toWaitTimeoutError,
} from "./errors.js";
import {
  type Answer,
  type BodyReader,
  exchange,
  isSuccess,
  type NoAnswer,
  sleep,
} from "./exchange.js";
import {
  decode,
  KEYED,
  type Mismatch,
  ROWS,
  TIMES,
  WITHOUT_CONTENT,
} from "./generated/decoders.js";
import {
  COMMAND_DONE,
  COMMAND_FAIL,
  COMMAND_REJECT,
  COMMAND_REJECT_PAGE,
  COMMAND_RETRY,
  COMMAND_SEND,
  COMMAND_TOTAL_TIMEOUT,
  COMMAND_WAIT,
  COMMAND_WATCH_TIMEOUT,
  COMMAND_YIELD,
  COMMAND_YIELD_LAST,
  EVENT_BEGIN,
  EVENT_DISCONNECTED,
  EVENT_JOB,
  EVENT_MALFORMED,
  EVENT_NEXT,
  EVENT_PAGE,
  EVENT_RESULT,
  EVENT_STATUS,
  EVENT_STREAMED,
  EVENT_TIMED_OUT,
  EVENT_WAITED,
  MODE_ONCE,
  MODE_RAW,
  MODE_WATCH,
  OUTPUT_ADVICE,
  OUTPUT_DURATION,
  OUTPUT_MIXED,
  OUTPUT_PAGE_REJECTION,
  OUTPUT_POSITION,
  OUTPUT_REJECTION,
  OUTPUT_REPEATED,
  OUTPUT_REQUEST,
  OUTPUT_RETRY_AFTER,
  SOURCE_BODY,
  SOURCE_HEAD,
  SOURCE_OPTIONS,
  SOURCE_PAGE,
} from "./generated/protocol.js";
import type { Observer } from "./observer.js";
import type { ResolvedOptions } from "./options.js";

/** The name of a request that is not an operation. */
export const RAW = "request";

/** State that all tasks of a client share. */
export interface Sender {
  /** The client's options. */
  readonly options: ResolvedOptions;
  /** The address of the server, for error messages. */
  readonly server: URL;
  readonly core: Core;
  /** Sends a request that the core created. */
  send(request: CoreRequest, call: Call, signal: AbortSignal): Promise<Response>;
}

/** A request that the core created. */
export interface CoreRequest {
  method: string;
  /** Path and query. */
  target: string;
  body: string | null;
}

/** A call's options, merged with the client's. The core reads some of them by name. */
export interface Call {
  timeout: number | undefined;
  totalTimeout: number | undefined;
  maxRetries: number | undefined;
  idempotencyKey: string | undefined;
  webhookUrl: string | undefined;
  /** Whether the server is a gateway. */
  gateway: boolean;
  /** Whether the server performs a write only once per key, so that it may be retried. */
  deduplicated: boolean;
  signal: AbortSignal | undefined;
  headers: Headers | undefined;
  /** Further options for `fetch`. */
  fetchOptions: object;
  observer: Observer | undefined;
  /** Parses the body of a response. @default its JSON */
  readBody: BodyReader | undefined;
}

/** A result of a task. */
export interface Delivery {
  /** The decoded result. */
  data: object;
  response: Response;
  /** Whether this is the last result. */
  done: boolean;
}

/** The parameters of the next page of a list. */
export type Position = Record<string, string | number>;

/** A running operation. */
export class Task {
  readonly #sender: Sender;
  readonly #operation: string;
  readonly #mode: number;
  readonly #task: CoreTask;
  /** Objects that the core reads, indexed by `SOURCE_…`. */
  readonly #sources: unknown[];
  /** The last duration from the core, in milliseconds: the timeout of the attempt, or the delay. */
  time = 0;
  /** The position of the next page of a list; `null` after the last page. */
  position: Position | null = null;
  /** The position of the last requested page of a list. */
  begin: Position | null = null;
  /** The indices of the rows that were removed from the last page, in ascending order. */
  repeated: number[] = [];
  /** Whether the totals of a list have changed between two pages. */
  isMixed = false;
  /** The next request. Of a raw request, the caller sets it. */
  request: CoreRequest | undefined;
  #refusal: QuillgateError | undefined;
  #pageRejection: [path: string, reason: string] = ["", ""];
  #retryAfter: number | null = null;
  #failure: QuillgateError | undefined;
  /** Advice to add to the message of the failure. */
  #advice = "";
  /** The last state of a watched job or deployment. */
  #state: object | null = null;
  /** The last state as JSON, to detect changes. */
  #seen: string | undefined;
  /** The time limit of a watch, in milliseconds. */
  readonly timeout: number;

  /**
   * Validates the parameters, without sending a request.
   *
   * @param mode one of `MODE_…`
   * @param watch the options of a watch
   * @throws {import("./errors.js").ValidationError} for the first invalid parameter
   */
  constructor(sender: Sender, operation: string, mode: number, params: unknown, watch?: unknown) {
    this.#sender = sender;
    this.#operation = operation;
    this.#mode = mode;
    this.#task = new sender.core.Task(operation, mode);
    this.#sources = [sender.options, params, undefined, watch];
    if (this.#step(EVENT_BEGIN) === COMMAND_REJECT) {
      this.free();
      throw this.#refusal;
    }
    this.timeout = this.time;
  }

  /**
   * Runs the task until its next result. Resolves to `undefined` after the last result.
   *
   * @param until when to stop polling, in milliseconds since the Unix epoch; the promise then
   *   resolves to `undefined`
   */
  async next(call: Call, until = Number.POSITIVE_INFINITY): Promise<Delivery | undefined> {
    this.#sources[SOURCE_OPTIONS] = call;
    let command = this.#step(EVENT_NEXT);
    let delivery: Delivery | undefined;
    for (;;) {
      switch (command) {
        case COMMAND_SEND: {
          if (call.signal?.aborted) throw call.signal.reason;
          this.begin = this.position;
          const request = this.request as CoreRequest;
          const within = this.time;
          const send = (signal: AbortSignal) => this.#sender.send(request, call, signal);
          const answer = await exchange(send, within, call.signal, call.readBody);
          if ("body" in answer) {
            delivery = this.#decode(answer);
            command = delivery ? this.#take(delivery) : this.#takeFailure(answer);
          } else {
            if (call.signal?.aborted) throw call.signal.reason;
            command = this.#takeNoAnswer(answer, within);
          }
          break;
        }
        case COMMAND_RETRY:
        case COMMAND_WAIT:
          if (command === COMMAND_RETRY)
            call.observer?.onRetry(this.#failure as QuillgateError, this.time);
          await sleep(this.time, call.signal);
          command = this.#step(EVENT_WAITED);
          if (command === COMMAND_SEND && Date.now() >= until) return undefined;
          break;
        case COMMAND_YIELD:
        case COMMAND_YIELD_LAST:
          return { ...(delivery as Delivery), done: command === COMMAND_YIELD_LAST };
        case COMMAND_DONE:
          return undefined;
        default:
          throw this.#error(command, delivery);
      }
    }
  }

  /**
   * Processes the state of a job or a deployment from an event stream. Returns `undefined` if it did
   * not change.
   *
   * @throws {JobWaitTimeoutError | DeploymentWaitTimeoutError} if the watch has reached its time limit
   */
  processEvent(data: object): { data: object; done: boolean } | undefined {
    const command = this.#takeState(data, EVENT_STREAMED);
    if (command === COMMAND_WAIT) return undefined;
    if (command === COMMAND_YIELD || command === COMMAND_YIELD_LAST)
      return { data, done: command === COMMAND_YIELD_LAST };
    throw this.#error(command, undefined);
  }

  /** Returns the error of a watch that reached its time limit. */
  expire(): JobWaitTimeoutError | DeploymentWaitTimeoutError {
    return toWaitTimeoutError(this.#operation, this.timeout, this.#state);
  }

  /** Returns the first request without sending it. */
  describe(call: Call): CoreRequest {
    this.#sources[SOURCE_OPTIONS] = call;
    const command = this.#step(EVENT_NEXT);
    if (command !== COMMAND_SEND) throw this.#error(command, undefined);
    if (call.signal?.aborted) throw call.signal.reason;
    return this.request as CoreRequest;
  }

  /**
   * Sends the first request once, and resolves to its response if it is an event stream.
   *
   * @throws {ConnectionError} if there is no response
   * @throws {import("./errors.js").ApiError} if the status is not 2xx
   * @throws {import("./errors.js").DecodeError} if the response is not an event stream
   */
  async open(call: Call, send: (request: CoreRequest) => Promise<Response>): Promise<Response> {
    const request = this.describe(call);
    const answer = await exchange(() => send(request), this.time, call.signal, readRefusal);
    if (!("body" in answer)) throw this.#connectionError(answer.cause);
    const { response } = answer;
    if (isEventStream(response)) return response;
    if (isSuccess(response)) throw toDecodeError("", "must be an event stream", response);
    this.#takeFailure(answer);
    throw this.#failure;
  }

  /** Frees the task's memory in the WebAssembly instance. */
  free(): void {
    this.#task.free();
  }

  #step(event: number, number = 0): number {
    attach(this.#sources, this.#listen);
    return this.#task.step(event, number, Date.now(), Math.random());
  }

  readonly #listen = (kind: number, number: number, text: string): void => {
    const [first = "", second = ""] = text.split("\n", 2);
    if (kind === OUTPUT_REQUEST) {
      const space = first.indexOf(" ");
      const body = text.slice(first.length + 1);
      this.time = number;
      this.request = {
        method: first.slice(0, space),
        target: first.slice(space + 1),
        body: body === "" ? null : body,
      };
    } else if (kind === OUTPUT_DURATION) this.time = number;
    else if (kind === OUTPUT_REJECTION) this.#refusal = toValidationError(number, text);
    else if (kind === OUTPUT_PAGE_REJECTION) this.#pageRejection = [first, second];
    else if (kind === OUTPUT_RETRY_AFTER) this.#retryAfter = Number(text) / 1000;
    else if (kind === OUTPUT_POSITION) this.position = JSON.parse(text);
    else if (kind === OUTPUT_REPEATED) this.repeated = text.split(",").map(Number);
    else if (kind === OUTPUT_MIXED) this.isMixed = true;
    else if (kind === OUTPUT_ADVICE) this.#advice = `; ${text}`;
  };

  /** Decodes a 2xx response. Returns `undefined` for other responses and invalid bodies. */
  #decode({ response, body }: Answer): Delivery | undefined {
    if (!isSuccess(response)) return undefined;
    try {
      return { data: checkBody(this.#operation, body, response), response, done: false };
    } catch (error) {
      this.#failure = this.#explain(error as QuillgateError, response);
      return undefined;
    }
  }

  /** Returns the error of a response that cannot be read. Its status is 2xx. */
  #explain(error: QuillgateError, response: Response): QuillgateError {
    return this.#isWrite ? toUnreadableWriteError(response, error) : error;
  }

  get #isWrite(): boolean {
    return this.#mode === MODE_RAW
      ? this.request?.method !== "GET"
      : KEYED.includes(this.#operation);
  }

  #take({ data, response }: Delivery): number {
    if (this.#mode === MODE_ONCE || this.#mode === MODE_RAW) return this.#step(EVENT_RESULT);
    this.#readHead(response);
    if (this.#mode === MODE_WATCH) return this.#takeState(data);
    const rows = rowsOf(this.#operation, data);
    this.#sources[SOURCE_BODY] = data;
    this.#sources[SOURCE_PAGE] = this.#describePage(data, rows);
    this.position = null;
    this.repeated = [];
    const command = this.#step(EVENT_PAGE, rows.length);
    for (const at of [...this.repeated].reverse()) rows.splice(at, 1);
    return command;
  }

  #describePage(data: object, rows: unknown[]): object {
    const { totals, totalSearches } = data as Record<string, unknown>;
    const time = TIMES[this.#operation];
    return {
      totals: JSON.stringify(totals ?? totalSearches ?? undefined),
      keys:
        time &&
        (rows as Record<string, unknown>[])
          .flatMap((row) => [row.id, row[time]])
          .map((value) => `${value ?? ""}`.replaceAll("\n", " "))
          .join("\n"),
    };
  }

  #takeState(state: object, event = EVENT_JOB): number {
    const text = JSON.stringify(state);
    const isNews = text !== this.#seen;
    this.#seen = text;
    this.#state = state;
    this.#sources[SOURCE_BODY] = state;
    return this.#step(event, Number(isNews));
  }

  #takeFailure({ response, body }: Answer): number {
    if (isSuccess(response)) return this.#step(EVENT_MALFORMED);
    this.#readHead(response);
    this.#sources[SOURCE_BODY] = body;
    this.#retryAfter = null;
    const command = this.#step(EVENT_STATUS, response.status);
    const { adminKey, token } = this.#sender.options;
    this.#failure = toApiError(response, body, this.#retryAfter, adminKey ?? token);
    this.#failure.message += this.#advice;
    this.#advice = "";
    return command;
  }

  #takeNoAnswer({ cause, expired, response }: NoAnswer, within: number): number {
    const { server } = this.#sender;
    if (expired) {
      const timeout = toRequestTimeoutError(within, server.host);
      const isUnreadable = response !== undefined && isSuccess(response);
      this.#failure = isUnreadable ? this.#explain(timeout, response) : timeout;
      return this.#step(EVENT_TIMED_OUT);
    }
    const failure = this.#connectionError(cause);
    // An attempt that was not sent does not answer an earlier one.
    if (!(this.#isWrite && isUnsent(failure) && this.#failure && !isUnsent(this.#failure)))
      this.#failure = response ? this.#explain(failure, response) : failure;
    if (failure instanceof RequestError) return this.#step(EVENT_MALFORMED);
    return failure.canRetry ? this.#step(EVENT_DISCONNECTED) : COMMAND_FAIL;
  }

  #connectionError(cause: unknown): ConnectionError | RequestError {
    if (cause instanceof RequestError) return cause;
    return new ConnectionError(explain(cause, this.#sender.server), cause);
  }

  #readHead({ headers }: Response): void {
    const [retryAfter, date] = [headers.get("retry-after"), headers.get("date")];
    this.#sources[SOURCE_HEAD] = { retryAfter, date };
  }

  /** Returns the error of a command that ends the call. */
  #error(command: number, delivery: Delivery | undefined): unknown {
    switch (command) {
      case COMMAND_REJECT:
        return this.#refusal;
      case COMMAND_TOTAL_TIMEOUT:
        return toRequestTimeoutError(this.time, this.#sender.server.host);
      case COMMAND_WATCH_TIMEOUT:
        return this.expire();
      case COMMAND_REJECT_PAGE:
        return toDecodeError(...this.#pageRejection, delivery?.response ?? null);
      default:
        return this.#failure;
    }
  }
}

function isUnsent(error: QuillgateError): boolean {
  return error instanceof ConnectionError && error.sent === "no";
}

function isEventStream({ status, headers, body }: Response): boolean {
  const type = headers.get("content-type") ?? "";
  return status === 200 && /^text\/event-stream/i.test(type) && body !== null;
}

/** Reads the body of a response that is not an event stream. */
async function readRefusal(response: Response): Promise<unknown> {
  if (!isSuccess(response)) return response.json();
  // The body of node-fetch has no `cancel`.
  return isEventStream(response) || response.body?.cancel?.();
}

/**
 * Decodes the body of a response.
 *
 * @param body the parsed body; `undefined` if it is not JSON
 * @throws {import("./errors.js").DecodeError} if the body does not match the result's type
 */
export function checkBody(operation: string, body: unknown, response: Response | null): object {
  const isEmpty = WITHOUT_CONTENT.includes(operation);
  if (body === undefined && !isEmpty) throw toDecodeError("", "must be JSON", response);
  if (operation === RAW) return body as object;
  try {
    return decode(operation, body);
  } catch (mismatch) {
    const { path, reason } = mismatch as Mismatch;
    throw toDecodeError(path, reason, response);
  }
}

/** Returns the rows of a page. */
export function rowsOf(operation: string, page: object): unknown[] {
  return (page as Record<string, unknown[]>)[ROWS[operation] as string] as unknown[];
}
