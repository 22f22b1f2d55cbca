/** Pages and web workers of a browser. */
import assert from "node:assert/strict";
import { after, before } from "node:test";
import { launchBrowser } from "../../page/browser.mjs";
import { write } from "../installed.mjs";
import { serve } from "../static_server.mjs";
import { describe, folder, when } from "./fixtures.mjs";

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
