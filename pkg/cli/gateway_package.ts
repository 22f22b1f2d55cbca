/** Loads modules of the npm package `quillgate-gateway`, which is installed separately. */

import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { Host } from "./host.js";

/** A problem with the configuration of a gateway. */
export interface ConfigProblem {
  name: string;
  /** Completes a sentence that starts with the name. Never contains the variable's value. */
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
    /** The number of variables and secrets read. */
    count: number;
    /** Required secrets that neither file contains. They may be set at Cloudflare. */
    unchecked: string[];
  }>;
}

/** The module `quillgate-gateway/init`. */
export interface InitModule {
  init(options: {
    directory: string;
    project: string | undefined;
    archive: boolean | undefined;
    tarballs: Readonly<Record<string, string>> | undefined;
    prompt: ((question: string, fallback?: string) => Promise<string>) | undefined;
  }): Promise<{ directory: string; files: string[] }>;
}

/** The module `quillgate-gateway/webhook-key`. */
export interface WebhookKeyModule {
  deriveKeys(receiver: { project: string; url: string }, secrets: string): string[];
}

export const MISSING_PACKAGE =
  "quillgate-gateway is not installed here: npm install --save-dev quillgate-gateway";

/**
 * Loads a module of `quillgate-gateway`. Looks for the package in the current folder first, and then
 * where this package is installed.
 *
 * @returns `undefined` if the package is not installed
 */
export async function loadGatewayModule<Module>(
  { folder }: Pick<Host, "folder">,
  name: "check" | "init" | "webhook-key",
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
