/** What the package does in the cases that clients get wrong; writes docs/behaviour.md. */
import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { join } from "node:path";
import { after, before, describe as suite, test } from "node:test";
import { pathToFileURL } from "node:url";
import { format, inspect } from "node:util";
import { canaryKey } from "../harness/canary.mjs";
import { launchBrowser } from "../page/browser.mjs";
import { install, runProgram, write } from "./installed.mjs";
import { otherSide } from "./other_side.mjs";
import { serve } from "./static_server.mjs";
import { writeTable } from "./tables.mjs";

const KEY = canaryKey();
const TOKEN = "eyJhbGciOiJIUzI1NiJ9.not-to-be-shown.anywhere";
const JOB = { id: "j1", status: "active" };
/** Options of a client that talks to a gateway. */
const GATEWAY = { adminKey: undefined, token: TOKEN };

const rows = [];
const unhandled = [];
let folder;
/** @type {typeof import("quillgate")} */
let quillgate;

before(async () => {
  folder = await install("behaviour");
  const { resolve } = createRequire(join(folder, "x.cjs"));
  quillgate = await import(pathToFileURL(resolve("quillgate")).href);
  process.on("unhandledRejection", (reason) => unhandled.push(reason));
});

after(() => {
  // Not when only some of them were asked for.
  if (rows.every(({ ran }) => ran)) writeTable("behaviour", rows);
});

let section;

/** Tests that are a table of their own. */
function describe(name, define) {
  section = name[0].toUpperCase() + name.slice(1);
  suite(name, define);
}

/** A test that is a row of the table, also when it fails. */
function when(subject, behaviour, body) {
  const row = { section, subject, behaviour, result: "failed", ran: false };
  rows.push(row);
  test(`${subject}: ${behaviour}`, async (context) => {
    row.ran = true;
    await body(context);
    assert.deepEqual(unhandled.splice(0), [], "no rejection is left to nobody");
    row.result = "as it says";
  });
}

/** Runs a test against another side that answers so; the client talks to it directly. */
async function against(answer, body, options = {}) {
  const script = typeof answer === "function" ? answer : () => answer;
  const server = await otherSide(script);
  try {
    const base = { baseUrl: server.url, projectId: "acme", adminKey: KEY, logLevel: "off" };
    await body(new quillgate.Client({ ...base, ...options }), server);
  } finally {
    await server.stop();
  }
}

/** Answers one after another; the last one from then on. */
function inTurn(...answers) {
  return (_, number) => answers[Math.min(number, answers.length - 1)];
}

/**
 * Lets the waits of the client go by at once, and keeps how long each was meant to be.
 * Time limits of under 300 ms or over half a minute stay what they are.
 */
function hurry(context) {
  const waits = [];
  const { setTimeout } = globalThis;
  const hurried = (run, ms, ...rest) => {
    // The host's own `fetch` sets timers, too.
    const isOurs = new Error().stack.includes("/node_modules/quillgate/");
    const isWait = isOurs && ms >= 300 && ms <= 31_000;
    if (isWait) waits.push(ms);
    return setTimeout(run, isWait ? 0 : ms, ...rest);
  };
  globalThis.setTimeout = hurried;
  context.after(() => {
    globalThis.setTimeout = setTimeout;
  });
  return waits;
}

async function rejected(call) {
  let result;
  try {
    result = await (typeof call === "function" ? call() : call);
  } catch (reason) {
    return reason;
  }
  assert.fail(`expected a rejection, got ${inspect(result)}`);
}

function between(number, low, high) {
  assert.ok(number >= low && number <= high, `${number} is not from ${low} to ${high}`);
}

/** A page of a list that has this many rows in all. */
function pageOf(total) {
  return ({ path }) => {
    const query = new URL(path, "http://x").searchParams;
    const [offset, limit] = ["offset", "limit"].map((name) => Number(query.get(name)));
    const count = Math.max(0, Math.min(limit, total - offset));
    const views = Array.from({ length: count }, (_, at) => ({ path: `/${offset + at}`, human: 1 }));
    return { json: { totals: { human: total }, views, hasMore: offset + count < total } };
  };
}

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
      const elsewhere = await otherSide(() => ({ json: JOB }));
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

describe("when a request could be sent again", () => {
  when("a POST is answered by 503", "one request, then ServerError", () =>
    against({ status: 503, json: { error: "busy" } }, async ({ agentJobs }, { requests }) => {
      const calls = [
        () => agentJobs.create({ prompt: "p" }, { maxRetries: 5 }),
        () => agentJobs.sendMessage("j1", { prompt: "p" }, { maxRetries: 5 }),
      ];
      for (const [at, call] of calls.entries()) {
        assert.ok((await rejected(call)) instanceof quillgate.ServerError);
        assert.equal(requests.length, at + 1);
      }
    }),
  );

  when("a POST's connection breaks", "one request, then ConnectionError", () =>
    against({ text: '{"id":', cut: true }, async ({ agentJobs }, { requests }) => {
      const error = await rejected(agentJobs.create({ prompt: "p" }));
      assert.ok(error instanceof quillgate.ConnectionError);
      assert.equal(requests.length, 1);
    }),
  );

  when("a GET is answered by 503 twice", "two growing waits, then the result", (context) =>
    against(
      inTurn({ status: 503 }, { status: 503 }, { json: JOB }),
      async ({ agentJobs }, { requests }) => {
        const waits = hurry(context);
        assert.equal((await agentJobs.get("j1")).id, "j1");
        assert.equal(requests.length, 3);
        between(waits[0], 375, 500);
        between(waits[1], 750, 1000);
      },
    ),
  );

  when("`Retry-After` is in seconds", "it takes the place of the usual wait", (context) =>
    against(
      inTurn({ status: 429, headers: { "retry-after": "7" } }, { json: JOB }),
      async ({ agentJobs }) => {
        const waits = hurry(context);
        await agentJobs.get("j1");
        assert.deepEqual(waits, [7000]);
      },
    ),
  );

  when("`Retry-After` is a date", "it is waited until that date", async (context) => {
    const date = new Date(Date.now() + 20_000).toUTCString();
    await against(
      inTurn({ status: 503, headers: { "retry-after": date } }, { json: JOB }),
      async ({ agentJobs }) => {
        const waits = hurry(context);
        await agentJobs.get("j1");
        assert.equal(waits.length, 1);
        between(waits[0], 10_000, 20_000);
      },
    );
  });

  when(
    "`Retry-After` is over a minute",
    "RateLimitError at once, with `retryAfter` in seconds",
    (context) =>
      against(
        { status: 429, headers: { "retry-after": "1800" } },
        async ({ pageViews }, { requests }) => {
          const waits = hurry(context);
          const error = await rejected(pageViews.list());
          assert.ok(error instanceof quillgate.RateLimitError);
          assert.equal(error.retryAfter, 1800);
          assert.deepEqual([requests.length, waits], [1, []]);
        },
      ),
  );

  when("`maxRetries` is 0", "one request", () =>
    against(
      { status: 503 },
      async ({ agentJobs }, { requests }) => {
        await rejected(agentJobs.get("j1"));
        assert.equal(requests.length, 1);
      },
      { maxRetries: 0 },
    ),
  );
});

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

describe("when a call is taken back", () => {
  const reasons = [new Error("enough"), "a text", { kind: "api", message: "a look-alike" }, null];

  when("in a request", "at once, with the signal's own reason; the connection is closed", () =>
    against({ stall: "head" }, async ({ agentJobs }, server) => {
      for (const [at, reason] of reasons.entries()) {
        const controller = new AbortController();
        const call = agentJobs.get("j1", { signal: controller.signal });
        await Promise.all([
          rejected(call).then((error) => assert.equal(error, reason)),
          abortAfter(server, at + 1, controller, reason),
        ]);
        assert.equal(await server.requests[at].ended, false);
      }
    }),
  );

  when("in a body", "at once, with the signal's own reason; the connection is closed", () =>
    against({ stall: "body" }, async (_, server) => {
      for (const [at, reason] of reasons.entries()) {
        const controller = new AbortController();
        const onResponse = () => setImmediate(() => controller.abort(reason));
        const client = new quillgate.Client({
          baseUrl: server.url,
          projectId: "acme",
          adminKey: KEY,
          onResponse,
        });
        assert.equal(
          await rejected(client.agentJobs.get("j1", { signal: controller.signal })),
          reason,
        );
        assert.equal(await server.requests[at].ended, false);
      }
    }),
  );

  when(
    "in the wait before another attempt",
    "at once, with the signal's own reason; nothing more is sent",
    () =>
      against({ status: 503, headers: { "retry-after": "59" } }, async (client, { requests }) => {
        for (const [at, reason] of reasons.entries()) {
          const controller = new AbortController();
          const retrying = client.withOptions({
            onRetry: () => setImmediate(() => controller.abort(reason)),
          });
          assert.equal(
            await rejected(retrying.agentJobs.get("j1", { signal: controller.signal })),
            reason,
          );
          assert.equal(requests.length, at + 1);
        }
      }),
  );

  when("before it is sent", "at once, with the signal's own reason; nothing is sent", () =>
    against({ json: JOB }, async ({ agentJobs, pageViews }, { requests }) => {
      for (const reason of reasons) {
        const options = { signal: AbortSignal.abort(reason) };
        for (const call of [
          () => agentJobs.create({ prompt: "p" }, options),
          () => agentJobs.wait("j1", options),
          () => pageViews.list({}, options),
          () => pageViews.list({}, options).all(),
        ]) {
          assert.equal(await rejected(call), reason);
        }
      }
      assert.equal(requests.length, 0);
    }),
  );

  when(
    "in the wait between two looks at a job",
    "at once, with the signal's own reason; nothing more is sent",
    () =>
      against({ json: JOB }, async ({ agentJobs }, { requests }) => {
        const controller = new AbortController();
        const onUpdate = () => setImmediate(() => controller.abort("seen enough"));
        assert.equal(
          await rejected(agentJobs.wait("j1", { onUpdate, signal: controller.signal })),
          "seen enough",
        );
        assert.equal(requests.length, 1);
      }),
  );

  async function abortAfter(server, count, controller, reason) {
    await server.arrived(count);
    controller.abort(reason);
  }
});

describe("when a job is waited for", () => {
  when(
    "its status is unknown",
    "it is told and waited on, with at least 5 s between looks",
    (context) =>
      against(
        inTurn(
          { json: { ...JOB, status: "paused" } },
          { json: { ...JOB, status: null } },
          { json: { ...JOB, status: "completed" } },
        ),
        async ({ agentJobs }, { requests }) => {
          const waits = hurry(context);
          const seen = [];
          const job = await agentJobs.wait("j1", { onUpdate: ({ status }) => seen.push(status) });
          assert.equal(job.status, "completed");
          assert.deepEqual(seen, ["paused", null, "completed"]);
          assert.equal(requests.length, 3);
          for (const wait of waits) between(wait, 5000, 6250);
        },
      ),
  );

  when(
    "it is active",
    "it is looked at after 2 s, then at growing intervals of up to 30 s",
    (context) => {
      const active = Array.from({ length: 12 }, () => ({ json: JOB }));
      return against(
        inTurn(...active, { json: { ...JOB, status: "failed" } }),
        async ({ agentJobs }) => {
          const waits = hurry(context);
          assert.equal((await agentJobs.wait("j1")).status, "failed");
          assert.equal(waits.length, 12);
          between(waits[0], 2000, 2500);
          between(waits[1], 3000, 3750);
          for (const wait of waits) between(wait, 2000, 30_000);
          between(waits[11], 22_500, 30_000);
        },
      );
    },
  );

  when("the time runs out", "JobWaitTimeoutError with the job as last seen", () =>
    against({ json: JOB }, async ({ agentJobs }) => {
      const error = await rejected(agentJobs.wait("j1", { timeout: 100 }));
      assert.ok(error instanceof quillgate.JobWaitTimeoutError);
      assert.equal(error.job.id, "j1");
      assert.equal(error.job.status, "active");
    }),
  );

  when("a look fails in a way that may pass", "it is waited on", (context) =>
    against(
      inTurn(
        { json: JOB },
        { status: 503 },
        { text: "", cut: true },
        { json: { ...JOB, status: "archived" } },
      ),
      async ({ agentJobs }, { requests }) => {
        hurry(context);
        assert.equal((await agentJobs.wait("j1")).status, "archived");
        assert.equal(requests.length, 4);
      },
    ),
  );

  when("there is no such job", "NotFoundError at once", () =>
    against(
      { status: 404, json: { error: "no such job" } },
      async ({ agentJobs }, { requests }) => {
        assert.ok((await rejected(agentJobs.wait("j1"))) instanceof quillgate.NotFoundError);
        assert.equal(requests.length, 1);
      },
    ),
  );

  when("`onUpdate` throws", "the wait ends with what it threw", () =>
    against({ json: JOB }, async ({ agentJobs }) => {
      const own = new Error("own");
      const onUpdate = () => {
        throw own;
      };
      assert.equal(await rejected(agentJobs.wait("j1", { onUpdate })), own);
    }),
  );

  when("a watch is left early", "nothing more is sent, and nothing keeps the process alive", () =>
    against({ json: JOB }, async ({ agentJobs }, { requests }) => {
      for await (const { job, done } of agentJobs.watch("j1")) {
        assert.deepEqual([job.id, done], ["j1", false]);
        break;
      }
      const controller = new AbortController();
      const watch = agentJobs.watch("j1", { signal: controller.signal });
      await watch.next();
      await watch.return();
      assert.equal(requests.length, 2);
    }),
  );

  when("the other side is a gateway without event streams", "it is polled instead", (context) => {
    const answer = ({ path }) =>
      path.endsWith("/events")
        ? { status: 404, json: { title: "no such route" } }
        : { json: { ...JOB, status: "completed" } };
    return against(
      answer,
      async (client, { requests }) => {
        hurry(context);
        assert.equal((await client.agentJobs.wait("j1")).status, "completed");
        assert.equal((await client.agentJobs.wait("j1")).status, "completed");
        assert.deepEqual(
          requests.map(({ path }) => path.replace("/v2/agent/acme/job/", "")),
          ["j1/events", "j1", "j1"],
        );
      },
      GATEWAY,
    );
  });
});

describe("when pages are listed", () => {
  when("a list is made and not awaited", "nothing is sent", () =>
    against(pageOf(10), async ({ pageViews }, { requests }) => {
      const list = pageViews.list({ limit: 5 });
      list.pages();
      list[Symbol.asyncIterator]();
      await new Promise((resolve) => setImmediate(resolve));
      assert.equal(requests.length, 0);
      await list;
      await list;
      assert.equal(requests.length, 1, "and once, however often it is awaited");
    }),
  );

  when("a page is empty and there are more", "the list goes on", () =>
    against(
      inTurn(
        { json: { totals: {}, views: [{ path: "/1" }], hasMore: true } },
        { json: { totals: {}, views: [], hasMore: true } },
        { json: { totals: {}, views: [{ path: "/2" }], hasMore: false } },
      ),
      async ({ pageViews }) => {
        const rows = await pageViews.list({ limit: 1 }).all();
        assert.deepEqual(
          rows.map(({ path }) => path),
          ["/1", "/2"],
        );
      },
    ),
  );

  when("pages stay empty for ever", "DecodeError after 5 in a row", () =>
    against(
      { json: { totals: {}, views: [], hasMore: true } },
      async ({ pageViews }, { requests }) => {
        const error = await rejected(pageViews.list().all());
        assert.ok(error instanceof quillgate.DecodeError);
        assert.equal(error.where, "hasMore");
        assert.equal(requests.length, 5);
      },
    ),
  );

  when(
    "everything is listed",
    "250 rows a request, of one range that is frozen at the beginning",
    () =>
      against(pageOf(600), async ({ pageViews }, { requests }) => {
        let count = 0;
        for await (const { path } of pageViews.list({ dateFrom: "2024-01-01" })) {
          assert.equal(path, `/${count}`);
          count += 1;
        }
        assert.equal(count, 600);
        const queries = requests.map(({ path }) => new URL(path, "http://x").searchParams);
        assert.deepEqual(
          queries.map((query) => query.get("limit")),
          ["250", "250", "250"],
        );
        assert.deepEqual(
          queries.map((query) => query.get("offset")),
          ["0", "250", "500"],
        );
        assert.equal(new Set(queries.map((query) => query.get("dateTo"))).size, 1);
        assert.match(queries[0].get("dateTo"), /^\d{4}-\d\d-\d\dT/);
      }),
  );

  when("a loop is left at its first row", "one request, and none ahead", () =>
    against(pageOf(600), async ({ pageViews }, { requests }) => {
      for await (const _ of pageViews.list()) break;
      await new Promise((resolve) => setImmediate(resolve));
      assert.equal(requests.length, 1);
    }),
  );

  when(
    "a loop is left at the end of a page",
    "one page was asked for ahead, and its request is closed",
    () => {
      const answer = (received, number) =>
        number === 0 ? pageOf(600)(received) : { stall: "head" };
      return against(answer, async ({ pageViews }, server) => {
        let count = 0;
        for await (const _ of pageViews.list()) {
          count += 1;
          if (count === 250) {
            await server.arrived(2);
            break;
          }
        }
        assert.equal(await server.requests[1].ended, false);
        assert.equal(server.requests.length, 2);
      });
    },
  );

  when(
    "a page fails in the middle",
    "the rows before it come first, and a kept cursor goes on without losing or repeating any",
    () => {
      let broken = true;
      const answer = (received) =>
        received.path.includes("offset=500") && broken
          ? { status: 404, json: { error: "gone" } }
          : pageOf(900)(received);
      return against(answer, async ({ pageViews }) => {
        const paths = [];
        let kept;
        const iterate = async () => {
          for await (const view of pageViews.list({ dateTo: "2024-01-01" })) paths.push(view.path);
        };
        assert.ok((await rejected(iterate)) instanceof quillgate.NotFoundError);
        assert.equal(paths.length, 500);
        const onProgress = ({ cursor }) => {
          kept = JSON.stringify(cursor);
        };
        await rejected(pageViews.list({ dateTo: "2024-01-01" }).all({ onProgress }));
        broken = false;
        const rest = await pageViews.list({ cursor: JSON.parse(kept) }).all();
        paths.push(...rest.map(({ path }) => path));
        assert.deepEqual(
          paths,
          Array.from({ length: 900 }, (_, at) => `/${at}`),
        );
      });
    },
  );

  when("`maxRows` is given", "no page is asked for beyond it", () =>
    against(pageOf(2000), async ({ pageViews }, { requests }) => {
      const progress = [];
      const rows = await pageViews
        .list()
        .all({ maxRows: 300, onProgress: ({ rows, pages }) => progress.push([rows, pages]) });
      assert.equal(rows.length, 300);
      assert.equal(requests.length, 2);
      assert.deepEqual(progress, [
        [250, 1],
        [300, 2],
      ]);
    }),
  );

  when("the answer says what is left of the hour", "progress says so, too", () =>
    against(
      (received) => ({
        ...pageOf(300)(received),
        headers: { ratelimit: '"analytics";r=42;t=1200' },
      }),
      async ({ pageViews }) => {
        const left = [];
        await pageViews
          .list()
          .all({ onProgress: ({ requestsLeftThisHour }) => left.push(requestsLeftThisHour) });
        assert.deepEqual(left, [42, 42]);
      },
    ),
  );

  when("a page is kept from a loop that was left", "its `nextPage()` still leads on", () =>
    against(pageOf(600), async ({ pageViews }) => {
      let kept;
      for await (const page of pageViews.list().pages()) {
        kept = page;
        break;
      }
      const next = await kept.nextPage();
      assert.equal(next.offset, 250);
    }),
  );

  when("a page is awaited", "`nextPage()` leads on, and is `null` after the last", () =>
    against(pageOf(15), async ({ pageViews }, { requests }) => {
      const first = await pageViews.list({ limit: 10 });
      const second = await first.nextPage();
      assert.deepEqual([second.offset, second.views.length, second.hasMore], [10, 5, false]);
      assert.equal(await second.nextPage(), null);
      assert.equal(requests.length, 2);
      const { data, response } = await pageViews.list({ limit: 10 }).withResponse();
      assert.deepEqual([data.views.length, response.status], [10, 200]);
    }),
  );

  when("pages are iterated", "each comes once, with its offset", () =>
    against(pageOf(600), async ({ pageViews }) => {
      const offsets = [];
      for await (const page of pageViews.list().pages()) offsets.push(page.offset);
      assert.deepEqual(offsets, [0, 250, 500]);
    }),
  );
});

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
        build: async () => [await rejected(client.buildRequest("agentJobs.get", {})), line()],
      };
      for (const [name, call] of Object.entries(calls)) {
        const [error, expected] = await call();
        const frames = error.stack.split("\n");
        assert.equal(frames[0], `${error.name}: ${error.message}`);
        assert.ok(frames[1].includes(`behaviour.test.mjs:${expected}:`), `${name}: ${error.stack}`);
      }
    }),
  );

  function line() {
    return /behaviour\.test\.mjs:(\d+):/.exec(new Error().stack.split("\n")[2])[1];
  }
});

describe("when a credential could show", () => {
  when(
    "a client, an error or a page is printed",
    "neither `inspect`, `console.log`, `JSON.stringify` nor a template shows the key",
    () =>
      against({ status: 401, json: { error: "no" } }, async (client) => {
        const error = await rejected(client.agentJobs.get("j1"));
        const call = client.agentJobs.get("j1").catch((reason) => reason);
        const built = client.withOptions({ maxRetries: 0 });
        for (const thing of [
          client,
          client.agentJobs,
          client.pageViews,
          client.pageViews.list(),
          error,
          call,
          built,
        ]) {
          const deep = { depth: Number.POSITIVE_INFINITY, showHidden: true, getters: true };
          const texts = [
            inspect(thing),
            inspect(thing, deep),
            format("%o %O %s", thing, thing, thing),
            `${thing}`,
            JSON.stringify(thing) ?? "",
          ];
          assert.ok(!texts.join("\n").includes(KEY), "the key shows");
        }
        await call;
      }),
  );

  when(
    "everything is logged",
    "no level writes a credential, a prompt or a query's values",
    (context) =>
      against({ status: 503, json: { error: "busy" } }, async (client) => {
        hurry(context);
        const prompt = "between you and me";
        const secrets = [KEY, prompt, "2024-05-06", "idem-1"];
        const counts = [];
        for (const logLevel of ["off", "error", "warn", "info", "debug"]) {
          const lines = [];
          const write = (...words) => lines.push(format(...words));
          const logger = { error: write, warn: write, info: write, debug: write };
          const { agentJobs, pageViews } = client.withOptions({ logLevel, logger });
          await rejected(agentJobs.get("j1"));
          await rejected(agentJobs.create({ prompt }, { idempotencyKey: "idem-1" }));
          await rejected(pageViews.list({ dateFrom: "2024-05-06" }));
          const text = lines.join("\n");
          for (const secret of secrets) assert.ok(!text.includes(secret), text);
          counts.push(lines.length);
        }
        // Two waits for each of the two GETs; seven attempts.
        assert.deepEqual(counts, [0, 0, 4, 4 + 7, 4 + 7 + 7]);
      }),
  );

  when("hooks look on", "they see every attempt, with credentials redacted", (context) =>
    against(
      inTurn(
        { status: 503, headers: { "set-cookie": "c=secret-cookie" } },
        { json: JOB, headers: { "x-request-id": "r-1" } },
      ),
      async (client) => {
        hurry(context);
        const seen = [];
        const hooked = client.withOptions({
          onRequest: ({ method, url, headers, attempt }) =>
            seen.push([
              "request",
              method,
              new URL(url).pathname,
              headers.get("authorization"),
              headers.get("x-own"),
              attempt,
            ]),
          onResponse: ({ status, headers, attempt }) =>
            seen.push([
              "response",
              status,
              headers.get("x-request-id"),
              headers.get("set-cookie"),
              attempt,
            ]),
          onRetry: ({ error, wait }) => seen.push(["retry", error.name, wait > 0]),
          defaultHeaders: { "x-own": "own-secret" },
        });
        await hooked.agentJobs.get("j1");
        assert.deepEqual(seen, [
          ["request", "GET", "/v2/agent/acme/job/j1", "[redacted]", "[redacted]", 0],
          ["response", 503, null, "[redacted]", 0],
          ["retry", "ServerError", true],
          ["request", "GET", "/v2/agent/acme/job/j1", "[redacted]", "[redacted]", 1],
          ["response", 200, "r-1", null, 1],
        ]);
      },
    ),
  );

  when("a hook or a logger throws", "the call goes on", () =>
    against({ json: JOB }, async (client, { requests }) => {
      const fail = () => {
        throw new Error("own affair");
      };
      const logger = { error: fail, warn: fail, info: fail, debug: fail };
      const hooked = client.withOptions({
        onRequest: fail,
        onResponse: fail,
        onRetry: fail,
        logger,
        logLevel: "debug",
      });
      assert.equal((await hooked.agentJobs.get("j1")).id, "j1");
      assert.equal(requests.length, 1);
    }),
  );
});

describe("when a client is made to measure", () => {
  when("an own `fetch` is given", "it gets the request, and the host's own is not used", () =>
    against({ json: JOB }, async (client, { requests }) => {
      const sent = [];
      const own = client.withOptions({
        fetch: async (request) => {
          sent.push(`${request.method} ${request.url} ${await request.text()}`);
          return Response.json({ id: "own" });
        },
      });
      assert.equal((await own.agentJobs.create({ prompt: "p" })).id, "own");
      assert.equal(sent.length, 1);
      assert.match(sent[0], /^POST http.*\/v2\/agent\/acme\/job \{"prompt":"p"\}$/);
      assert.equal(requests.length, 0);
    }),
  );

  when(
    "headers are given",
    "the call's stand over the client's, and neither over the request's own",
    () =>
      against({ json: JOB }, async (client, { requests }) => {
        const own = client.withOptions({
          defaultHeaders: { "x-a": "1", "x-b": "1", authorization: "Basic x" },
        });
        await own.agentJobs.get("j1", { headers: { "x-b": "2", accept: "text/html" } });
        const { headers } = requests[0];
        assert.deepEqual([headers["x-a"], headers["x-b"]], ["1", "2"]);
        assert.equal(headers.authorization, `Bearer ${KEY}`);
        assert.equal(headers.accept, "application/json");
      }),
  );

  when(
    "`withOptions()` is called",
    "a client with the same options but for these; the first is unchanged",
    () =>
      against({ json: JOB }, async (client, { requests }) => {
        const other = client.withOptions({ projectId: "other", defaultHeaders: { "x-a": "1" } });
        const gate = client.withOptions({ token: TOKEN });
        await other.agentJobs.get("j1");
        await client.agentJobs.get("j1");
        await gate.agentJobs.get("j1");
        assert.deepEqual(
          requests.map(({ path }) => path),
          ["/v2/agent/other/job/j1", "/v2/agent/acme/job/j1", "/v2/agent/acme/job/j1"],
        );
        assert.deepEqual(
          requests.map(({ headers }) => headers["x-a"]),
          ["1", undefined, undefined],
        );
        assert.equal(requests[2].headers.authorization, `Bearer ${TOKEN}`);
      }),
  );

  when(
    "`withResponse()` is called",
    "the result with its response and request id; one request",
    () =>
      against(
        { status: 201, json: JOB, headers: { "x-request-id": "r-3" } },
        async ({ agentJobs }, { requests }) => {
          const call = agentJobs.create({ prompt: "p" });
          const { data, response, requestId } = await call.withResponse();
          assert.deepEqual([data.id, response.status, requestId], ["j1", 201, "r-3"]);
          assert.equal((await call).id, "j1");
          assert.equal(requests.length, 1);
        },
      ),
  );

  when("an idempotency key is given", "it is sent", () =>
    against({ json: JOB }, async ({ agentJobs }, { requests }) => {
      await agentJobs.create({ prompt: "p" }, { idempotencyKey: "mine-1" });
      assert.equal(requests[0].headers["idempotency-key"], "mine-1");
    }),
  );

  when("the environment names the gateway", "`new Client()` needs no options", () =>
    against({ json: JOB }, async (_, server) => {
      write(folder, {
        "environment.mjs": `
          import { Client } from "quillgate";
          const client = new Client();
          console.log((await client.agentJobs.get("j1")).id);
        `,
      });
      const env = {
        ...process.env,
        QUILLGATE_BASE_URL: server.url,
        QUILLGATE_TOKEN: TOKEN,
        QUILLGATE_PROJECT_ID: "from-env",
        QUILLGATE_LOG: "debug",
      };
      const output = await runProgram("environment", process.execPath, ["environment.mjs"], {
        cwd: folder,
        env,
      });
      assert.match(output, /^j1$/m);
      assert.match(output, /^quillgate: GET \/v2\/agent\/from-env\/job\/j1: 200/m, "QUILLGATE_LOG");
      assert.ok(!output.includes(TOKEN));
      assert.equal(server.requests[0].path, "/v2/agent/from-env/job/j1");
      assert.equal(server.requests[0].headers.authorization, `Bearer ${TOKEN}`);
    }),
  );

  when(
    "the environment names an address, and code a key",
    "the key goes where the code says, and never over plain http to another machine",
    () =>
      against({ json: JOB }, async (_, server) => {
        write(folder, {
          "redirected.mjs": `
            import { Client } from "quillgate";
            const urls = [];
            const fetch = async ({ url }) => {
              urls.push(url);
              return Response.json({ id: "j1" });
            };
            const key = { adminKey: "mint_key", fetch };
            const clients = [
              new Client(key),
              new Client({ fetch }).withOptions(key),
              new Client({ fetch }).withOptions({ maxRetries: 0 }).withOptions(key),
              new Client({ ...key, baseUrl: "https://own.example" }).withOptions({ maxRetries: 0 }),
              new Client({ fetch }),
            ];
            for (const { agentJobs } of clients) await agentJobs.get("j1");
            console.log(urls.map((url) => new URL(url).origin).join(" "));
            const insecure = new Client({ ...key, baseUrl: "http://own.example" });
            const error = await insecure.agentJobs.get("j1").catch((reason) => reason);
            console.log(error.name, error.field, error.rule, urls.length);
          `,
        });
        const env = {
          ...process.env,
          QUILLGATE_BASE_URL: server.url,
          QUILLGATE_TOKEN: TOKEN,
          QUILLGATE_PROJECT_ID: "from-env",
        };
        const output = await runProgram("redirected", process.execPath, ["redirected.mjs"], {
          cwd: folder,
          env,
        });
        const platform = "https://api.mintlify.com";
        const origins = [platform, platform, platform, "https://own.example", server.url];
        assert.equal(
          output.trim(),
          `${origins.join(" ")}\nValidationError baseUrl secure-base-url 5`,
        );
      }),
  );

  when("many calls come at once", "the core is compiled once", () =>
    against({ json: JOB }, async (_, server) => {
      write(folder, {
        "once.mjs": `
          let compiled = 0;
          for (const name of ["compile", "compileStreaming", "instantiate", "instantiateStreaming"]) {
            const real = WebAssembly[name];
            WebAssembly[name] = (...args) => {
              // The host's own fetch has a core in wasm, too.
              if (new Error().stack.includes("/node_modules/quillgate/")) compiled += 1;
              return real.apply(WebAssembly, args);
            };
          }
          const { Client } = await import("quillgate");
          const options = { baseUrl: "${server.url}", projectId: "p", token: "t" };
          const clients = [new Client(options), new Client(options)];
          const before = compiled;
          await Promise.all(Array.from({ length: 20 }, (_, at) => clients[at % 2].agentJobs.get("j1")));
          console.log("compiled", before, compiled);
        `,
      });
      const output = await runProgram("once", process.execPath, ["once.mjs"], { cwd: folder });
      assert.match(output, /compiled 0 1/);
      assert.equal(server.requests.length, 20);
    }),
  );

  when(
    "a program has nothing more to do",
    "no timer, connection or wait of a left call keeps it alive",
    () =>
      against(pageOf(600), async (_, server) => {
        write(folder, {
          "leave.mjs": `
          import { Client } from "quillgate";
          const { agentJobs, pageViews } = new Client({ baseUrl: "${server.url}", projectId: "p", adminKey: "mint_key" });
          for await (const view of pageViews.list()) break;
          for await (const page of pageViews.list().pages()) break;
          console.log("left");
        `,
        });
        assert.match(
          await runProgram("leave", process.execPath, ["leave.mjs"], { cwd: folder }),
          /left/,
        );
      }),
  );
});

describe("when a gateway streams a job's changes", () => {
  const STREAM = { "content-type": "text/event-stream" };

  function event(id, status) {
    return `id: ${id}\nevent: job\ndata: ${JSON.stringify({ ...JOB, status })}\n\n`;
  }

  when("it streams to the job's end", "one request is all that is sent", () =>
    against(
      { headers: STREAM, text: `: hello\n\n${event(1, "active")}${event(2, "completed")}` },
      async ({ agentJobs }, { requests }) => {
        const seen = [];
        await agentJobs.wait("j1", { onUpdate: ({ status }) => seen.push(status) });
        assert.deepEqual(seen, ["active", "completed"]);
        assert.equal(requests.length, 1);
        assert.equal(requests[0].path, "/v2/agent/acme/job/j1/events");
        assert.equal(requests[0].headers.authorization, `Bearer ${TOKEN}`);
        assert.equal(requests[0].headers.accept, "text/event-stream");
      },
      GATEWAY,
    ),
  );

  when("it breaks in the middle of an event", "it goes on after the last whole one", (context) => {
    const broken = {
      headers: STREAM,
      text: `${event(7, "active")}event: job\ndata: {"id":`,
      cut: true,
    };
    const rest = { headers: STREAM, text: event(8, "failed") };
    return against(
      inTurn(broken, rest),
      async ({ agentJobs }, { requests }) => {
        hurry(context);
        const seen = [];
        for await (const { job } of agentJobs.watch("j1")) seen.push(job.status);
        assert.deepEqual(seen, ["active", "failed"]);
        assert.deepEqual(
          requests.map(({ headers }) => headers["last-event-id"]),
          [undefined, "7"],
        );
      },
      GATEWAY,
    );
  });

  when("a watch is left early", "the stream is closed", () =>
    against(
      { headers: STREAM, text: event(1, "active"), stall: "body" },
      async ({ agentJobs }, { requests }) => {
        for await (const { job } of agentJobs.watch("j1")) {
          assert.equal(job.status, "active");
          break;
        }
        assert.equal(await requests[0].ended, false);
        assert.equal(requests.length, 1);
      },
      GATEWAY,
    ),
  );

  when(
    "the time runs out",
    "JobWaitTimeoutError with the job as last seen; the stream is closed",
    () =>
      against(
        { headers: STREAM, text: event(1, "active"), stall: "body" },
        async ({ agentJobs }, { requests }) => {
          const error = await rejected(agentJobs.wait("j1", { timeout: 500 }));
          assert.ok(error instanceof quillgate.JobWaitTimeoutError, inspect(error));
          assert.equal(error.job.status, "active");
          assert.equal(await requests[0].ended, false);
        },
        GATEWAY,
      ),
  );

  when("it is aborted", "the signal's own reason; the stream is closed", () =>
    against(
      { headers: STREAM, text: event(1, "active"), stall: "body" },
      async ({ agentJobs }, { requests }) => {
        const reason = { kind: "timeout" };
        const controller = new AbortController();
        const onUpdate = () => setImmediate(() => controller.abort(reason));
        const wait = agentJobs.wait("j1", { onUpdate, signal: controller.signal });
        assert.equal(await rejected(wait), reason);
        assert.equal(await requests[0].ended, false);
      },
      GATEWAY,
    ),
  );

  when("what it streams is no job", "DecodeError that names the place", () =>
    against(
      { headers: STREAM, text: 'event: job\ndata: {"id":7}\n\n' },
      async ({ agentJobs }) => {
        const error = await rejected(agentJobs.wait("j1"));
        assert.ok(error instanceof quillgate.DecodeError, inspect(error));
        assert.equal(error.where, "id");
      },
      GATEWAY,
    ),
  );
});

describe("when something is written through a gateway", () => {
  const RUNNING = { "retry-after": "1" };

  function problem(kind, headers = {}) {
    return { status: 409, headers, json: { type: `/problems/${kind}`, title: kind, status: 409 } };
  }

  function keysOf(requests) {
    return requests.map(({ headers }) => headers["idempotency-key"]);
  }

  when("it is sent", "it carries an `Idempotency-Key` of its own, once per call", () =>
    against(
      { json: JOB },
      async ({ agentJobs }, { requests }) => {
        await agentJobs.create({ prompt: "p" });
        await agentJobs.create({ prompt: "p" });
        await agentJobs.sendMessage("j1", { prompt: "p" }, { idempotencyKey: "mine" });
        const keys = keysOf(requests);
        assert.match(keys[0], /^[0-9a-f]{32}$/);
        assert.notEqual(keys[0], keys[1]);
        assert.equal(keys[2], "mine");
      },
      GATEWAY,
    ),
  );

  when(
    "a write fails in a way that may pass",
    "it is sent again with the same key, which the gateway does once",
    (context) =>
      against(
        inTurn({ status: 503 }, { text: "", cut: true }, { status: 201, json: JOB }),
        async ({ agentJobs }, { requests }) => {
          const waits = hurry(context);
          assert.equal((await agentJobs.create({ prompt: "p" })).id, "j1");
          assert.equal(keysOf(requests).length, 3);
          assert.equal(new Set(keysOf(requests)).size, 1);
          between(waits[0], 375, 500);
          between(waits[1], 750, 1000);
        },
        GATEWAY,
      ),
  );

  when("`retryWrites` is false", "a write is sent once, and a read still again", (context) =>
    against(
      { status: 503 },
      async ({ agentJobs }, { requests }) => {
        hurry(context);
        await rejected(agentJobs.create({ prompt: "p" }));
        assert.equal(requests.length, 1);
        await rejected(agentJobs.get("j1"));
        assert.equal(requests.length, 4);
      },
      { ...GATEWAY, retryWrites: false },
    ),
  );

  when("the platform itself is said to deduplicate", "a write is sent once: it does not", () =>
    against(
      { status: 503 },
      async ({ agentJobs }, { requests }) => {
        await rejected(agentJobs.create({ prompt: "p" }));
        assert.equal(requests.length, 1);
        assert.equal(requests[0].headers["idempotency-key"], undefined);
      },
      { retryWrites: true },
    ),
  );

  when(
    "the first attempt at a write still runs",
    "its result is asked for every second, which uses up no retry",
    (context) =>
      against(
        inTurn(
          { text: "", cut: true },
          ...Array.from({ length: 9 }, () => problem("idempotency-key-in-use", RUNNING)),
          { status: 201, json: JOB },
        ),
        async ({ agentJobs }, { requests }) => {
          const waits = hurry(context);
          assert.equal((await agentJobs.create({ prompt: "p" })).id, "j1");
          assert.deepEqual(waits.slice(1), new Array(9).fill(1000));
          assert.equal(requests.length, 11);
          assert.equal(new Set(keysOf(requests)).size, 1);
        },
        GATEWAY,
      ),
  );

  when(
    "it still runs after the time of an attempt",
    "ConflictError whose `code` says so",
    (context) =>
      against(
        problem("idempotency-key-in-use", RUNNING),
        async ({ agentJobs }, { requests }) => {
          hurry(context);
          const error = await rejected(agentJobs.create({ prompt: "p" }, { timeout: 32_000 }));
          assert.equal(error.constructor, quillgate.ConflictError);
          assert.equal(error.code, "/problems/idempotency-key-in-use");
          assert.equal(requests.length, 33);
        },
        GATEWAY,
      ),
  );

  when(
    "nobody knows whether a write was carried out",
    "OutcomeUnknownError of any status; nothing more is sent",
    async () => {
      const outcome = "unknown";
      for (const [status, kind] of [
        [409, "outcome-unknown"],
        [502, "upstream-unreachable"],
        [503, "upstream-error"],
        [504, "upstream-timeout"],
      ]) {
        const answer = { status, json: { type: `/problems/${kind}`, status, outcome } };
        await against(
          answer,
          async ({ agentJobs }, { requests }) => {
            const error = await rejected(agentJobs.create({ prompt: "p" }));
            assert.equal(error.constructor, quillgate.OutcomeUnknownError);
            assert.ok(error instanceof quillgate.ApiError);
            const { name, code, problem } = error;
            assert.deepEqual([name, error.status], ["OutcomeUnknownError", status]);
            assert.equal(code, `/problems/${kind}`);
            assert.equal(problem.type, code);
            assert.equal(requests.length, 1);
          },
          GATEWAY,
        );
      }
    },
  );

  when("a write is forced", "it says so by `Idempotency-Retry`, and is sent once", () =>
    against(
      { status: 503 },
      async ({ agentJobs }, { requests }) => {
        const options = { idempotencyKey: "mine", force: true };
        await rejected(agentJobs.create({ prompt: "p" }, options));
        await rejected(agentJobs.sendMessage("j1", { prompt: "p" }, options));
        assert.deepEqual(keysOf(requests), ["mine", "mine"]);
        const forced = requests.map(({ headers }) => headers["idempotency-retry"]);
        assert.deepEqual(forced, ["force", "force"]);
      },
      GATEWAY,
    ),
  );
});

describe("when a gateway's jobs are listed", () => {
  const JOBS = Array.from({ length: 5 }, (_, at) => ({ id: `j${at}`, status: "active" }));

  /** Pages of two jobs, or as many as are asked for; a cursor says how many came before. */
  function jobPages({ path }) {
    const query = new URL(path, "http://x").searchParams;
    const from = Number(query.get("cursor") ?? 0);
    const to = from + Number(query.get("limit") ?? 2);
    return { json: { jobs: JOBS.slice(from, to), nextCursor: to < JOBS.length ? `${to}` : null } };
  }

  when("a list is awaited", "it is one page, with the cursor of the next", () =>
    against(
      jobPages,
      async ({ agentJobs }, { requests }) => {
        const page = await agentJobs.list({ limit: 3 });
        assert.equal(page.nextCursor, "3");
        assert.equal(page.jobs.length, 3);
        assert.deepEqual(page.jobs[2], {
          id: "j2",
          status: "active",
          prompt: null,
          createdBy: null,
          createdAt: null,
          prLink: null,
          checkedAt: null,
        });
        const { data, response } = await agentJobs.list({ cursor: "3" }).withResponse();
        assert.deepEqual([data.jobs[0].id, data.nextCursor, response.status], ["j3", null, 200]);
        assert.deepEqual(
          requests.map(({ path }) => path),
          ["/v2/agent/acme/jobs?limit=3", "/v2/agent/acme/jobs?cursor=3"],
        );
      },
      GATEWAY,
    ),
  );

  when("a list is iterated", "every job comes once, and a page only when it is wanted", () =>
    against(
      jobPages,
      async ({ agentJobs }, { requests }) => {
        const ids = [];
        for await (const { id } of agentJobs.list()) {
          ids.push(id);
          assert.equal(requests.length, Math.ceil(ids.length / 2));
        }
        assert.deepEqual(ids, ["j0", "j1", "j2", "j3", "j4"]);
        for await (const _ of agentJobs.list({ limit: 1, cursor: "1" })) break;
        assert.equal(requests.length, 4);
        assert.equal(requests[3].path, "/v2/agent/acme/jobs?limit=1&cursor=1");
      },
      GATEWAY,
    ),
  );

  when(
    "a page fails in the middle",
    "the jobs before it come first; the stack begins at the list",
    () =>
      against(
        inTurn({ json: { jobs: JOBS, nextCursor: "5" } }, { status: 404 }),
        async ({ agentJobs }) => {
          const ids = [];
          const error = await rejected(async () => {
            for await (const { id } of agentJobs.list()) ids.push(id);
          });
          assert.ok(error instanceof quillgate.NotFoundError);
          assert.equal(ids.length, 5);
          assert.match(error.stack.split("\n")[1], /behaviour\.test\.mjs/);
        },
        GATEWAY,
      ),
  );

  when("its parameters are bad", "ValidationError; nothing is sent", () =>
    against(
      jobPages,
      async ({ agentJobs }, { requests }) => {
        for (const [params, field, rule] of [
          [{ limit: 0 }, "limit", "job-page-size"],
          [{ limit: 101 }, "limit", "job-page-size"],
          [{ cursor: "" }, "cursor", "not-empty"],
          [{ cursor: null }, "cursor", "text"],
        ]) {
          const error = await rejected(agentJobs.list(params));
          assert.ok(error instanceof quillgate.ValidationError, inspect(error));
          assert.deepEqual([error.field, error.rule], [field, rule]);
        }
        assert.equal(requests.length, 0);
      },
      GATEWAY,
    ),
  );

  when("it is aborted in a page", "at once, with the signal's own reason", () =>
    against(
      (received, number) => (number === 0 ? jobPages(received) : { stall: "head" }),
      async ({ agentJobs }, server) => {
        const controller = new AbortController();
        const iterate = async () => {
          for await (const _ of agentJobs.list({}, { signal: controller.signal }));
        };
        const abort = server.arrived(2).then(() => controller.abort("enough"));
        assert.equal(await rejected(iterate), "enough");
        await abort;
        assert.equal(await server.requests[1].ended, false);
      },
      GATEWAY,
    ),
  );
});

describe("when it runs in a browser", () => {
  let browser;
  let site;
  /** What is served in place of the core, once. */
  let instead;

  before(async () => {
    write(folder, { "empty.html": "<!doctype html><title>quillgate</title>" });
    site = await serve({ folder });
    browser = await launchBrowser();
  });

  after(async () => {
    await browser?.close();
    await site?.stop();
  });

  /** Runs a function in a fresh page with the package, and gives its result. */
  async function inPage(run, argument) {
    const page = await browser.newPage();
    try {
      await page.route("**/core_bg.wasm", async (route) => {
        const answer = instead?.shift();
        await (answer ? route.fulfill(answer) : route.continue());
      });
      await page.goto(`${site.url}/empty.html`);
      const address = `${site.url}/node_modules/quillgate/dist/web.js`;
      return await page.evaluate(run, { address, argument });
    } finally {
      await page.close();
    }
  }

  const DIRECT = {
    adminKey: "mint_only_for_this_test",
    projectId: "p",
    baseUrl: "https://x.example",
  };

  when(
    "a page is given an admin key",
    "the client is refused, unless that is allowed",
    async () => {
      const made = await inPage(async ({ address, argument }) => {
        const { Client, QuillgateError } = await import(address);
        try {
          new Client(argument);
          return "made";
        } catch (error) {
          new Client({ ...argument, dangerouslyAllowBrowser: true });
          return [error instanceof QuillgateError, error.message.includes(argument.adminKey)];
        }
      }, DIRECT);
      assert.deepEqual(made, [true, false]);
    },
  );

  when(
    "a web worker is given an admin key",
    "the client is refused, unless that is allowed",
    async () => {
      const made = await inPage(async ({ address, argument }) => {
        const script = `
        import(${JSON.stringify(address)}).then(({ Client }) => {
          const made = (more) => {
            try { new Client({ ...${JSON.stringify(argument)}, ...more }); return "made"; }
            catch (error) { return error.name; }
          };
          postMessage([made({}), made({ dangerouslyAllowBrowser: true })]);
        });`;
        const url = URL.createObjectURL(new Blob([script], { type: "text/javascript" }));
        const types = ["module", "classic"];
        const answers = types.map(
          (type) =>
            new Promise((resolve, reject) => {
              const worker = new Worker(url, { type });
              worker.onmessage = ({ data }) => resolve(data);
              worker.onerror = ({ message }) => reject(new Error(message));
            }),
        );
        return Promise.all(answers);
      }, DIRECT);
      const refused = ["QuillgateError", "made"];
      assert.deepEqual(made, [refused, refused]);
    },
  );

  /** Makes one call with an own `fetch`, as often as told; the names of what it comes to. */
  function calls(times) {
    return inPage(async ({ address, argument }) => {
      const { Client } = await import(address);
      const fetch = async () => new Response('{"id":"j1"}');
      const { agentJobs } = new Client({
        baseUrl: "https://x.example",
        projectId: "p",
        token: "t",
        fetch,
      });
      const results = [];
      for (let time = 0; time < argument; time++) {
        results.push(
          await agentJobs.get("j").then(
            ({ id }) => id,
            (error) => error.name,
          ),
        );
      }
      return results;
    }, times);
  }

  when(
    "the core cannot be fetched",
    "the call rejects, and the next one fetches it anew",
    async () => {
      instead = [
        { status: 503, body: "busy" },
        { status: 200, contentType: "text/html", body: "<html>" },
      ];
      const [first, second, ...rest] = await calls(4);
      assert.ok(first.endsWith("Error") && second.endsWith("Error"), `${first} ${second}`);
      assert.deepEqual(rest, ["j1", "j1"]);
    },
  );

  when("the core comes with a wrong media type", "it is compiled all the same", async () => {
    const other = await serve({ folder, types: { ".wasm": "application/octet-stream" } });
    const [before] = [site];
    site = other;
    try {
      assert.deepEqual(await calls(1), ["j1"]);
    } finally {
      site = before;
      await other.stop();
    }
  });

  when(
    "it is imported and a client is made",
    "the core is not fetched before the first call",
    async () => {
      site.requests.length = 0;
      await inPage(async ({ address }) => {
        const { Client } = await import(address);
        new Client({ baseUrl: "https://x.example", projectId: "p", token: "t" }).pageViews.list();
        await new Promise((resolve) => setTimeout(resolve, 50));
      });
      assert.ok(site.requests.some((path) => path.endsWith("/web.js")));
      assert.ok(!site.requests.some((path) => path.endsWith(".wasm")));
    },
  );
});
