/** Tracks whether the gateway is reachable. */

import type { Runner } from "./runner.js";

/**
 * Descriptions of errors that prevent a connection, by the error's code or message. After such an
 * error, the gateway has received nothing.
 */
const CONNECT_FAILURES: Readonly<Record<string, string>> = {
  ENOTFOUND: "cannot be resolved",
  EAI_AGAIN: "cannot be resolved",
  ECONNREFUSED: "refuses connections",
  EHOSTUNREACH: "cannot be reached from this runner",
  ENETUNREACH: "cannot be reached from this runner",
  UND_ERR_CONNECT_TIMEOUT: "does not take connections",
  "bad port": "is at a port that fetch does not use",
  CERT_HAS_EXPIRED: "has a certificate that has expired",
  DEPTH_ZERO_SELF_SIGNED_CERT: "has a certificate that is not trusted",
  SELF_SIGNED_CERT_IN_CHAIN: "has a certificate that is not trusted",
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: "has a certificate that is not trusted",
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: "has a certificate that is not trusted",
  ERR_TLS_CERT_ALTNAME_INVALID: "has a certificate for another name",
};
/**
 * How long a request must wait, in milliseconds, before its abort counts as an outage. If it is
 * aborted sooner, the gateway may still be reachable.
 */
const MIN_WAIT_FOR_OUTAGE = 10_000;

/** Sends the requests to the gateway and records whether it responds. */
export class Reachability {
  readonly #runner: Runner;
  readonly #host: string;
  #requests = 0;
  #connected = false;
  #connectFailure: string | undefined;
  #unreachableSince: Date | undefined;
  /** Whether to log the start and the end of each outage. */
  logsChanges = false;

  constructor(gateway: string, runner: Runner) {
    this.#host = new URL(gateway).host;
    this.#runner = runner;
  }

  /** The number of requests sent so far, including failed ones. */
  get requests(): number {
    return this.#requests;
  }

  /**
   * Why no connection succeeded, such as `gate.example refuses connections`. `undefined` after the
   * first connection.
   */
  get connectFailure(): string | undefined {
    if (this.#connected || !this.#connectFailure) return undefined;
    return `${this.#host} ${this.#connectFailure}`;
  }

  /** A sentence with the start of the current outage; `undefined` if the last request succeeded. */
  get outage(): string | undefined {
    if (this.#unreachableSince === undefined) return undefined;
    const time = this.#unreachableSince.toISOString().slice(11, 19);
    return `the gateway could not be reached since ${time} UTC`;
  }

  async send(request: Request): Promise<Response> {
    this.#requests += 1;
    const began = new Date();
    try {
      const response = await fetch(request);
      this.#connected = true;
      if (isGatewayResponse(response)) this.#endOutage();
      else this.#startOutage(began, `status ${response.status}`);
      return response;
    } catch (error) {
      this.#connectFailure = CONNECT_FAILURES[findCode(error) ?? ""];
      if (this.#connectFailure === undefined) this.#connected = true;
      const waited = Date.now() - began.getTime();
      const wasAbortedEarly = request.signal.aborted && waited < MIN_WAIT_FOR_OUTAGE;
      if (!wasAbortedEarly) this.#startOutage(began, this.connectFailure ?? "no answer");
      throw error;
    }
  }

  #startOutage(since: Date, why: string): void {
    if (this.#unreachableSince !== undefined) return;
    this.#unreachableSince = since;
    if (this.logsChanges) {
      this.#runner.info(`The gateway cannot be reached (${why}); the step keeps trying.`);
    }
  }

  #endOutage(): void {
    if (this.#unreachableSince === undefined) return;
    this.#unreachableSince = undefined;
    if (this.logsChanges) this.#runner.info("The gateway can be reached again.");
  }
}

/**
 * Returns whether the gateway itself responded. If it is down, a proxy in front of it responds with
 * a 5xx, but not with JSON.
 */
function isGatewayResponse({ status, headers }: Response): boolean {
  return status < 500 || (headers.get("content-type") ?? "").includes("json");
}

function findCode(error: unknown): string | undefined {
  const { code, message, cause } = error as { code?: unknown; message?: unknown; cause?: unknown };
  if (typeof code === "string") return code;
  if (message === "bad port") return message;
  return cause instanceof Error ? findCode(cause) : undefined;
}
