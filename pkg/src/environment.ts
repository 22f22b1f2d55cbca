/** Where this code runs, asked only when it matters. */

interface Host {
  process?: { env?: Record<string, string | undefined>; versions?: { node?: string } };
  Deno?: unknown;
  Bun?: unknown;
  EdgeRuntime?: unknown;
  document?: unknown;
  WorkerGlobalScope?: unknown;
  navigator?: { userAgent?: string };
}

/** A variable of the environment, where there is one and it may be read. */
export function variable(name: string): string | undefined {
  try {
    return (globalThis as Host).process?.env?.[name] || undefined;
  } catch {
    return undefined; // Deno asks for permission, and may be told no.
  }
}

/** Whether this is a browser: a page, or a worker of one. */
export function isBrowser(): boolean {
  const host = globalThis as Host;
  if (host.Deno !== undefined || host.Bun !== undefined || host.EdgeRuntime !== undefined)
    return false;
  if (host.navigator?.userAgent === "Cloudflare-Workers") return false;
  return host.document !== undefined || host.WorkerGlobalScope !== undefined;
}
