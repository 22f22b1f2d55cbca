/**
 * Reads strings of Mintlify and of gateways: times, links to pull requests, logs of deployments, and
 * rate limits. Also returns the range of the last days. Loads no WebAssembly.
 *
 * @module
 */

export { parseInstant } from "./instant.js";
export { type DateBounds, lastDays } from "./last_days.js";
export { isLive } from "./live.js";
export { type PullRequest, readPullRequest } from "./pull_request.js";
export { type RateLimit, readLimits } from "./rate_limit.js";
