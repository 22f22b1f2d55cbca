/** Creates the folder from which you deploy a gateway. */
import { randomUUID } from "node:crypto";
import {
  constants,
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import {
  composeConfig,
  composeManifest,
  composeReadme,
  describeProject,
  IGNORED,
} from "./project.js";

/** The files of an existing Worker's configuration. `init` refuses a folder that has one. */
const CONFIGS = ["wrangler.toml", "wrangler.json", "wrangler.jsonc"];

/** The maximum number of answers per question. */
const MAX_ATTEMPTS = 3;

/** Options of {@link init}. */
export interface InitOptions {
  /** The path of the folder. Created if it does not exist. */
  directory: string;
  /**
   * The id of the documentation project, from Mintlify's dashboard. Without it, `prompt` asks for
   * the id.
   */
  project?: string | undefined;
  /**
   * Whether to archive each day's views in a D1 database. Without it, `prompt` asks.
   *
   * @default false, if there is no `prompt`
   */
  archive?: boolean | undefined;
  /**
   * The absolute paths of tarballs of `quillgate-gateway` and `quillgate`, by package name. The
   * folder then depends on these files.
   *
   * @default the versions in the npm registry
   */
  tarballs?: Readonly<Record<string, string>> | undefined;
  /**
   * Asks the user a question and resolves to the answer. An empty answer means the default.
   *
   * After an invalid answer, the question is repeated at most twice, below a line with the reason.
   */
  prompt?: ((question: string, defaultAnswer?: string) => Promise<string>) | undefined;
}

/** The result of {@link init}. */
export interface InitResult {
  /** The folder's absolute path. */
  directory: string;
  /** The files created, relative to the folder. */
  files: string[];
}

/** Thrown for an invalid option or an unusable folder. The folder is unchanged. */
export class InitError extends Error {
  override name = "InitError";
}

/**
 * Creates the files that a deployment needs: `wrangler.toml`, `package.json`, `.gitignore`,
 * `.dev.vars.example` and a `README.md` with the next steps.
 *
 * Installs nothing and sends no requests.
 *
 * @example
 * await init({ directory: "my-gateway", project: "acme", archive: false });
 *
 * @throws InitError if the folder has one of these files or another wrangler configuration, or an
 *   option or answer is missing or invalid
 */
export async function init(options: InitOptions): Promise<InitResult> {
  const directory = resolve(options.directory);
  refuseFiles(directory, CONFIGS);
  const project = await askProject(options);
  const archive = await askArchive(options);
  const shape = describeProject({ folder: basename(directory), project, archive });
  const files = {
    "wrangler.toml": composeConfig(shape, readPackageFile("dist/template/wrangler.toml")),
    "package.json": composeManifest(
      shape,
      JSON.parse(readPackageFile("package.json")),
      options.tarballs ?? {},
    ),
    "README.md": composeReadme(shape),
    ".gitignore": IGNORED.join("\n"),
    ".dev.vars.example": "ADMIN_API_KEY=\nACCESS_TOKEN_SECRET=\n",
  };
  refuseFiles(directory, Object.keys(files));
  writeAll(directory, files);
  return { directory, files: Object.keys(files) };
}

/**
 * Writes all files or none. Writes them to a temporary folder first, which then becomes the new
 * folder. If the folder exists, copies the files from a temporary folder in it: its parent may not
 * be writable.
 */
function writeAll(directory: string, files: Record<string, string>): void {
  const parent = existsSync(directory) ? directory : dirname(directory);
  const scratch = join(parent, `.quillgate-${randomUUID()}`);
  const created = mkdirSync(scratch, { recursive: true });
  try {
    for (const [path, text] of Object.entries(files)) writeFileSync(join(scratch, path), text);
    if (existsSync(directory)) copyAll(scratch, directory, Object.keys(files));
    else renameSync(scratch, directory);
  } catch (error) {
    // `created` is the first folder that `mkdirSync` created, which may be a parent of `scratch`.
    if (created !== undefined) rmSync(created, { recursive: true, force: true });
    throw error;
  }
  rmSync(scratch, { recursive: true, force: true });
}

/** Copies files into a folder. If one copy fails, removes the others. */
function copyAll(from: string, to: string, names: string[]): void {
  const copies: string[] = [];
  try {
    for (const name of names) {
      copyFileSync(join(from, name), join(to, name), constants.COPYFILE_EXCL);
      copies.push(join(to, name));
    }
  } catch (error) {
    for (const copy of copies) rmSync(copy, { force: true });
    throw error;
  }
}

function refuseFiles(directory: string, names: string[]): void {
  const present = names.filter((name) => existsSync(join(directory, name)));
  if (present.length === 0) return;
  throw new InitError(`${directory} already has ${present.join(", ")}; choose another folder`);
}

async function askProject({ project, prompt }: InitOptions): Promise<string> {
  if (project !== undefined) return parseProject(project);
  if (prompt === undefined) {
    throw new InitError("the project's id is missing: set --project");
  }
  return await ask(
    prompt,
    "Project id, from the API keys page of Mintlify's dashboard:",
    parseProject,
  );
}

function parseProject(text: string): string {
  const id = text.trim();
  // The files contain the id unescaped: in TOML, a comma-separated list and shell commands.
  if (!/^[\w.-]+$/.test(id) || id === "." || id === "..") {
    throw new InitError(
      "a project's id can contain only letters, digits, dots, dashes and underscores",
    );
  }
  return id;
}

async function askArchive({ archive, prompt }: InitOptions): Promise<boolean> {
  if (archive !== undefined) return archive;
  if (prompt === undefined) return false;
  return await ask(prompt, "Archive each day's views in a D1 database?", parseChoice, "no");
}

function parseChoice(text: string): boolean {
  const word = text.trim().toLowerCase() || "no";
  if (/^(y|yes)$/.test(word)) return true;
  if (/^(n|no)$/.test(word)) return false;
  throw new InitError("the answer must be yes or no");
}

async function ask<T>(
  prompt: NonNullable<InitOptions["prompt"]>,
  question: string,
  parse: (answer: string) => T,
  defaultAnswer?: string,
): Promise<T> {
  let asked = question;
  for (let attempt = 1; ; attempt++) {
    const answer = await prompt(asked, defaultAnswer);
    try {
      return parse(answer);
    } catch (error) {
      if (!(error instanceof InitError) || attempt === MAX_ATTEMPTS) throw error;
      asked = `${error.message}.\n${question}`;
    }
  }
}

function readPackageFile(path: string): string {
  return readFileSync(new URL(`../../${path}`, import.meta.url), "utf8");
}
