/** Runs the command line in this process and captures its output. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { run } from "../../pkg/dist/cli/run.js";
import { ROOT } from "../../scripts/versions.mjs";

export const BIN = join(ROOT, "pkg", "dist", "cli", "bin.js");

export async function runCommand(args, options = {}) {
  const { env = {}, folder = "/", home = "/nonexistent", input, columns, onWrite } = options;
  const stdin = Object.assign(standardInput(input), { isTTY: options.isInputTerminal });
  const written = { stdout: [], stderr: [] };
  const stream = (name) => ({
    isTTY: columns !== undefined,
    columns,
    write(data, done) {
      written[name].push(Buffer.from(data));
      onWrite?.(String(data));
      done?.();
      return true;
    },
  });
  const code = await run(args, {
    ...{ env, folder, home },
    stdin,
    stdout: stream("stdout"),
    stderr: stream("stderr"),
    signal: options.signal ?? new AbortController().signal,
  });
  const bytes = Buffer.concat(written.stdout);
  const stderr = Buffer.concat(written.stderr).toString();
  return { code, stdout: bytes.toString(), stderr, bytes };
}

/** Asserts that a command failed with an exit code and a message. */
export function assertFailed({ code, stderr }, expectedCode, message) {
  assert.equal(code, expectedCode, stderr);
  assert.match(stderr, message);
}

async function* standardInput(text) {
  if (text !== undefined) yield Buffer.from(text);
}
