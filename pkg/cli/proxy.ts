/** Sends requests through the proxy of the environment. */

import { type Proxies, ProxyError, readProxies, useProxies } from "../proxy.js";
import { UsageError } from "./errors.js";
import type { Host } from "./host.js";
import type { Output } from "./output.js";

/** The part of undici that this module uses. */
interface Undici {
  EnvHttpProxyAgent: new (options: {
    httpProxy: string;
    httpsProxy: string;
    noProxy: string;
  }) => unknown;
  setGlobalDispatcher(dispatcher: unknown): void;
  fetch: typeof fetch;
}

/**
 * Sends requests through the proxy of the environment, or warns that Node.js cannot. Node.js before
 * 24.14 needs the npm package undici 6.14 or later.
 *
 * @throws {UsageError} if a variable is invalid
 */
export async function applyProxy({ env }: Pick<Host, "env">, output: Output): Promise<void> {
  const proxies = readOrRefuse(env);
  if (proxies === undefined || (await useProxies(proxies, env))) return;
  const undici = await loadUndici();
  if (undici === undefined) {
    output.warn(
      `HTTPS_PROXY is ignored by Node ${process.versions.node}: use Node 24.14 or later, or install the npm package undici 6.14 or later`,
    );
    return;
  }
  const { http: httpProxy, https: httpsProxy, exceptions: noProxy } = proxies;
  undici.setGlobalDispatcher(new undici.EnvHttpProxyAgent({ httpProxy, httpsProxy, noProxy }));
  // The built-in `fetch` ignores the dispatcher of undici 8.
  globalThis.fetch = undici.fetch;
}

function readOrRefuse(env: Host["env"]): Proxies | undefined {
  try {
    return readProxies(env);
  } catch (error) {
    if (error instanceof ProxyError) throw new UsageError(error.message);
    throw error;
  }
}

/** Returns npm's undici, or `undefined` if it is not installed or too old. */
async function loadUndici(): Promise<Undici | undefined> {
  // With a literal name, TypeScript would require the package, which is optional.
  const name: string = "undici";
  try {
    const undici: Partial<Undici> = await import(name);
    return undici.EnvHttpProxyAgent === undefined ? undefined : (undici as Undici);
  } catch {
    return undefined;
  }
}
