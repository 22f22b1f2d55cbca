/** A gateway that is not set up says which variable is wrong, and never what it holds. */
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { assertProblem, JOBS, startGate, VIEWS } from "./gate.mjs";

const VALUE = "hunter2-of-the-operator";

for (const [what, variable, value, rule] of [
  ["no admin key", "ADMIN_API_KEY", undefined, "is not set"],
  ["an empty admin key", "ADMIN_API_KEY", "  ", "is not set"],
  ["an assistant key", "ADMIN_API_KEY", `mint_dsc_${VALUE}`, "must be an admin key"],
  ["an index key", "ADMIN_API_KEY", `mint_us_${VALUE}`, "must be an admin key"],
  ["another service's key", "ADMIN_API_KEY", `sk-${VALUE}`, "must be an admin key"],
  ["no token secret", "ACCESS_TOKEN_SECRET", undefined, "is not set"],
  ["a short token secret", "ACCESS_TOKEN_SECRET", VALUE, "must be at least 32 bytes"],
  [
    "an origin with a path",
    "ALLOWED_ORIGINS",
    `https://${VALUE}.example/a`,
    "must be exact origins",
  ],
  ["all origins", "ALLOWED_ORIGINS", "*", "must be exact origins"],
  [
    "an upstream with a password",
    "UPSTREAM_BASE_URL",
    `https://alice:${VALUE}@api.example`,
    "must be an absolute https URL",
  ],
  ["a limit of nothing", "READ_LIMIT_PER_HOUR", "0", "must be an integer from 1 to 1000000"],
  ["a retention that is none", "JOB_RETENTION_DAYS", VALUE, "must be an integer from 1 to 3650"],
  ["a timeout that is none", "UPSTREAM_TIMEOUT_SECONDS", VALUE, "must be an integer from 1 to 300"],
]) {
  describe(what, () => {
    let gate;

    before(async () => {
      gate = await startGate(`misconfiguration-${what.replaceAll(/\W/g, "-")}`, {
        gateway: { vars: { [variable]: value } },
      });
    });
    after(() => gate?.stop());

    const fits = (text) => {
      assert.ok(text.includes(`${variable} ${rule}`), text);
      if (value?.trim().length > 1) assert.ok(!text.includes(value), text);
      assert.ok(!text.includes(VALUE), text);
    };

    test(`every API request is answered 500 with the name ${variable}`, async () => {
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
        fits(problem.detail);
        assert.ok(!answer.raw.includes(VALUE));
        const line = await gate.logged(answer.header("x-request-id"));
        fits(line.operator);
        assert.deepEqual([line.status, line.problem], [500, "misconfigured"]);
      }
      assert.equal(await gate.received(), 0);
    });

    test("it is up, and the page is there", async () => {
      assert.equal((await gate.get("/healthz")).status, 200);
      assert.match((await gate.get("/")).header("content-type"), /^text\/html/);
    });

    test("nothing secret is said", async () => {
      assert.ok(!gate.gateway.log().includes(VALUE));
      await gate.assertDiscreet();
    });
  });
}
