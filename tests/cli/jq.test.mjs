/** The flag `--jq`, which filters the output with the program jq. */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, beforeEach, describe, test } from "node:test";
import { BIN, runCommand } from "./command_line.mjs";
import { PROJECT, problem, startStandIn } from "./stand_in.mjs";

const isInstalled = spawnSync("jq", ["--version"]).status === 0;
const RANGE = ["--from", "2026-01-01", "--to", "2026-02-01"];

describe("--jq", { skip: !isInstalled && "jq is not installed" }, () => {
  let server;
  let override;

  before(async () => {
    server = await startStandIn({ override: (...args) => override?.(...args) });
  });
  after(() => server.stop());
  beforeEach(() => {
    override = undefined;
    server.requests.length = 0;
  });

  function quillgate(args, { env, ...options } = {}) {
    return runCommand(args, {
      ...options,
      env: {
        ...{ QUILLGATE_BASE_URL: server.url, QUILLGATE_PROJECT_ID: PROJECT },
        ...{ QUILLGATE_TOKEN: "token", PATH: process.env.PATH },
        ...env,
      },
    });
  }

  test("--jq prints strings without quotes and other values on one line", async () => {
    const text = await quillgate(["job", "create", "Document it", "--jq", ".status"]);
    assert.deepEqual(text, { ...text, code: 0, stdout: "active\n", stderr: "" });
    const rows = await quillgate(["views", ...RANGE, "--rows", "2", "--jq", ".[] | {human, ai}"]);
    assert.equal(rows.stdout, '{"human":0,"ai":0}\n{"human":1,"ai":2}\n');
  });

  test("--jq filters each change that job watch prints", async () => {
    const { code, stdout } = await quillgate(["job", "watch", "job_2", "--jq", ".status"]);
    assert.equal(code, 7, "the code of a failed job");
    assert.equal(stdout, "active\nfailed\n");
  });

  test("a filter of --jq may begin with a dash", async () => {
    const negated = await quillgate(["views", ...RANGE, "--rows", "3", "--jq=-length"]);
    assert.deepEqual([negated.code, negated.stdout], [0, "-3\n"]);
  });

  test("--jq indents values and replaces control characters on a terminal", async () => {
    const job = { id: "job_1", status: "active", prLink: "\u001b[2J" };
    override = ({ path }) => (path.endsWith("/job/job_1") ? { json: job } : undefined);
    const args = ["job", "show", "job_1", "--jq"];
    const raw = await quillgate([...args, ".job.prLink"], { columns: 80 });
    assert.equal(raw.code, 0);
    assert.ok(!raw.stdout.includes("\u001b"), JSON.stringify(raw.stdout));
    const tabs = await quillgate([...args, "[1, .job.prLink] | @tsv"], { columns: 80 });
    assert.equal(tabs.stdout, "1\t\uFFFD[2J\n");
    const indented = await quillgate([...args, "{status: .job.status}"], { columns: 80 });
    assert.equal(indented.stdout, '{\n  "status": "active"\n}\n');
  });

  test("an invalid filter of --jq is an error before any request", async () => {
    const { code, stdout, stderr } = await quillgate(["job", "create", "a prompt", "--jq", ".["]);
    assert.equal(code, 2);
    assert.match(JSON.parse(stderr).error.message, /^--jq: syntax error/);
    assert.deepEqual([stdout, server.requests.length], ["", 0]);
  });

  test("a missing jq is an error before any request", async () => {
    const env = { PATH: "/nonexistent" };
    const { code, stderr } = await quillgate(["job", "create", "a prompt", "--jq", "."], { env });
    assert.equal(code, 2);
    const { message, hints } = JSON.parse(stderr).error;
    assert.equal(message, "--jq needs the program jq, which is not installed");
    assert.match(hints[0], /or use --json/);
    assert.equal(server.requests.length, 0);
  });

  test("an error of jq fails the command and names jq's reason", async () => {
    const args = ["job", "create", "a prompt", "--jq", ".status.name"];
    const { code, stdout, stderr } = await quillgate(args);
    assert.deepEqual([code, stdout], [1, ""]);
    const { message } = JSON.parse(stderr).error;
    assert.match(message, /^jq could not filter the command's result: .*Cannot index string/);
  });

  test("an error of jq for one of several values fails the command", async () => {
    const filter = 'if .status == "active" then error("no") else .status end';
    const { code, stdout, stderr } = await quillgate(["job", "watch", "job_1", "--jq", filter]);
    assert.equal(stdout, "completed\n");
    assert.equal(code, 1);
    assert.match(JSON.parse(stderr).error.message, /result: no/);
  });

  test("a filter of --jq cannot read secrets from the environment", async () => {
    const env = { ACCESS_TOKEN_SECRET: "secret", WEBHOOK_SECRET: "secret" };
    const names = '"QUILLGATE_TOKEN", "ACCESS_TOKEN_SECRET", "WEBHOOK_SECRET"';
    const filter = `[env[${names}]] | unique[]`;
    const { stdout } = await quillgate(["version", "--jq", filter], { env });
    assert.equal(stdout, "null\n");
  });

  test("--jq with --output is an error, because files get whole reports", async () => {
    const args = ["views", ...RANGE, "-o", "views.json", "--jq", "length"];
    const { code, stderr } = await quillgate(args);
    assert.equal(code, 2);
    assert.match(stderr, /--jq cannot be combined with --output/);
    assert.equal(server.requests.length, 0);
  });

  test("a filter of --jq may end before the command", async () => {
    const { code } = await quillgate(["views", ...RANGE, "--jq", "length, error"]);
    assert.equal(code, 1);
  });

  test("the result of init through npx is filtered", async (t) => {
    const folder = mkdtempSync(join(tmpdir(), "quillgate-jq-"));
    t.after(() => rmSync(folder, { recursive: true }));
    // Fails if it could read an answer: npx must not ask, because the question would be filtered.
    const program = `#!/bin/sh\ntest -z "$(cat)" && printf '{"files":["wrangler.toml"]}\\n'\n`;
    writeFileSync(join(folder, "npx"), program, { mode: 0o755 });
    const env = { PATH: `${folder}:${process.env.PATH}` };
    const args = [BIN, "init", "x", "--jq", ".files[0]"];
    const options = { cwd: folder, env, input: "y\n", encoding: "utf8" };
    const { status, stdout } = spawnSync(process.execPath, args, options);
    assert.deepEqual([status, stdout], [0, "wrangler.toml\n"]);
  });

  test("completion rejects --jq and --json, because it prints a script", async () => {
    for (const flags of [["--jq", "."], ["--json"]]) {
      const { code, stdout, stderr } = await quillgate(["completion", "bash", ...flags]);
      assert.deepEqual([code, stdout], [2, ""]);
      const { message } = JSON.parse(stderr).error;
      assert.equal(message, "completion prints a script: omit --json and --jq");
    }
  });

  test("an error of the command precedes an error of jq", async () => {
    override = (_, number) => (number === 0 ? undefined : problem(403, "forbidden", "no more"));
    const { code, stderr } = await quillgate(["views", ...RANGE, "--jq", "length"]);
    assert.equal(code, 3);
    assert.match(JSON.parse(stderr).error.message, /no more/);
  });
});
