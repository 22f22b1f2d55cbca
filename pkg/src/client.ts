/** The client. It checks its options and resolves their defaults. */

import { AgentJobs } from "./agent_jobs.js";
import { Analytics } from "./analytics.js";
import type { ApiPromise } from "./api_promise.js";
import { Automations } from "./automations.js";
import { checkBaseUrl } from "./base_url.js";
import { Deployments } from "./deployments.js";
import { isBrowser, variable } from "./environment.js";
import {
  captureCallSite,
  locate,
  QuillgateError,
  toRequiredError,
  ValidationError,
} from "./errors.js";
import { readHeaders } from "./headers.js";
import { ownProperties, refuseUnknown } from "./known.js";
import { checkLogLevel } from "./log.js";
import type {
  Auth,
  ClientOptions,
  RawMethod,
  RawOptions,
  ResolvedOptions,
  WriteOptions,
} from "./options.js";
import { Previews } from "./previews.js";
import { type BuiltRequest, Transport } from "./transport.js";
import type { Operations } from "./types.js";

/**
 * A client for one project. It sends requests to a Quillgate gateway or directly to Mintlify.
 *
 * The constructor performs no I/O. The first call loads the WebAssembly core.
 *
 * @example Through a gateway, from anywhere
 * ```ts
 * const client = new Client({ baseUrl: "https://gate.example", projectId: "acme", auth: { token } });
 * const job = await client.agentJobs.create({ prompt: "Document the new endpoint" });
 * ```
 *
 * @example Directly to Mintlify, on a server
 * ```ts
 * const client = new Client({ projectId: "acme", auth: { adminKey } });
 * ```
 */
export class Client {
  /** Agent jobs, which run in the background. */
  readonly agentJobs: AgentJobs;
  /** Reports on how people and AI agents use your documentation. */
  readonly analytics: Analytics;
  /** Automations, which Mintlify runs on a schedule. */
  readonly automations: Automations;
  /** Deployments of the documentation site, and of previews. */
  readonly deployments: Deployments;
  /** Previews of branches. */
  readonly previews: Previews;
  readonly #transport: Transport;
  /** The options of the caller, without values from environment variables. */
  readonly #given: ClientOptions;

  /**
   * Creates a client. Options that you omit come from environment variables or defaults.
   *
   * @throws {ValidationError} if an option is unknown, `baseUrl` is missing or invalid, `projectId`
   *   is missing, `logLevel` is invalid, or `auth` is missing or not exactly one credential
   * @throws {QuillgateError} for an admin key in a browser without `dangerouslyAllowBrowser`
   */
  constructor(options: ClientOptions = {}) {
    try {
      refuseUnknown(options, Object.keys(KNOWN));
    } catch (reason) {
      throw locate(reason, captureCallSite());
    }
    this.#given = ownProperties(options);
    const complete = resolveOptions(this.#given);
    checkBaseUrl(complete);
    this.#transport = new Transport(complete);
    this.agentJobs = new AgentJobs(this.#transport);
    this.analytics = new Analytics(this.#transport);
    this.automations = new Automations(this.#transport);
    this.deployments = new Deployments(this.#transport);
    this.previews = new Previews(this.#transport);
  }

  /** Creates a client with the same options, except those passed here. */
  withOptions(options: Partial<ClientOptions>): Client {
    return new Client({ ...this.#given, ...ownProperties(options) });
  }

  /**
   * Sends any request with the client's credential, timeouts, retries and errors, for an endpoint
   * that this package does not have yet. Resolves to the JSON of the response, unchecked; `null` if the
   * body is empty.
   *
   * Writes are retried only if you set `idempotencyKey`, and only by a gateway. All methods except
   * `GET` are writes.
   *
   * @param path the path below `baseUrl`, percent-encoded and without a query
   * @throws {ValidationError} if the method, the path, the query or the body is invalid
   *
   * @example
   * ```ts
   * const path = "/v1/analytics/acme/new-report";
   * const report = await client.request("GET", path, { query: { limit: 10 } });
   * ```
   */
  request(method: RawMethod, path: string, options?: RawOptions): ApiPromise<unknown> {
    return this.#transport.request(method, path, options);
  }

  /**
   * Builds the request of an operation without sending it, so that you can send it with another
   * HTTP client. Its headers contain the token or the admin key. They contain an `Idempotency-Key`
   * only if you set `idempotencyKey`.
   */
  buildRequest<Name extends keyof Operations>(
    operation: Name,
    params: Operations[Name]["params"],
    options?: WriteOptions,
  ): Promise<BuiltRequest> {
    return this.#transport.build(operation, params, options);
  }
}

/** The names of all options. The compiler reports an option that is missing here. */
const KNOWN: Record<keyof ClientOptions, true> = {
  baseUrl: true,
  allowPlainHttp: true,
  projectId: true,
  auth: true,
  timeout: true,
  totalTimeout: true,
  maxRetries: true,
  retryWrites: true,
  fetch: true,
  fetchOptions: true,
  defaultHeaders: true,
  onRequest: true,
  onResponse: true,
  onRetry: true,
  logger: true,
  logLevel: true,
};

/** Adds the credential and values from the environment. */
function resolveOptions(options: ClientOptions): ResolvedOptions {
  const auth = readAuth(options.auth);
  const { token, adminKey } = auth;
  const complete: ResolvedOptions = Object.assign(ownProperties(options), { token, adminKey });
  checkLogLevel(options.logLevel);
  if (options.defaultHeaders != null) readHeaders("defaultHeaders", options.defaultHeaders);
  complete.projectId ??= variable("QUILLGATE_PROJECT_ID");
  // Only code decides where an admin key is sent. An environment variable must not redirect it.
  if (adminKey === undefined) complete.baseUrl ??= variable("QUILLGATE_BASE_URL");
  if (complete.projectId === undefined) throw toRequiredError("projectId");
  if (adminKey === undefined && complete.baseUrl === undefined) {
    const message = "baseUrl is required, unless auth has an adminKey";
    throw new ValidationError(message, "baseUrl", "required");
  }
  return complete;
}

/**
 * Checks the credential, and that a browser may have it. The default is a token from the environment.
 *
 * @throws {ValidationError} if `auth` is missing, is not exactly one credential, or has an unknown
 *   property
 * @throws {QuillgateError} for an admin key in a browser without `dangerouslyAllowBrowser`
 */
function readAuth(given: Auth | undefined): Auth {
  const token = given === undefined ? variable("QUILLGATE_TOKEN") : undefined;
  if (token !== undefined) return { token };
  if (typeof given !== "object" || given === null) {
    const message = "auth is required: { token }, { session: true } or { adminKey }";
    throw new ValidationError(message, "auth", "required");
  }
  refuseUnknown(given, ["token", "session", "adminKey", "dangerouslyAllowBrowser"]);
  const auth = ownProperties(given);
  const isGiven = [auth.token !== undefined, auth.session === true, auth.adminKey !== undefined];
  if (isGiven.filter(Boolean).length !== 1) {
    const message = "auth must have exactly one of token, session and adminKey";
    throw new ValidationError(message, "auth", "once");
  }
  if (auth.adminKey !== undefined && auth.dangerouslyAllowBrowser !== true && isBrowser()) {
    throw new QuillgateError(
      "an admin key is a secret, which everybody who opens a page can read: use a gateway's " +
        "access token, or set dangerouslyAllowBrowser",
    );
  }
  return auth;
}
