/** Registers the parts of the address that routes own. */
import "./analytics/views_address.ts";
import "./jobs/jobs_address.ts";

export * from "./shell/address.ts";
