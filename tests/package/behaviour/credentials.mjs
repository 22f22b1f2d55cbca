/** Credentials, logs and hooks. Credentials never appear in output, errors, logs or hooks. */
import assert from "node:assert/strict";
import { format, inspect } from "node:util";
import {
  against,
  describe,
  inTurn,
  JOB,
  KEY,
  quillgate,
  rejectionOf,
  skipWaits,
  TOKEN,
  when,
} from "./fixtures.mjs";

const DEEP = { depth: Number.POSITIVE_INFINITY, showHidden: true, getters: true };

/** Returns a logger whose methods are all the same function. */
const loggerOf = (write) => ({ error: write, warn: write, info: write, debug: write });

describe("Credentials, logs and hooks", () => {
  when(
    "a client, an error or a list is printed",
    "`inspect`, `console.log`, `JSON.stringify` and template strings do not show the key",
    () =>
      against({ status: 401, json: { error: "no" } }, async (client) => {
        const error = await rejectionOf(client.agentJobs.get("j1"));
        const call = client.agentJobs.get("j1").catch((reason) => reason);
        const built = client.withOptions({ maxRetries: 0 });
        for (const thing of [
          client,
          client.agentJobs,
          client.analytics,
          client.analytics.views(),
          error,
          call,
          built,
        ]) {
          const texts = [
            inspect(thing),
            inspect(thing, DEEP),
            format("%o %O %s", thing, thing, thing),
            `${thing}`,
            JSON.stringify(thing) ?? "",
          ];
          assert.ok(!texts.join("\n").includes(KEY), "the output contains the key");
        }
        await call;
      }),
  );

  when(
    "a server repeats the credential in an error response",
    "the error has `[redacted]` in its place",
    async () => {
      for (const [credential, options] of [
        [KEY, {}],
        [TOKEN, { auth: { token: TOKEN } }],
      ]) {
        const echo = `bad key ${credential}, ${credential}`;
        const json = { type: echo, detail: echo, errors: [{ detail: echo }], [credential]: [echo] };
        const headers = { "x-request-id": credential, "x-echo": echo };
        const respond = { status: 401, headers, json };
        const read = async (client) => {
          const error = await rejectionOf(client.agentJobs.get("j1"));
          const redacted = "bad key [redacted], [redacted]";
          assert.equal(error.message, `401 ${redacted}`);
          assert.deepEqual([error.code, error.details], [redacted, [redacted]]);
          assert.equal(error.problem.detail, redacted);
          assert.equal(error.headers.get("x-echo"), redacted);
          assert.ok(!inspect(error, DEEP).includes(credential));
        };
        await against(respond, read, options);
      }
    },
  );

  when(
    "another script has polluted `Object.prototype`",
    "the client reads only own properties of its options, and sends the key to no other URL",
    () =>
      against({ json: JOB }, async (client, server) => {
        await against({ json: JOB }, async (_, attacker) => {
          const polluted = { baseUrl: attacker.url, fetch: () => Response.json({ id: "stolen" }) };
          for (const [name, value] of Object.entries(polluted)) {
            Object.defineProperty(Object.prototype, name, { value, configurable: true });
          }
          try {
            const toPlatform = new quillgate.Client({ projectId: "acme", auth: { adminKey: KEY } });
            const request = await toPlatform.buildRequest("agentJobs.get", { id: "j1" });
            assert.ok(!request.url.startsWith(attacker.url), request.url);
            const derived = client.withOptions({ maxRetries: 0 });
            assert.equal((await derived.agentJobs.get("j1")).id, "j1");
          } finally {
            for (const name of Object.keys(polluted)) delete Object.prototype[name];
          }
          assert.equal(attacker.requests.length, 0);
        });
        assert.equal(server.requests.length, 1);
      }),
  );

  when(
    "calls are logged",
    "no log level shows a credential, a prompt or the values of a query",
    (context) =>
      against({ status: 503, json: { error: "busy" } }, async (client) => {
        skipWaits(context);
        const prompt = "between you and me";
        const secrets = [KEY, prompt, "2024-05-06", "idem-1"];
        const counts = [];
        for (const logLevel of ["off", "error", "warn", "info", "debug"]) {
          const lines = [];
          const write = (...words) => lines.push(format(...words));
          const options = { logLevel, logger: loggerOf(write) };
          const { agentJobs, analytics } = client.withOptions(options);
          await rejectionOf(agentJobs.get("j1"));
          await rejectionOf(agentJobs.create({ prompt }, { idempotencyKey: "idem-1" }));
          await rejectionOf(analytics.views({ dateFrom: "2024-05-06" }));
          const text = lines.join("\n");
          for (const secret of secrets) assert.ok(!text.includes(secret), text);
          counts.push(lines.length);
        }
        // `warn` logs two retries of each of the two GET requests. `info` adds the responses of all
        // seven attempts, and `debug` adds their requests.
        assert.deepEqual(counts, [0, 0, 4, 4 + 7, 4 + 7 + 7]);
      }),
  );

  when("no logger and no log level is set", "the console shows only retries", (context) =>
    against(inTurn({ status: 503 }, { json: JOB }), async (client) => {
      skipWaits(context);
      const lines = [];
      for (const level of ["error", "warn", "info", "log", "debug"]) {
        context.mock.method(console, level, (line) => lines.push(`${level} ${line}`));
      }
      await client.withOptions({ logLevel: undefined }).agentJobs.get("j1");
      context.mock.restoreAll();
      assert.equal(lines.length, 1);
      assert.match(
        lines[0],
        /^warn quillgate: GET \/v2\/agent\/acme\/job\/j1: ServerError, again in \d+ ms$/,
      );
    }),
  );

  when("a client has hooks", "they receive every attempt, with credentials redacted", (context) =>
    against(
      inTurn(
        { status: 503, headers: { "set-cookie": "c=secret-cookie" } },
        { json: JOB, headers: { "x-request-id": "r-1" } },
      ),
      async (client) => {
        skipWaits(context);
        const seen = [];
        const note = ({ operation, method, url, attempt }, ...rest) =>
          seen.push([operation, method, new URL(url).pathname, attempt, ...rest]);
        const hooked = client.withOptions({
          onRequest: ({ headers, ...event }) =>
            note(event, headers.get("authorization"), headers.get("x-own")),
          onResponse: ({ status, headers, duration, ...event }) => {
            const fields = [headers.get("x-request-id"), headers.get("set-cookie")];
            note(event, status, ...fields, duration >= 0);
          },
          onRetry: ({ error, duration, wait, ...event }) =>
            note(event, error.name, duration >= 0, wait > 0),
          defaultHeaders: { "x-own": "own-secret" },
        });
        await hooked.agentJobs.get("j1");
        const call = ["agentJobs.get", "GET", "/v2/agent/acme/job/j1"];
        assert.deepEqual(seen, [
          [...call, 0, "[redacted]", "[redacted]"],
          [...call, 0, 503, null, "[redacted]", true],
          [...call, 0, "ServerError", true, true],
          [...call, 1, "[redacted]", "[redacted]"],
          [...call, 1, 200, "r-1", null, true],
        ]);
      },
    ),
  );

  when("a hook throws or its promise rejects", "the error is logged and the call continues", () =>
    against({ json: JOB }, async (client, { requests }) => {
      const logged = [];
      const error = (message, reason) => logged.push([message, reason.message]);
      const hooked = client.withOptions({
        onRequest: () => {
          throw new Error("thrown");
        },
        onResponse: () => Promise.reject(new Error("rejected")),
        logger: { ...console, error },
        logLevel: "error",
      });
      assert.equal((await hooked.agentJobs.get("j1")).id, "j1");
      assert.deepEqual(logged, [
        ["quillgate: a hook failed", "thrown"],
        ["quillgate: a hook failed", "rejected"],
      ]);
      assert.equal(requests.length, 1);
    }),
  );

  when("a hook and the logger throw", "the call continues", () =>
    against({ json: JOB }, async (client, { requests }) => {
      const fail = () => {
        throw new Error("from a hook");
      };
      const hooks = { onRequest: fail, onResponse: fail, onRetry: fail };
      const hooked = client.withOptions({ ...hooks, logger: loggerOf(fail), logLevel: "debug" });
      assert.equal((await hooked.agentJobs.get("j1")).id, "j1");
      assert.equal(requests.length, 1);
    }),
  );
});
