/**
 * The Worker with the cargo feature `trap-route`. The request `POST /__trap` makes this Worker
 * panic.
 */
import { BUILD_NEEDS, buildTrapWorker } from "../../scripts/build.mjs";
import { setup } from "../../scripts/setup.mjs";

/**
 * Returns the path of the Worker in `QUILLGATE_TRAP_WORKER`, which `npm test` sets. Builds the
 * Worker if the variable is not set.
 *
 * @returns {Promise<string>} path of the Worker's `index.js`
 */
export async function trapWorker() {
  return process.env.QUILLGATE_TRAP_WORKER || buildTrapWorker(await setup(BUILD_NEEDS));
}
