/** Builds the simulator before the first worker starts, so that no worker's timeout includes it. */
import { buildUpstream } from "../harness/upstream.mjs";

export default async function buildSimulator() {
  if (!process.env.QUILLGATE_SIMULATOR) await buildUpstream({ env: process.env });
}
