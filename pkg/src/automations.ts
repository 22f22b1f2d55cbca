/** The client's methods for automations. */

import type { ApiPromise } from "./api_promise.js";
import type { WriteOptions } from "./options.js";
import type { Transport } from "./transport.js";
import type { AutomationRun } from "./types.js";

/** Methods for automations: agents that Mintlify runs on a schedule. */
export class Automations {
  readonly #transport: Transport;

  /** @internal */
  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /**
   * Runs a scheduled automation now. The run costs credits. As with
   * {@link import("./deployments.js").Deployments.create}, only requests to a gateway are retried.
   *
   * @param id from the automation's settings in Mintlify's dashboard
   *
   * @example
   * ```ts
   * const { instanceId } = await client.automations.run("6650f0", { idempotencyKey: "release-42" });
   * ```
   */
  run(id: string, options?: WriteOptions): ApiPromise<AutomationRun> {
    return this.#transport.call("automations.run", { workflowSchemaId: id }, options);
  }
}
