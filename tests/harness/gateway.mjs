/** Runs the gateway in plain workerd. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { ROOT } from "../../scripts/versions.mjs";
import { noteCanary } from "./canary.mjs";
import { registerGateway, unregisterGateway } from "./openapi.mjs";
import { freePort, startProgram } from "./process.mjs";

export { queryArchive } from "./storage.mjs";

const WORKERD = fileURLToPath(new URL("./workerd.mjs", import.meta.url));
const CONFIG = join(ROOT, "worker", "wrangler.toml");
const MAX_STARTS = 3;

/** `state` is a folder to keep, `archive` true, false or "without tables", `clock` a fast clock. */
export async function startGateway(options = {}) {
  for (let attempt = 1; ; attempt++) {
    try {
      return await startOnce(options);
    } catch (error) {
      // Another program may have taken the free port in the meantime.
      const isTaken = options.port === undefined && /Address already in use/.test(error.message);
      if (!isTaken || attempt === MAX_STARTS) throw error;
    }
  }
}

async function startOnce(options) {
  const { archive, readyPath = "/healthz", env = process.env } = options;
  const port = options.port ?? (await freePort());
  const variables = variablesOf(options);
  const scratch = mkdtempSync(join(tmpdir(), "quillgate-gateway-"));
  const clean = () => rmSync(scratch, { recursive: true, force: true, maxRetries: 5 });
  process.once("exit", clean);

  // A file keeps the secrets out of the list of processes.
  const optionsFile = join(scratch, "options.json");
  const workerd = {
    config: options.config ?? CONFIG,
    main: options.main,
    assets: options.assets,
    variables,
    state: resolve(options.state ?? join(scratch, "state")),
    scratch,
    archive: { true: "migrated", "without tables": "empty" }[archive] ?? "none",
    port,
    clock: options.clock,
  };
  writeFileSync(optionsFile, JSON.stringify(workerd), { mode: 0o600 });
  const running = startProgram("gateway", process.execPath, [WORKERD, optionsFile], { env });
  noteCanary("gateway", variables.ADMIN_API_KEY);
  noteCanary("gateway", variables.ADMIN_READ_KEY);

  const url = `http://127.0.0.1:${port}`;
  const endBy = async (end) => {
    unregisterGateway(url);
    await end();
    clean();
    process.off("exit", clean);
  };
  const stop = () => endBy(running.stop);
  const kill = () => endBy(running.kill);
  let cronUrl;
  try {
    // Until workerd listens on the port, another program could answer there.
    [, cronUrl] = await running.line(/^Ready on .*, cron trigger on (.*)$/, 60_000);
    await running.until(() => isReady(`${url}${readyPath}`), 60_000);
    await registerGateway(url);
  } catch (error) {
    await stop();
    throw error;
  }
  /** Fires the cron trigger and waits until its handler has finished. */
  const runCron = async () => {
    const response = await fetch(cronUrl);
    const text = await response.text();
    if (!response.ok) throw new Error(`the cron trigger: ${response.status} ${text}`);
  };
  return { url, port, log: running.output, ended: running.ended, runCron, stop, kill };
}

/** Returns the variables and secrets that the options set. */
export function variablesOf({ upstreamUrl, adminKey, readKey, secret, allowedOrigins, vars }) {
  const variables = {
    UPSTREAM_BASE_URL: upstreamUrl,
    ADMIN_API_KEY: adminKey,
    ADMIN_READ_KEY: readKey,
    ACCESS_TOKEN_SECRET: secret,
    ALLOWED_ORIGINS: Array.isArray(allowedOrigins) ? allowedOrigins.join(",") : allowedOrigins,
    ...vars,
  };
  return Object.fromEntries(Object.entries(variables).filter(([, value]) => value !== undefined));
}

/** Resolves to true when a URL answers 200, and to undefined for any other status. */
export async function isReady(url) {
  const response = await fetch(url, { signal: AbortSignal.timeout(20_000) });
  await response.body?.cancel();
  return response.status === 200 ? true : undefined;
}
