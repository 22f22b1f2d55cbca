#!/usr/bin/env node
/** The program `quillgate`. Only this file runs anything when it is loaded. */

import { homedir } from "node:os";
import { type Host, Interruption } from "./command.js";
import { getExitCode } from "./exit_codes.js";
import { run } from "./run.js";

const controller = new AbortController();
for (const [signal, name] of [
  ["SIGINT", "interrupted"],
  ["SIGTERM", "terminated"],
] as const) {
  process.on(signal, () => {
    const code = getExitCode(name);
    // Who asks twice wants the end at once.
    if (controller.signal.aborted) process.exit(code);
    controller.abort(new Interruption(code));
  });
}
// Where what reads the output has gone, nobody is left to tell.
process.stdout.on("error", () => process.exit(getExitCode("brokenPipe")));
process.stderr.on("error", () => {});

const host: Host = {
  env: process.env,
  folder: process.cwd(),
  get home() {
    return homedir();
  },
  get stdin() {
    return process.stdin;
  },
  stdout: process.stdout,
  stderr: process.stderr,
  signal: controller.signal,
};
const code = await run(process.argv.slice(2), host);
// Not everywhere is a pipe written to at once. What else is under way is not waited for.
for (const stream of [process.stdout, process.stderr]) {
  await new Promise((resolve) => stream.write("", resolve));
}
process.exit(code);
