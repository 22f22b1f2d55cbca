import { spawnSync } from "node:child_process";

/** A user without rights, as which root can run a program. */
export const STRANGER = 54_321;
/** Returns a reason to skip a test that reads a file as {@link STRANGER}, or `false`. */
export function cannotReadAsStranger(file) {
  if (process.getuid?.() !== 0) return "only root can run a program as another user";
  const script = "require('node:fs').accessSync(process.argv[1], 4)";
  const options = { cwd: "/", uid: STRANGER, gid: STRANGER };
  const { status } = spawnSync(process.execPath, ["-e", script, file], options);
  return status !== 0 && "another user cannot read Node.js or this folder";
}
