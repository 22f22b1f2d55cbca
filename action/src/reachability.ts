/** Tracks whether the gateway is reachable. */

import type { Runner } from "./runner.js";

/**
 * Descriptions of errors that occur before a connection exists, so nothing was sent. The key is the
 * error's code or message.
 */
const UNCONNECTED: Readonly<Record<string, string>> = {
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
/** A request that is aborted within this time, in milliseconds, does not count as unanswered. */
const LONG_SILENCE = 10_000;

/** Sends every request to the gateway and records its failures. */
export class Reachability {
  readonly #runner: Runner;
  readonly #host: string;
  #requests = 0;
  #connected = false;
  #obstacle: string | undefined;
  #lostSince: Date | undefined;
  /** Whether to log when the gateway becomes unreachable, and when it is reachable again. */
  isReported = false;

  constructor(gateway: string, runner: Runner) {
    this.#host = new URL(gateway).host;
    this.#runner = runner;
  }

  /** The number of requests so far. */
  get requests(): number {
    return this.#requests;
  }

  /**
   * The host and the reason why no request has been sent; `undefined` once a connection was made.
   */
  get obstacle(): string | undefined {
    return this.#connected || !this.#obstacle ? undefined : `${this.#host} ${this.#obstacle}`;
  }

  /**
   * Since when every request has failed, as a sentence without a full stop; otherwise `undefined`.
   */
  get loss(): string | undefined {
    if (this.#lostSince === undefined) return undefined;
    const time = this.#lostSince.toISOString().slice(11, 19);
    return `the gateway could not be reached since ${time} UTC`;
  }

  /** Sends a request and records whether the gateway responded. */
  async send(request: Request): Promise<Response> {
    this.#requests += 1;
    const began = new Date();
    try {
      const response = await fetch(request);
      this.#connected = true;
      if (isOfGateway(response)) this.#find();
      else this.#lose(began, `status ${response.status}`);
      return response;
    } catch (error) {
      this.#obstacle = UNCONNECTED[findCode(error) ?? ""];
      if (this.#obstacle === undefined) this.#connected = true;
      const isTakenBack = request.signal.aborted && Date.now() - began.getTime() < LONG_SILENCE;
      if (!isTakenBack) this.#lose(began, this.obstacle ?? "no answer");
      throw error;
    }
  }

  #lose(since: Date, why: string): void {
    if (this.#lostSince !== undefined) return;
    this.#lostSince = since;
    if (this.isReported) {
      this.#runner.info(`The gateway cannot be reached (${why}); the step keeps trying.`);
    }
  }

  #find(): void {
    if (this.#lostSince === undefined) return;
    this.#lostSince = undefined;
    if (this.isReported) this.#runner.info("The gateway can be reached again.");
  }
}

/**
 * Returns whether the response comes from the gateway. A proxy whose gateway is down responds with
 * its own 5xx, which is not JSON.
 */
function isOfGateway({ status, headers }: Response): boolean {
  return status < 500 || (headers.get("content-type") ?? "").includes("json");
}

function findCode(error: unknown): string | undefined {
  const { code, message, cause } = error as { code?: unknown; message?: unknown; cause?: unknown };
  if (typeof code === "string") return code;
  if (message === "bad port") return message;
  return cause instanceof Error ? findCode(cause) : undefined;
}
