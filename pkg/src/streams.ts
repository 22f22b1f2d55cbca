/**
 * Reads the event streams of a gateway. The first `wait`, `watch` or `watchAll` loads this module.
 *
 * @module
 */

export { streamJob } from "./job_stream.js";
export { streamList } from "./list_stream.js";
