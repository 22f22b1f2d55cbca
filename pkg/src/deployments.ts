/** The client's methods for deployments, their changes, and the gateway's records of them. */

import type { ApiPromise } from "./api_promise.js";
import type { DeploymentChange, DeploymentId, DeploymentListChange } from "./deployment_types.js";
import type { WaitOptions, WatchAllOptions, WatchOptions } from "./job_types.js";
import { List } from "./list.js";
import type { ListOptions, ListParams } from "./list_types.js";
import type { CreateOptions, RequestOptions } from "./options.js";
import { streamList } from "./streams.js";
import type { Transport } from "./transport.js";
import type { Deployment, StartedDeployment } from "./types.js";
import { waitForResource, watchResource } from "./watch.js";
import type { Watched } from "./watched.js";

/** A list of deployments. Await it for one page, or iterate over it for every deployment. */
export interface DeploymentList extends List<"deployments.list"> {}

const DEPLOYMENTS: Watched<"deployments.get", "deployment"> = {
  get: "deployments.get",
  name: "deployment",
  params: (statusId) => ({ statusId }),
  events: (statusId) => ({
    operation: "deployments.events",
    // The operation whose path is that of the record. The path of `deployments.get` has no project.
    parent: "deployments.deleteRecord",
    params: { statusId },
  }),
  allEvents: { operation: "deployments.allEvents", parent: "deployments.list", params: {} },
};

/** Methods for deployments of the documentation site, and of previews. */
export class Deployments {
  readonly #transport: Transport;

  /** @internal */
  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /**
   * Publishes the documentation from the project's deployment branch. The deployment takes a minute or
   * more: see {@link Deployments.wait}. Mintlify allows 10 deployments per 10 seconds.
   *
   * Requests to a gateway are retried, because it starts one deployment per idempotency key. Requests
   * sent directly to Mintlify are never retried.
   *
   * @example
   * ```ts
   * const { statusId } = await client.deployments.create();
   * const deployment = await client.deployments.wait(statusId);
   * if (!isLive(deployment)) console.log(deployment.logs); // `isLive` is from "quillgate/values"
   * ```
   */
  create(options?: CreateOptions): ApiPromise<StartedDeployment> {
    return this.#transport.call("deployments.create", {}, options);
  }

  /**
   * Reads a deployment or a preview. A gateway returns those of the token's projects, even if
   * the client has another project. Others throw a `NotFoundError`.
   *
   * @example
   * ```ts
   * const { status, summary } = await client.deployments.get(statusId);
   * ```
   */
  get(id: DeploymentId, options?: RequestOptions): ApiPromise<Deployment> {
    return this.#transport.call("deployments.get", { statusId: id }, options);
  }

  /**
   * Lists the deployments and previews started through the gateway, newest first.
   *
   * Await the list for one page, or iterate over it for every deployment of every page. It sends no
   * request before that. Mintlify has no such list, so a client with an `adminKey` throws a
   * `NotFoundError`.
   *
   * @example
   * ```ts
   * const { deployments, nextCursor } = await client.deployments.list({ limit: 10 });
   * for await (const { statusId, isLive } of client.deployments.list()) console.log(statusId, isLive);
   * ```
   */
  list(params?: ListParams<"deployments.list">, options?: ListOptions): DeploymentList {
    return new List(this.#transport, "deployments.list", params, options);
  }

  /**
   * Deletes the gateway's record of a deployment. The deployment itself continues. The token needs the
   * scope `gateway:operate`.
   *
   * @example
   * ```ts
   * await client.deployments.deleteRecord(statusId);
   * ```
   */
  deleteRecord(id: DeploymentId, options?: RequestOptions): ApiPromise<void> {
    return this.#transport.call("deployments.deleteRecord", { statusId: id }, options);
  }

  /**
   * Waits until a deployment or a preview ends with `success` or `failure`, and resolves to it. After
   * `failure`, the content can still be live: see `isLive` of `quillgate/values`.
   *
   * A gateway streams the changes of a deployment. Without a stream, the client polls as for
   * {@link import("./agent_jobs.js").AgentJobs.wait}.
   *
   * @throws {DeploymentWaitTimeoutError} if the deployment does not end within `timeout`; its
   *   `deployment` is the last known state
   * @throws {DecodeError} if a response or an event of the stream is not a deployment
   *
   * @example
   * ```ts
   * const deployment = await client.deployments.wait(statusId, {
   *   timeout: 600_000,
   *   onUpdate: ({ summary }) => console.log(summary),
   * });
   * ```
   */
  wait(id: DeploymentId, options?: WaitOptions<Deployment>): Promise<Deployment> {
    return waitForResource(this.#transport, DEPLOYMENTS, id, options);
  }

  /**
   * Watches a deployment or a preview. Yields its current state, then every change, and ends when the
   * deployment ends.
   *
   * @throws {DeploymentWaitTimeoutError} if the deployment does not end within `timeout`; its
   *   `deployment` is the last known state
   * @throws {DecodeError} if a response or an event of the stream is not a deployment
   *
   * @example
   * ```ts
   * for await (const { deployment, done } of client.deployments.watch(statusId)) {
   *   console.log(deployment.logs?.at(-1), done);
   * }
   * ```
   */
  watch(id: DeploymentId, options?: WatchOptions): AsyncGenerator<DeploymentChange, void, void> {
    return watchResource(this.#transport, DEPLOYMENTS, id, options);
  }

  /**
   * Watches all deployments and previews started through the gateway. Yields every deployment that is
   * started or changes, and the id of every deployment whose record is deleted.
   *
   * It reconnects and throws like {@link import("./agent_jobs.js").AgentJobs.watchAll}. After a long
   * interruption, it yields `reset`: some changes are missing, so load the list again.
   *
   * @example
   * ```ts
   * const { deployments, revision } = await client.deployments.list();
   * for await (const { deployment } of client.deployments.watchAll({ after: revision, signal })) {
   *   if (deployment) console.log(deployment.statusId, deployment.status);
   * }
   * ```
   */
  watchAll(options?: WatchAllOptions): AsyncGenerator<DeploymentListChange, void, void> {
    return streamList(this.#transport, DEPLOYMENTS, options);
  }
}
