/** The builds that suites test, and the order between them. */
import { buildUpstream } from "../../tests/harness/upstream.mjs";
import {
  buildGateway,
  buildPackage,
  buildPage,
  buildTrapWorker,
  buildWorker,
  START_PARTS,
} from "../build.mjs";

/**
 * @typedef {object} Build
 * @property {string[]} [after] builds that it needs
 * @property {boolean} [compiles] whether it runs Cargo, which takes every core
 * @property {string} [variable] environment variable that names the result for the tests
 * @property {(context: import("../build.mjs").Context) => Promise<string | void>} build
 */

/** @type {Record<string, Build>} in the order in which they start */
export const BUILDS = {
  package: { build: buildPackage, compiles: true },
  worker: { build: buildWorker, compiles: true },
  simulator: { build: buildUpstream, compiles: true, variable: "QUILLGATE_SIMULATOR" },
  "trap worker": { build: buildTrapWorker, compiles: true, variable: "QUILLGATE_TRAP_WORKER" },
  page: { after: ["package"], build: buildPage },
  gateway: { after: ["worker", "page"], build: buildGateway, compiles: true },
  "start package": { build: START_PARTS.package, compiles: true },
  "start worker": { build: START_PARTS.worker, compiles: true },
  "start page": { after: ["start package"], build: START_PARTS.page },
};

/** Returns the named builds and those that they need, in the order in which they start. */
export function withPrerequisites(names) {
  const needed = new Set();
  const add = (name) => {
    if (needed.has(name)) return;
    needed.add(name);
    for (const other of BUILDS[name].after ?? []) add(other);
  };
  for (const name of names) add(name);
  return Object.keys(BUILDS).filter((name) => needed.has(name));
}
