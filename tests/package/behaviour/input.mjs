/** How invalid arguments and options are rejected. */
import assert from "node:assert/strict";
import { inspect } from "node:util";
import {
  against,
  assertInvalid,
  describe,
  JOB,
  KEY,
  quillgate,
  rejectionOf,
  when,
} from "./fixtures.mjs";

describe("Invalid input", () => {
  when(
    "an id is empty, `.` or `..`",
    "the call rejects with ValidationError, which has the field and the rule; nothing is sent",
    () =>
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
            await assertInvalid(call, "id", rule);
          }
        }
        assert.equal(requests.length, 0);
      }),
  );

  when("an id contains `/`, `?`, `#` or `%2e`", "it stays one segment of the path", () =>
    against({ json: JOB }, async ({ agentJobs }, { requests }) => {
      await agentJobs.get("a/../b?x=1#y");
      await agentJobs.get("%2e%2e");
      const paths = requests.map(({ path }) => path);
      assert.deepEqual(paths, [
        "/v2/agent/acme/job/a%2F..%2Fb%3Fx%3D1%23y",
        "/v2/agent/acme/job/%252e%252e",
      ]);
    }),
  );

  when(
    "parameters are missing or of the wrong type",
    "the call rejects with ValidationError, never with a TypeError; nothing is sent",
    () =>
      against({ json: JOB }, async ({ agentJobs, analytics }, { requests }) => {
        for (const call of [
          () => agentJobs.create(),
          () => agentJobs.create(null),
          () => agentJobs.create({ prompt: 7 }),
          () => agentJobs.create(throwingProxy()),
          () => agentJobs.get(),
          () => agentJobs.get({ id: "j1" }),
          () => agentJobs.sendMessage("j1"),
          () => analytics.views({ limit: "10" }),
          () => analytics.views({ limit: 0 }),
          () => analytics.views({ offset: -1 }),
          () => analytics.views({ dateFrom: "2024-02-30" }),
          () => analytics.views({ dateFrom: new Date(0) }),
          () => analytics.views({ "\ud800": 1 }),
          () => analytics.views({ cursor: 5 }),
          () => analytics.views({ resumeFrom: null }),
          () => analytics.views({ resumeFrom: null }).all(),
          () => agentJobs.get("j1", { timeout: 0 }),
          () => agentJobs.get("j1", { maxRetries: 0.5 }),
        ]) {
          await rejectionOf(call, "ValidationError");
        }
        assert.equal(requests.length, 0);
      }),
  );

  when(
    "the options of a client are invalid",
    "its calls reject with ValidationError, which names the option and repeats no credential",
    async () => {
      const { Client } = quillgate;
      const secret = "mint_dsc_no-admin-key";
      const gateway = { projectId: "p", auth: { token: "t" } };
      const platform = { projectId: "p", auth: { adminKey: KEY } };
      for (const [field, options] of [
        ["projectId", { auth: { adminKey: KEY } }],
        ["auth", { projectId: "p" }],
        ["auth", { projectId: "p", auth: "t" }],
        ["auth", { projectId: "p", auth: {} }],
        ["auth", { projectId: "p", auth: { session: false } }],
        ["secret", { projectId: "p", auth: { token: "t", secret } }],
        ["auth", { projectId: "p", auth: { token: "t", adminKey: KEY } }],
        ["baseUrl", gateway],
        ["adminKey", { projectId: "p", auth: { adminKey: secret } }],
        ["baseUrl", { ...gateway, baseUrl: `https://u:${secret}@x.example` }],
        ["baseUrl", { ...platform, baseUrl: "http://x.example" }],
        ["baseUrl", { ...platform, baseUrl: "http://localhost.x.example" }],
        // Only the runtime's URL parser rejects this one.
        ["baseUrl", { ...gateway, baseUrl: "https://1.2.3.4.5" }],
      ]) {
        const call = () => new Client(options).agentJobs.get("j1");
        const error = await rejectionOf(call, "ValidationError");
        assert.equal(error.field, field);
        assert.ok(!inspect(error).includes(secret));
      }
    },
  );

  when("`baseUrl` is invalid", "`new Client()` throws ValidationError", async () => {
    const { Client } = quillgate;
    const [gateway, platform] = [{ token: "t" }, { adminKey: KEY }];
    for (const [baseUrl, auth, rule] of [
      ["gate.example", gateway, "base-url"],
      ["", gateway, "base-url"],
      ["ftp://gate.example", gateway, "base-url"],
      ["https://", gateway, "base-url"],
      ["https:///v2", gateway, "base-url"],
      ["https://gate.example/?a=1", gateway, "base-url"],
      ["https://gate.example/#top", gateway, "base-url"],
      ["https://user@gate.example", gateway, "base-url"],
      ["https://gate example", gateway, "base-url"],
      ["https://1.2.3.4.5", gateway, "base-url"],
      ["api.example", platform, "base-url"],
      ["http://api.example", platform, "secure-base-url"],
      ["http://localhost.x.example", platform, "secure-base-url"],
      ["http://gate.example", gateway, "secure-base-url"],
    ]) {
      const make = () => new Client({ projectId: "acme", baseUrl, auth });
      await assertInvalid(make, "baseUrl", rule);
    }
    for (const [baseUrl, auth] of [
      ["https://gate.example/base/", gateway],
      ["http://gate.example", { session: true }],
      ["http://localhost:8788", platform],
      ["http://127.0.0.1/x", platform],
      ["http://[::1]:80", platform],
    ]) {
      new Client({ projectId: "acme", baseUrl, auth });
    }
  });

  when("`logLevel` is unknown", "`new Client()` throws ValidationError", () => {
    const base = { projectId: "acme", auth: { adminKey: KEY } };
    for (const logLevel of ["verbose", "", "WARN", "toString", 1, true]) {
      assert.throws(() => new quillgate.Client({ ...base, logLevel }), {
        name: "ValidationError",
        field: "logLevel",
        rule: "one-of",
        message: "logLevel must be one of off, error, warn, info, debug",
      });
    }
  });

  when("`buildRequest()` gets the name of no operation", "it rejects with ValidationError", () =>
    against({ json: JOB }, async (client) => {
      const onlyOfGateways = ["agentJobs.events", "analytics.views.export"];
      for (const name of [...onlyOfGateways, "", "agentJobs", "toString", "__proto__", "\ud800"]) {
        await assertInvalid(client.buildRequest(name, {}), "operation", "unknown");
      }
    }),
  );

  when("`signal` is not an object", "the call and its lists ignore it", () =>
    against(
      ({ path }) => ({ json: path.includes("/job/") ? JOB : NO_VIEWS }),
      async ({ agentJobs, analytics }) => {
        for (const signal of [null, undefined, 5, "x", false]) {
          assert.equal((await agentJobs.get("j1", { signal })).id, "j1");
          assert.deepEqual(await analytics.views({}, { signal }).all(), []);
        }
      },
    ),
  );
});

const NO_VIEWS = { totals: {}, views: [], hasMore: false };

function throwingProxy() {
  const fail = () => {
    throw new Error("unreadable");
  };
  return new Proxy({}, { get: fail, has: fail, ownKeys: fail, getOwnPropertyDescriptor: fail });
}
