import assert from "node:assert/strict";
import { join } from "node:path";
import { before, test } from "node:test";
import { BUILD_NEEDS, build, PARTS, START_PARTS } from "../../scripts/build.mjs";
import { setup } from "../../scripts/setup.mjs";
import { ROOT } from "../../scripts/versions.mjs";
import { freePort, startProgram } from "../harness/process.mjs";
import { buildUpstream } from "../harness/upstream.mjs";

const START_SCRIPT = join(ROOT, "scripts", "start.mjs");
const START_PATIENCE_MS = 120_000;
const MAX_LINES = 40;
const DAY_MS = 86_400_000;

let context;

before(async () => {
  context = await setup(BUILD_NEEDS);
  await buildAll();
});

/** Builds every part, and returns the crates and the steps that were not up to date. */
async function buildAll() {
  const compiled = [];
  await buildUpstream({ ...context, compiled });
  const startParts = Object.entries(START_PARTS).map(([name, part]) => [`start ${name}`, part]);
  const work = await build(context, { ...PARTS, ...Object.fromEntries(startParts) });
  return { compiled: [...compiled, ...work.compiled], made: work.made };
}

test("an unchanged build compiles no crate and repeats no step", async () => {
  assert.deepEqual(await buildAll(), { compiled: [], made: [] });
});

test("npm start after a build compiles nothing and signs a browser in", async () => {
  const env = {
    ...context.env,
    PORT: String(await freePort()),
    UPSTREAM_PORT: String(await freePort()),
  };
  const start = startProgram("start", process.execPath, [START_SCRIPT], { env });
  try {
    await start.line(/Quillgate is running/, START_PATIENCE_MS);
    assert.doesNotMatch(start.output(), /Compiling|compiled|made/);
    await start.line(/Ctrl-C stops/, START_PATIENCE_MS);
    const [address] = /http:\/\/127\.0\.0\.1:\d+\/sign-in\/[\w-]+/.exec(start.output());
    const opened = await fetch(address, { redirect: "manual" });
    assert.equal(opened.status, 303);
    const [cookie] = opened.headers.getSetCookie()[0].split(";");
    const session = await fetch(`http://127.0.0.1:${env.PORT}/session`, { headers: { cookie } });
    assert.equal((await session.json()).subject, "demo");

    const output = start.output();
    assert.ok(output.split("\n").length <= MAX_LINES, output);
    assert.doesNotMatch(output, /warning/i);
    await checkDemo(`http://127.0.0.1:${env.PORT}`, /^Token +(\S+)$/m.exec(output)[1]);
  } finally {
    await start.stop();
  }
});

async function checkDemo(url, token) {
  const get = async (path) => {
    const response = await fetch(url + path, { headers: { authorization: `Bearer ${token}` } });
    assert.equal(response.status, 200, path);
    return response.json();
  };
  const { jobs } = await get("/v2/agent/demo-docs/jobs");
  const states = jobs.map(({ status, prLink }) => `${status} ${prLink !== null}`);
  assert.equal(new Set(states).size, 8, states.join());

  const day = (ago) => new Date(Date.now() - ago * DAY_MS).toISOString().slice(0, 10);
  const range = `dateFrom=${day(90)}&dateTo=${day(0)}`;
  const { missing, views } = await get(`/v1/analytics/demo-docs/views/daily?${range}`);
  assert.deepEqual(missing, []);
  assert.equal(views.length, 90);
}
