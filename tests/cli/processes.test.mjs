/** The program as a process: installed from its tarball, killed, ended, and left by what reads its output. */
import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, beforeEach, test } from "node:test";
import { promisify } from "node:util";
import { install } from "../package/installed.mjs";
import { BIN, runCommand } from "./command_line.mjs";
import { PROJECT, startStandIn } from "./stand_in.mjs";

const execute = promisify(execFile);
const RANGE = ["--from", "2026-01-01", "--to", "2026-02-01"];
let server;
let folder;
let env;
let instead;

before(async () => {
  server = await startStandIn({ instead: (...args) => instead?.(...args) });
  folder = mkdtempSync(join(tmpdir(), "quillgate-processes-"));
  env = {
    ...{ QUILLGATE_BASE_URL: server.url, QUILLGATE_PROJECT_ID: PROJECT, QUILLGATE_TOKEN: "token" },
    ...{ PATH: process.env.PATH, XDG_CONFIG_HOME: folder },
  };
});
after(async () => {
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
});
beforeEach(() => {
  instead = undefined;
  server.requests.length = 0;
  server.refillBudget();
});

const start = (args) => spawn(process.execPath, [BIN, ...args], { env, cwd: folder });
const read = (name) => readFileSync(join(folder, name), "utf8");

for (const [signal, code] of [
  ["SIGKILL", null],
  ["SIGTERM", 143],
  ["SIGINT", 130],
]) {
  test(`${signal} leaves an export that --resume completes, byte for byte`, async () => {
    const whole = await runCommand(["views", ...RANGE, "--format", "csv"], { env, folder });
    server.requests.length = 0;
    instead = (_, number) => (number >= 3 ? { stall: "head" } : undefined);
    const args = ["views", ...RANGE, "-o", `${signal}.csv`];
    const child = start(args);
    const closed = once(child, "close");
    // The fourth page is asked for when the third has been written.
    await server.arrived(4);
    child.kill(signal);
    const [ended, by] = await closed;
    assert.deepEqual([ended, by], [code, code === null ? signal : null]);
    assert.equal(JSON.parse(read(`${signal}.csv.quillgate-cursor`)).rows, 750);
    instead = undefined;
    const resumed = start([...args, "--resume"]);
    assert.deepEqual(await once(resumed, "close"), [0, null]);
    assert.ok(read(`${signal}.csv`) === whole.stdout);
    assert.ok(!existsSync(join(folder, `${signal}.csv.quillgate-cursor`)));
  });
}

test("it ends when what reads its output has gone", async () => {
  const child = start(["views", ...RANGE, "--format", "csv", "--quiet"]);
  child.stdout.once("data", () => child.stdout.destroy());
  let told = "";
  child.stderr.setEncoding("utf8").on("data", (text) => {
    told += text;
  });
  assert.deepEqual(await once(child, "close"), [141, null]);
  assert.equal(told, "");
});

test("no process of the machine can read a secret among its arguments", {
  skip: process.platform !== "linux",
}, async () => {
  instead = () => ({ stall: "head" });
  const child = start(["job", "list"]);
  await server.arrived(1);
  const shown = readFileSync(`/proc/${child.pid}/cmdline`, "utf8");
  assert.ok(shown.includes("job\0list"));
  assert.ok(!shown.includes("token"));
  child.kill("SIGKILL");
  await once(child, "close");
});

test("installed from its tarball it is the program `quillgate`", async () => {
  const home = await install("command-line");
  const program = join(home, "node_modules", ".bin", "quillgate");
  const { stdout } = await execute(program, ["views", ...RANGE, "--format", "csv"], { env });
  const { stdout: own } = await runCommand(["views", ...RANGE, "--format", "csv"], { env, folder });
  assert.ok(stdout === own);
  const { stdout: version } = await execute(program, ["--version"]);
  assert.match(version, /^\d+\.\d+\.\d+/);
});
