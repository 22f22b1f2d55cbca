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
  // A process that has ended stays until its parent has asked how.
  return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
}

async function endOf(pid) {
  while (isAlive(pid)) await new Promise((resolve) => setTimeout(resolve, 20));
}

test("waits for a line, keeps all output and writes it to a log", async () => {
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

test("takes no half line for a line", async () => {
  const running = startScript(
    `process.stdout.write("port 1"); setTimeout(() => process.stdout.write("23\\n"), 100);`,
  );
  assert.equal((await running.line(/port (\d+)/, 5000))[1], "123");
  await running.stop();
});

test("says how a program ended that should have become ready", async () => {
  const running = startScript(`console.log("no luck"); process.exitCode = 3;`);
  await assert.rejects(running.line(/never/, 5000), /exited with code 3 before.*no luck/s);
});

test("gives up waiting at the deadline", async () => {
  const running = startScript("setInterval(() => {}, 1000)");
  await assert.rejects(running.line(/never/, 100), /took over 100 ms/);
  await assert.rejects(
    running.until(async () => undefined, 100),
    /took over 100 ms/,
  );
  await running.stop();
});

test("says when a program cannot be started at all", async () => {
  const running = startProgram("missing", "/no/such/program", []);
  await assert.rejects(running.line(/never/, 5000), /could not be started/);
  await running.stop();
});

test("asks again until there is an answer", async () => {
  const running = startScript("setInterval(() => {}, 1000)");
  let asked = 0;
  const answer = await running.until(async () => {
    asked += 1;
    if (asked === 1) throw new Error("not yet");
    return asked === 3 ? "now" : undefined;
  });
  assert.equal(answer, "now");
  await running.stop();
});

const linux = { skip: process.platform !== "linux" };
const GRANDCHILD = `
  const { spawn } = require("node:child_process");
  const child = spawn(process.execPath, ["--eval", "setInterval(() => {}, 1000)"]);
  console.log("grandchild " + child.pid);`;

test("stopping a program stops what it started", linux, async () => {
  const running = startScript(`${GRANDCHILD} setInterval(() => {}, 1000)`);
  const [, pid] = await running.line(/grandchild (\d+)/, 5000);
  assert.ok(isAlive(pid));
  await running.stop();
  await endOf(pid);
});

for (const how of ["stop", "kill"]) {
  test(`nothing is left alive when ${how} has resolved`, linux, async () => {
    const running = startScript(`${GRANDCHILD} setInterval(() => {}, 1000)`);
    const [, pid] = await running.line(/grandchild (\d+)/, 5000);
    await running[how]();
    assert.ok(!isAlive(pid));
    await running[how]();
  });
}

test("killing gives a program no time to do anything", async () => {
  const running = startScript(
    `process.on("SIGTERM", () => console.log("tidied up")); console.log("ready");
     setInterval(() => {}, 1000);`,
  );
  await running.line(/ready/, 5000);
  await running.kill();
  assert.match(await running.ended, /SIGKILL/);
  assert.ok(!running.output().includes("tidied"));
});

test("a program that ignores the request is ended by force", linux, async () => {
  const running = startScript(
    `process.on("SIGTERM", () => {}); console.log("ready"); setInterval(() => {}, 1000);`,
    { graceMs: 100 },
  );
  await running.line(/ready/, 5000);
  await running.stop();
  assert.match(await running.ended, /SIGKILL/);
});

test("a program does not outlive the process that started it", linux, async () => {
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

test("finds a port on which nothing listens", async () => {
  const port = await freePort();
  const socket = connect(port, "127.0.0.1");
  const [error] = await once(socket, "error");
  assert.equal(error.code, "ECONNREFUSED");
});
