/** The flag `--jq`, which filters the output with the program jq. */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { describe, test } from "node:test";
import { quillgate, server, useStandIn } from "./session.mjs";

const isInstalled = spawnSync("jq", ["--version"]).status === 0;
const RANGE = ["--from", "2026-01-01", "--to", "2026-02-01"];

describe("--jq", { skip: !isInstalled && "jq is not installed" }, () => {
  useStandIn();
  const filter = (args, { env } = {}) =>
    quillgate(args, { env: { PATH: process.env.PATH, ...env } });

  test("--jq prints strings without quotes and other values on one line", async () => {
    const text = await filter(["job", "create", "Document it", "--jq", ".status"]);
    assert.deepEqual(text, { ...text, code: 0, stdout: "active\n", stderr: "" });
    const rows = await filter(["views", ...RANGE, "--rows", "2", "--jq", ".[] | {human, ai}"]);
    assert.equal(rows.stdout, '{"human":0,"ai":0}\n{"human":1,"ai":2}\n');
  });

  test("--jq filters each change that job watch prints", async () => {
    const { code, stdout } = await filter(["job", "watch", "job_2", "--jq", ".status"]);
    assert.equal(code, 7, "the code of a failed job");
    assert.equal(stdout, "active\nfailed\n");
  });

  test("an invalid filter of --jq is an error before any request", async () => {
    const { code, stdout, stderr } = await filter(["job", "create", "a prompt", "--jq", ".["]);
    assert.match(JSON.parse(stderr).error.message, /^--jq: syntax error/);
    assert.deepEqual([code, stdout, server.requests.length], [2, "", 0]);
  });

  test("a missing jq is an error before any request", async () => {
    const env = { PATH: "/nonexistent" };
    const { code, stderr } = await filter(["job", "create", "a prompt", "--jq", "."], { env });
    assert.equal(code, 2);
    const { message, hints } = JSON.parse(stderr).error;
    assert.equal(message, "--jq needs the program jq, which is not installed");
    assert.match(hints[0], /or use --json/);
    assert.equal(server.requests.length, 0);
  });

  test("an error of jq fails the command and names jq's reason", async () => {
    const args = ["job", "create", "a prompt", "--jq", ".status.name"];
    const { code, stdout, stderr } = await filter(args);
    assert.deepEqual([code, stdout], [1, ""]);
    const { message } = JSON.parse(stderr).error;
    assert.match(message, /^jq could not filter the command's result: .*Cannot index string/);
  });

  test("a filter of --jq cannot read secrets from the environment", async () => {
    const env = { ACCESS_TOKEN_SECRET: "secret", WEBHOOK_SECRET: "secret" };
    const names = '"QUILLGATE_TOKEN", "ACCESS_TOKEN_SECRET", "WEBHOOK_SECRET"';
    const query = `[env[${names}]] | unique[]`;
    const { stdout } = await filter(["version", "--jq", query], { env });
    assert.equal(stdout, "null\n");
  });

  test("completion rejects --jq and --json, because it prints a script", async () => {
    for (const flags of [["--jq", "."], ["--json"]]) {
      const { code, stdout, stderr } = await filter(["completion", "bash", ...flags]);
      assert.deepEqual([code, stdout], [2, ""]);
      const { message } = JSON.parse(stderr).error;
      assert.equal(message, "completion prints a script: omit --json and --jq");
    }
  });
});
