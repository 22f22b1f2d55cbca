/** Connects the methods of the client to the core. */

import { ApiPromise, type CallResult } from "./api_promise.js";
import { attach } from "./core.js";
import { loadCore, userAgent } from "./engine.js";
import {
  captureCallSite,
  locate,
  toRequiredError,
  toValidationError,
  toWasmLoadError,
} from "./errors.js";
import { abortable, type BodyReader } from "./exchange.js";
import { KEYED } from "./generated/decoders.js";
import { MODE_ONCE, MODE_RAW, OUTPUT_BASE_URL, USER_AGENT } from "./generated/protocol.js";
import { readHeaders } from "./headers.js";
import { ownProperties, refuseUnknown } from "./known.js";
import { type Observer, observe } from "./observer.js";
import type {
  CreateOptions,
  RawOptions,
  RequestOptions,
  ResolvedOptions,
  WriteOptions,
} from "./options.js";
import { buildRaw, readRaw } from "./raw.js";
import { cacheMode, callFetch } from "./send.js";
import { type Call, type CoreRequest, checkBody, RAW, type Sender, Task } from "./task.js";
import type { OperationName, Operations } from "./types.js";

/**
 * Parameters that may be `null`, because a job's `id` may be. The core rejects `null` with the name of
 * the parameter.
 */
export type Given<Params> = { [Name in keyof Params]: Params[Name] | null };

/** An event stream. Its path is the path of `parent`, followed by `/events`. */
export interface Stream {
  /** The name for logs, hooks and the decoder, such as `agentJobs.events`. */
  operation: OperationName;
  parent: keyof Operations;
  params: object;
}

/** Opens a stream. It resumes after `lastEventId`, unless that is empty. */
export interface OpenStream {
  (lastEventId: string, signal: AbortSignal): Promise<Response>;
  observer?: Observer | undefined;
}

/** A request that was not sent. Its headers contain the token or the admin key. */
export interface BuiltRequest {
  method: string;
  url: string;
  headers: Record<string, string>;
  body: string | null;
}

/**
 * Runs operations with the options of a client.
 *
 * @internal
 */
export class Transport {
  readonly #options: ResolvedOptions;
  #sender: Promise<Sender> | undefined;
  #base = "";
  /**
   * The earliest time to open the event stream of a job or a deployment, in milliseconds since the Unix epoch. Only
   * gateways have streams.
   */
  nextStreamAt: number;

  constructor(options: ResolvedOptions) {
    this.#options = options;
    this.nextStreamAt = options.adminKey === undefined ? 0 : Number.POSITIVE_INFINITY;
  }

  /** Returns the state that all tasks share. The first call loads the core, also after `signal` aborts. */
  sender(signal: AbortSignal | undefined): Promise<Sender> {
    this.#sender ??= this.#load().catch((error: unknown) => {
      this.#sender = undefined;
      throw error;
    });
    return abortable(this.#sender, signal);
  }

  async #load(): Promise<Sender> {
    const core = await loadCore().catch((cause: unknown) => {
      throw toWasmLoadError(cause);
    });
    let refusal: Error | undefined;
    attach([this.#options], (kind, rule, text) => {
      if (kind === OUTPUT_BASE_URL) this.#base = text;
      else refusal = toValidationError(rule, text);
    });
    if (!core.checkClient()) throw refusal;
    const send: Sender["send"] = (request, call, signal) => this.#send(request, call, signal);
    return { core, options: this.#options, server: new URL(this.#base), send };
  }

  async #send(
    request: CoreRequest,
    call: Call,
    signal: AbortSignal,
    accept = "application/json",
  ): Promise<Response> {
    const { method, body } = request;
    const url = this.#base + request.target;
    const headers = this.#headers(request, call, accept);
    const { observer, fetchOptions } = call;
    // For `no-store`, `fetch` adds `Cache-Control: no-cache` unless the field is present. A gateway would
    // then skip its own cache and spend the budget.
    if (call.gateway) headers["cache-control"] ??= "no-transform";
    observer?.onRequest(method, url, headers);
    const needed = { method, headers, body, redirect: "manual", signal } as const;
    const init = { ...cacheMode(), ...fetchOptions, ...needed };
    const response = await callFetch(this.#options, url, init);
    observer?.onResponse(response);
    return response;
  }

  /** Merges the caller's headers with required ones, which take precedence, except `User-Agent`. */
  #headers({ body }: CoreRequest, call: Call, accept = "application/json"): Record<string, string> {
    const { adminKey, token } = this.#options;
    const credential = adminKey ?? token;
    const needed: Record<string, string> = { accept };
    if (userAgent) needed["user-agent"] = call.headers?.get("user-agent") ?? userAgent;
    // Chrome drops a page's `User-Agent`. Gateways accept this header from pages of other origins.
    else if (adminKey === undefined) needed["quillgate-client"] = USER_AGENT;
    // With a session, the cookie identifies the caller.
    if (credential !== undefined) needed.authorization = `Bearer ${credential}`;
    if (body !== null) needed["content-type"] = "application/json";
    if (call.idempotencyKey !== undefined) needed["idempotency-key"] = call.idempotencyKey;
    if (call.webhookUrl !== undefined) needed["webhook-url"] = call.webhookUrl;
    // An object, because `fetch` of npm's undici may not know the `Headers` of the runtime.
    return call.headers ? { ...Object.fromEntries(call.headers), ...needed } : needed;
  }

  /** Runs `work`. The stacks of its errors show the line where `site` was captured. */
  async run<T>(
    work: (sender: Sender) => Promise<T> | T,
    site = captureCallSite(),
    signal?: AbortSignal,
  ): Promise<T> {
    try {
      return await work(await this.sender(signal));
    } catch (error) {
      throw locate(error, site, signal);
    }
  }

  /**
   * Runs an operation. For a gateway, adds an idempotency key if the operation needs one, unless the
   * caller set one. A forced write gets none: it needs the key of the earlier attempt.
   */
  call<Name extends keyof Operations>(
    operation: Name,
    params: Given<Operations[Name]["params"]>,
    given: CreateOptions = {},
  ): ApiPromise<Operations[Name]["result"]> {
    const options = ownProperties(given);
    const carryOut = async (sender: Sender) => {
      const call = this.callOptions(operation, options);
      if (call.gateway && !options.force && KEYED.includes(operation))
        call.idempotencyKey ??= freshKey();
      const task = new Task(sender, operation, MODE_ONCE, params);
      try {
        return (await task.next(call)) as CallResult<Operations[Name]["result"]>;
      } finally {
        task.free();
      }
    };
    return new ApiPromise(this.run(carryOut, captureCallSite(), options.signal));
  }

  /** Sends a request that is not an operation. */
  request(method: string, path: string, options: RawOptions = {}): ApiPromise<unknown> {
    const { query, body, ...rest } = ownProperties(options);
    const carryOut = async (sender: Sender) => {
      const request = buildRaw(method, path, { query, body });
      const call = this.callOptions(RAW, rest, readRaw);
      const task = new Task(sender, RAW, MODE_RAW, { method, path });
      try {
        task.request = request;
        return (await task.next(call)) as CallResult<unknown>;
      } finally {
        task.free();
      }
    };
    return new ApiPromise(this.run(carryOut, captureCallSite(), rest.signal));
  }

  /** Builds the request of an operation without sending it. */
  build<Name extends keyof Operations>(
    operation: Name,
    params: Given<Operations[Name]["params"]>,
    options: CreateOptions = {},
  ): Promise<BuiltRequest> {
    const build = (sender: Sender): BuiltRequest => {
      const call = this.callOptions(operation, options);
      const task = new Task(sender, operation, MODE_ONCE, params);
      try {
        const request = task.describe(call);
        const headers = this.#headers(request, call);
        const { method, target, body } = request;
        return { method, url: this.#base + target, headers, body };
      } finally {
        task.free();
      }
    };
    return this.run(build, captureCallSite(), options.signal);
  }

  /**
   * Returns a function that opens an event stream. Logs and hooks report its connections as
   * attempts of one call.
   */
  streamOpener({ operation, parent, params }: Stream, options: RequestOptions): OpenStream {
    const shared = this.callOptions(operation, { ...options, maxRetries: 0 });
    const open: OpenStream = async (lastEventId, signal) => {
      const headers = new Headers(shared.headers);
      if (lastEventId !== "") headers.set("last-event-id", lastEventId);
      const call = { ...shared, signal, headers };
      const task = new Task(await this.sender(signal), parent, MODE_ONCE, params);
      try {
        return await task.open(call, (request) => {
          const target = `${request.target}/events`;
          const get = { ...request, method: "GET", target };
          return this.#send(get, call, signal, "text/event-stream");
        });
      } finally {
        task.free();
      }
    };
    return Object.assign(open, { observer: shared.observer });
  }

  /**
   * Decodes the JSON of an event.
   *
   * @throws {import("./errors.js").DecodeError} if it does not match the operation's result type
   */
  decodeEvent(operation: string, data: string): object {
    let body: unknown;
    try {
      body = JSON.parse(data);
    } catch {} // The error below reports it.
    return checkBody(operation, body, null);
  }

  /**
   * Merges the options of a call with the options of the client.
   *
   * @throws {import("./errors.js").ValidationError} if an option is unknown, or `force` has no
   *   `idempotencyKey`
   */
  callOptions(operation: OperationName, given: CreateOptions, readBody?: BodyReader): Call {
    const client = this.#options;
    const call = ownProperties(given);
    refuseUnknown(call, CALL_OPTIONS);
    if (call.force && call.idempotencyKey === undefined) throw toRequiredError("idempotencyKey");
    return {
      // Ignore values that are not signals.
      signal: typeof call.signal === "object" ? (call.signal ?? undefined) : undefined,
      timeout: call.timeout ?? client.timeout,
      totalTimeout: call.totalTimeout ?? client.totalTimeout,
      maxRetries: call.maxRetries ?? client.maxRetries,
      idempotencyKey: call.idempotencyKey,
      webhookUrl: call.webhookUrl,
      gateway: client.adminKey === undefined,
      // With `force`, every attempt would perform the write again.
      deduplicated: client.retryWrites !== false && client.adminKey === undefined && !call.force,
      headers: this.#callHeaders(call),
      fetchOptions: { ...client.fetchOptions, ...call.fetchOptions },
      observer: observe(client, operation),
      readBody,
    };
  }

  #callHeaders(call: WriteOptions): Headers | undefined {
    const { defaultHeaders } = this.#options;
    if (defaultHeaders === undefined && call.headers === undefined && !call.force) return undefined;
    const headers = readHeaders("defaultHeaders", defaultHeaders ?? {});
    readHeaders("headers", call.headers ?? {}).forEach((value, name) => {
      headers.set(name, value);
    });
    if (call.force) headers.set("idempotency-retry", "force");
    return headers;
  }
}

/** The names of all properties of `CreateOptions`. */
const CALL_OPTIONS = [
  "signal",
  "timeout",
  "totalTimeout",
  "maxRetries",
  "headers",
  "fetchOptions",
  "idempotencyKey",
  "force",
  "webhookUrl",
];

/** Returns 128 random bits as hexadecimal. Pages in insecure contexts have no `randomUUID`. */
function freshKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
