import assert from "node:assert/strict";
import { test } from "node:test";
import { keyed } from "../jobs_gateway.mjs";
import { assertProblem } from "../recorded_gateway.mjs";
import { ACME, listOf, statusOf, triggerOf, useSite } from "./site.mjs";

const site = useSite("deployment-crash", { projects: [ACME] });

const run = (headers) => site.post(triggerOf(ACME, "weekly"), { headers });
const runs = async () => (await site.upstream.automationRuns()).length;

for (const [when, process] of [
  ["before Mintlify has received the run", false],
  ["after Mintlify has queued the run", true],
]) {
  test(`a kill ${when} leaves an unknown outcome, not a second run`, async () => {
    const key = `kill-${process}`;
    const before = await runs();
    await site.upstream.hold({ operation: "automations.run", times: 1, process });
    const lost = run(keyed(key));
    await site.upstream.untilHeld(1);
    await site.jobs.restart("kill");
    await lost.catch(() => {});
    await site.upstream.release();
    for (let attempt = 0; attempt < 3; attempt += 1) {
      const { outcome } = assertProblem(await run(keyed(key)), 409, "outcome-unknown");
      assert.equal(outcome, "unknown");
    }
    const sent = await runs();
    assert.ok(sent - before <= 1, `${sent - before} runs`);
    const forced = await run([...keyed(key), ["Idempotency-Retry", "force"]]);
    assert.equal(forced.status, 202, forced.text);
    assert.deepEqual((await run(keyed(key))).json, forced.json);
    assert.equal(await runs(), sent + 1);
  });
}

test("a deployment is still listed, readable and streamed after a kill", async () => {
  const id = await site.deployed(ACME, { headers: keyed("kept") });
  await site.jobs.restart("kill");
  const { deployments } = (await site.get(listOf(ACME))).json;
  const ids = deployments.map(({ statusId }) => statusId);
  assert.deepEqual(ids, [id]);
  assert.equal((await site.get(statusOf(id))).status, 200);
  assert.equal(await site.deployed(ACME, { headers: keyed("kept") }), id);
  const stream = site.watch(ACME, id);
  await stream.event();
  await site.upstream.setDeployment(id, { status: "success", logs: [] });
  await stream.ended;
});
