import assert from "node:assert/strict";
import { test } from "node:test";
import { run, StepError } from "../../scripts/child.mjs";

const FOREVER = ["-e", "setInterval(() => {}, 1000); console.log('started')"];

test("a signal stops a command that runs, and keeps another from being started", async () => {
  const controller = new AbortController();
  const { signal } = controller;
  const onStdout = () => controller.abort();
  await assert.rejects(run("waiting", process.execPath, FOREVER, { signal, onStdout }), StepError);
  await assert.rejects(run("waiting", process.execPath, FOREVER, { signal }), {
    name: "AbortError",
  });
});
