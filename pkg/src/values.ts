/**
 * Reads the values that Mintlify returns as strings: times and links to pull requests. Loads no
 * WebAssembly.
 *
 * @module
 */

export { parseInstant } from "./instant.js";
export { type PullRequest, readPullRequest } from "./pull_request.js";
