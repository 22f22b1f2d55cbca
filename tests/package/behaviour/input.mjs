/** Arguments and options that cannot work. */
import assert from "node:assert/strict";
import { inspect } from "node:util";
import { against, describe, JOB, KEY, quillgate, rejected, when } from "./fixtures.mjs";

describe("when input is bad", () => {
  when("an id is empty, `.` or `..`", "ValidationError with field and rule; nothing is sent", () =>
    against({ json: JOB }, async ({ agentJobs }, { requests }) => {
      for (const [id, rule] of [
        ["", "not-empty"],
        [".", "not-dot-segment"],
        ["..", "not-dot-segment"],
      ]) {
        for (const call of [
          () => agentJobs.get(id),
          () => agentJobs.sendMessage(id, { prompt: "p" }),
          () => agentJobs.wait(id),
        ]) {
          const error = await rejected(call);
          assert.ok(error instanceof quillgate.ValidationError);
          assert.deepEqual([error.field, error.rule], ["id", rule]);
        }
      }
      assert.equal(requests.length, 0);
    }),
  );

  when("an id holds `/`, `?`, `#` or `%2e`", "it stays one segment of the path", () =>
    against({ json: JOB }, async ({ agentJobs }, { requests }) => {
      await agentJobs.get("a/../b?x=1#y");
      await agentJobs.get("%2e%2e");
      assert.deepEqual(
        requests.map(({ path }) => path),
        ["/v2/agent/acme/job/a%2F..%2Fb%3Fx%3D1%23y", "/v2/agent/acme/job/%252e%252e"],
      );
    }),
  );

  when(
    "parameters are left out, or are of another type",
    "ValidationError, never a TypeError of the package's own",
    () =>
      against({ json: JOB }, async ({ agentJobs, pageViews }, { requests }) => {
        for (const call of [
          () => agentJobs.create(),
          () => agentJobs.create(null),
          () => agentJobs.create({ prompt: 7 }),
          () => agentJobs.get(),
          () => agentJobs.get({ id: "j1" }),
          () => agentJobs.sendMessage("j1"),
          () => pageViews.list({ limit: "10" }),
          () => pageViews.list({ limit: 0 }),
          () => pageViews.list({ offset: -1 }),
          () => pageViews.list({ dateFrom: "2024-02-30" }),
          () => pageViews.list({ dateFrom: new Date(0) }),
          () => pageViews.list({ cursor: 5 }),
          () => pageViews.list({ cursor: null }),
          () => pageViews.list({ cursor: null }).all(),
          () => agentJobs.get("j1", { timeout: 0 }),
          () => agentJobs.get("j1", { maxRetries: 0.5 }),
        ]) {
          const error = await rejected(call);
          assert.ok(error instanceof quillgate.ValidationError, `${call}: ${inspect(error)}`);
        }
        assert.equal(requests.length, 0);
      }),
  );

  when(
    "a client's options cannot work",
    "ValidationError that names the option and repeats no credential",
    async () => {
      const { Client, ValidationError } = quillgate;
      const secret = "mint_dsc_no-admin-key";
      for (const [field, options] of [
        ["projectId", { adminKey: KEY }],
        ["token", { projectId: "p" }],
        ["token", { projectId: "p", token: "t", adminKey: KEY }],
        ["baseUrl", { projectId: "p", token: "t" }],
        ["adminKey", { projectId: "p", adminKey: secret }],
        ["baseUrl", { projectId: "p", token: "t", baseUrl: `https://u:${secret}@x.example` }],
        ["baseUrl", { projectId: "p", adminKey: KEY, baseUrl: "http://x.example" }],
        ["baseUrl", { projectId: "p", adminKey: KEY, baseUrl: "http://localhost.x.example" }],
      ]) {
        const error = await rejected(() => new Client(options).agentJobs.get("j1"));
        assert.ok(error instanceof ValidationError, inspect(error));
        assert.equal(error.field, field);
        assert.ok(!inspect(error).includes(secret));
      }
    },
  );
});
