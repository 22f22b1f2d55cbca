/** Finds programs and compares their versions. */
import { accessSync, constants, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { capture } from "../child.mjs";

/** Finds the first program on the PATH. An executable path is returned unchanged. */
export function findOnPath(name, env) {
  if (name.includes("/")) return isExecutable(name) ? name : undefined;
  const folders = (env.PATH ?? "").split(delimiter).filter(Boolean);
  return folders.map((folder) => join(folder, name)).find(isExecutable);
}

export function isExecutable(path) {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

/** Reads the version of a program, outside the repository, where no `rust-toolchain.toml` applies. */
export async function versionOf(program, env) {
  const options = { cwd: tmpdir(), env, timeoutMs: 10_000 };
  const { stdout } = await capture(program, ["--version"], options);
  return /\d+\.\d+(?:\.\d+)?(?:[-.][\w.]+)?/.exec(stdout)?.[0];
}

/** Compares versions of three numbers. Returns a negative number if `a` is older than `b`. */
export function compareVersions(a, b) {
  const [left, right] = [a, b].map((version) => version.split(".").map(Number));
  return left[0] - right[0] || left[1] - right[1] || left[2] - right[2];
}
