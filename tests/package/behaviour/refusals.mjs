/** The errors of answers that say no. */
import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { install } from "../installed.mjs";
import { against, describe, KEY, quillgate, rejected, when } from "./fixtures.mjs";

describe("when something is refused", () => {
  const CLASSES = [
    [400, "BadRequestError"],
    [401, "AuthenticationError"],
    [403, "PermissionError"],
    [404, "NotFoundError"],
    [409, "ConflictError"],
    [422, "BadRequestError"],
    [429, "RateLimitError"],
    [500, "ServerError"],
    [503, "ServerError"],
  ];

  when(
    "the status says no",
    "an ApiError of the status's class, with everything that is known",
    async () => {
      for (const [status, name] of CLASSES) {
        const problem = {
          type: "/problems/x",
          title: "X",
          detail: "because",
          errors: [{ detail: "one" }],
        };
        const headers = { "x-request-id": "r-9", "retry-after": "90", "x-other": "o" };
        await against({ status, headers, json: problem }, async ({ agentJobs }) => {
          const error = await rejected(agentJobs.get("j1", { maxRetries: 0 }));
          assert.equal(error.constructor, quillgate[name]);
          assert.ok(
            error instanceof quillgate.ApiError && error instanceof quillgate.QuillgateError,
          );
          assert.equal(error.name, name);
          assert.equal(error.message, `${status} because`);
          const { code, requestId, retryAfter, details } = error;
          assert.deepEqual(
            { status: error.status, code, requestId, retryAfter, details },
            {
              status,
              code: "/problems/x",
              requestId: "r-9",
              retryAfter: 90,
              details: ["one"],
            },
          );
          assert.equal(error.headers.get("x-other"), "o");
          assert.deepEqual(error.problem, problem);
        });
      }
    },
  );

  when(
    "an error comes from another copy of the package",
    "`isQuillgateError()` knows it; `instanceof` cannot",
    async () => {
      const other = await install("other-copy");
      const { resolve } = createRequire(join(other, "x.cjs"));
      const { Client, QuillgateError } = await import(pathToFileURL(resolve("quillgate")).href);
      const error = await rejected(() =>
        new Client({ projectId: "p", adminKey: KEY }).agentJobs.get(""),
      );
      assert.ok(error instanceof QuillgateError && !(error instanceof quillgate.QuillgateError));
      assert.ok(quillgate.isQuillgateError(error));
      for (const thing of [null, undefined, "x", new Error("x"), { name: "QuillgateError" }]) {
        assert.equal(quillgate.isQuillgateError(thing), false);
      }
    },
  );

  when("an error's stack is read", "it begins at the line of the call", () =>
    against({ status: 404 }, async (client) => {
      const { agentJobs, pageViews } = client;
      const message = { prompt: "p" };
      const calls = {
        get: async () => [await rejected(agentJobs.get("j1")), line()],
        create: async () => [await rejected(agentJobs.create({ prompt: "" })), line()],
        send: async () => [await rejected(agentJobs.sendMessage("j", message)), line()],
        wait: async () => [await rejected(agentJobs.wait("j1")), line()],
        watch: async () => [await rejected(agentJobs.watch("j1").next()), line()],
        list: async () => [await rejected(pageViews.list()), line()],
        all: async () => [await rejected(pageViews.list().all()), line()],
        pages: async () => [await rejected(pageViews.list().pages().next()), line()],
        response: async () => [await rejected(agentJobs.get("j1").withResponse()), line()],
        options: async () => [await rejected(async () => client.withOptions({ x: 1 })), line()],
        build: async () => [await rejected(client.buildRequest("agentJobs.get", {})), line()],
      };
      for (const [name, call] of Object.entries(calls)) {
        const [error, expected] = await call();
        const frames = error.stack.split("\n");
        assert.equal(frames[0], `${error.name}: ${error.message}`);
        assert.ok(frames[1].includes(`refusals.mjs:${expected}:`), `${name}: ${error.stack}`);
      }
    }),
  );

  function line() {
    return /refusals\.mjs:(\d+):/.exec(new Error().stack.split("\n")[2])[1];
  }
});
