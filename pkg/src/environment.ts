/** Detects the runtime and reads environment variables. */

interface Host {
  process?: { env?: Record<string, string | undefined> };
  Deno?: unknown;
  Bun?: unknown;
  EdgeRuntime?: unknown;
  document?: unknown;
  WorkerGlobalScope?: unknown;
  navigator?: { userAgent?: string };
}

/** Returns an environment variable, trimmed; `undefined` if it is unset, empty or not readable. */
export function variable(name: string): string | undefined {
  try {
    return (globalThis as Host).process?.env?.[name]?.trim() || undefined;
  } catch {
    return undefined; // Deno throws without permission.
  }
}

/** Returns whether the code runs in a browser, in a page or a web worker. */
export function isBrowser(): boolean {
  const host = globalThis as Host;
  if (host.Deno !== undefined || host.Bun !== undefined || host.EdgeRuntime !== undefined)
    return false;
  if (host.navigator?.userAgent === "Cloudflare-Workers") return false;
  return host.document !== undefined || host.WorkerGlobalScope !== undefined;
}
