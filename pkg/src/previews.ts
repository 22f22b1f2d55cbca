/** The client's methods for previews. */

import type { ApiPromise } from "./api_promise.js";
import type { CreateOptions } from "./options.js";
import type { Transport } from "./transport.js";
import type { Operations, StartedPreview } from "./types.js";

/** Methods for previews of branches. `client.deployments` reads, lists and watches them. */
export class Previews {
  readonly #transport: Transport;

  /** @internal */
  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /**
   * Creates a preview of a branch, or deploys its existing preview again. Mintlify allows 5 previews
   * per minute. As with {@link import("./deployments.js").Deployments.create}, only requests to a
   * gateway are retried.
   *
   * For minutes after the deployment has succeeded, `previewUrl` can respond with 404.
   *
   * @example
   * ```ts
   * const { statusId, previewUrl } = await client.previews.create({ branch: "docs/new-endpoint" });
   * await client.deployments.wait(statusId);
   * console.log(previewUrl);
   * ```
   */
  create(
    params: Operations["previews.create"]["params"],
    options?: CreateOptions,
  ): ApiPromise<StartedPreview> {
    return this.#transport.call("previews.create", params, options);
  }
}
