/** Types of watches of deployments. */

import type { Deployment, ListedDeployment } from "./types.js";

/**
 * A deployment's id: the `statusId` of the response that started it. The type allows `null` because
 * Mintlify does not guarantee `_id`. Methods reject `null` with a `ValidationError` before they send a
 * request.
 */
export type DeploymentId = Deployment["_id"];

/** A deployment after a change. */
export interface DeploymentChange {
  deployment: Deployment;
  /** Whether the deployment has ended. If `true`, this is the last change. */
  done: boolean;
}

/** A change to the project's list of deployments. Exactly one property is set. */
export type DeploymentListChange =
  | {
      /** A deployment that was started or changed, as the list now shows it. */
      deployment: ListedDeployment;
      deleted?: undefined;
      reset?: undefined;
    }
  | {
      /** The id of the deployment, if its record was deleted. */
      deleted: string;
      deployment?: undefined;
      reset?: undefined;
    }
  | {
      /** Some changes are missing, because the gateway no longer stores them. Load the list again. */
      reset: true;
      deployment?: undefined;
      deleted?: undefined;
    };
