/** The package in pages and web workers of a browser. */
import assert from "node:assert/strict";
import { after, before } from "node:test";
import { launchBrowser } from "../../page/browser.mjs";
import { requireIn, write } from "../installed.mjs";
import { serve } from "../static_server.mjs";
import { describe, folder, when } from "./fixtures.mjs";

describe("Browsers", () => {
  let browser;
  let site;
  /** Responses to the first requests for the wasm file. Later requests receive the file. */
  let wasmResponses;

  before(async () => {
    write(folder, { "empty.html": "<!doctype html><title>quillgate</title>" });
    site = await serve({ folder });
    browser = await launchBrowser();
  });

  after(async () => {
    await browser?.close();
    await site?.stop();
  });

  async function inPage(run, argument) {
    const page = await browser.newPage();
    try {
      await page.route("**/core_bg.wasm", async (route) => {
        const response = wasmResponses?.shift();
        await (response ? route.fulfill(response) : route.continue());
      });
      await page.addInitScript(() => {
        globalThis.runInWorker = (script, type = "module") =>
          new Promise((resolve, reject) => {
            const url = URL.createObjectURL(new Blob([script], { type: "text/javascript" }));
            const worker = new Worker(url, { type });
            worker.onmessage = ({ data }) => resolve(data);
            worker.onerror = ({ message }) => reject(new Error(message));
          });
      });
      await page.goto(`${site.url}/empty.html`);
      const address = `${site.url}/node_modules/quillgate/dist/web.js`;
      return await page.evaluate(run, { address, argument });
    } finally {
      await page.close();
    }
  }

  const GATEWAY = { baseUrl: "https://x.example", projectId: "p", auth: { token: "t" } };
  const DIRECT = { ...GATEWAY, auth: { adminKey: "mint_only_for_this_test" } };

  when(
    "a page passes an admin key",
    "`new Client()` throws, unless `dangerouslyAllowBrowser` is set",
    async () => {
      const made = await inPage(async ({ address, argument }) => {
        const { Client, QuillgateError } = await import(address);
        try {
          new Client(argument);
          return "made";
        } catch (error) {
          new Client({ ...argument, auth: { ...argument.auth, dangerouslyAllowBrowser: true } });
          return [error instanceof QuillgateError, error.message.includes(argument.auth.adminKey)];
        }
      }, DIRECT);
      assert.deepEqual(made, [true, false]);
    },
  );

  when(
    "a web worker passes an admin key",
    "`new Client()` throws, unless `dangerouslyAllowBrowser` is set",
    async () => {
      const made = await inPage(async ({ address, argument }) => {
        const script = `
        import(${JSON.stringify(address)}).then(({ Client }) => {
          const made = (more) => {
            const { auth, ...rest } = ${JSON.stringify(argument)};
            try { new Client({ ...rest, auth: { ...auth, ...more } }); return "made"; }
            catch (error) { return error.name; }
          };
          postMessage([made({}), made({ dangerouslyAllowBrowser: true })]);
        });`;
        return Promise.all(["module", "classic"].map((type) => runInWorker(script, type)));
      }, DIRECT);
      const refused = ["QuillgateError", "made"];
      assert.deepEqual(made, [refused, refused]);
    },
  );

  when(
    "a page or a web worker calls a gateway of another origin",
    "its requests name the package and its version in `Quillgate-Client`",
    async () => {
      const names = await inPage(async ({ address, argument }) => {
        const addresses = [address, address.replace("web.js", "inline.js")];
        const nameClient = async (own, options) => {
          const { Client } = await import(own);
          const { headers } = await new Client(options).buildRequest("agentJobs.get", { id: "j" });
          return [Object.keys(headers).sort().join(), headers["quillgate-client"]].join(" ");
        };
        const inPage = addresses.map((own) => nameClient(own, argument));
        const inWorker = addresses.map((own) =>
          runInWorker(`(${nameClient})("${own}", ${JSON.stringify(argument)}).then(postMessage);`),
        );
        return Promise.all([...inPage, ...inWorker]);
      }, GATEWAY);
      const { version } = requireIn(folder)("quillgate/package.json");
      const expected = `accept,authorization,quillgate-client quillgate/${version}`;
      assert.deepEqual(names, Array(4).fill(expected));
    },
  );

  function makeCalls(times) {
    return inPage(
      async ({ address, argument }) => {
        const { Client } = await import(address);
        const fetch = async () => new Response('{"id":"j1"}');
        const { agentJobs } = new Client({ ...argument.options, fetch });
        const results = [];
        for (let time = 0; time < argument.times; time++) {
          const ended = await agentJobs.get("j").catch(String);
          results.push(ended.id ?? ended);
        }
        return results;
      },
      { times, options: GATEWAY },
    );
  }

  when(
    "the wasm file cannot be fetched",
    "the call rejects with WasmLoadError, which names `quillgate/inline`; the next call fetches it again",
    async () => {
      wasmResponses = [
        { status: 503, body: "busy" },
        { status: 200, contentType: "text/html", body: "<html>" },
      ];
      const [first, second, ...rest] = await makeCalls(4);
      for (const failure of [first, second]) {
        assert.match(failure, /^WasmLoadError: .*import from "quillgate\/inline"/);
      }
      assert.deepEqual(rest, ["j1", "j1"]);
    },
  );

  when("the wasm file has a wrong media type", "the client compiles it anyway", async () => {
    const other = await serve({ folder, types: { ".wasm": "application/octet-stream" } });
    const usual = site;
    site = other;
    try {
      assert.deepEqual(await makeCalls(1), ["j1"]);
    } finally {
      site = usual;
      await other.stop();
    }
  });

  when(
    "a page imports the package and creates a client",
    "the wasm file is not fetched before the first call",
    async () => {
      site.requests.length = 0;
      await inPage(async ({ address, argument }) => {
        const { Client } = await import(address);
        new Client(argument).analytics.views();
        await new Promise((resolve) => setTimeout(resolve, 50));
      }, GATEWAY);
      assert.ok(site.requests.some((path) => path.endsWith("/web.js")));
      assert.ok(!site.requests.some((path) => path.endsWith(".wasm")));
    },
  );
});
