/** The commands for deployments, previews and automations. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { assertFailed } from "./command_line.mjs";
import {
  browserEnv,
  interruptAt,
  quillgate,
  read,
  readJson,
  respondWith,
  server,
  succeed,
  useStandIn,
  waitForFile,
} from "./session.mjs";
import { OUTCOME_UNKNOWN, PREVIEW_URL, PROJECT } from "./stand_in.mjs";

useStandIn();

/** Makes each started deployment one of the stand-in's, such as `s_failed`. */
function startAs(statusId, previewUrl = PREVIEW_URL) {
  const started = { status: 202, json: { statusId, previewUrl } };
  respondWith(({ method }) => (method === "POST" ? started : undefined));
}

test("deploy prints the id and the command that waits for it", async () => {
  const { code, stdout, stderr } = await quillgate(["deploy"]);
  assert.deepEqual([code, stdout], [0, "s_live\n"]);
  assert.equal(stderr, "quillgate: started; to wait: quillgate deployment watch s_live\n");
  const [{ method, path, body, headers }] = server.requests;
  assert.deepEqual([method, path, body], ["POST", `/v1/project/update/${PROJECT}`, ""]);
  assert.match(headers["idempotency-key"], /^[0-9a-f-]{36}$/);
  assert.deepEqual(await readJson(["deploy"]), { statusId: "s_live" });
});

test("deploy --wait shows each step and ends with the summary", async () => {
  const { code, stdout, stderr } = await quillgate(["deploy", "--wait"]);
  assert.deepEqual([code, stdout], [0, "s_live\n"]);
  assert.deepEqual(stderr.trim().split("\n"), [
    "quillgate: deployment s_live is in_progress: Building",
    "quillgate: deployment s_live is success: Successfully updated deployment",
    "quillgate: deployment s_live is live: Deployed",
  ]);
  const { statusId, isLive, deployment: ended } = await readJson(["deploy", "--wait"]);
  assert.deepEqual([statusId, isLive, ended.status], ["s_live", true, "success"]);
});

test("a deployment that is live despite its failure exits with 0 and a warning", async () => {
  startAs("s_warned");
  const { code, stdout, stderr } = await quillgate(["preview", "docs/new", "--wait"]);
  assert.deepEqual([code, stdout], [0, `s_warned\n${PREVIEW_URL}\n`]);
  assert.match(stderr, /^quillgate: deployment s_warned is live, but a later step failed: Failed/m);
  const quiet = await succeed(["deploy", "--wait", "--json"]);
  assert.match(JSON.parse(quiet.stderr).warning.message, /s_warned is live, but/);
});

test("a failed deployment exits with 7 and prints the last lines of its log", async () => {
  startAs("s_failed");
  const { code, stdout, stderr } = await quillgate(["preview", "docs/new", "--wait"]);
  assert.deepEqual([code, stdout], [7, "s_failed\n"], "the link of a failed preview was printed");
  assert.match(stderr, /^quillgate: deployment s_failed failed: Failed to build$/m);
  assert.match(stderr, /^ {2}Step 14\n {2}Failed to build.\[31m$/mu);
  assert.match(stderr, /^ {2}to see the whole log: quillgate deployment show s_failed$/m);
  assert.ok(!stderr.includes("  Step 5\n"), "more than ten lines were printed");
  assert.ok(!stderr.includes("\u001b"));
  const json = await quillgate(["deploy", "--wait", "--json"]);
  assert.equal(json.code, 7);
  const { isLive, deployment: ended } = JSON.parse(json.stdout);
  assert.deepEqual([isLive, ended.status], [false, "failure"]);
  const { error } = JSON.parse(json.stderr);
  assert.deepEqual([error.exitCode, error.details.length], [7, 10]);
  const quiet = await quillgate(["deploy", "--wait", "--quiet"]);
  assert.match(quiet.stderr, /^quillgate: deployment s_failed failed/);
});

test("preview sends the branch unchanged, and prints the URL of the server", async () => {
  for (const branch of ["docs/new#1", "文档-é", "Feature_X", "a b?c=d&e%2F", "..", " x"]) {
    server.requests.length = 0;
    const { code, stdout } = await quillgate(["preview", branch]);
    assert.deepEqual([code, stdout], [0, `s_live\n${PREVIEW_URL}\n`]);
    const [{ path, body }] = server.requests;
    assert.equal(path, `/v1/project/preview/${PROJECT}`);
    assert.deepEqual(JSON.parse(body), { branch });
  }
  await succeed(["preview", "--", "--json"]);
  assert.deepEqual(JSON.parse(server.requests.at(-1).body), { branch: "--json" });
});

test("an invalid --timeout starts nothing", async () => {
  const commands = [
    ...[["deploy"], ["preview", "b"], ["deployment", "watch", "s_live"]],
    ...[
      ["job", "create", "x"],
      ["job", "message", "a_1", "x"],
      ["job", "watch", "a_1"],
    ],
  ];
  for (const args of commands) {
    for (const timeout of ["soon", "0s"]) {
      assertFailed(await quillgate([...args, "--timeout", timeout]), 2, /--timeout/);
    }
  }
  assert.equal(server.requests.length, 0);
});

test("preview --open opens the preview when it is live, also without --wait", async () => {
  const env = browserEnv();
  const { code, stdout } = await quillgate(["preview", "docs/new", "--open"], { env });
  assert.deepEqual([code, stdout], [0, `s_live\n${PREVIEW_URL}\n`]);
  assert.equal(await waitForFile("opened"), `${PREVIEW_URL}/`);
});

test("preview --open opens neither a failed preview nor a URL that is not http or https", async () => {
  const env = browserEnv();
  startAs("s_failed");
  assert.equal((await quillgate(["preview", "b", "--open"], { env })).code, 7);
  startAs("s_live", "file:///etc/passwd");
  const { stderr } = await succeed(["preview", "b", "--open"], { env });
  assert.match(stderr, /no URL of the preview to open/);
  assert.throws(() => read("opened"), { code: "ENOENT" });
});

test("Ctrl-C during a wait names what was started and the command that continues", async () => {
  const options = () => ({ signal: interruptAt(/\/deployments\/s_live\/events$/) });
  const { code, stdout, stderr } = await quillgate(["deploy", "--wait"], options());
  assert.deepEqual([code, stdout], [130, "s_live\n"]);
  const hint = "the deployment continues; to wait for it: quillgate deployment watch s_live";
  assert.ok(stderr.includes(hint), stderr);
  // With --json, the id is only in the hint.
  const json = await quillgate(["deploy", "--wait", "--json"], options());
  assert.ok(JSON.parse(json.stderr).error.hints.includes(hint), json.stderr);
});

for (const args of [
  ["job", "create", "x"],
  ["deploy"],
  ["preview", "b"],
  ["automation", "run", "w_1"],
]) {
  test(`an interrupted ${args[0]} prints the flag that repeats it safely`, async () => {
    const result = await quillgate(args, { signal: interruptAt(/./) });
    const key = server.requests[0].headers["idempotency-key"];
    assertFailed(result, 130, new RegExp(`to repeat it safely: --idempotency-key ${key}`));
  });
}

test("automation run prints the run's id, and repeats only with --force", async () => {
  const { code, stdout, stderr } = await quillgate(["automation", "run", "w_1"]);
  assert.deepEqual([code, stdout], [0, "run_1\n"]);
  assert.match(stderr, /the run is queued/);
  const run = await readJson(["automation", "run", "w_1"]);
  assert.deepEqual(run, { schemaId: "w_1", instanceId: "run_1", jobId: "b_1" });
  respondWith(() => OUTCOME_UNKNOWN);
  server.requests.length = 0;
  const unknown = await quillgate(["automation", "run", "w_1"]);
  assertFailed(unknown, 9, /to repeat it: --idempotency-key \S+ --force/);
  assert.equal(server.requests.length, 1, "the command sent a second request");
});

test("deployment watch prints every change and maps the end to an exit code", async () => {
  const live = await succeed(["deployment", "watch", "s_live"]);
  assert.equal(live.stdout, "in_progress: Building\nsuccess: Successfully updated deployment\n");
  const failed = await quillgate(["deployment", "watch", "s_failed", "--json"]);
  assert.equal(failed.code, 7);
  const states = failed.stdout.trim().split("\n").map(JSON.parse);
  const statuses = states.map(({ status }) => status);
  assert.deepEqual(statuses, ["in_progress", "failure"]);
});

test("deployment list prints a table, or rows of JSON", async () => {
  const { stdout } = await succeed(["deployment", "list", "--format", "table"]);
  const [head, first, second] = stdout.split("\n");
  assert.match(head, /^ID +STATUS +BRANCH +STARTED +BY +PREVIEW$/);
  assert.match(first, /^s_live +success +docs\/new +2026-01-01T00:00:00Z +alice +https:/);
  assert.match(second, /^s_warned +failure, but live +- /);
  assert.ok(!stdout.includes("\u001b"));
  const { stdout: rows } = await quillgate(["deployment", "list"]);
  assert.equal(JSON.parse(rows.split("\n")[0]).statusId, "s_live");
  assert.equal((await readJson(["deployment", "list", "--rows", "1"])).length, 1);
  assert.match(server.requests.at(-1).path, /limit=1$/);
  respondWith(() => ({ json: { deployments: [], nextCursor: null } }));
  const empty = await quillgate(["deployment", "list"], { columns: 80 });
  assert.deepEqual([empty.stdout, empty.stderr], ["", "quillgate: no deployments\n"]);
});

test("deployment show has no isLive value until the deployment ends", async () => {
  const show = ["deployment", "show", "s_1"];
  for (const [status, isLive, word] of [
    ...[
      ["in_progress", null, "-"],
      ["queued", null, "-"],
      [null, null, "-"],
    ],
    ...[
      ["success", true, "yes"],
      ["failure", false, "no"],
    ],
  ]) {
    const deployment = { _id: "s_1", status, summary: "x", logs: [] };
    respondWith(() => ({ json: deployment }));
    assert.equal((await readJson(show)).isLive, isLive, status);
    const { stdout } = await succeed(show);
    assert.equal(/^live +(.*)$/m.exec(stdout)?.[1], word, stdout);
  }
});

test("deployment delete-record needs --yes without a terminal", async () => {
  assert.equal((await quillgate(["deployment", "delete-record", "s_live"])).code, 2);
  assert.equal(server.requests.length, 0);
  await succeed(["deployment", "delete-record", "s_live", "--yes"]);
  const [{ method, path }] = server.requests;
  assert.deepEqual([method, path], ["DELETE", `/v1/project/${PROJECT}/deployments/s_live`]);
});
