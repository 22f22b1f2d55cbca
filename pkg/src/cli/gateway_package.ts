/** The npm package `quillgate-gateway`, which is installed beside this one when it is wanted. */

import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { Host } from "./command.js";

/** What is wrong with a variable of a gateway. */
export interface ConfigProblem {
  name: string;
  /** What follows the name in a sentence; never a value. */
  message: string;
}

/** The module `quillgate-gateway/check`. */
export interface CheckModule {
  checkConfig(options: {
    configFile: string | undefined;
    env: string | undefined;
    secretsFile: string | undefined;
  }): Promise<{
    problems: ConfigProblem[];
    /** How many variables were read. */
    count: number;
    /** The secrets that are needed, and that no file had. */
    unchecked: string[];
  }>;
}

/** The module `quillgate-gateway/init`. */
export interface InitModule {
  init(options: {
    directory: string;
    project: string | undefined;
    archive: boolean | undefined;
    prompt: ((question: string, fallback?: string) => Promise<string>) | undefined;
  }): Promise<{ directory: string; files: string[] }>;
}

/**
 * Loads a module of the package: as the current folder has it installed, else as this package does.
 *
 * @returns `undefined` when it is not installed
 */
export async function loadGatewayModule<Module>(
  { folder }: Pick<Host, "folder">,
  name: "check" | "init",
): Promise<Module | undefined> {
  for (const place of [pathToFileURL(join(folder, "package.json")), import.meta.url]) {
    let path: string;
    try {
      path = createRequire(place).resolve(`quillgate-gateway/${name}`);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "MODULE_NOT_FOUND") continue;
      throw error;
    }
    return await import(pathToFileURL(path).href);
  }
  return undefined;
}
