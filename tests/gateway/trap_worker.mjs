/** The Worker with the cargo feature `trap-route`: `POST /__trap` makes it panic. */
import { BUILD_NEEDS, buildTrapWorker } from "../../scripts/build.mjs";
import { setup } from "../../scripts/setup.mjs";

/**
 * Builds the Worker. If `npm test` has already built the Worker, its path is in
 * QUILLGATE_TRAP_WORKER, and this function returns that path.
 *
 * @returns {Promise<string>} path of the Worker's `index.js`
 */
export async function trapWorker() {
  return process.env.QUILLGATE_TRAP_WORKER || buildTrapWorker(await setup(BUILD_NEEDS));
}
