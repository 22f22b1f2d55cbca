import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { connect } from "node:net";
import { test } from "node:test";
import { freePort, startProgram } from "./process.mjs";

const MODULE = new URL("./process.mjs", import.meta.url).href;

function startScript(source, options) {
  return startProgram("script", process.execPath, ["--eval", source], options);
}

function isAlive(pid) {
  try {
    process.kill(pid, 0);
  } catch {
    return false;
  }
  // A zombie remains until its parent reads its exit code.
  return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
}

async function endOf(pid) {
  while (isAlive(pid)) await new Promise((resolve) => setTimeout(resolve, 20));
}

test("a program's output is searched by line, returned and logged", async () => {
  const running = startScript(
    `setTimeout(() => console.log("ready on port 12"), 50);
     console.error("a warning"); setInterval(() => {}, 1000);`,
  );
  const [, port] = await running.line(/port (\d+)/, 5000);
  assert.equal(port, "12");
  await running.stop();
  assert.match(running.output(), /a warning/);
  assert.equal(readFileSync(running.logFile, "utf8"), running.output());
  assert.match(await running.ended, /SIGTERM/);
});

test("a line matches only when it is complete", async () => {
  const running = startScript(
    `process.stdout.write("port 1"); setTimeout(() => process.stdout.write("23\\n"), 100);`,
  );
  assert.equal((await running.line(/port (\d+)/, 5000))[1], "123");
  await running.stop();
});

test("waiting for a line fails with the exit code when the program ends", async () => {
  const running = startScript(`console.log("no luck"); process.exitCode = 3;`);
  await assert.rejects(running.line(/never/, 5000), /exited with code 3 before.*no luck/s);
});

test("waiting for a line or a check fails after its timeout", async () => {
  const running = startScript("setInterval(() => {}, 1000)");
  await assert.rejects(running.line(/never/, 100), /took over 100 ms/);
  await assert.rejects(
    running.until(async () => undefined, 100),
    /took over 100 ms/,
  );
  await running.stop();
});

test("waiting for a line fails when the program does not exist", async () => {
  const running = startProgram("missing", "/no/such/program", []);
  await assert.rejects(running.line(/never/, 5000), /could not be started/);
  await running.stop();
});

test("a check repeats until it resolves to a value", async () => {
  const running = startScript("setInterval(() => {}, 1000)");
  let calls = 0;
  const result = await running.until(async () => {
    calls += 1;
    if (calls === 1) throw new Error("not yet");
    return calls === 3 ? "now" : undefined;
  });
  assert.equal(result, "now");
  await running.stop();
});

const linux = { skip: process.platform !== "linux" };
const GRANDCHILD = `
  const { spawn } = require("node:child_process");
  const child = spawn(process.execPath, ["--eval", "setInterval(() => {}, 1000)"]);
  console.log("grandchild " + child.pid);`;

test("stopping a program stops its child processes", linux, async () => {
  const running = startScript(`${GRANDCHILD} setInterval(() => {}, 1000)`);
  const [, pid] = await running.line(/grandchild (\d+)/, 5000);
  assert.ok(isAlive(pid));
  await running.stop();
  await endOf(pid);
});

for (const how of ["stop", "kill"]) {
  test(`no process of the group is alive after ${how} resolves`, linux, async () => {
    const running = startScript(`${GRANDCHILD} setInterval(() => {}, 1000)`);
    const [, pid] = await running.line(/grandchild (\d+)/, 5000);
    await running[how]();
    assert.ok(!isAlive(pid));
    await running[how]();
  });
}

test("a killed program cannot handle the signal", async () => {
  const running = startScript(
    `process.on("SIGTERM", () => console.log("cleaned up")); console.log("ready");
     setInterval(() => {}, 1000);`,
  );
  await running.line(/ready/, 5000);
  await running.kill();
  assert.match(await running.ended, /SIGKILL/);
  assert.ok(!running.output().includes("cleaned"));
});

test("a program that ignores SIGTERM is killed", linux, async () => {
  const running = startScript(
    `process.on("SIGTERM", () => {}); console.log("ready"); setInterval(() => {}, 1000);`,
    { graceMs: 100 },
  );
  await running.line(/ready/, 5000);
  await running.stop();
  assert.match(await running.ended, /SIGKILL/);
});

test("a program ends with the process that started it", linux, async () => {
  const source = `
    const { startProgram } = await import(${JSON.stringify(MODULE)});
    const program = startProgram("orphan", process.execPath, ["--eval", ${JSON.stringify(
      `console.log("pid " + process.pid); setInterval(() => {}, 1000);`,
    )}]);
    console.log((await program.line(/pid \\d+/))[0]);
    if (process.argv[1] === "exit") process.exit(0);`;
  for (const [how, expected] of [
    ["exit", [0, null]],
    ["SIGTERM", [143, null]],
  ]) {
    const args = ["--input-type=module", "--eval", source, how];
    const parent = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
    const [line] = await once(parent.stdout.setEncoding("utf8"), "data");
    const pid = /pid (\d+)/.exec(line)[1];
    const ended = once(parent, "exit");
    if (how !== "exit") parent.kill(how);
    assert.deepEqual(await ended, expected);
    await endOf(pid);
  }
});

test("a free port has no listener", async () => {
  const port = await freePort();
  const socket = connect(port, "127.0.0.1");
  const [error] = await once(socket, "error");
  assert.equal(error.code, "ECONNREFUSED");
});

test("a port that was free is not taken by outgoing connections", async (t) => {
  const range = readFileSync("/proc/sys/net/ipv4/ip_local_port_range", "utf8");
  const [first] = range.trim().split(/\s+/).map(Number);
  if (first < 32_768) t.skip("this system has another range than Linux by default");
  else assert.ok((await freePort()) < first);
});
