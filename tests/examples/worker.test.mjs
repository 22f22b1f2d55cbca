import assert from "node:assert/strict";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { startWithWrangler } from "../harness/wrangler.mjs";
import { installExample, PROJECT, startPlatform } from "./example.mjs";

const PAGES = 320;

let platform;
let worker;
let token;

before(async () => {
  const folder = await installExample("worker");
  platform = await startPlatform({ upstream: { pages: PAGES } });
  token = platform.token("analytics:read");
  worker = await startWithWrangler({
    config: join(folder, "wrangler.toml"),
    vars: {
      QUILLGATE_BASE_URL: platform.gateway.url,
      QUILLGATE_PROJECT_ID: PROJECT,
      QUILLGATE_TOKEN: token,
    },
    readyPath: "/",
  });
});
after(async () => {
  await worker?.stop();
  await platform?.stop();
});

test("the Worker example serves the most viewed pages without a credential", async () => {
  const response = await fetch(worker.url);
  const text = await response.text();
  assert.equal(response.status, 200, text);
  assert.match(response.headers.get("cache-control"), /max-age=3600/);
  const pages = JSON.parse(text);
  assert.equal(pages.length, 10);

  const { now } = await platform.upstream.clock();
  const day = (time) => new Date(time).toISOString().slice(0, 10);
  const range = { dateFrom: day(now - 28 * 24 * 3600 * 1000), dateTo: day(now) };
  const { views } = await platform.upstream.views(range);
  const totals = views.map(({ total }) => total).sort((a, b) => b - a);
  assert.deepEqual(
    pages.map(({ human, ai }) => human + ai),
    totals.slice(0, 10),
  );
  const head = JSON.stringify([...response.headers]);
  for (const secret of [token, platform.key]) assert.ok(!(text + head).includes(secret));
});

test("the Worker example returns 404 for other paths", async () => {
  const response = await fetch(`${worker.url}/other`);
  assert.equal(response.status, 404);
});
