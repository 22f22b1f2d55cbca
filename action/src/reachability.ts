/** Whether the gateway can be reached, as the requests to it show. */

import type { Runner } from "./runner.js";

/** What a host's own error says of a connection that never stood: nothing was sent over it. */
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
/** A request that was taken back before this was not given up for want of an answer. */
const LONG_SILENCE = 10_000;

/** Sees every request to the gateway. */
export class Reachability {
  readonly #runner: Runner;
  readonly #host: string;
  #requests = 0;
  #connected = false;
  #obstacle: string | undefined;
  #lostSince: Date | undefined;
  /** Whether the log is told when the gateway is lost, and when it is back. */
  isReported = false;

  constructor(gateway: string, runner: Runner) {
    this.#host = new URL(gateway).host;
    this.#runner = runner;
  }

  /** How many requests there were. */
  get requests(): number {
    return this.#requests;
  }

  /** Why no request has ever been sent, where that is so: the host, and what is wrong with it. */
  get obstacle(): string | undefined {
    return this.#connected || !this.#obstacle ? undefined : `${this.#host} ${this.#obstacle}`;
  }

  /** Since when every request has failed, as a sentence without its end. */
  get loss(): string | undefined {
    if (this.#lostSince === undefined) return undefined;
    const time = this.#lostSince.toISOString().slice(11, 19);
    return `the gateway could not be reached since ${time} UTC`;
  }

  /** Sends a request. */
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
      this.#runner.info(`The gateway cannot be reached (${why}); the step goes on trying.`);
    }
  }

  #find(): void {
    if (this.#lostSince === undefined) return;
    this.#lostSince = undefined;
    if (this.isReported) this.#runner.info("The gateway can be reached again.");
  }
}

/** What stands before a gateway that is gone answers for it, in words of its own. */
function isOfGateway({ status, headers }: Response): boolean {
  return status < 500 || (headers.get("content-type") ?? "").includes("json");
}

function findCode(error: unknown): string | undefined {
  const { code, message, cause } = error as { code?: unknown; message?: unknown; cause?: unknown };
  if (typeof code === "string") return code;
  if (message === "bad port") return message;
  return cause instanceof Error ? findCode(cause) : undefined;
}
