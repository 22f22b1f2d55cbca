/** The commands for jobs. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { assertFailed } from "./command_line.mjs";
import {
  interruptAt,
  quillgateJob,
  readJson,
  respondWith,
  server,
  succeed,
  useStandIn,
  write,
} from "./session.mjs";
import { OUTCOME_UNKNOWN, problem } from "./stand_in.mjs";

const LINK = "https://github.com/acme/docs/pull/7";

useStandIn();

const readKey = ({ headers }) => headers["idempotency-key"];

test("create prints the job's id and the command that waits for it", async () => {
  const { code, stdout, stderr } = await quillgateJob(["create", "Document it"]);
  assert.deepEqual([code, stdout], [0, "job_1\n"]);
  assert.equal(stderr, "quillgate: active; to wait: quillgate job watch job_1\n");
  const [{ body }] = server.requests;
  assert.equal(JSON.parse(body).prompt, "Document it");
  assert.equal((await readJson(["job", "create", "Document it"])).status, "active");
});

test("create reads the prompt from an argument, standard input or a file", async () => {
  write("prompt.md", "from a file");
  for (const [args, input, prompt] of [
    [["from an argument"], "", "from an argument"],
    [["-"], "from standard input", "from standard input"],
    [["--prompt-file", "prompt.md"], "", "from a file"],
  ]) {
    server.requests.length = 0;
    await succeed(["job", "create", ...args], { input });
    assert.equal(JSON.parse(server.requests[0].body).prompt, prompt);
  }
  for (const [args, input, message] of [
    [[], "", /PROMPT is missing/],
    [["-"], " \n", /the prompt is empty/],
    [["x", "--prompt-file", "prompt.md"], "", /PROMPT cannot be combined with --prompt-file/],
    [["--prompt-file", "none.md"], "", /none.md cannot be read \(ENOENT\)/],
  ]) {
    server.requests.length = 0;
    assertFailed(await quillgateJob(["create", ...args], { input }), 2, message);
    assert.equal(server.requests.length, 0);
  }
});

test("create --wait also prints the pull request", async () => {
  const { code, stdout, stderr } = await quillgateJob(["create", "x", "--wait"]);
  assert.deepEqual([code, stdout], [0, `job_1\n${LINK}\n`]);
  assert.equal(stderr, "quillgate: job job_1 is active\nquillgate: job job_1 is completed\n");
  assert.deepEqual((await readJson(["job", "create", "x", "--wait"])).prLink, LINK);
});

test("create sends a new idempotency key unless one is given", async () => {
  await quillgateJob(["create", "x"]);
  await quillgateJob(["create", "x"]);
  await quillgateJob(["create", "x", "--idempotency-key", "release-42"]);
  const keys = server.requests.map(readKey);
  assert.equal(new Set(keys).size, 3);
  assert.equal(keys[2], "release-42");
});

test("with an admin key, nothing says that a repeated creation is safe", async () => {
  write("key", "mint_x");
  const admin = ["--admin-key-file", "key", "--base-url", server.url];
  const env = { QUILLGATE_TOKEN: undefined };
  respondWith(() => ({ json: { id: "job_1" }, cut: true }));
  const lost = await quillgateJob(["create", "x", ...admin], { env });
  assertFailed(lost, 9, /check Mintlify's dashboard first/);
  assert.doesNotMatch(lost.stderr, /safely|idempotency-key/);
  assert.deepEqual(server.requests.map(readKey), [undefined]);
  const keyed = await quillgateJob(["create", "x", ...admin, "--idempotency-key", "k"], { env });
  assertFailed(keyed, 2, /--idempotency-key needs a gateway/);
  assert.equal(server.requests.length, 1);
});

test("create prints its key while the first request is still running, and after a 408", async () => {
  const later = { "retry-after": "61" };
  for (const [response, code] of [
    [problem(409, "idempotency-key-in-use", "still running", later), 11],
    [{ status: 408, headers: later, text: "" }, 6],
    [{ ...OUTCOME_UNKNOWN, status: 408, headers: later }, 9],
  ]) {
    server.requests.length = 0;
    respondWith(() => response);
    const created = await quillgateJob(["create", "x"]);
    const key = readKey(server.requests[0]);
    const advice =
      code === 9
        ? `to repeat it: --idempotency-key ${key} --force`
        : `safely: --idempotency-key ${key}`;
    assertFailed(created, code, new RegExp(advice));
  }
});

test("create --wait names the job that it created, whatever ends the wait", async () => {
  respondWith(({ method }) =>
    method === "POST" ? undefined : problem(403, "insufficient-scope", "no"),
  );
  const { code, stderr } = await quillgateJob(["create", "x", "--wait", "--json"]);
  assert.equal(code, 3);
  const hint = "the job is job_1; to wait for it: quillgate job watch job_1";
  assert.deepEqual(JSON.parse(stderr).error.hints, [hint]);
});

test("create sends the URL of a webhook, and nothing if the URL is invalid", async () => {
  const url = "https://hooks.example/quillgate";
  assert.equal((await quillgateJob(["create", "x", "--webhook-url", url])).code, 0);
  assert.equal(server.requests[0].headers["webhook-url"], url);
  server.requests.length = 0;
  const invalid = await quillgateJob(["create", "x", "--webhook-url", "hooks.example"]);
  assertFailed(invalid, 2, /webhookUrl must be an absolute https URL/);
  assert.equal(server.requests.length, 0);
});

test("create prints the command that retries after an unknown outcome", async () => {
  respondWith(({ method }) => (method === "POST" ? OUTCOME_UNKNOWN : undefined));
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

test("create advises a new key for a stored refusal, and --force for a stored unknown outcome", async () => {
  const replayed = { "idempotent-replayed": "true" };
  const create = ["create", "x", "--idempotency-key", "release-42"];
  for (const [response, advice] of [
    [problem(404, "upstream-error", "no docs", replayed), "different --idempotency-key"],
    [problem(404, "upstream-error", "no docs"), undefined],
    [{ ...OUTCOME_UNKNOWN, headers: replayed }, "release-42 --force"],
  ]) {
    respondWith(() => response);
    const { stderr } = await quillgateJob(create);
    const found = /different --idempotency-key|release-42 --force/.exec(stderr)?.[0];
    assert.equal(found, advice, stderr);
  }
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
  const late = await quillgateJob(["watch", "job_1", "--timeout", "1s"]);
  assertFailed(late, 8, /the job continues; to wait for it: quillgate job watch job_1/);

  const stopped = await quillgateJob(["watch", "job_1"], { signal: interruptAt(/./, 143) });
  assertFailed(stopped, 143, /the job continues/);
});

test("watch exits with code 4 when the job does not exist", async () => {
  const missing = await quillgateJob(["watch", "job_9"]);
  assertFailed(missing, 4, /404 there is nothing here/);
  assert.ok(!missing.stderr.includes("the job continues"));
});

test("exits with code 11 on a conflict", async () => {
  respondWith(() => problem(409, "conflict", "the job has ended"));
  assertFailed(await quillgateJob(["message", "job_1", "x"]), 11, /409 the job has ended/);
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
  const { stdout } = await succeed(["job", "list", "--format", "table"]);
  assert.match(stdout, /^ID +STATUS +PULL REQUEST +CREATED +BY +PROMPT\njob_1 +completed .* alice/);
  const { stdout: rows } = await quillgateJob(["list"]);
  assert.equal(JSON.parse(rows).id, "job_1");
  assert.ok(!stdout.includes("\u001b"));
  const listed = { id: "job_1", status: "active", prompt: "\u009b2J" };
  respondWith(() => ({ json: { jobs: [listed], nextCursor: null } }));
  const shown = await quillgateJob(["list", "--json"], { columns: 80 });
  assert.ok(!shown.stdout.includes("\u009b"));
  assert.equal(JSON.parse(shown.stdout)[0].prompt, "\u009b2J");
  respondWith(undefined);
  assert.equal((await readJson(["job", "list", "--rows", "5"]))[0].id, "job_1");
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
  const failed = await quillgateJob(["list"], { env });
  assertFailed(failed, 6, /127\.0\.0\.1:1 is at a port that fetch does not use/);
  assert.match(failed.stderr, /to find out why: quillgate doctor/);
});
