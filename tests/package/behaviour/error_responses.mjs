/** The errors that responses other than 2xx cause. */
import assert from "node:assert/strict";
import { install } from "../installed.mjs";
import { against, describe, importFrom, KEY, quillgate, rejectionOf, when } from "./fixtures.mjs";

describe("Error responses", () => {
  const CLASSES = [
    [400, "BadRequestError"],
    [401, "AuthenticationError"],
    [403, "PermissionError"],
    [404, "NotFoundError"],
    [409, "ConflictError"],
    [422, "UnprocessableEntityError"],
    [429, "RateLimitError"],
    [500, "ServerError"],
    [503, "ServerError"],
  ];

  when(
    "the status is 4xx or 5xx",
    "the call rejects with the ApiError class of the status and the data of the response",
    async () => {
      for (const [status, name] of CLASSES) {
        const code = "/problems/x";
        const problem = { type: code, title: "X", detail: "because", errors: [{ detail: "one" }] };
        const headers = { "x-request-id": "r-9", "retry-after": "90", "x-other": "o" };
        await against({ status, headers, json: problem }, async ({ agentJobs }) => {
          const error = await rejectionOf(agentJobs.get("j1", { maxRetries: 0 }), "ApiError");
          assert.equal(error.constructor, quillgate[name]);
          assert.ok(error instanceof quillgate.QuillgateError);
          const message = `${status} because`;
          const data = { name, message, status, code, requestId: "r-9", retryAfter: 90, problem };
          for (const [property, value] of Object.entries({ ...data, details: ["one"] })) {
            assert.deepEqual(error[property], value, property);
          }
          assert.equal(error.headers.get("x-other"), "o");
        });
      }
    },
  );

  when(
    "the body has another known format, or none",
    "the error has the message and the details that the body contains",
    async () => {
      const owl = "🦉";
      for (const [body, message, details = [], code = null] of [
        [{ error: "no such page" }, "404 no such page"],
        [{ error: { message: "deep" } }, "404 deep"],
        [{ title: "Title", message: "second" }, "404 Title"],
        [{ message: "last" }, "404 last"],
        [{ error: "\ud800" }, "404 \ud800"],
        [{ error: "", detail: 5, errors: {}, details: "x", type: 7 }, "404 not found"],
        [{ details: [{ message: "a" }, null, 5, {}], errors: [{ detail: "b" }] }, null, ["a", "b"]],
        [{ type: "/problems/x", error: "e" }, "404 e", [], "/problems/x"],
        [{ details: Array(21).fill({ message: "a" }) }, null, Array(20).fill("a")],
        [{ error: owl.repeat(1001) }, `404 ${owl.repeat(1000)}…`],
        ["a string", null],
        [null, null],
      ]) {
        await against({ status: 404, json: body }, async ({ agentJobs }) => {
          const error = await rejectionOf(agentJobs.get("j1"));
          assert.equal(error.message, message ?? "404 not found");
          assert.deepEqual(error.details, details);
          assert.equal(error.code, code);
        });
      }
    },
  );

  when("the body is not a JSON object", "`problem` of the error is `null`", async () => {
    for (const json of [[{ error: "busy" }], [], "a string", 5, true, null]) {
      await against({ status: 404, json }, async ({ agentJobs }) => {
        const error = await rejectionOf(agentJobs.get("j1"));
        assert.equal(error.problem, null);
      });
    }
  });

  when(
    "an error comes from another copy of the package",
    "`isQuillgateError()` recognizes it, unlike `instanceof`",
    async () => {
      const { Client, QuillgateError } = await importFrom(await install("other-copy"));
      const error = await rejectionOf(() =>
        new Client({ projectId: "p", auth: { adminKey: KEY } }).agentJobs.get(""),
      );
      assert.ok(error instanceof QuillgateError && !(error instanceof quillgate.QuillgateError));
      assert.ok(quillgate.isQuillgateError(error));
      for (const thing of [null, undefined, "x", new Error("x"), { name: "QuillgateError" }]) {
        assert.equal(quillgate.isQuillgateError(thing), false);
      }
    },
  );

  when(
    "a call rejects with an error of the package",
    "its stack starts at the line of the call",
    () =>
      against({ status: 404 }, async (client) => {
        const { agentJobs, analytics } = client;
        const message = { prompt: "p" };
        const bad = { x: 1 };
        const calls = {
          get: async () => [await rejectionOf(agentJobs.get("j1")), line()],
          create: async () => [await rejectionOf(agentJobs.create({ prompt: "" })), line()],
          send: async () => [await rejectionOf(agentJobs.sendMessage("j", message)), line()],
          wait: async () => [await rejectionOf(agentJobs.wait("j1")), line()],
          watch: async () => [await rejectionOf(agentJobs.watch("j1").next()), line()],
          list: async () => [await rejectionOf(analytics.views()), line()],
          all: async () => [await rejectionOf(analytics.views().all()), line()],
          pages: async () => [await rejectionOf(analytics.views().pages().next()), line()],
          response: async () => [await rejectionOf(agentJobs.get("j1").withResponse()), line()],
          options: async () => [await rejectionOf(() => client.withOptions(bad)), line()],
          build: async () => [await rejectionOf(client.buildRequest("agentJobs.get", {})), line()],
        };
        for (const [name, call] of Object.entries(calls)) {
          const [error, expected] = await call();
          const frames = error.stack.split("\n");
          assert.equal(frames[0], `${error.name}: ${error.message}`);
          const place = `error_responses.mjs:${expected}:`;
          assert.ok(frames[1].includes(place), `${name}: ${error.stack}`);
        }
      }),
  );

  when(
    "a loader such as tsx writes file paths instead of URLs into stacks",
    "the stack of an error still starts at the line of the call",
    (context) =>
      against({ status: 404 }, async ({ agentJobs }) => {
        context.after(() => delete Error.prepareStackTrace);
        Error.prepareStackTrace = (error, frames) =>
          [error, ...frames].join("\n    at ").replaceAll("file://", "");
        const { stack } = await rejectionOf(agentJobs.get("j1"));
        assert.match(stack.split("\n")[1], /error_responses\.mjs/);
        assert.doesNotMatch(stack, /file:/);
      }),
  );

  function line() {
    return /error_responses\.mjs:(\d+):/.exec(new Error().stack.split("\n")[2])[1];
  }
});
