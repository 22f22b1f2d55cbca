import assert from "node:assert/strict";
import { test } from "node:test";
import { until } from "../analytics_requests.mjs";
import { keyed } from "../jobs_gateway.mjs";
import { assertProblem } from "../recorded_gateway.mjs";
import { BUILT_SCRIPT, configWith } from "../wrangler_config.mjs";
import { ACME, useSite } from "./site.mjs";

/** The organization's object concludes no write before a request for `/v1/release`. */
const HOLDING_WORKER = `
  import worker, * as classes from ${JSON.stringify(BUILT_SCRIPT)};
  export * from ${JSON.stringify(BUILT_SCRIPT)};
  let isHeld = true;
  export class OrgGate extends classes.OrgGate {
    async concludeWrite(write) {
      while (isHeld) await scheduler.wait(5);
      return super.concludeWrite(write);
    }
  }
  export default {
    fetch(request, env, context) {
      if (new URL(request.url).pathname !== "/v1/release") return worker.fetch(request, env, context);
      isHeld = false;
      return new Response();
    },
  };
`;

const site = useSite("deployment-forced-keys", {
  projects: [ACME],
  config: configWith({ source: HOLDING_WORKER }),
});

test("the end of a write leaves its key to the forced retry that now holds it", async () => {
  const { upstream } = site;
  const operation = "deployments.create";
  const deploy = (extra = []) => site.deploy(ACME, { headers: [...keyed("k"), ...extra] });
  const force = () => deploy([["Idempotency-Retry", "force"]]);
  await upstream.fault({ operation, fault: { kind: "reset", process: false } });
  const first = deploy();
  await until(async () => (await deploy()).json.outcome === "unknown");
  await upstream.hold({ operation, times: 1 });
  const second = force();
  await upstream.untilHeld(1);
  await fetch(`${site.gate.gateway.url}/v1/release`);
  assertProblem(await first, 502, "upstream-unreachable");
  assertProblem(await force(), 409, "idempotency-key-in-use");
  await upstream.release();
  assert.equal((await second).status, 202);
});
