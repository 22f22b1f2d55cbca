import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { test } from "node:test";
import { capture, run, StepError } from "../../scripts/child.mjs";

const MODULE = new URL("../../scripts/child.mjs", import.meta.url).href;
const FOREVER = ["-e", "setInterval(() => {}, 1000); console.log('started')"];

/** Arguments for Node.js that run a script with `run` in scope. */
function script(body) {
  const source = `const { run } = await import(${JSON.stringify(MODULE)}); ${body}`;
  return ["--input-type=module", "--eval", source];
}

async function untilGone(pid) {
  for (;;) {
    const { code } = await capture("kill", ["-0", pid]);
    if (code !== 0) return;
  }
}

test("an aborted signal stops the running command and prevents the next one", async () => {
  const controller = new AbortController();
  const { signal } = controller;
  const onStdout = () => controller.abort();
  await assert.rejects(run("waiting", process.execPath, FOREVER, { signal, onStdout }), StepError);
  await assert.rejects(run("waiting", process.execPath, FOREVER, { signal }), {
    name: "AbortError",
  });
});

test("a script shows the output of a command only if the command fails", async () => {
  const hidden = await capture(process.execPath, script(`await run("a", "echo", ["hidden"]);`));
  assert.deepEqual(hidden, { code: 0, stdout: "", stderr: "" });
  const failing = `await run("a", "sh", ["-c", "echo shown; exit 3"]).catch(() => {});`;
  assert.equal((await capture(process.execPath, script(failing))).stderr, "shown\n");
});

for (const [signal, exitCode] of [
  ["SIGINT", 130],
  ["SIGTERM", 143],
]) {
  test(`${signal} stops a script and everything its commands started`, async () => {
    const shell = "sleep 600 & echo $!; wait";
    const body = `await run("a", "sh", ["-c", ${JSON.stringify(shell)}], { verbose: true });`;
    const parent = spawn(process.execPath, script(body), { stdio: ["ignore", "pipe", "ignore"] });
    const ended = once(parent, "exit");
    const [line] = await once(parent.stdout.setEncoding("utf8"), "data");
    parent.kill(signal);
    assert.deepEqual(await ended, [exitCode, null]);
    await untilGone(line.trim());
  });
}
