/** The client: where calls begin. */

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
import { PageViewsResource } from "./page_views.js";
import { type BuiltRequest, Transport } from "./transport.js";
import type { Operations } from "./types.js";

/**
 * A client of one project, through a gateway or straight to the platform.
 *
 * Making one does no work: the core is loaded by the first call.
 *
 * @example Through a gateway, from anywhere
 * ```ts
 * const client = new Client({ baseUrl: "https://gate.example", projectId: "acme", token });
 * const job = await client.agentJobs.create({ prompt: "Document the new endpoint" });
 * ```
 *
 * @example Straight to the platform, on a server
 * ```ts
 * const client = new Client({ adminKey: process.env.ADMIN_KEY, projectId: "acme" });
 * ```
 */
export class Client {
  /** Background agent jobs. */
  readonly agentJobs: AgentJobs;
  /** Reports of who reads the documentation. */
  readonly analytics: Analytics;
  /** How often pages were viewed: `analytics.views` under its earlier name. */
  readonly pageViews: PageViewsResource;
  readonly #transport: Transport;
  /** The options as they were given, without what the environment says. */
  readonly #given: ClientOptions;

  /**
   * @throws {ValidationError} for an unknown option, an invalid `baseUrl`, a missing project, or unless
   *   exactly one of `token`, `session` and `adminKey` is given
   * @throws {QuillgateError} for an admin key in a browser, unless `dangerouslyAllowBrowser` is set
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
    this.pageViews = new PageViewsResource(this.analytics);
  }

  /** A client with the same options but for these. */
  withOptions(options: Partial<ClientOptions>): Client {
    const { token, session, adminKey, ...rest } = this.#given;
    const changes = ownProperties(options);
    const isGiven = changes.token || changes.session || changes.adminKey;
    const credential = isGiven ? {} : { token, session, adminKey };
    return new Client({ ...rest, ...credential, ...changes });
  }

  /**
   * The request of an operation, unsent, for those who bring their own HTTP. It carries
   * the credential.
   */
  buildRequest<Name extends keyof Operations>(
    operation: Name,
    params: Operations[Name]["params"],
    options?: WriteOptions,
  ): Promise<BuiltRequest> {
    return this.#transport.build(operation, params, options);
  }
}

/** Every option: a type that has another one does not compile. */
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

/** Copies options into an object without a prototype: a polluted one could redirect an admin key. */
function ownProperties(options: ClientOptions): ClientOptions {
  return Object.assign(Object.create(null), options);
}

function withEnvironment(options: ClientOptions): ClientOptions {
  const complete = ownProperties(options);
  complete.projectId ??= variable("QUILLGATE_PROJECT_ID");
  // A key that is given in code goes where the code says: a variable must not redirect it.
  if (options.adminKey === undefined) {
    complete.baseUrl ??= variable("QUILLGATE_BASE_URL");
    // With a session the cookie says who is calling: a text in the place of the token is never sent.
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
