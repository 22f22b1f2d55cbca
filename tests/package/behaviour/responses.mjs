/** How a client handles responses that are late, malformed or of another shape. */
import assert from "node:assert/strict";
import { startScriptedServer } from "../scripted_server.mjs";
import {
  against,
  describe,
  JOB,
  KEY,
  quillgate,
  rejectionOf,
  skipWaits,
  when,
} from "./fixtures.mjs";

const wrapped = (message, cause) => new TypeError(message, { cause });
const coded = (code) => Object.assign(new Error("x"), { code });
const REFUSALS = [
  // undici and Node.js
  wrapped("Failed to parse URL from x", coded("ERR_INVALID_URL")),
  wrapped("fetch failed", coded("UND_ERR_INVALID_ARG")), // an agent of another undici version
  new TypeError("RequestInit: Expected signal to be an instance of AbortSignal."),
  new TypeError('Headers.append: "x y" is an invalid header name.'),
  new TypeError("Invalid URL"),
  coded("ERR_INVALID_CHAR"),
  // node-fetch
  new TypeError("Only absolute URLs are supported"),
  // Chrome and Firefox
  new TypeError("Failed to execute 'fetch' on 'Window': Failed to parse URL from x"),
  new TypeError("Window.fetch: x is not a valid URL."),
  // bugs
  new TypeError("Cannot read properties of undefined (reading 'x')"),
  new TypeError("agent.create is not a function"),
  new TypeError("undefined is not an object (evaluating 'a.b')"),
  new ReferenceError("agent is not defined"),
  new RangeError("Maximum call stack size exceeded"),
];
const LOSSES = [
  wrapped("fetch failed", coded("ECONNREFUSED")),
  wrapped("fetch failed", coded("UND_ERR_SOCKET")),
  new TypeError("terminated"),
  new TypeError("Failed to fetch"), // Chrome
  new TypeError("NetworkError when attempting to fetch resource."), // Firefox
  new TypeError("Load failed"), // Safari
  new TypeError("error sending request for url (http://x/)"), // Deno
  new Error("Network connection lost."), // workerd
  coded("ConnectionRefused"), // Bun
];

describe("Bad responses", () => {
  when(
    "the body stalls after the headers",
    "the call rejects with RequestTimeoutError after `timeout`, names the host and closes the connection",
    () =>
      against({ stall: "body" }, async ({ agentJobs }, server) => {
        const call = agentJobs.get("j1", { timeout: 800, maxRetries: 0 });
        const error = await rejectionOf(call, "RequestTimeoutError");
        assert.ok(error instanceof quillgate.TimeoutError);
        assert.equal(error.timeout, 800);
        const { host } = new URL(server.url);
        assert.equal(error.message, `no complete answer from ${host} within 800 ms`);
        assert.equal(await server.requests[0].ended, false);
      }),
  );

  when(
    "the server never responds",
    "a GET is retried, then rejects with RequestTimeoutError",
    (context) =>
      against({ stall: "head" }, async (client) => {
        const waits = skipWaits(context);
        const { agentJobs, attempts } = countAttempts(client);
        await rejectionOf(agentJobs.get("j1", { timeout: 120 }), "RequestTimeoutError");
        assert.equal(attempts(), 3);
        assert.equal(waits.length, 2);
      }),
  );

  when(
    "`totalTimeout` leaves no time for another wait",
    "the call rejects with RequestTimeoutError, even with retries left",
    () =>
      against({ stall: "head" }, async (client) => {
        const { agentJobs, attempts } = countAttempts(client);
        const options = { timeout: 200, totalTimeout: 250, maxRetries: 10 };
        await rejectionOf(agentJobs.get("j1", options), "RequestTimeoutError");
        assert.equal(attempts(), 1);
      }),
  );

  when("a 2xx body is not valid JSON", "the call rejects with DecodeError and is not retried", () =>
    against(
      { text: '{"id":"j1"', headers: { "x-request-id": "r-1" } },
      async ({ agentJobs }, { requests }) => {
        const error = await rejectionOf(agentJobs.get("j1"), "DecodeError");
        assert.equal(error.message, "the body must be JSON");
        assert.equal(error.requestId, "r-1");
        assert.equal(requests.length, 1);
      },
    ),
  );

  when("a 2xx body is empty or an HTML page", "the call rejects with DecodeError", async () => {
    for (const text of ["<!doctype html><title>Sign in</title>", ""]) {
      await against({ text }, async ({ analytics }) => {
        await rejectionOf(analytics.views(), "DecodeError");
      });
    }
  });

  when(
    "a 2xx body has an unexpected shape",
    "the call rejects with DecodeError, which names the path in the JSON",
    () =>
      against(
        { json: { totals: {}, views: [{ human: 1 }, { human: 1.5 }], hasMore: false } },
        async ({ analytics }) => {
          const error = await rejectionOf(analytics.views(), "DecodeError");
          assert.equal(error.path, "views[1].human");
          const reason = "must be an integer from 0 to 9007199254740991, found a number";
          assert.equal(error.reason, reason);
        },
      ),
  );

  when(
    "a 2xx body ends early",
    "a GET is retried, then rejects with ConnectionError; `cause` is the runtime's error",
    (context) =>
      against({ text: '{"id":"j1"}', cut: true }, async ({ agentJobs }, { requests }) => {
        skipWaits(context);
        const error = await rejectionOf(agentJobs.get("j1"), "ConnectionError");
        assert.ok(error.cause instanceof Error);
        assert.equal(requests.length, 3);
      }),
  );

  when(
    "a 2xx body ends early and a custom `fetch` returned the response without `ok`",
    "a GET is retried, then rejects with ConnectionError; `cause` is the error of the body",
    (context) =>
      against({}, async (client) => {
        skipWaits(context);
        const cause = new TypeError("terminated");
        const json = () => Promise.reject(cause);
        const fetch = async () => ({ status: 200, headers: new Headers(), json });
        const { agentJobs, attempts } = countAttempts(client.withOptions({ fetch }));
        const error = await rejectionOf(agentJobs.get("j1"), "ConnectionError");
        assert.equal(error.cause, cause);
        assert.equal(attempts(), 3);
      }),
  );

  when(
    "no server listens at the address",
    "the call rejects with ConnectionError, which names the host; `cause` is the runtime's error",
    async () => {
      let url;
      await against({}, (_, server) => {
        url = server.url;
      });
      const { Client } = quillgate;
      const client = new Client({ baseUrl: url, projectId: "acme", auth: { adminKey: KEY } });
      const error = await rejectionOf(client.agentJobs.create({ prompt: "p" }), "ConnectionError");
      const { host } = new URL(url);
      assert.ok(error.message.startsWith(`${host} refuses connections (ECONNREFUSED)`));
      assert.deepEqual([error.reason, error.sent], ["refused", "no"]);
      assert.equal(error.cause.cause.code, "ECONNREFUSED");
    },
  );

  when(
    "a custom `fetch` rejects with any value",
    "the call rejects with ConnectionError; `cause` is that value",
    async () => {
      const values = ["text", null, 0, { kind: "timeout", after: 5 }];
      const reasons = [new TypeError("no network"), ...LOSSES, ...values];
      for (const reason of reasons) {
        const client = fetchingWith(() => Promise.reject(reason), { maxRetries: 0 });
        const error = await rejectionOf(client.agentJobs.get("j1"), "ConnectionError");
        assert.equal(error.cause, reason);
      }
    },
  );

  when(
    "a custom `fetch` throws, or rejects because of its arguments or a bug",
    "the call rejects with RequestError and is not retried; `cause` is that value",
    async () => {
      const throwing = [new TypeError("no network"), "text", null].map((reason) => () => {
        throw reason;
      });
      const rejecting = REFUSALS.map((reason) => () => Promise.reject(reason));
      for (const fetch of [...throwing, ...rejecting]) {
        const { agentJobs, attempts } = countAttempts(fetchingWith(fetch, { logLevel: "off" }));
        const error = await rejectionOf(agentJobs.get("j1"), "RequestError");
        assert.equal(error.cause, await rejectionOf(async () => fetch()));
        assert.equal(attempts(), 1);
      }
    },
  );

  when(
    "a custom `fetch` resolves to something other than a Response",
    "the call rejects with RequestError",
    async () => {
      const odd = { status: "200", headers: new Headers() };
      for (const value of [undefined, null, "text", {}, odd]) {
        const client = fetchingWith(async () => value, { maxRetries: 0 });
        await rejectionOf(client.agentJobs.get("j1"), "RequestError");
      }
    },
  );

  when(
    "the response redirects to another host",
    "the call rejects with ApiError; that host receives neither request nor key",
    async () => {
      const elsewhere = await startScriptedServer(() => ({ json: JOB }));
      const redirect = { status: 307, headers: { location: `${elsewhere.url}/v2` } };
      await against(redirect, async ({ agentJobs }) => {
        const error = await rejectionOf(agentJobs.create({ prompt: "p" }), "ApiError");
        assert.equal(error.status, 307);
      });
      assert.equal(elsewhere.requests.length, 0);
      await elsewhere.stop();
    },
  );

  when(
    "a proxy responds with an HTML error page",
    "the call rejects with ServerError, whose message names the status",
    () =>
      against({ status: 502, text: "<h1>502</h1>" }, async ({ agentJobs }) => {
        const error = await rejectionOf(agentJobs.get("j1", { maxRetries: 0 }), "ServerError");
        assert.equal(error.message, "502 bad gateway");
        assert.equal(error.problem, null);
      }),
  );
});

function fetchingWith(fetch, options) {
  return new quillgate.Client({ projectId: "acme", auth: { adminKey: KEY }, fetch, ...options });
}

/** Counts attempts in the client, because a busy server may not receive one before it times out. */
function countAttempts(client) {
  let count = 0;
  const onRequest = () => {
    count += 1;
  };
  const { agentJobs } = client.withOptions({ onRequest });
  return { agentJobs, attempts: () => count };
}
