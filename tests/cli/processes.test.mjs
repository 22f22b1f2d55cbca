/** The program as a process: signals, pipes, a full disk, its arguments and its installation. */
import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, existsSync, mkdtempSync, openSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { describe, test } from "node:test";
import { promisify } from "node:util";
import { cannotReadAsStranger, STRANGER } from "../harness/stranger.mjs";
import { install } from "../package/installed.mjs";
import { BIN, runCommand } from "./command_line.mjs";
import { startSession } from "./session.mjs";

const execute = promisify(execFile);
const RANGE = ["--from", "2026-01-01", "--to", "2026-02-01"];
const CONCURRENCY = 3;

async function setUp(t) {
  const session = await startSession(t);
  const { env, folder } = session;
  const start = (args) => spawn(process.execPath, [BIN, ...args], { env, cwd: folder });
  return { ...session, start };
}

describe("the program", { concurrency: CONCURRENCY }, () => {
  for (const [signal, code] of [
    ["SIGKILL", null],
    ["SIGTERM", 143],
    ["SIGINT", 130],
  ]) {
    test(`--resume completes an export after ${signal} to the same bytes`, async (t) => {
      const { server, folder, env, start, read, respondWith } = await setUp(t);
      const whole = await runCommand(["views", ...RANGE, "--format", "csv"], { env, folder });
      server.requests.length = 0;
      respondWith((_, number) => (number >= 3 ? { stall: "head" } : undefined));
      const args = ["views", ...RANGE, "-o", `${signal}.csv`];
      const child = start(args);
      const closed = once(child, "close");
      // The program requests the fourth page after it has written the third.
      await server.arrived(4);
      child.kill(signal);
      assert.deepEqual(await closed, [code, code === null ? signal : null]);
      assert.equal(JSON.parse(read(`${signal}.csv.quillgate-progress`)).rows, 750);
      respondWith(undefined);
      const resumed = start([...args, "--resume"]);
      assert.deepEqual(await once(resumed, "close"), [0, null]);
      assert.ok(read(`${signal}.csv`) === whole.stdout);
      assert.ok(!existsSync(join(folder, `${signal}.csv.quillgate-progress`)));
    });
  }

  test("ends when the reader of its output closes the pipe", async (t) => {
    const { start } = await setUp(t);
    const child = start(["views", ...RANGE, "--format", "csv", "--quiet"]);
    child.stdout.once("data", () => child.stdout.destroy());
    const stderr = text(child.stderr);
    assert.deepEqual(await once(child, "close"), [141, null]);
    assert.equal(await stderr, "");
  });

  test("reports a full disk", { skip: !existsSync("/dev/full") }, async (t) => {
    const { env, folder } = await setUp(t);
    const full = openSync("/dev/full", "w");
    t.after(() => closeSync(full));
    const stdio = ["ignore", full, "pipe"];
    const child = spawn(process.execPath, [BIN, "version"], { env, cwd: folder, stdio });
    const stderr = text(child.stderr);
    assert.deepEqual(await once(child, "close"), [1, null]);
    assert.match(await stderr, /^quillgate: ENOSPC: no space left on device/);
  });

  test("has no secret in its command line, which other processes can read", {
    skip: process.platform !== "linux",
  }, async (t) => {
    const { server, start, respondWith } = await setUp(t);
    respondWith(() => ({ stall: "head" }));
    const child = start(["job", "list"]);
    await server.arrived(1);
    const commandLine = readFileSync(`/proc/${child.pid}/cmdline`, "utf8");
    assert.ok(commandLine.includes("job\0list"));
    assert.ok(!commandLine.includes("token"));
    child.kill("SIGKILL");
    await once(child, "close");
  });

  test("needs no home folder and no current folder if every setting is given", async (t) => {
    const { env, folder } = await setUp(t);
    const { XDG_CONFIG_HOME: _, ...rest } = env;
    const gone = mkdtempSync(join(tmpdir(), "quillgate-gone-"));
    const command = `rmdir "${gone}" && exec "${process.execPath}" "${BIN}" job list`;
    const { stderr } = await execute("sh", ["-c", command], { env, cwd: gone });
    assert.equal(stderr, "");
    const reason = cannotReadAsStranger(BIN);
    if (reason) return t.skip(reason);
    const options = { cwd: "/", uid: STRANGER, gid: STRANGER };
    await execute(process.execPath, [BIN, "job", "list"], { ...options, env: rest });
    const { QUILLGATE_TOKEN: __, ...incomplete } = rest;
    const run = execute(process.execPath, [BIN, "job", "list"], { ...options, env: incomplete });
    await assert.rejects(run, /set HOME/);
    assert.ok(existsSync(folder));
  });

  test("runs as `quillgate` after an installation from its tarball", async (t) => {
    const { folder, env } = await setUp(t);
    const home = await install("command-line");
    const program = join(home, "node_modules", ".bin", "quillgate");
    const args = ["views", ...RANGE, "--format", "csv"];
    const { stdout } = await execute(program, args, { env });
    const { stdout: expected } = await runCommand(args, { env, folder });
    assert.ok(stdout === expected);
    const { stdout: version } = await execute(program, ["--version"]);
    assert.match(version, /^\d+\.\d+\.\d+/);
  });
});
