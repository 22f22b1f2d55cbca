/**
 * The global setup of the browser tests. It builds the simulator before the first worker starts, so
 * that no worker's timeout includes the build. If `QUILLGATE_SIMULATOR` is set, it builds nothing.
 */
import { buildUpstream } from "../harness/upstream.mjs";

export default async function buildSimulator() {
  if (!process.env.QUILLGATE_SIMULATOR) await buildUpstream({ env: process.env });
}
