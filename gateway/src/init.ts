/** Writes the folder from which a gateway is deployed. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import {
  composeConfig,
  composeManifest,
  composeReadme,
  describeProject,
  IGNORED,
} from "./project.js";

/** Any of them is somebody's work, and none is overwritten. */
const CONFIGS = ["wrangler.toml", "wrangler.json", "wrangler.jsonc"];

/** How often a question is asked. */
const MOST_ATTEMPTS = 3;

/** What {@link init} needs to know. */
export interface InitOptions {
  /** The folder; it is made when it is not there. */
  directory: string;
  /** The id of the documentation's project, as the dashboard has it. Asked for when it is left out. */
  project?: string | undefined;
  /** Whether every day's views are kept, in a D1 database. Asked for when it is left out. */
  archive?: boolean | undefined;
  /**
   * Asks the user; what is answered with nothing is the default. A question whose answer cannot be
   * used is asked again, twice at most, after the reason and a line's end. Without it, nothing is
   * asked.
   */
  prompt?: ((question: string, defaultAnswer?: string) => Promise<string>) | undefined;
}

/** What {@link init} has done. */
export interface InitResult {
  /** The folder's absolute path. */
  directory: string;
  /** The files that were written, by their path in the folder. */
  files: string[];
}

/** The folder was not written, and nothing of it was changed. */
export class InitError extends Error {
  override name = "InitError";
}

/**
 * Writes `wrangler.toml`, `package.json`, `.gitignore`, `.dev.vars.example` and a README with the five
 * steps of a deployment into a folder that has none of them. It installs nothing and needs no network.
 *
 * @example
 * await init({ directory: "my-gateway", project: "acme", archive: false });
 *
 * @throws InitError when the folder has one of these files, or an answer cannot be used
 */
export async function init(options: InitOptions): Promise<InitResult> {
  const directory = resolve(options.directory);
  refuseFiles(directory, CONFIGS);
  const project = await askProject(options);
  const archive = await askArchive(options);
  const shape = describeProject({ folder: basename(directory), project, archive });
  const files = {
    "wrangler.toml": composeConfig(shape, readPackageFile("dist/template/wrangler.toml")),
    "package.json": composeManifest(shape, JSON.parse(readPackageFile("package.json"))),
    "README.md": composeReadme(shape),
    ".gitignore": IGNORED.join("\n"),
    ".dev.vars.example": "ADMIN_API_KEY=\nACCESS_TOKEN_SECRET=\n",
  };
  refuseFiles(directory, Object.keys(files));
  mkdirSync(directory, { recursive: true });
  for (const [path, text] of Object.entries(files)) {
    writeFileSync(join(directory, path), text, { flag: "wx" });
  }
  return { directory, files: Object.keys(files) };
}

function refuseFiles(directory: string, names: string[]): void {
  const present = names.filter((name) => existsSync(join(directory, name)));
  if (present.length === 0) return;
  throw new InitError(`${directory} already has ${present.join(", ")}; choose another folder`);
}

async function askProject({ project, prompt }: InitOptions): Promise<string> {
  if (project !== undefined) return parseProject(project);
  if (prompt === undefined) {
    throw new InitError("the project's id is missing: give it as --project");
  }
  return await ask(prompt, "Project id, from the dashboard's API keys page:", parseProject);
}

function parseProject(text: string): string {
  const id = text.trim();
  // It stands in a list, in TOML and in commands of the README.
  if (!/^[\w.-]+$/.test(id) || id === "." || id === "..") {
    throw new InitError("a project's id has letters, digits, dots, dashes and underscores only");
  }
  return id;
}

async function askArchive({ archive, prompt }: InitOptions): Promise<boolean> {
  if (archive !== undefined) return archive;
  if (prompt === undefined) return false;
  return await ask(prompt, "Keep every day's views in a D1 database?", parseChoice, "no");
}

function parseChoice(text: string): boolean {
  const word = text.trim().toLowerCase() || "no";
  if (/^(y|yes)$/.test(word)) return true;
  if (/^(n|no)$/.test(word)) return false;
  throw new InitError("the answer must be yes or no");
}

/** Asks until the answer can be used, a few times. */
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
      if (!(error instanceof InitError) || attempt === MOST_ATTEMPTS) throw error;
      asked = `${error.message}.\n${question}`;
    }
  }
}

/** A file of this package. */
function readPackageFile(path: string): string {
  return readFileSync(new URL(`../../${path}`, import.meta.url), "utf8");
}
