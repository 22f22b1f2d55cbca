/** The client. */

import { AgentJobs } from "./agent_jobs.js";
import { Analytics } from "./analytics.js";
import { checkBaseUrl } from "./base_url.js";
import { isBrowser, variable } from "./environment.js";
import {
  captureCallSite,
  locate,
  QuillgateError,
  toRequiredError,
  ValidationError,
} from "./errors.js";
import { refuseUnknown } from "./known.js";
import type { ClientOptions, WriteOptions } from "./options.js";
import { type BuiltRequest, Transport } from "./transport.js";
import type { Operations } from "./types.js";

/**
 * A client for one project. It sends requests to a Quillgate gateway or directly to Mintlify.
 *
 * The constructor performs no I/O. The first call loads the WebAssembly core.
 *
 * @example Through a gateway, from anywhere
 * ```ts
 * const client = new Client({ baseUrl: "https://gate.example", projectId: "acme", token });
 * const job = await client.agentJobs.create({ prompt: "Document the new endpoint" });
 * ```
 *
 * @example Directly to Mintlify, on a server
 * ```ts
 * const client = new Client({ adminKey: process.env.ADMIN_KEY, projectId: "acme" });
 * ```
 */
export class Client {
  /** Agent jobs, which run in the background. */
  readonly agentJobs: AgentJobs;
  /** Reports on how people and AI agents use your documentation. */
  readonly analytics: Analytics;
  readonly #transport: Transport;
  /** The options of the caller, without values from environment variables. */
  readonly #given: ClientOptions;

  /**
   * Creates a client. Options that you omit come from environment variables or defaults.
   *
   * @throws {ValidationError} if an option is unknown, `baseUrl` is missing or invalid, `projectId`
   *   is missing, or not exactly one of `token`, `session` and `adminKey` is set
   * @throws {QuillgateError} if `adminKey` is set in a browser without `dangerouslyAllowBrowser`
   */
  constructor(options: ClientOptions = {}) {
    try {
      refuseUnknown(options, Object.keys(KNOWN));
    } catch (reason) {
      throw locate(reason, captureCallSite());
    }
    this.#given = ownProperties(options);
    const complete = withEnvironment(this.#given);
    guardBrowser(complete);
    checkBaseUrl(complete);
    this.#transport = new Transport(complete);
    this.agentJobs = new AgentJobs(this.#transport);
    this.analytics = new Analytics(this.#transport);
  }

  /**
   * Creates a client with the same options, except those passed here. A new `token`, `session` or
   * `adminKey` replaces the current credential.
   */
  withOptions(options: Partial<ClientOptions>): Client {
    const { token, session, adminKey, ...rest } = this.#given;
    const changes = ownProperties(options);
    const isGiven = changes.token || changes.session || changes.adminKey;
    const credential = isGiven ? {} : { token, session, adminKey };
    return new Client({ ...rest, ...credential, ...changes });
  }

  /**
   * Builds the request of an operation without sending it, so that you can send it with another
   * HTTP client. Its headers contain the credential.
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
  projectId: true,
  token: true,
  session: true,
  adminKey: true,
  dangerouslyAllowBrowser: true,
  timeout: true,
  totalTimeout: true,
  maxRetries: true,
  retryWrites: true,
  fetch: true,
  defaultHeaders: true,
  onRequest: true,
  onResponse: true,
  onRetry: true,
  logger: true,
  logLevel: true,
};

/**
 * Copies options into an object without a prototype. A polluted prototype could otherwise redirect an
 * admin key.
 */
function ownProperties(options: ClientOptions): ClientOptions {
  return Object.assign(Object.create(null), options);
}

function withEnvironment(options: ClientOptions): ClientOptions {
  const complete = ownProperties(options);
  complete.projectId ??= variable("QUILLGATE_PROJECT_ID");
  // Only code decides where an admin key is sent. An environment variable must not redirect it.
  if (options.adminKey === undefined) {
    complete.baseUrl ??= variable("QUILLGATE_BASE_URL");
    // With a session, the cookie identifies the caller. This placeholder is never sent.
    complete.token ??= options.session ? "cookie" : variable("QUILLGATE_TOKEN");
  }
  if (complete.projectId === undefined) throw toRequiredError("projectId");
  const { session } = options;
  const rival = session && options.token !== undefined ? "token" : "adminKey";
  if (options[rival] !== undefined && (session || complete.token !== undefined)) {
    const field = session ? "session" : "token";
    throw new ValidationError(`${field} must stand without ${rival}`, field, "once");
  }
  if (complete.adminKey === undefined && complete.token === undefined) {
    throw new ValidationError("token is required, or adminKey on a server", "token", "required");
  }
  if (complete.token !== undefined && complete.baseUrl === undefined) {
    throw new ValidationError("baseUrl is required with a token", "baseUrl", "required");
  }
  return complete;
}

function guardBrowser(options: ClientOptions): void {
  if (options.adminKey !== undefined && options.dangerouslyAllowBrowser !== true && isBrowser()) {
    throw new QuillgateError(
      "an admin key is a secret, which everybody who opens a page can read: use a gateway's " +
        "access token, or set dangerouslyAllowBrowser",
    );
  }
}
