/** Tracks whether the gateway is reachable. */

import { explainConnection } from "../../pkg/dist/connection_failure.js";
import type { ConnectionFailure } from "../../pkg/dist/opaque_failure.js";
import type { Runner } from "./runner.js";

/**
 * How long a request must wait, in milliseconds, before its abort counts as an outage. If it is
 * aborted sooner, the gateway may still be reachable.
 */
const MIN_WAIT_FOR_OUTAGE = 10_000;

/** Sends the requests to the gateway and records whether it responds. */
export class Reachability {
  readonly #runner: Runner;
  readonly #gateway: URL;
  #requests = 0;
  #mayHaveReceived = false;
  #connectFailure: ConnectionFailure | undefined;
  #unreachableSince: Date | undefined;
  /** Whether to log the start and the end of each outage. */
  logsChanges = false;

  constructor(gateway: string, runner: Runner) {
    this.#gateway = new URL(gateway);
    this.#runner = runner;
  }

  /** The number of requests sent so far, including failed ones. */
  get requests(): number {
    return this.#requests;
  }

  /** The last failed connection, if the gateway has received no request. */
  get connectFailure(): ConnectionFailure | undefined {
    return this.#mayHaveReceived ? undefined : this.#connectFailure;
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
      this.#mayHaveReceived = true;
      if (isGatewayResponse(response)) this.#endOutage();
      else this.#startOutage(began, `status ${response.status}`);
      return response;
    } catch (error) {
      this.#connectFailure = explainConnection(error, this.#gateway);
      if (this.#connectFailure.sent === "maybe") this.#mayHaveReceived = true;
      const waited = Date.now() - began.getTime();
      const wasAbortedEarly = request.signal.aborted && waited < MIN_WAIT_FOR_OUTAGE;
      if (!wasAbortedEarly) this.#startOutage(began, this.connectFailure?.summary ?? "no answer");
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
