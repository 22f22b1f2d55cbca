/** A gateway with an invalid or missing variable. */
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { describe, test } from "node:test";
import { Receiver } from "../../harness/receiver.mjs";
import { until } from "../analytics_requests.mjs";
import { hook, useJobs, webhookVars } from "../jobs_gateway.mjs";
import { assertProblem, JOBS, useGate, useServer, VIEWS } from "../recorded_gateway.mjs";
import { BUILT_SCRIPT, configWith } from "../wrangler_config.mjs";

const VALUE = "hunter2-of-the-operator";

for (const [what, variable, value, rule] of [
  ["no admin key", "ADMIN_API_KEY", undefined, "is not set"],
  ["no token secret", "ACCESS_TOKEN_SECRET", undefined, "is not set"],
  [
    "an upstream with a password",
    "UPSTREAM_BASE_URL",
    `https://alice:${VALUE}@api.example`,
    "must be an absolute https URL",
  ],
  // Wrangler accepts a list without quotes.
  ["a list of wrong items", "REVOKED_TOKENS", [VALUE, 7], 'must have only "jti"'],
]) {
  describe(`a gateway with ${what}`, () => {
    const gate = useGate(`misconfiguration-${what.replaceAll(/\W/g, "-")}`, {
      gateway: { vars: { [variable]: value } },
    });

    const assertNamesVariable = (message) => {
      assert.ok(message.includes(`${variable} ${rule}`), message);
      assert.ok(!message.includes(VALUE), message);
    };

    test(`responds 500 to every API request and names ${variable}, given ${what}`, async () => {
      for (const answer of [
        await gate.get(VIEWS),
        await gate.post(JOBS, { prompt: "x" }),
        await gate.get(`${JOBS}/j1`),
        await gate.get(VIEWS, { authorization: null }),
        await gate.send({ method: "DELETE", target: VIEWS }),
        await gate.get("/v2/nowhere"),
      ]) {
        const problem = assertProblem(answer, 500, "misconfigured");
        assert.equal(problem.variable, variable);
        assertNamesVariable(problem.detail);
        assert.ok(!answer.raw.includes(VALUE));
        const line = await gate.logged(answer.header("x-request-id"));
        assertNamesVariable(line.operator);
        assert.deepEqual([line.status, line.problem], [500, "misconfigured"]);
      }
      assert.equal(await gate.received(), 0);
    });

    test(`serves the liveness route and the page, given ${what}`, async () => {
      for (const method of ["GET", "HEAD"])
        assert.equal((await gate.send({ method, target: "/healthz" })).status, 200);
      assertProblem(await gate.get("/healthz?deep"), 500, "misconfigured");
      assert.match((await gate.get("/")).header("content-type"), /^text\/html/);
    });

    test(`keeps secrets out of responses and the log, given ${what}`, async () => {
      assert.ok(!gate.gateway.log().includes(VALUE));
    });
  });
}

describe("a gateway whose configuration lacks a binding", () => {
  const config = configWith({ path: BUILT_SCRIPT });
  const gate = useGate("misconfiguration-binding", () => {
    const binding =
      '[[durable_objects.bindings]]\nname = "PROJECT_GATE"\nclass_name = "ProjectGate"\n';
    const complete = readFileSync(config, "utf8");
    assert.ok(complete.includes(binding));
    writeFileSync(config, complete.replace(binding, ""));
    return { gateway: { config } };
  });

  test("responds 500 without Retry-After and names the binding", async () => {
    for (const answer of [await gate.get(`${JOBS}s`), await gate.post(JOBS, { prompt: "x" })]) {
      const problem = assertProblem(answer, 500, "misconfigured");
      assert.equal(problem.variable, "PROJECT_GATE");
      assert.match(problem.detail, /PROJECT_GATE is not bound/);
      assert.equal(answer.header("retry-after"), undefined);
      assert.equal(problem.outcome, undefined);
    }
    assert.equal(await gate.received(), 0);
  });
});

describe("a webhook that is due while a variable is invalid", () => {
  const receiver = useServer(new Receiver());
  const jobs = useJobs("misconfiguration-webhook", () => ({ vars: webhookVars(receiver) }));

  test("sends a webhook that was due while a variable was invalid", async () => {
    receiver.answerAlways(500);
    const { id } = await jobs.create("notify me", { headers: hook(receiver.url) });
    await jobs.finish(id);
    await receiver.next();
    jobs.vars.WEBHOOK_SECRET = VALUE;
    await jobs.restart("kill", async () => {
      // The object repeats an alarm after a minute if three retries of the runtime have failed.
      jobs.gate.settings.clock.rate = 60;
      receiver.answerAlways(204);
    });
    const failure = /"operator":"an alarm failed: .*WEBHOOK_SECRET must/g;
    await until(() => jobs.gate.gateway.log().match(failure)?.length > 4);
    assert.ok(!jobs.gate.gateway.log().includes(VALUE));
    Object.assign(jobs.vars, webhookVars(receiver));
    await jobs.restart("stop");
    assert.equal((await receiver.next()).json.data.id, id);
  });
});
