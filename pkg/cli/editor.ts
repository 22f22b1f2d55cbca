/** Opens the user's editor. */

import { type SpawnOptions, spawn } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { UsageError } from "./errors.js";
import type { Host } from "./host.js";
import { readTextFile } from "./text_input.js";

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
    return await readTextFile(file, "the text of the editor");
  } finally {
    await rm(scratch, { recursive: true });
  }
}

function runEditor(
  editor: string,
  file: string,
  { env, folder }: Pick<Host, "env" | "folder">,
): Promise<number | null> {
  const [program, args, options] = makeEditorCommand(editor, file, env);
  const child = spawn(program, args, { cwd: folder, stdio: "inherit", ...options });
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("close", resolve);
  });
}

/** Returns the program, the arguments and the options that start the editor in a shell. */
export function makeEditorCommand(
  editor: string,
  file: string,
  env: Host["env"],
  platform: NodeJS.Platform = process.platform,
): [string, string[], SpawnOptions] {
  if (platform !== "win32") return ["sh", ["-c", `${editor} "$@"`, editor, file], { env }];
  // With the variable, the shell starts no program in the current folder, which can be part of
  // someone else's repository.
  env = { ...env, NoDefaultCurrentDirectoryInExePath: "1" };
  return [`${editor} "${file}"`, [], { env, shell: true }];
}
