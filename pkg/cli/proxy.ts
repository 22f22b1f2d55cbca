/** Sends requests through the proxy of `HTTPS_PROXY` or `HTTP_PROXY`. */

import type { Host } from "./host.js";

const VARIABLES = ["HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy"];

/** The part of undici that this module uses. */
interface Undici {
  EnvHttpProxyAgent: new () => unknown;
  setGlobalDispatcher(dispatcher: unknown): void;
}

export function hasProxy(env: Host["env"]): boolean {
  return VARIABLES.some((name) => Boolean(env[name]));
}

/**
 * Makes `fetch` use the proxy of the environment and respect `NO_PROXY`.
 *
 * Node.js 24.14 and later can enable the proxy at run time. Earlier versions need the npm package
 * undici, or `NODE_USE_ENV_PROXY=1` if they support this variable.
 *
 * @returns whether the proxy is used
 */
export async function useProxy(env: Host["env"]): Promise<boolean> {
  const { setGlobalProxyFromEnv } = (await import("node:http")) as {
    setGlobalProxyFromEnv?: () => void;
  };
  if (setGlobalProxyFromEnv !== undefined) {
    setGlobalProxyFromEnv();
    return true;
  }
  const isSupported = process.allowedNodeEnvironmentFlags.has("--use-env-proxy");
  if (isSupported && env.NODE_USE_ENV_PROXY === "1") return true;
  const undici = await loadUndici();
  undici?.setGlobalDispatcher(new undici.EnvHttpProxyAgent());
  return undici !== undefined;
}

async function loadUndici(): Promise<Undici | undefined> {
  // With a literal name, TypeScript would require the package, which is optional.
  const name: string = "undici";
  try {
    return await import(name);
  } catch {
    return undefined;
  }
}
