/** The commands for jobs. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { interruptAt, quillgate, respondWith, server, useStandIn, write } from "./session.mjs";
import { problem } from "./stand_in.mjs";

const LINK = "https://github.com/acme/docs/pull/7";

useStandIn();

const quillgateJob = (args, options) => quillgate(["job", ...args], options);

const readKey = ({ headers }) => headers["idempotency-key"];

test("create prints the job's id and the command that waits for it", async () => {
  const { code, stdout, stderr } = await quillgateJob(["create", "Document it"]);
  assert.deepEqual([code, stdout], [0, "job_1\n"]);
  assert.equal(stderr, "quillgate: active; to wait: quillgate job watch job_1\n");
  const [{ body }] = server.requests;
  assert.equal(JSON.parse(body).prompt, "Document it");
  const { stdout: json } = await quillgateJob(["create", "Document it", "--json"]);
  assert.equal(JSON.parse(json).status, "active");
});

test("create reads the prompt from an argument, standard input or a file", async () => {
  write("prompt.md", "from a file");
  for (const [args, input, prompt] of [
    [["from an argument"], "", "from an argument"],
    [["-"], "from standard input", "from standard input"],
    [["--prompt-file", "prompt.md"], "", "from a file"],
  ]) {
    server.requests.length = 0;
    assert.equal((await quillgateJob(["create", ...args], { input })).code, 0);
    assert.equal(JSON.parse(server.requests[0].body).prompt, prompt);
  }
  for (const [args, input, message] of [
    [[], "", /PROMPT is missing/],
    [["-"], " \n", /the prompt is empty/],
    [["x", "--prompt-file", "prompt.md"], "", /PROMPT cannot be combined with --prompt-file/],
    [["--prompt-file", "none.md"], "", /none.md cannot be read \(ENOENT\)/],
  ]) {
    server.requests.length = 0;
    const { code, stderr } = await quillgateJob(["create", ...args], { input });
    assert.equal(code, 2);
    assert.match(stderr, message);
    assert.equal(server.requests.length, 0);
  }
});

test("create --wait also prints the pull request", async () => {
  const { code, stdout, stderr } = await quillgateJob(["create", "x", "--wait"]);
  assert.deepEqual([code, stdout], [0, `job_1\n${LINK}\n`]);
  assert.equal(stderr, "quillgate: job job_1 is active\nquillgate: job job_1 is completed\n");
  const { stdout: json } = await quillgateJob(["create", "x", "--wait", "--json"]);
  assert.deepEqual(JSON.parse(json).prLink, LINK);
});

test("create sends a new idempotency key unless one is given", async () => {
  await quillgateJob(["create", "x"]);
  await quillgateJob(["create", "x"]);
  await quillgateJob(["create", "x", "--idempotency-key", "release-42"]);
  const keys = server.requests.map(readKey);
  assert.equal(new Set(keys).size, 3);
  assert.equal(keys[2], "release-42");
});

test("create sends the URL of a webhook, and nothing if the URL is invalid", async () => {
  const url = "https://hooks.example/quillgate";
  assert.equal((await quillgateJob(["create", "x", "--webhook-url", url])).code, 0);
  assert.equal(server.requests[0].headers["webhook-url"], url);
  server.requests.length = 0;
  const { code, stderr } = await quillgateJob(["create", "x", "--webhook-url", "hooks.example"]);
  assert.equal(code, 2, stderr);
  assert.match(stderr, /webhookUrl must be an absolute https URL/);
  assert.equal(server.requests.length, 0);
});

test("create prints the command that retries after an unknown outcome", async () => {
  respondWith(({ method }) => {
    if (method !== "POST") return undefined;
    const refusal = problem(502, "outcome-unknown", "the outcome is unknown");
    return { ...refusal, json: { ...refusal.json, outcome: "unknown" } };
  });
  const { code, stderr } = await quillgateJob(["create", "x"]);
  assert.equal(code, 9);
  assert.equal(server.requests.length, 1, "the command sent a second request");
  const key = readKey(server.requests[0]);
  assert.ok(stderr.includes(`to repeat it: --idempotency-key ${key} --force`), stderr);
  respondWith(undefined);
  server.requests.length = 0;
  const again = ["create", "x", "--idempotency-key", key, "--force"];
  assert.equal((await quillgateJob(again)).code, 0);
  assert.equal(server.requests[0].headers["idempotency-retry"], "force");
  assert.equal((await quillgateJob(["create", "x", "--force"])).code, 2);
});

test("watch prints every change and maps the job's end to an exit code", async () => {
  const completed = await quillgateJob(["watch", "job_1"]);
  assert.deepEqual([completed.code, completed.stdout], [0, `active\ncompleted ${LINK}\n`]);
  const failed = await quillgateJob(["watch", "job_2", "--json"]);
  assert.equal(failed.code, 7);
  const changes = failed.stdout.trimEnd().split("\n").map(JSON.parse);
  const statuses = changes.map(({ status }) => status);
  assert.deepEqual(statuses, ["active", "failed"]);
});

test("watch says that the job continues when it times out or is interrupted", async () => {
  respondWith(() => ({ stall: "head" }));
  const { code, stderr } = await quillgateJob(["watch", "job_1", "--timeout", "1s"]);
  assert.equal(code, 8);
  assert.match(stderr, /the job continues; to wait for it: quillgate job watch job_1/);

  const stopped = await quillgateJob(["watch", "job_1"], { signal: interruptAt(/./, 143) });
  assert.equal(stopped.code, 143);
  assert.match(stopped.stderr, /the job continues/);
});

test("watch exits with code 4 when the job does not exist", async () => {
  const { code, stderr } = await quillgateJob(["watch", "job_9"]);
  assert.equal(code, 4);
  assert.match(stderr, /404 there is nothing here/);
  assert.ok(!stderr.includes("the job continues"));
});

test("exits with code 11 on a conflict", async () => {
  respondWith(() => problem(409, "conflict", "the job has ended"));
  const { code, stderr } = await quillgateJob(["message", "job_1", "x"]);
  assert.equal(code, 11);
  assert.match(stderr, /409 the job has ended/);
});

test("an error that the gateway repeats is printed once", async () => {
  const rule = "id must not contain /";
  const refusal = problem(400, "invalid-request", rule);
  const errors = [{ detail: rule }, { detail: "and another" }];
  respondWith(() => ({ ...refusal, json: { ...refusal.json, errors } }));
  const { stderr } = await quillgateJob(["message", "../x", "hi"]);
  assert.equal(stderr, `quillgate: 400 ${rule}\n  and another\n  request request-1\n`);
  const json = await quillgateJob(["message", "../x", "hi", "--json"]);
  assert.equal(JSON.parse(json.stderr).error.type, "/problems/invalid-request");
});

test("list prints a table without escape sequences, or JSON", async () => {
  const { code, stdout } = await quillgateJob(["list", "--format", "table"]);
  assert.equal(code, 0);
  assert.match(stdout, /^ID +STATUS +PULL REQUEST +CREATED +BY +PROMPT\njob_1 +completed .* alice/);
  const { stdout: rows } = await quillgateJob(["list"]);
  assert.equal(JSON.parse(rows).id, "job_1");
  assert.ok(!stdout.includes("\u001b"));
  respondWith(() => ({
    json: { jobs: [{ id: "job_1", status: "active", prompt: "\u009b2J" }], nextCursor: null },
  }));
  const shown = await quillgateJob(["list", "--json"], { columns: 80 });
  assert.ok(!shown.stdout.includes("\u009b"));
  assert.equal(JSON.parse(shown.stdout)[0].prompt, "\u009b2J");
  respondWith(undefined);
  const { stdout: json } = await quillgateJob(["list", "--json", "--rows", "5"]);
  assert.equal(JSON.parse(json)[0].id, "job_1");
  assert.match(server.requests.at(-1).path, /limit=5$/);
});

test("list shows short ids and numbers on a terminal, and drops columns before it wraps", async () => {
  const job = {
    id: "0ec75fe0-e93b-4a4e-9d3b-1f6a5c7b8d90",
    status: "completed",
    prompt: "Document the new endpoint for exports, with an example for each of its parameters",
    createdBy: "readme",
    createdAt: "2020-11-24T17:25:31.123Z",
    prLink: "https://github.com/acme/documentation/pull/1047",
  };
  respondWith(() => ({ json: { jobs: [job], nextCursor: null } }));
  for (const columns of [60, 100]) {
    const { stdout } = await quillgateJob(["list"], { columns });
    const [, row] = stdout.split("\n");
    assert.match(row, /^0ec75fe0 {2}completed {2}#1047 {2}2020-11-24 {2}readme {2}Doc[^…]*…$/);
    assert.ok(row.length <= columns);
  }
  const narrow = await quillgateJob(["list"], { columns: 40 });
  assert.match(narrow.stdout, /^0ec75fe0 {2}completed {2}#1047 {2}Doc[^…]*…$/m);
  assert.match(narrow.stderr, /not shown: CREATED, BY; to show them: --wide/);
  const { stdout: wide } = await quillgateJob(["list", "--wide"], { columns: 40 });
  for (const text of [job.id, job.prLink, job.prompt]) assert.ok(wide.includes(text), wide);
  respondWith(() => ({ json: { jobs: [], nextCursor: null } }));
  const empty = await quillgateJob(["list"], { columns: 80 });
  assert.deepEqual([empty.stdout, empty.stderr], ["", "quillgate: no jobs\n"]);
});

test("a connection failure exits with code 6 and names the reason", async () => {
  const env = { QUILLGATE_BASE_URL: "http://127.0.0.1:1" };
  const { code, stderr } = await quillgateJob(["list"], { env });
  assert.equal(code, 6);
  assert.match(stderr, /127\.0\.0\.1:1 is at a port that fetch does not use/);
  assert.match(stderr, /to find out why: quillgate doctor/);
});
