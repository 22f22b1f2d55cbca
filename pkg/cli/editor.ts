/** Opens the user's editor. */

import { spawn } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { UsageError } from "./errors.js";
import type { Host } from "./host.js";

/**
 * Opens an empty file in the editor of `VISUAL` or `EDITOR`, such as `code --wait`. Waits until the
 * user closes the editor.
 *
 * @returns what the user wrote, or `undefined` if neither variable is set
 * @throws {UsageError} if the editor fails
 */
export async function editText({
  env,
  folder,
}: Pick<Host, "env" | "folder">): Promise<string | undefined> {
  const editor = env.VISUAL || env.EDITOR;
  if (!editor) return undefined;
  const scratch = await mkdtemp(join(tmpdir(), "quillgate-"));
  try {
    const file = join(scratch, "PROMPT.md");
    await writeFile(file, "", { mode: 0o600 });
    const code = await runEditor(editor, file, { env, folder });
    if (code !== 0) throw new UsageError(`the editor failed with exit code ${code}`);
    return await readFile(file, "utf8");
  } finally {
    await rm(scratch, { recursive: true });
  }
}

function runEditor(
  editor: string,
  file: string,
  { env, folder }: Pick<Host, "env" | "folder">,
): Promise<number | null> {
  const options = { cwd: folder, env: { ...env }, stdio: "inherit" as const };
  const child =
    process.platform === "win32"
      ? spawn(`${editor} "${file}"`, { ...options, shell: true })
      : spawn("sh", ["-c", `${editor} "$@"`, editor, file], options);
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("close", resolve);
  });
}
