/** The action behind a proxy, at a limit, in reusable workflows, and with files of other programs. */
import assert from "node:assert/strict";
import * as http from "node:http";
import { assertFailed, COMPLETED, pullRequestEvent } from "./fixtures.mjs";
import { useStandIn } from "./gateway_stand_in.mjs";

/** Node.js before 24.14 cannot enable a proxy at run time. */
const PROXY = { skip: !("setGlobalProxyFromEnv" in http) };

const test = useStandIn();

test("each call of a reusable workflow keeps its comment in every run", async (run) => {
  const { github, gateway } = run;
  for (const [id, version] of Object.entries({ 1: "1.0", 2: "1.0", 3: "2.0" })) {
    for (const name of ["API", "SDK"]) {
      await run.runJob(COMPLETED, {
        ...{ with: { comment: true, prompt: `${name} ${version}` }, event: pullRequestEvent(7) },
        env: { GITHUB_RUN_ID: id },
      });
    }
    const text = github.comments.map(({ body }) => body).join("\n");
    const jobs = (await gateway.jobs()).slice(-2);
    for (const job of jobs) assert.ok(text.includes(job.id), `run ${id}: ${text}`);
    assert.equal(github.comments.length, 2);
  }
});

test("a run that ends last keeps the comment's entries of later runs", async (run) => {
  const { github, gateway } = run;
  const optionsOf = (id) => ({
    ...{ with: { comment: true }, event: pullRequestEvent(7) },
    env: { GITHUB_RUN_ID: id },
  });
  // As a number, 9 is less than 10.
  const { running, job: earlier } = await run.startJob(optionsOf("9"));
  await github.untilCommented();
  const { job: later } = await run.runJob(COMPLETED, optionsOf("10"));
  await gateway.setJob(earlier.id, COMPLETED);
  await running.ended;
  const [{ body }] = github.comments;
  for (const { id } of [earlier, later]) assert.ok(body.includes(id), body);
  assert.equal(github.comments.length, 1);
});

/** Runs a step behind a proxy that refuses every tunnel, or behind `value`. */
async function runBehindProxy(run, t, value) {
  const seen = [];
  const proxy = http.createServer().on("connect", ({ url }, socket) => {
    seen.push(url);
    socket.end("HTTP/1.1 407 Proxy Authentication Required\r\n\r\n");
  });
  await new Promise((resolve) => proxy.listen(0, "127.0.0.1", resolve));
  t.after(() => proxy.close());
  const https_proxy = value ?? `http://127.0.0.1:${proxy.address().port}`;
  const inputs = { gateway: "https://gate.corp.example", timeout: "2s" };
  const result = await run.run({ with: inputs, env: { https_proxy, no_proxy: "127.0.0.1" } });
  return { seen, result };
}

test(
  "uses the runner's proxy, and reports that no job started if refused",
  PROXY,
  async (run, t) => {
    const { seen, result } = await runBehindProxy(run, t);
    assert.deepEqual(seen, ["gate.corp.example:443"]);
    const message = /^the proxy requires credentials .*\(407\)/;
    assertFailed(result, message, "The job was not started");
  },
);

test("names an invalid proxy variable and never prints its value", async (run, t) => {
  const { result } = await runBehindProxy(run, t, "http://me:Pa#ssS3CRET@proxy.example");
  assertFailed(result, /^https_proxy is not a proxy's URL/);
  assert.ok(!`${result.raw}${result.summary}`.includes("S3CRET"));
});
