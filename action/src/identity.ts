/** The tokens that authenticate the workflow to the gateway. */

import { explainConnection } from "../../pkg/dist/connection_failure.js";
import type { PullRequest } from "./event.js";
import type { Noun } from "./explain.js";
import type { Runner } from "./runner.js";

/** Provides the bearer tokens of requests to the gateway. */
export interface Identity {
  /** Returns a token, renewed first if necessary. */
  token(signal?: AbortSignal): Promise<string>;
  /**
   * The claims of the last identity token. `undefined` before the first one and for access tokens.
   */
  readonly claims: Readonly<Record<string, unknown>> | undefined;
}

/** Thrown when no token is available. The message has the reason. */
export class IdentityError extends Error {
  /** Whether a retry may succeed. */
  readonly isRetryable: boolean;

  constructor(message: string, isRetryable = false) {
    super(message);
    this.isRetryable = isRetryable;
  }
}

/**
 * An access token of the gateway, from the input `token`. Unlike identity tokens, it is never
 * renewed.
 */
export class AccessToken implements Identity {
  readonly claims = undefined;
  readonly #token: string;

  constructor(token: string) {
    this.#token = token;
  }

  async token(): Promise<string> {
    return this.#token;
  }
}

const ATTEMPTS = 3;
/** The timeout of each request, in milliseconds. */
const ATTEMPT_TIMEOUT = 10_000;
/** The pause before the first retry, in milliseconds. It grows with each attempt. */
const PAUSE = 1_000;
/**
 * How long before its expiry a token is renewed, in milliseconds. Tokens that live less than four
 * minutes are renewed after three quarters of their lifetime.
 */
const MAX_MARGIN = 60_000;

/**
 * The OpenID Connect token that GitHub signs for this run.
 *
 * A token is valid for a few minutes. The step may wait longer, so the token is renewed before it
 * expires.
 */
export class WorkflowIdentity implements Identity {
  readonly #runner: Runner;
  readonly #url: string;
  readonly #credential: string;
  #token: Promise<string> | undefined;
  /** When to renew the token, on the clock of `performance.now()`. */
  #renewAt = 0;
  #claims: Record<string, unknown> | undefined;

  /** @throws {IdentityError} if GitHub signs no tokens for this job */
  constructor(runner: Runner, audience: string, pull: PullRequest | undefined, noun: Noun) {
    const { ACTIONS_ID_TOKEN_REQUEST_URL: url, ACTIONS_ID_TOKEN_REQUEST_TOKEN: credential } =
      runner.env;
    if (!url || !credential) throw new IdentityError(explainAbsence(pull, noun));
    runner.mask(credential);
    this.#runner = runner;
    this.#credential = credential;
    const separator = url.includes("?") ? "&" : "?";
    this.#url = `${url}${separator}audience=${encodeURIComponent(audience)}`;
  }

  get claims(): Readonly<Record<string, unknown>> | undefined {
    return this.#claims;
  }

  token(signal?: AbortSignal): Promise<string> {
    if (this.#token === undefined || performance.now() >= this.#renewAt) {
      // Concurrent callers share the pending request.
      this.#renewAt = Number.POSITIVE_INFINITY;
      this.#token = this.#renew(signal).catch((error: unknown) => {
        this.#token = undefined;
        throw error;
      });
    }
    return this.#token;
  }

  async #renew(signal: AbortSignal | undefined): Promise<string> {
    const began = performance.now();
    const token = await this.#request(signal);
    this.#runner.mask(token);
    const claims = readClaims(token);
    this.#claims = claims;
    // GitHub's clock may differ from this machine's, so use only the difference of its timestamps.
    const lifetime = (Number(claims.exp) - Number(claims.iat)) * 1_000;
    this.#renewAt = lifetime > 0 ? began + lifetime - Math.min(lifetime / 4, MAX_MARGIN) : 0;
    return token;
  }

  async #request(signal: AbortSignal | undefined): Promise<string> {
    for (let attempt = 1; ; attempt++) {
      const failure = await this.#attempt(signal);
      if (typeof failure === "string") return failure;
      signal?.throwIfAborted();
      if (!failure.isRetryable || attempt === ATTEMPTS) {
        const { reason, isRetryable } = failure;
        throw new IdentityError(`GitHub gave this job no identity token: ${reason}`, isRetryable);
      }
      this.#runner.info(`GitHub gave no identity token (${failure.reason}); asking again`);
      await new Promise((resolve) => setTimeout(resolve, PAUSE * attempt));
    }
  }

  async #attempt(signal: AbortSignal | undefined): Promise<string | Failure> {
    const deadline = AbortSignal.timeout(ATTEMPT_TIMEOUT);
    try {
      const response = await fetch(this.#url, {
        headers: {
          accept: "application/json",
          authorization: `Bearer ${this.#credential}`,
          "user-agent": "quillgate-action",
        },
        redirect: "error",
        signal: signal ? AbortSignal.any([signal, deadline]) : deadline,
      });
      const text = await response.text();
      if (response.ok) {
        return parseToken(text) ?? { reason: "the response has no token", isRetryable: false };
      }
      const isRetryable = response.status >= 500 || response.status === 429;
      return { reason: `status ${response.status}`, isRetryable };
    } catch (error) {
      if (deadline.aborted) return { reason: "no answer in time", isRetryable: true };
      // Names only the host: the rest of the URL must not appear in the log.
      const { summary, canRetry } = explainConnection(error, new URL(this.#url));
      return { reason: summary, isRetryable: canRetry };
    }
  }
}

interface Failure {
  reason: string;
  isRetryable: boolean;
}

function parseToken(text: string): string | undefined {
  try {
    const { value } = JSON.parse(text) as { value?: unknown };
    return typeof value === "string" && value !== "" ? value : undefined;
  } catch {
    return undefined;
  }
}

function readClaims(token: string): Record<string, unknown> {
  try {
    const payload = Buffer.from(token.split(".")[1] ?? "", "base64url").toString("utf8");
    return JSON.parse(payload) as Record<string, unknown>;
  } catch {
    throw new IdentityError("GitHub gave this job an identity token that cannot be read");
  }
}

function explainAbsence(pull: PullRequest | undefined, noun: Noun): string {
  if (pull?.fromFork) {
    return (
      `GitHub issues no identity token for a pull request from a fork, so the workflow cannot start a ${noun}. ` +
      "Skip the step there, or let a maintainer start it with a comment: see docs/guides/workflow-examples.md"
    );
  }
  return (
    "this job has no identity. Add `permissions: id-token: write` to it, or to the workflow that calls it, " +
    "or give an access token of the gateway as the input token"
  );
}
