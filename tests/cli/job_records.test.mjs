/** Commands that show, open and list jobs, and the command that deletes the record of a job. */

import assert from "node:assert/strict";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { assertFailed } from "./command_line.mjs";
import {
  browserEnv,
  folder,
  quillgateJob,
  respondWith,
  server,
  succeed,
  useStandIn,
  waitForFile,
  writeProgram,
} from "./session.mjs";
import { job, PROJECT, problem, streamJob } from "./stand_in.mjs";

const LINK = "https://github.com/acme/docs/pull/7";

useStandIn();

test("job show prints the job, its prompts and its status changes", async () => {
  const { stdout } = await succeed(["job", "show", "job_1"]);
  assert.equal(
    stdout,
    [
      "id            job_1",
      "status        completed",
      `pull request  ${LINK}`,
      "repository    acme/docs",
      "ref           main",
      "model         m",
      "created       2026-01-01T00:00:00Z",
      "created by    alice",
      "archived      -",
      "",
      "prompt:",
      "  Say hello",
      "  to \uFFFD[31mreaders",
      "",
      "follow-up by bob, 2026-01-01T00:01:00Z:",
      "  Add an example",
      "",
      "status changes:",
      "  2026-01-01T00:02:00Z  completed",
      "",
    ].join("\n"),
  );
});

test("job open opens the pull request, or else the gateway's page", async () => {
  const env = browserEnv();
  const withLink = await quillgateJob(["open", "job_1"], { env });
  assert.deepEqual([withLink.code, withLink.stdout], [0, `${LINK}\n`]);
  assert.equal(await waitForFile("opened"), LINK);
  rmSync(join(folder, "opened"));
  const { stdout } = await quillgateJob(["open", "job_3"], { env });
  assert.equal(stdout, `${server.url}/?route=jobs&project=${PROJECT}&job=job_3\n`);
  assert.equal(await waitForFile("opened"), stdout.trim());
});

test("job open never opens a URL that is not http or https", async () => {
  respondWith(() => ({ json: { ...job("completed"), prLink: "file:///etc/passwd" } }));
  const { stdout } = await quillgateJob(["open", "job_1"], { env: browserEnv() });
  assert.ok(stdout.startsWith(`${server.url}/?route=jobs`), stdout);
  assert.ok((await waitForFile("opened")).startsWith("http"));
});

test("job open prints the URL and a warning if no browser starts", async () => {
  const env = { BROWSER: "/nonexistent/browser", PATH: process.env.PATH };
  const { code, stdout, stderr } = await quillgateJob(["open", "job_1"], { env });
  assert.deepEqual([code, stdout], [0, `${LINK}\n`]);
  assert.match(stderr, /no browser could be started/);
});

test("job list sends its filters", async () => {
  await quillgateJob(["list", "--state", "failed", "--author", "alice", "--text", "change log"]);
  const { searchParams } = new URL(server.requests[0].path, server.url);
  const expected = { state: "failed", author: "alice", text: "change log", limit: "25" };
  assert.deepEqual(Object.fromEntries(searchParams), expected);
  const invalid = await quillgateJob(["list", "--state", "lost"]);
  assertFailed(invalid, 2, /--state must be one of active, completed, archived, failed/);
});

test("job delete-record deletes only the record, and needs --yes without a terminal", async () => {
  assertFailed(await quillgateJob(["delete-record", "job_1"]), 2, /--yes is required/);
  assert.equal(server.requests.length, 0);
  await succeed(["job", "delete-record", "job_1", "--yes"]);
  const [{ method, path }] = server.requests;
  assert.deepEqual([method, path], ["DELETE", `/v2/agent/${PROJECT}/job/job_1/record`]);
});

const FULL = ["0ec75fe0-e93b-4a4e-9d3b-1f6a5c7b8d90", "0ec75fe0-e93b-5a4e-9d3b-1f6a5c7b8d91"];

test("job list shows the shortest unique ids of 8 to 19 characters, or whole ids", async () => {
  // Of 20 characters, a start would be read as a full id.
  const alike = [`${"a".repeat(19)}1234`, `${"a".repeat(19)}5678`];
  const jobs = [...FULL, "f".repeat(36), "job_1", ...alike].map((id) => ({ id, status: "active" }));
  respondWith(() => ({ json: { jobs, nextCursor: null } }));
  const { stdout } = await quillgateJob(["list"], { columns: 80 });
  const [, ...lines] = stdout.trim().split("\n");
  const ids = lines.map((line) => line.split(" ")[0]);
  assert.deepEqual(ids, ["0ec75fe0-e93b-4", "0ec75fe0-e93b-5", "ffffffff", "job_1", ...alike]);
});

describe("a short id", () => {
  const [full] = FULL;
  const listed = { id: full, status: "completed", prompt: "x", prLink: null };
  const respond =
    (...ids) =>
    ({ path, method }) => {
      if (path.includes("/jobs")) {
        return { json: { jobs: ids.map((id) => ({ ...listed, id })), nextCursor: null } };
      }
      if (!path.includes(full)) return problem(404, "upstream-refused", "Job not found");
      if (method === "GET" && path.endsWith("/record")) return problem(404, "record-not-found", "");
      if (path.endsWith("/events")) return streamJob(listed);
      return method === "DELETE" ? { status: 204, text: "" } : { json: listed };
    };

  for (const args of [
    ["show", "--json"],
    ["open"],
    ["watch"],
    ["message", "More", "--idempotency-key", "k"],
    ["delete-record", "--yes"],
  ]) {
    test(`job ${args[0]} finds the job, and a full id needs no further request`, async () => {
      respondWith(respond(full));
      const env = { BROWSER: "true" };
      const [name, ...more] = args;
      await succeed(["job", name, "0ec75fe0", ...more], { env });
      assert.ok(server.requests.at(-1).path.includes(`/job/${full}`));
      const sent = server.requests.filter(({ method }) => method !== "GET");
      if (name === "message") assert.equal(sent.length, 1, "the message was sent twice");
      server.requests.length = 0;
      await quillgateJob([name, full, ...more], { env });
      assert.ok(server.requests.every(({ path }) => path.includes(`/job/${full}`)));
    });
  }

  test("an ambiguous id is an error that lists the candidates", async () => {
    respondWith(respond(...FULL));
    const ambiguous = await quillgateJob(["show", "0ec75fe0"]);
    for (const id of FULL) assertFailed(ambiguous, 2, new RegExp(id));
  });
});

test("a pull request's URL cannot end the escape sequence of its link", async () => {
  const prLink = "https://evil.example/\u001b\\\u001b[2J/7";
  const listed = { id: "job_1", status: "completed", prompt: "x", prLink };
  respondWith(() => ({ json: { jobs: [listed], nextCursor: null } }));
  const { stdout } = await quillgateJob(["list"], { columns: 120, env: { FORCE_HYPERLINK: "1" } });
  assert.ok(!stdout.includes("\u001b[2J"), JSON.stringify(stdout));
});

describe("BROWSER", { skip: process.platform === "win32" }, () => {
  for (const make of [
    (program) => program,
    (program) => `${program} --new-window`,
    (program) => `${program} --url=%s --new`,
    (program) => `no-such-program:${program}`,
    (program) => `no-such-program %s:${program} 'a b'`,
    // cli/cli#2551 and #6383: Windows programs under WSL.
    (program) => program.replace("browser", "a browser"),
    (program) => program.replace("browser", "a\\ browser"),
    (program) => `"${program.replace("browser", "a browser")}" --new`,
  ]) {
    test(`opens the job with '${make("PROGRAM")}'`, async () => {
      const program = writeProgram("browser", `echo "$*" > "${folder}/log"`);
      writeProgram("a browser", `echo "$*" > "${folder}/log"`);
      const env = { BROWSER: make(program), PATH: process.env.PATH };
      const { code, stderr } = await quillgateJob(["open", "job_1"], { env });
      assert.deepEqual([code, stderr], [0, ""]);
      const text = await waitForFile("log");
      assert.equal(text.split(LINK).length, 2, text);
      assert.ok(!text.includes("%s"));
    });
  }
});
