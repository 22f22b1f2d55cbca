#!/usr/bin/env node
/** The entry point of `quillgate`. No other module has side effects when it is imported. */

import { homedir } from "node:os";
import { Interruption } from "./errors.js";
import { getExitCode } from "./exit_codes.js";
import type { Host } from "./host.js";
import { run } from "./run.js";

const controller = new AbortController();
for (const [signal, name] of [
  ["SIGINT", "interrupted"],
  ["SIGTERM", "terminated"],
] as const) {
  process.on(signal, () => {
    const code = getExitCode(name);
    // A second signal ends the program immediately.
    if (controller.signal.aborted) process.exit(code);
    controller.abort(new Interruption(code));
  });
}
// Exit without a message when the reader of stdout, such as `head`, closes the pipe. Other errors
// reach the command through the callback of its write.
process.stdout.on("error", ({ code }: NodeJS.ErrnoException) => {
  if (code === "EPIPE") process.exit(getExitCode("brokenPipe"));
});
process.stderr.on("error", () => {});

/** Returns the result of `find`, or `fallback` if the system call fails. */
function attempt<Fallback>(find: () => string, fallback: Fallback): string | Fallback {
  try {
    return find();
  } catch {
    return fallback;
  }
}

const host: Host = {
  env: process.env,
  // In a deleted folder, no file exists and none can be created.
  folder: attempt(process.cwd, "/dev/null/deleted-folder"),
  get home() {
    return attempt(homedir, undefined);
  },
  get stdin() {
    return process.stdin;
  },
  stdout: process.stdout,
  stderr: process.stderr,
  signal: controller.signal,
};
const code = await run(process.argv.slice(2), host);
// Flush both streams: `process.exit` drops pending writes, and writes to a pipe can be asynchronous.
for (const stream of [process.stdout, process.stderr]) {
  await new Promise((resolve) => stream.write("", resolve));
}
process.exit(code);
