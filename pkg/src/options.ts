/** What a caller can say: about a client, and about one call. */

import type { QuillgateError } from "./errors.js";

/** Whatever `new Headers()` takes. (Without the web's own types there is no `HeadersInit`.) */
export type HeadersLike = NonNullable<ConstructorParameters<typeof Headers>[0]>;

/** How much is logged; each level includes those before it. */
export type LogLevel = "off" | "error" | "warn" | "info" | "debug";

/** Where log lines go; `console` is one. */
export interface Logger {
  error(message: string, ...rest: unknown[]): void;
  warn(message: string, ...rest: unknown[]): void;
  info(message: string, ...rest: unknown[]): void;
  debug(message: string, ...rest: unknown[]): void;
}

/** A request is about to be sent again. */
export interface RetryEvent {
  /** Why. */
  error: QuillgateError;
  /** How long it is until then, in milliseconds. */
  wait: number;
}

/** What is the same for every call of a client. */
export interface ClientOptions {
  /**
   * The gateway's address, or another than the platform's own for direct use. With an `adminKey` it is
   * `https:`, or `http:` on this machine.
   * @default the platform's own with an `adminKey`; else `QUILLGATE_BASE_URL` where there is an environment
   */
  baseUrl?: string | undefined;
  /**
   * The project's identifier, from the API keys page of the dashboard.
   * @default `QUILLGATE_PROJECT_ID` where there is an environment
   */
  projectId?: string | undefined;
  /**
   * An access token of the gateway at `baseUrl`.
   * @default `QUILLGATE_TOKEN` where there is an environment
   */
  token?: string | undefined;
  /**
   * Whether the cookie of a session says who is calling, in the place of a token: for a page that the
   * gateway at `baseUrl` serves itself, where `POST /session` has set one.
   * @default false
   */
  session?: boolean | undefined;
  /** The platform's admin key, for direct use on a server: a secret of the whole organisation. */
  adminKey?: string | undefined;
  /** Allows an admin key in a browser, where everybody who opens the page can read it. @default false */
  dangerouslyAllowBrowser?: boolean | undefined;
  /** How long one attempt may take, body included, in milliseconds: 1 to 2147483647. @default 60000 */
  timeout?: number | undefined;
  /** How long a call may take, attempts and waits together, in milliseconds: 1 to 2147483647. @default no limit */
  totalTimeout?: number | undefined;
  /** How often a request is sent again when it fails in a way that may pass: 0 to 10. @default 2 */
  maxRetries?: number | undefined;
  /**
   * Whether what changes something is sent again, too, when it fails in a way that may pass. A
   * gateway does it once however often it comes, by its `Idempotency-Key`; the platform itself
   * knows no such key, so there it is never sent again.
   * @default true for a gateway
   */
  retryWrites?: boolean | undefined;
  /** Sends a request in place of the host's `fetch`. */
  fetch?: ((request: Request) => Promise<Response>) | undefined;
  /** Headers of every request. Those that the request needs itself are not replaced. */
  defaultHeaders?: HeadersLike | undefined;
  /** Sees every request before it is sent, credentials redacted. */
  onRequest?:
    | ((request: { method: string; url: string; headers: Headers; attempt: number }) => void)
    | undefined;
  /** Sees every answer's head, credentials redacted. */
  onResponse?:
    | ((response: { status: number; url: string; headers: Headers; attempt: number }) => void)
    | undefined;
  /** Sees every wait before another attempt. */
  onRetry?: ((event: RetryEvent) => void) | undefined;
  /** Where log lines go. No credential, prompt or query value is among them. @default console */
  logger?: Logger | undefined;
  /** How much is logged. @default `QUILLGATE_LOG` where there is an environment, else "warn" */
  logLevel?: LogLevel | undefined;
}

/** What can be said about one call. */
export interface RequestOptions {
  /** Takes the call back, at once, in a request, a body or a wait. The call rejects with the signal's reason. */
  signal?: AbortSignal | undefined;
  /** As the client's, for this call. */
  timeout?: number | undefined;
  /** As the client's, for this call. */
  totalTimeout?: number | undefined;
  /** As the client's, for this call. */
  maxRetries?: number | undefined;
  /** Further headers of this call, over the client's own. */
  headers?: HeadersLike | undefined;
}

/** What can be said about one call that changes something. */
export interface WriteOptions extends RequestOptions {
  /**
   * Sent as `Idempotency-Key`: 1 to 255 visible ASCII characters.
   * @default made once per call for a gateway; none for the platform itself, which knows none
   */
  idempotencyKey?: string | undefined;
  /**
   * Does it again, though an earlier attempt with this key may have done it (see
   * `OutcomeUnknownError`): sends `Idempotency-Retry: force`, and is itself sent once.
   * @default false
   */
  force?: boolean | undefined;
}
