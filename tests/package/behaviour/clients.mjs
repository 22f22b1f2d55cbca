/** How a client reads its options and environment variables, and which resources it holds. */
import assert from "node:assert/strict";
import { requireIn, runProgram, write } from "../installed.mjs";
import { LISTS, pageOf } from "../scripted_lists.mjs";
import {
  against,
  describe,
  folder,
  inTurn,
  JOB,
  KEY,
  quillgate,
  skipWaits,
  TOKEN,
  when,
} from "./fixtures.mjs";

/** Maximum run time of the program. A leaked timeout would keep it alive for 60 s. */
const MAX_EXIT_MS = 20_000;

/** Runs a module in the folder with the package, and returns its output. */
function runModule(name, source, variables) {
  write(folder, { [`${name}.mjs`]: source });
  const options = { cwd: folder, env: { ...process.env, ...variables } };
  return runProgram(name, process.execPath, [`${name}.mjs`], options);
}

const variablesOf = ({ url }) => ({
  QUILLGATE_BASE_URL: url,
  QUILLGATE_TOKEN: TOKEN,
  QUILLGATE_PROJECT_ID: "from-env",
});

describe("Client options", () => {
  when("`fetch` is set", "it receives every request in place of the runtime's own", () =>
    against({ json: JOB }, async (client, { requests }) => {
      const sent = [];
      const own = client.withOptions({
        fetch: async (url, { method, body }) => {
          sent.push(`${method} ${url} ${body}`);
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
    "headers are set",
    "those of the call override those of the client, and neither override required headers",
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
    "a client runs outside a browser",
    "its requests name the package and its version in `User-Agent`, unless the caller sets that header",
    () =>
      against({ json: JOB }, async (client, { requests }) => {
        const { version } = requireIn(folder)("quillgate/package.json");
        await client.agentJobs.get("j1");
        await client.agentJobs.get("j1", { headers: { "x-a": "1" } });
        await client.agentJobs.get("j1", { headers: { "User-Agent": "bot/2" } });
        const named = `quillgate/${version}`;
        const agents = requests.map(({ headers }) => headers["user-agent"]);
        assert.deepEqual(agents, [named, named, "bot/2"]);
      }),
  );

  when(
    "`withOptions()` is called",
    "it returns a client with the changed options and leaves the first unchanged",
    () =>
      against({ json: JOB }, async (client, { requests }) => {
        const other = client.withOptions({ projectId: "other", defaultHeaders: { "x-a": "1" } });
        const gate = client.withOptions({ auth: { token: TOKEN } });
        await other.agentJobs.get("j1");
        await client.agentJobs.get("j1");
        await gate.agentJobs.get("j1");
        const paths = requests.map(({ path }) => path);
        const expected = ["other", "acme", "acme"].map((id) => `/v2/agent/${id}/job/j1`);
        assert.deepEqual(paths, expected);
        const values = requests.map(({ headers }) => headers["x-a"]);
        assert.deepEqual(values, ["1", undefined, undefined]);
        assert.equal(requests[2].headers.authorization, `Bearer ${TOKEN}`);
      }),
  );

  when(
    "`session` is set",
    "the client sends no credential, ignores `QUILLGATE_TOKEN` and expects a gateway",
    (context) =>
      against({ json: JOB }, async (_, { url, requests }) => {
        process.env.QUILLGATE_TOKEN = TOKEN;
        context.after(() => delete process.env.QUILLGATE_TOKEN);
        const base = { baseUrl: url, projectId: "acme", logLevel: "off" };
        const client = new quillgate.Client({ ...base, auth: { session: true } });
        await client.agentJobs.create({ prompt: "p" });
        const built = await client.buildRequest("agentJobs.get", { id: "j1" });
        const [{ headers }] = requests;
        assert.equal(headers.authorization, undefined);
        assert.match(headers["idempotency-key"], /^[0-9a-f]{32}$/);
        assert.deepEqual(Object.keys(built.headers), ["accept", "user-agent"]);

        await client.withOptions({ auth: { token: TOKEN } }).agentJobs.get("j1");
        assert.equal(requests[1].headers.authorization, `Bearer ${TOKEN}`);
        await client.withOptions({ timeout: 30_000 }).agentJobs.get("j1");
        assert.equal(requests[2].headers.authorization, undefined);

        for (const credential of [{ token: TOKEN }, { adminKey: KEY }]) {
          const auth = { ...credential, session: true };
          const both = () => new quillgate.Client({ ...base, auth });
          assert.throws(both, { name: "ValidationError", field: "auth", rule: "once" });
        }
      }),
  );

  when(
    "`withResponse()` is called",
    "it resolves to the result, the response and the request id, with one request",
    () =>
      against(
        { status: 201, json: JOB, headers: { "x-request-id": "r-3" } },
        async ({ agentJobs }, { requests }) => {
          const call = agentJobs.create({ prompt: "p" });
          const { data, response, requestId } = await call.withResponse();
          assert.deepEqual([data.id, response.status, requestId], ["j1", 201, "r-3"]);
          assert.equal((await call).id, "j1");
          assert.equal((await call.catch(() => "caught")).id, "j1");
          let settled = 0;
          await call.finally(() => {
            settled += 1;
          });
          assert.equal(settled, 1);
          assert.equal(String(call), "[object ApiPromise]");
          assert.equal(requests.length, 1);
        },
      ),
  );

  when("`idempotencyKey` is set", "the client also sends it to Mintlify", () =>
    against({ json: JOB }, async ({ agentJobs }, { requests }) => {
      await agentJobs.create({ prompt: "p" }, { idempotencyKey: "mine-1" });
      assert.equal(requests[0].headers["idempotency-key"], "mine-1");
    }),
  );

  when("environment variables name the gateway", "`new Client()` needs no options", () =>
    against({ json: JOB }, async (_, server) => {
      const source = `
        import { Client } from "quillgate";
        const client = new Client();
        console.log((await client.agentJobs.get("j1")).id);
      `;
      const env = { ...variablesOf(server), QUILLGATE_LOG: "debug" };
      const output = await runModule("environment", source, env);
      assert.match(output, /^j1$/m);
      assert.match(output, /^quillgate: GET \/v2\/agent\/from-env\/job\/j1: 200/m, "QUILLGATE_LOG");
      assert.ok(!output.includes(TOKEN));
      assert.equal(server.requests[0].path, "/v2/agent/from-env/job/j1");
      assert.equal(server.requests[0].headers.authorization, `Bearer ${TOKEN}`);
    }),
  );

  when("`QUILLGATE_LOG` is unknown", "the client ignores it and logs only retries", (context) =>
    against(inTurn({ status: 503 }, { json: JOB }), async (client) => {
      skipWaits(context);
      const lines = [];
      const write = (line) => lines.push(line);
      const logger = { error: write, warn: write, info: write, debug: write };
      process.env.QUILLGATE_LOG = "verbose";
      context.after(() => delete process.env.QUILLGATE_LOG);
      await client.withOptions({ logLevel: undefined, logger }).agentJobs.get("j1");
      assert.equal(lines.length, 1);
      assert.match(lines[0], /ServerError, again in \d+ ms$/);
    }),
  );

  when(
    "environment variables name a URL, and code sets an admin key",
    "the client sends the key to the URL in code, and never over HTTP to another machine",
    () =>
      against({ json: JOB }, async (_, server) => {
        const source = `
          import { Client } from "quillgate";
          const urls = [];
          const fetch = async (url) => {
            urls.push(url);
            return Response.json({ id: "j1" });
          };
          const key = { auth: { adminKey: "mint_key" }, fetch };
          const clients = [
            new Client(key),
            new Client({ fetch }).withOptions(key),
            new Client({ fetch }).withOptions({ maxRetries: 0 }).withOptions(key),
            new Client({ ...key, baseUrl: "https://own.example" }).withOptions({ maxRetries: 0 }),
            new Client({ fetch }),
          ];
          for (const { agentJobs } of clients) await agentJobs.get("j1");
          console.log(urls.map((url) => new URL(url).origin).join(" "));
          try {
            new Client({ ...key, baseUrl: "http://own.example" });
          } catch (error) {
            console.log(error.name, error.field, error.rule, urls.length);
          }
        `;
        const output = await runModule("redirected", source, variablesOf(server));
        const platform = "https://api.mintlify.com";
        const origins = [platform, platform, platform, "https://own.example", server.url];
        assert.equal(
          output.trim(),
          `${origins.join(" ")}\nValidationError baseUrl secure-base-url 5`,
        );
      }),
  );

  when("calls start concurrently", "the core is compiled once", () =>
    against({ json: JOB }, async (_, server) => {
      const source = `
        let compiled = 0;
        for (const name of ["compile", "compileStreaming", "instantiate", "instantiateStreaming"]) {
          const real = WebAssembly[name];
          WebAssembly[name] = (...args) => {
            // Node's own fetch also compiles a wasm module.
            if (new Error().stack.includes("/node_modules/quillgate/")) compiled += 1;
            return real.apply(WebAssembly, args);
          };
        }
        const { Client } = await import("quillgate");
        const options = { baseUrl: "${server.url}", projectId: "p", auth: { token: "t" } };
        const clients = [new Client(options), new Client(options)];
        const before = compiled;
        await Promise.all(Array.from({ length: 20 }, (_, at) => clients[at % 2].agentJobs.get("j1")));
        console.log("compiled", before, compiled);
      `;
      const output = await runModule("once", source);
      assert.match(output, /compiled 0 1/);
      assert.equal(server.requests.length, 20);
    }),
  );

  when("a program leaves its lists unfinished", "no timer, connection or wait keeps it alive", () =>
    against(pageOf(LISTS.views), async (_, server) => {
      const source = `
        import { Client } from "quillgate";
        const auth = { adminKey: "mint_key" };
        const { analytics } = new Client({ baseUrl: "${server.url}", projectId: "p", auth });
        for await (const view of analytics.views()) break;
        for await (const page of analytics.views().pages()) break;
        console.log("left");
      `;
      const started = performance.now();
      const output = await runModule("leave", source);
      assert.match(output, /left/);
      assert.ok(performance.now() - started < MAX_EXIT_MS);
    }),
  );
});
