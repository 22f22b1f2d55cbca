/** Importing this module registers each route's part of the address. */
import "./analytics/rows/views_address.ts";
import "./deployments/deployments_address.ts";
import "./jobs/jobs_address.ts";

export * from "./shell/address.ts";
