/**
 * Reads strings of Mintlify and of gateways: times, links to pull requests, and rate limits. Loads no
 * WebAssembly.
 *
 * @module
 */

export { parseInstant } from "./instant.js";
export { type PullRequest, readPullRequest } from "./pull_request.js";
export { type RateLimit, readLimits } from "./rate_limit.js";
