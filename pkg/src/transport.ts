/** The way of a call from a method to the core and back. */

import { ApiPromise, type CallResult } from "./api_promise.js";
import { type Engine, engineClass } from "./engine.js";
import { ConnectionError, captureCallSite, QuillgateError, toError } from "./errors.js";
import { refuseUnknown } from "./known.js";
import { attemptLog, redactHeaders } from "./log.js";
import type { ClientOptions, RequestOptions, WriteOptions } from "./options.js";
import type { Operations } from "./types.js";

/**
 * What a caller hands over. A value may be `null` where the service promises none, such as a job's
 * id; the core refuses it by its name.
 */
export type Given<Params> = { [Name in keyof Params]: Params[Name] | null };

/** A request, unsent. */
export interface BuiltRequest {
  method: string;
  url: string;
  headers: Record<string, string>;
  body: string | null;
}

/**
 * Carries calls to the core, with what a client's options say about every one of them.
 *
 * @internal
 */
export class Transport {
  readonly #options: ClientOptions;
  #engine: Promise<Engine> | undefined;
  /** Whether the other side may have event streams: a gateway, until it shows that it has none. */
  mayStream: boolean;

  constructor(options: ClientOptions) {
    this.#options = options;
    this.mayStream = options.token !== undefined;
  }

  /** The client's engine; made by the first call. */
  engine(): Promise<Engine> {
    this.#engine ??= this.#load().catch((error: unknown) => {
      this.#engine = undefined;
      throw error;
    });
    return this.#engine;
  }

  async #load(): Promise<Engine> {
    const { baseUrl, projectId, token, adminKey, fetch: own } = this.#options;
    const EngineClass = await engineClass().catch((cause: unknown) => {
      throw new ConnectionError("the package's wasm could not be loaded", { cause });
    });
    return new EngineClass({ baseUrl, projectId, token, adminKey, fetch: own && checked(own) });
  }

  /** Runs `work` with the engine; what goes wrong points at the line where `site` was made. */
  async withEngine<T>(
    work: (engine: Engine) => Promise<T> | T,
    site = captureCallSite(),
    signal?: AbortSignal,
  ): Promise<T> {
    try {
      return await work(await this.engine());
    } catch (reason) {
      throw toError(reason, site, signal);
    }
  }

  /** Carries out an operation. */
  call<Name extends keyof Operations>(
    operation: Name,
    params: Given<Operations[Name]["params"]>,
    options?: WriteOptions,
  ): ApiPromise<Operations[Name]["result"]> {
    return new ApiPromise(this.send(operation, params, options));
  }

  /** The same, with the response that carried the result. */
  send<Name extends keyof Operations>(
    operation: Name,
    params: Given<Operations[Name]["params"]>,
    options: WriteOptions = {},
    site = captureCallSite(),
  ): Promise<CallResult<Operations[Name]["result"]>> {
    return this.withEngine(
      (engine) => engine.call(operation, params, this.callOptions(options)),
      site,
      options.signal,
    );
  }

  /** Carries out an operation that changes something: it has a key that tells it from another. */
  write<Name extends keyof Operations>(
    operation: Name,
    params: Given<Operations[Name]["params"]>,
    options: WriteOptions = {},
  ): ApiPromise<Operations[Name]["result"]> {
    const made = this.#options.token === undefined ? undefined : freshKey();
    return this.call(operation, params, {
      ...options,
      idempotencyKey: options.idempotencyKey ?? made,
    });
  }

  /** The request of an operation, unsent. */
  build<Name extends keyof Operations>(
    operation: Name,
    params: Given<Operations[Name]["params"]>,
    options: WriteOptions = {},
  ): Promise<BuiltRequest> {
    const built = (engine: Engine): BuiltRequest =>
      engine.request(operation, params, this.callOptions(options));
    return this.withEngine(built, captureCallSite(), options.signal);
  }

  /** Opens the event stream of a job. */
  async stream(id: string | null, lastEventId: string, options: RequestOptions): Promise<Response> {
    const { signal, ...rest } = options;
    const { url, headers } = await this.build("agentJobs.get", { id }, rest);
    headers.accept = "text/event-stream";
    if (lastEventId !== "") headers["last-event-id"] = lastEventId;
    const init: RequestInit = { headers, redirect: "manual", signal: signal ?? null };
    const request = new Request(`${url}/events`, init);
    const { fetch: own } = this.#options;
    return own ? checked(own)(request) : fetch(request);
  }

  /** A call's options over the client's, as the core takes them. */
  callOptions(call: WriteOptions): object {
    const own = this.#options;
    refuseUnknown(call, CALL_OPTIONS);
    return {
      signal: call.signal,
      timeout: call.timeout ?? own.timeout,
      totalTimeout: call.totalTimeout ?? own.totalTimeout,
      maxRetries: call.maxRetries ?? own.maxRetries,
      idempotencyKey: call.idempotencyKey,
      // What is forced would be done again by every attempt.
      deduplicated: own.retryWrites !== false && own.token !== undefined && !call.force,
      headers: this.#headers(call),
      observer: this.#observer(),
    };
  }

  #headers(call: WriteOptions): Headers | undefined {
    const { defaultHeaders } = this.#options;
    if (defaultHeaders === undefined && call.headers === undefined && !call.force) return undefined;
    const headers = new Headers(defaultHeaders);
    new Headers(call.headers).forEach((value, name) => {
      headers.set(name, value);
    });
    if (call.force) headers.set("idempotency-retry", "force");
    return headers;
  }

  #observer(): ((event: string, subject: unknown, wait: number) => void) | undefined {
    const { onRequest, onResponse, onRetry } = this.#options;
    const log = attemptLog(this.#options);
    if (!log && !onRequest && !onResponse && !onRetry) return undefined;
    let attempt = -1;
    const tell = (event: string, subject: unknown, wait: number) => {
      if (event === "request") {
        attempt++;
        const { method, url, headers } = subject as Request;
        log?.request(method, url);
        onRequest?.({ method, url, headers: redactHeaders(headers), attempt });
      } else if (event === "response") {
        const { status, url, headers } = subject as Response;
        log?.response(status, headers);
        onResponse?.({ status, url, headers: redactHeaders(headers), attempt });
      } else {
        const error = toError(subject, new Error());
        log?.retry(error, wait);
        if (error instanceof QuillgateError) onRetry?.({ error, wait });
      }
    };
    return (event, subject, wait) => {
      try {
        tell(event, subject, wait);
      } catch {
        // What a hook or a logger throws is its own affair and never the call's.
      }
    };
  }
}

/** Every option of a call, as in `WriteOptions`. */
const CALL_OPTIONS = [
  "signal",
  "timeout",
  "totalTimeout",
  "maxRetries",
  "headers",
  "idempotencyKey",
  "force",
];

/** 128 random bits. (`randomUUID` is missing on pages that are not served securely.) */
function freshKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** A caller's `fetch`, held to giving what the core works on. */
function checked(fetch: NonNullable<ClientOptions["fetch"]>): typeof fetch {
  return async (request) => {
    const response = await fetch(request);
    if (typeof response?.status !== "number" || typeof response.headers?.get !== "function") {
      throw new TypeError("the client's own fetch gave no Response");
    }
    return response;
  };
}
