/** Temporary folders. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Makes a folder that a test, or the file whose `after` is given, removes at its end. */
export function makeFolder(hooks, name) {
  const folder = mkdtempSync(join(tmpdir(), `quillgate-${name}-`));
  hooks.after(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
  return folder;
}
