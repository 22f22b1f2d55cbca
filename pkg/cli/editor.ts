/** Opens the user's editor. */

import { type SpawnOptions, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import type { Context } from "./command.js";
import { Interruption, UsageError } from "./errors.js";
import { getExitCode } from "./exit_codes.js";
import type { Host } from "./host.js";
import { readTextFile } from "./text_input.js";

/** Text that the user typed, and the deletion of its file. */
export interface Typed {
  text: string;
  discard(): Promise<void>;
}

/**
 * Opens an empty file in the editor of `VISUAL` or `EDITOR`, such as `code --wait`. Waits until the
 * user closes the editor.
 *
 * @returns what the user wrote, or `undefined` if neither variable is set
 * @throws {UsageError} if the editor fails
 */
export async function editText(context: Context): Promise<Typed | undefined> {
  const { env } = context.host;
  const editor = env.VISUAL || env.EDITOR;
  if (!editor) return undefined;
  const { path, discard } = await createFile(context, "");
  try {
    await runEditor(editor, path, context.host);
    return { text: await readTextFile(path, "the text of the editor"), discard };
  } catch (error) {
    if (!(await hasText(path))) await discard();
    throw error;
  }
}

/** Keeps text that the user typed in a file until it is discarded. */
export async function keepText(context: Context, text: string): Promise<Typed> {
  // If the file cannot be created, the terminal still shows what the user typed.
  const { discard } = await createFile(context, text).catch(() => ({ discard: async () => {} }));
  return { text, discard };
}

/** Creates a file that only the user may read. If the command fails, a hint names the file. */
async function createFile(
  { output }: Context,
  text: string,
): Promise<{ path: string; discard: Typed["discard"] }> {
  const folder = await mkdtemp(join(resolve(tmpdir()), "quillgate-"));
  const path = join(folder, "PROMPT.md");
  await writeFile(path, text, { mode: 0o600 });
  const removeHint = output.urgentHint(
    `your text: --prompt-file ${/\s/.test(path) ? `"${path}"` : path}`,
  );
  const discard = async () => {
    removeHint();
    // A file that cannot be deleted must not hide the result.
    await rm(folder, { recursive: true }).catch(() => {});
  };
  return { path, discard };
}

async function hasText(path: string): Promise<boolean> {
  return (await stat(path).catch(() => ({ size: 0 }))).size > 0;
}

async function runEditor(
  editor: string,
  file: string,
  { env, folder }: Pick<Host, "env" | "folder">,
): Promise<void> {
  const [program, args, options] = makeEditorCommand(editor, file, env);
  const listenAgain = ignoreInterrupts();
  try {
    const child = spawn(program, args, { cwd: folder, stdio: "inherit", ...options });
    const [code, signal] = await once(child, "close");
    if (code === 0) return;
    const interrupted = getExitCode("interrupted");
    if (signal === "SIGINT" || code === interrupted) throw new Interruption(interrupted);
    throw new UsageError(`the editor failed with ${signal ?? `exit code ${code}`}`);
  } finally {
    listenAgain();
  }
}

/**
 * Ignores Ctrl-C, which is a key of many editors. The terminal sends its signal to this program too.
 *
 * @returns a function that restores the listeners
 */
function ignoreInterrupts(): () => void {
  const listeners = process.listeners("SIGINT");
  const ignore = () => {};
  process.removeAllListeners("SIGINT").on("SIGINT", ignore);
  return () => {
    process.off("SIGINT", ignore);
    for (const listener of listeners) process.on("SIGINT", listener);
  };
}

/** Returns the program, the arguments and the options that start the editor in a shell. */
export function makeEditorCommand(
  editor: string,
  file: string,
  env: Host["env"],
  platform: NodeJS.Platform = process.platform,
): [string, string[], SpawnOptions] {
  // With the trap, Ctrl-C does not end the shell before the editor.
  const script = `trap : INT; ${editor} "$@"`;
  if (platform !== "win32") return ["sh", ["-c", script, editor, file], { env }];
  // With the variable, the shell starts no program in the current folder, which can be part of
  // someone else's repository.
  env = { ...env, NoDefaultCurrentDirectoryInExePath: "1" };
  return [`${editor} "${file}"`, [], { env, shell: true }];
}
