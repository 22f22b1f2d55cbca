/** Timestamps in storage. This module moves the timestamps of a stopped gateway forward or back. */
import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";
import { startGateway } from "../harness/gateway.mjs";
import { configWith } from "./wrangler_config.mjs";

const CLOCK_WORKER = fileURLToPath(new URL("workers/clock.mjs", import.meta.url));

/** Moves the stored timestamps of a stopped gateway. */
export async function moveStoredTimes(state, change) {
  const clock = await startGateway({ config: configWith({ path: CLOCK_WORKER }), state });
  try {
    const body = JSON.stringify({ from: "-", to: "-", ...change });
    const response = await fetch(`${clock.url}/v1/clock`, { method: "POST", body });
    assert.equal(await response.text(), "moved");
  } finally {
    await clock.stop();
  }
}
