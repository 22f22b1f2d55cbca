/** Answers that are late, broken or of another shape. */
import assert from "node:assert/strict";
import { startScriptedServer } from "../scripted_server.mjs";
import { against, describe, hurry, JOB, KEY, quillgate, rejected, when } from "./fixtures.mjs";

describe("when an answer is bad", () => {
  when(
    "the body stalls after the headers",
    "TimeoutError within the attempt's time; the connection is closed",
    () =>
      against({ stall: "body" }, async ({ agentJobs }, server) => {
        const error = await rejected(agentJobs.get("j1", { timeout: 150, maxRetries: 0 }));
        assert.ok(error instanceof quillgate.TimeoutError);
        assert.equal(error.after, 150);
        assert.equal(await server.requests[0].ended, false);
      }),
  );

  when(
    "nothing answers",
    "TimeoutError within the attempt's time, and a GET is sent again",
    (context) =>
      against({ stall: "head" }, async ({ agentJobs }, { requests }) => {
        const waits = hurry(context);
        const error = await rejected(agentJobs.get("j1", { timeout: 120 }));
        assert.ok(error instanceof quillgate.TimeoutError);
        assert.equal(requests.length, 3);
        assert.equal(waits.length, 2);
      }),
  );

  when("nothing answers for the total time", "TimeoutError, however many retries are left", () =>
    against({ stall: "head" }, async ({ agentJobs }, { requests }) => {
      const options = { timeout: 200, totalTimeout: 250, maxRetries: 10 };
      const error = await rejected(agentJobs.get("j1", options));
      assert.ok(error instanceof quillgate.TimeoutError);
      assert.equal(requests.length, 1, "there is no time left for another wait");
    }),
  );

  when("a success is broken JSON", "DecodeError, and not sent again", () =>
    against(
      { text: '{"id":"j1"', headers: { "x-request-id": "r-1" } },
      async ({ agentJobs }, { requests }) => {
        const error = await rejected(agentJobs.get("j1"));
        assert.ok(error instanceof quillgate.DecodeError);
        assert.equal(error.message, "the body must be JSON");
        assert.equal(error.requestId, "r-1");
        assert.equal(requests.length, 1);
      },
    ),
  );

  when("a success is an HTML page, or empty", "DecodeError", async () => {
    for (const text of ["<!doctype html><title>Sign in</title>", ""]) {
      await against({ text }, async ({ pageViews }) => {
        assert.ok((await rejected(pageViews.list())) instanceof quillgate.DecodeError);
      });
    }
  });

  when("a success is JSON of another shape", "DecodeError that names the place", () =>
    against(
      { json: { totals: {}, views: [{ human: 1 }, { human: 1.5 }], hasMore: false } },
      async ({ pageViews }) => {
        const error = await rejected(pageViews.list());
        assert.ok(error instanceof quillgate.DecodeError);
        assert.equal(error.where, "views[1].human");
        assert.equal(error.what, "must be an integer from 0 to 9007199254740991, found a number");
      },
    ),
  );

  when(
    "a success breaks off in its body",
    "ConnectionError with the host's error as its cause; a GET is sent again",
    (context) =>
      against({ text: '{"id":"j1"}', cut: true }, async ({ agentJobs }, { requests }) => {
        hurry(context);
        const error = await rejected(agentJobs.get("j1"));
        assert.ok(error instanceof quillgate.ConnectionError);
        assert.ok(error.cause instanceof Error);
        assert.equal(requests.length, 3);
      }),
  );

  when(
    "nobody listens at the address",
    "ConnectionError with the host's error as its cause",
    async () => {
      let url;
      await against({}, (_, server) => {
        url = server.url;
      });
      const client = new quillgate.Client({
        baseUrl: url,
        projectId: "acme",
        adminKey: KEY,
        logLevel: "off",
      });
      const error = await rejected(client.agentJobs.create({ prompt: "p" }));
      assert.ok(error instanceof quillgate.ConnectionError);
      assert.equal(error.cause.cause.code, "ECONNREFUSED");
    },
  );

  when(
    "the answer is a redirect to another host",
    "ApiError; that host gets no request and no key",
    async () => {
      const elsewhere = await startScriptedServer(() => ({ json: JOB }));
      const answer = { status: 307, headers: { location: `${elsewhere.url}/v2` } };
      await against(answer, async ({ agentJobs }) => {
        const error = await rejected(agentJobs.create({ prompt: "p" }));
        assert.ok(error instanceof quillgate.ApiError);
        assert.equal(error.status, 307);
      });
      assert.equal(elsewhere.requests.length, 0);
      await elsewhere.stop();
    },
  );

  when("the answer is an error page of a proxy", "ServerError with the status in words", () =>
    against({ status: 502, text: "<h1>502</h1>" }, async ({ agentJobs }) => {
      const error = await rejected(agentJobs.get("j1", { maxRetries: 0 }));
      assert.ok(error instanceof quillgate.ServerError);
      assert.equal(error.message, "502 bad gateway");
      assert.equal(error.problem, null);
    }),
  );
});
