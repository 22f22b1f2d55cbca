/**
 * The Worker with the cargo feature `trap-route`. The request `POST /__trap` makes this Worker
 * panic.
 */
import { BUILD_NEEDS, buildTrapWorker } from "../../scripts/build.mjs";
import { setup } from "../../scripts/setup.mjs";

/**
 * Builds the Worker, unless `npm test` has already built the Worker and set QUILLGATE_TRAP_WORKER
 * to the path.
 *
 * @returns {Promise<string>} path of the Worker's `index.js`
 */
export async function trapWorker() {
  return process.env.QUILLGATE_TRAP_WORKER || buildTrapWorker(await setup(BUILD_NEEDS));
}
