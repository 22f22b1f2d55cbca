/** The Worker with the cargo feature `trap-route`: `POST /__trap` makes it panic. */
import { BUILD_NEEDS, buildTrapWorker } from "../../scripts/build.mjs";
import { setup } from "../../scripts/setup.mjs";

/**
 * Builds the Worker, unless QUILLGATE_TRAP_WORKER has the path of one that `npm test` built.
 *
 * @returns {Promise<string>} path of its `index.js`
 */
export async function trapWorker() {
  return process.env.QUILLGATE_TRAP_WORKER || buildTrapWorker(await setup(BUILD_NEEDS));
}
