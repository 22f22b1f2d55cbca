/**
 * Lost replies to waiting exports. Each waiting export takes one of a limited number of places in
 * the organization object. If the object's reply is lost, the gateway frees the place.
 */
import assert from "node:assert/strict";
import { once } from "node:events";
import { request } from "node:http";
import { after, before, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { caller } from "../analytics_requests.mjs";
import { exportOf, newRange } from "../expected_exports.mjs";
import { startGate } from "../recorded_gateway.mjs";
import { BUILT_SCRIPT, configWith } from "../wrangler_config.mjs";

/** The window of the budget. It is longer than the test, so that no waiting export continues. */
const WINDOW_SECONDS = 600;
/** If an export has no response after this time, the export is waiting for the budget. */
const OBSERVED_MS = 3000;
/**
 * Maximum time until the place is free again. This limit is shorter than the lease of 25 seconds,
 * so the test fails if only the end of the lease frees the place.
 */
const RELEASE_MS = 12_000;
let gate;
let worker;

before(async () => {
  worker = configWith({
    source: `
      import worker, { OrgGate as Gate, ProjectGate, Session } from ${JSON.stringify(BUILT_SCRIPT)};
      let isLost = true;
      export { ProjectGate, Session };
      export class OrgGate extends Gate {
        async holdExport(...args) {
          const held = await super.holdExport(...args);
          if (!isLost) return held;
          isLost = false;
          throw new Error("the reply is lost");
        }
      }
      export default worker;
    `,
  });
  gate = await startGate("exports-lost-replies", {
    upstream: { pages: 600 },
    gateway: {
      config: worker.config,
      vars: {
        ANALYTICS_LIMIT_PER_HOUR: "1",
        LIMIT_WINDOW_SECONDS: String(WINDOW_SECONDS),
        WAITING_EXPORTS_PER_CALLER: "1",
      },
    },
  });
});
after(async () => {
  await gate?.stop();
  worker?.dispose();
});

/**
 * Requests an export with `Prefer: wait`, then disconnects. Returns the status, or `undefined` if
 * the export waited for the budget until then.
 */
async function requestExport() {
  const target = exportOf("views", { format: "ndjson", ...newRange() });
  const { authorization } = caller(gate, "rita");
  const headers = { authorization, prefer: `wait=${WINDOW_SECONDS}` };
  const sent = request(`${gate.gateway.url}${target}`, { headers, agent: false }).end();
  const [answer] = await Promise.race([once(sent, "response"), sleep(OBSERVED_MS, [])]);
  sent.on("error", () => {});
  // After a FIN, a client may still read. Only a reset tells workerd that the client has left.
  sent.socket.resetAndDestroy();
  return answer?.statusCode;
}

test("frees the place of an export when the reply to its request for the place is lost", async () => {
  const target = exportOf("views", { format: "ndjson", ...newRange() });
  const first = await gate.get(target, caller(gate, "bob"));
  assert.equal(first.status, 200, "the first page uses the budget");

  assert.equal(await requestExport(), 503);
  const deadline = performance.now() + RELEASE_MS;
  let status = await requestExport();
  while (status !== undefined) {
    assert.equal(status, 429);
    assert.ok(performance.now() < deadline, "the place is free before its lease ends");
    await sleep(200);
    status = await requestExport();
  }
});
