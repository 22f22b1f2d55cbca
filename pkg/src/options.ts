/** The options of a client and of a call. */

import type { RequestEvent, ResponseEvent, RetryEvent } from "./hooks.js";

/** Any argument of `new Headers()`. Unlike `HeadersInit`, it needs no DOM types. */
export type HeadersLike = NonNullable<ConstructorParameters<typeof Headers>[0]>;

/** The options that the client passes to `fetch`, in addition to your `fetchOptions`. */
export interface FetchInit {
  method: string;
  headers: Record<string, string>;
  body: string | null;
  signal: AbortSignal;
  redirect: "manual";
  /** Not set in runtimes whose `fetch` refuses it. */
  cache?: "no-store";
}

/** The parts of a `Response` that the client uses. */
export interface FetchResponse {
  readonly status: number;
  readonly headers: { get(name: string): string | null };
  readonly body: unknown;
  json(): Promise<unknown>;
  text(): Promise<string>;
}

/** The log level. Each level includes the levels before it. */
export type LogLevel = "off" | "error" | "warn" | "info" | "debug";

/** A destination for log messages, such as `console`. */
export interface Logger {
  error(message: string, ...rest: unknown[]): void;
  warn(message: string, ...rest: unknown[]): void;
  info(message: string, ...rest: unknown[]): void;
  debug(message: string, ...rest: unknown[]): void;
}

/** Authenticates with an access token of the gateway at `baseUrl`. */
export interface TokenAuth {
  token: string;
  session?: undefined;
  adminKey?: undefined;
}

/**
 * Authenticates with the session cookie of a page that the gateway at `baseUrl` serves.
 * `POST /session` sets the cookie.
 */
export interface SessionAuth {
  session: true;
  token?: undefined;
  adminKey?: undefined;
}

/**
 * Calls Mintlify directly with an admin key, from a server. The key grants access to the whole
 * organization, so keep it secret. No environment variable sets it.
 */
export interface AdminKeyAuth {
  adminKey: string;
  /**
   * Allows the key in a browser. Everyone who opens the page can then read it.
   * @default false
   */
  dangerouslyAllowBrowser?: boolean | undefined;
  token?: undefined;
  session?: undefined;
}

/** The credential of a client. */
export type Auth = TokenAuth | SessionAuth | AdminKeyAuth;

/**
 * Client options with values from the environment. The credential is in its own properties, where the
 * core reads it.
 */
export interface ResolvedOptions extends Omit<ClientOptions, "auth"> {
  token?: string | undefined;
  adminKey?: string | undefined;
}

/**
 * Options of a client.
 *
 * Some defaults are environment variables. The client reads them from `process.env`, if the runtime
 * has it.
 */
export interface ClientOptions {
  /**
   * The URL of the gateway. With an admin key, the URL of Mintlify's API.
   *
   * With a token or an admin key, it must use `https:`, except for `localhost`, `127.0.0.1` and
   * `[::1]`. See `allowPlainHttp`.
   * @default the environment variable `QUILLGATE_BASE_URL`; with an admin key, Mintlify's URL
   */
  baseUrl?: string | undefined;
  /**
   * Whether to send the token or the admin key to an `http:` URL on another machine, such as a gateway
   * in a private network. Others in the network can read it.
   * @default false
   */
  allowPlainHttp?: boolean | undefined;
  /**
   * The project's id, from the API keys page of Mintlify's dashboard.
   * @default the environment variable `QUILLGATE_PROJECT_ID`
   */
  projectId?: string | undefined;
  /**
   * The credential: `{ token }`, `{ session: true }` or `{ adminKey }`.
   * @default a token from the environment variable `QUILLGATE_TOKEN`
   */
  auth?: Auth | undefined;
  /**
   * Timeout of one attempt in milliseconds, including the response body: 1 to 2147483647. Timeouts
   * are retried, so a call can take longer: see `totalTimeout`.
   * @default 60000
   */
  timeout?: number | undefined;
  /**
   * Timeout of a whole call in milliseconds, including retries and delays: 1 to 2147483647.
   * @default no limit
   */
  totalTimeout?: number | undefined;
  /**
   * Maximum number of retries of a request: 0 to 10.
   *
   * The client retries after connection errors, timeouts, 408, 429 and 5xx, but not after an
   * `OutcomeUnknownError` or the gateway's problems `upstream-credential`, `upstream-plan` and
   * `upstream-project`. The delay grows from 0.5 s to 8 s with jitter. A `Retry-After` of up to 60 s
   * replaces it. After a longer one, the client does not retry.
   * @default 2
   */
  maxRetries?: number | undefined;
  /**
   * Whether writes to a gateway are retried. The gateway performs a write only once per
   * `Idempotency-Key`. Mintlify has no idempotency keys, so writes sent directly to it are never
   * retried.
   * @default true
   */
  retryWrites?: boolean | undefined;
  /**
   * A custom `fetch` function, such as that of `undici` or `node-fetch`. It receives the URL as a
   * string, and must not read the body of the response.
   * @default globalThis.fetch
   */
  fetch?: ((url: string, init: FetchInit) => Promise<FetchResponse>) | undefined;
  /**
   * Further options for `fetch`, such as `dispatcher` in Node.js, `agent` for `node-fetch` or `next`
   * in Next.js. They cannot replace `method`, `headers`, `body`, `signal` and `redirect`.
   *
   * @example
   * ```ts
   * import { ProxyAgent, fetch } from "undici";
   *
   * const fetchOptions = { dispatcher: new ProxyAgent("http://proxy.example:3128") };
   * const client = new Client({ ...options, fetch, fetchOptions });
   * ```
   */
  fetchOptions?: object | undefined;
  /**
   * Headers to add to every request. They cannot replace headers that the client sets itself, except
   * `User-Agent`.
   */
  defaultHeaders?: HeadersLike | undefined;
  /**
   * Called before every attempt, also of an event stream or an export.
   *
   * Hooks observe and can't change a call. They never receive a credential. The client does not wait
   * for a hook that returns a promise. If a hook throws or its promise rejects, the client logs the
   * error and continues.
   */
  onRequest?: ((event: RequestEvent) => void) | undefined;
  /** Called for every response, before its body is read. Errors are handled as in `onRequest`. */
  onResponse?: ((event: ResponseEvent) => void) | undefined;
  /** Called before the delay of every retry. Errors are handled as in `onRequest`. */
  onRetry?: ((event: RetryEvent) => void) | undefined;
  /** The logger. Messages contain no credentials, prompts or query values. @default console */
  logger?: Logger | undefined;
  /** The log level. @default a valid level in the environment variable `QUILLGATE_LOG`, or "warn" */
  logLevel?: LogLevel | undefined;
}

/** Options of a call. They override the options of the client. */
export interface RequestOptions {
  /** Aborts the call immediately. The call rejects with the signal's reason. */
  signal?: AbortSignal | undefined;
  /**
   * Timeout of one attempt in milliseconds, including the response body: 1 to 2147483647.
   * @default the client's `timeout`
   */
  timeout?: number | undefined;
  /**
   * Timeout of the whole call in milliseconds, including retries and delays: 1 to 2147483647.
   * @default the client's `totalTimeout`
   */
  totalTimeout?: number | undefined;
  /** Maximum number of retries: 0 to 10. @default the client's `maxRetries` */
  maxRetries?: number | undefined;
  /** Headers to add to the request. They override the client's `defaultHeaders`. */
  headers?: HeadersLike | undefined;
  /** Further options for `fetch`. They override the client's `fetchOptions` by name. */
  fetchOptions?: object | undefined;
}

/** Options of a write. */
export interface WriteOptions extends RequestOptions {
  /**
   * The `Idempotency-Key` of the request: 1 to 255 visible ASCII characters, without commas or a
   * leading quotation mark. Set it to deduplicate calls across processes or restarts.
   * @default a random key per call for a gateway; none for Mintlify, which has no idempotency keys
   */
  idempotencyKey?: string | undefined;
  /**
   * Repeats a write with an unknown outcome, even if the earlier attempt succeeded: see
   * `OutcomeUnknownError`. Sends `Idempotency-Retry: force` and disables retries of this call.
   * Requires the `idempotencyKey` of the earlier attempt.
   * @default false
   */
  force?: boolean | undefined;
}

/** Options for creating a job, a deployment or a preview. */
export interface CreateOptions extends WriteOptions {
  /**
   * The URL that receives a webhook when it ends: https (http only for `localhost`,
   * `127.0.0.1` and `[::1]`), at a host that the gateway's operator allows. `unwrap` from
   * `quillgate/webhooks` verifies it. Mintlify itself sends no webhooks, so a client with an
   * `adminKey` throws a `ValidationError`.
   * @default the operator's webhook URL, if one is set
   */
  webhookUrl?: string | undefined;
}

/** A method of {@link import("./client.js").Client.request}. */
export type RawMethod = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

/** A value of a query parameter. An array repeats the parameter. */
export type QueryValue = string | number | boolean | readonly (string | number | boolean)[];

/** Options of {@link import("./client.js").Client.request}. */
export interface RawOptions extends WriteOptions {
  /** The query parameters. Those set to `undefined` or `null` are left out. */
  query?: Readonly<Record<string, QueryValue | null | undefined>> | undefined;
  /** The body, sent as JSON. Not for `GET`. */
  body?: unknown;
  /**
   * The `Idempotency-Key` of the request. Only with a key are writes to a gateway retried: all methods
   * except `GET` are writes.
   * @default none
   */
  idempotencyKey?: string | undefined;
}
