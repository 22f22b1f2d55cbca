import assert from "node:assert/strict";
import { test } from "node:test";
import { BUILD_NEEDS, build, buildStartWorker, PARTS } from "../../scripts/build.mjs";
import { cargo } from "../../scripts/cargo.mjs";
import { BINDINGS_TESTS, CLIENT_TESTS, CORE_TESTS, LINTS } from "../../scripts/checks.mjs";
import { setup } from "../../scripts/setup.mjs";
import { freePort, startProgram } from "../harness/process.mjs";
import { buildUpstream } from "../harness/upstream.mjs";

const START_SCRIPT = new URL("../../scripts/start.mjs", import.meta.url).pathname;
const START_LIMIT_MS = 15_000;
const NOTHING = { compiled: [], made: [] };

const context = await setup(BUILD_NEEDS);

/** Builds everything there is, and says what had to be done. */
async function buildAll() {
  const compiled = [];
  await buildUpstream({ ...context, compiled });
  const work = await build(context, { ...PARTS, "start worker": buildStartWorker });
  return { compiled: [...compiled, ...work.compiled], made: work.made };
}

/** Compiles what the other suites compile, and says which crates. */
async function compileChecks() {
  const compiled = [];
  const options = { ...context, compiled };
  for (const args of LINTS) await cargo("linting", "clippy", args, options);
  for (const args of [CORE_TESTS, BINDINGS_TESTS, CLIENT_TESTS]) {
    await cargo("compiling tests", "test", ["--no-run", ...args], options);
  }
  return compiled;
}

test("a build that changes nothing compiles no crate and runs no step", async () => {
  await buildAll();
  assert.deepEqual(await buildAll(), NOTHING);
});

test("the build and the other suites keep what each other has compiled", async () => {
  await compileChecks();
  assert.deepEqual(await buildAll(), NOTHING);
  assert.deepEqual(await compileChecks(), []);
});

test("the second npm start compiles nothing, runs within 15 s and signs a browser in", async () => {
  await buildAll();
  const env = {
    ...context.env,
    PORT: String(await freePort()),
    UPSTREAM_PORT: String(await freePort()),
  };
  const start = startProgram("start", process.execPath, [START_SCRIPT], { env });
  try {
    await start.line(/Quillgate is running/, START_LIMIT_MS);
    assert.doesNotMatch(start.output(), /Compiling|compiled|made/);
    await start.line(/Ctrl-C stops/, START_LIMIT_MS);
    const [address] = /http:\/\/127\.0\.0\.1:\d+\/sign-in\/[\w-]+/.exec(start.output());
    const opened = await fetch(address, { redirect: "manual" });
    assert.equal(opened.status, 303);
    const [cookie] = opened.headers.getSetCookie()[0].split(";");
    const session = await fetch(`http://127.0.0.1:${env.PORT}/session`, { headers: { cookie } });
    assert.equal((await session.json()).subject, "demo");
  } finally {
    await start.stop();
  }
});
