/** The Worker in real workerd, through `wrangler dev`, with nothing left behind but what is asked for. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { ROOT } from "../../scripts/versions.mjs";
import { noteCanary } from "./canary.mjs";
import { freePort, startProgram } from "./process.mjs";

const WRANGLER = join(ROOT, "node_modules", ".bin", "wrangler");
const CONFIG = join(ROOT, "worker", "wrangler.toml");

/**
 * @typedef {object} GatewayOptions
 * @property {string} [upstreamUrl] UPSTREAM_BASE_URL
 * @property {string} [adminKey] ADMIN_API_KEY
 * @property {string} [readKey] ADMIN_READ_KEY
 * @property {string} [secret] ACCESS_TOKEN_SECRET
 * @property {string | string[]} [allowedOrigins] ALLOWED_ORIGINS
 * @property {Record<string, string>} [vars] any others; they win
 * @property {string} [assets] a folder of static files instead of the configured one
 * @property {string} [state] a folder for the durable storage, which outlives the Worker: the next
 *   one finds what this one has stored. A temporary one unless told
 * @property {number} [port] a free one unless told
 * @property {string} [config] another wrangler configuration
 * @property {string} [main] the `index.js` of another build than the configured one
 * @property {string} [readyPath] what answers 200 when it is ready
 * @property {NodeJS.ProcessEnv} [env]
 */

/**
 * Starts the Worker, which must have been built, and waits until it answers.
 * A variable that is not given is not set.
 *
 * @param {GatewayOptions} options
 */
export async function startGateway(options = {}) {
  const { assets, config = CONFIG, main, readyPath = "/healthz", env = process.env } = options;
  const port = options.port ?? (await freePort());
  const variables = variablesOf(options);
  // Outside of the repository: wrangler's home, its state and the secrets.
  const home = mkdtempSync(join(tmpdir(), "quillgate-gateway-"));
  const clean = () => rmSync(home, { recursive: true, force: true, maxRetries: 5 });
  process.once("exit", clean);

  const state = resolve(options.state ?? join(home, "state"));
  const secrets = join(home, "secrets.env");
  writeFileSync(secrets, envFile(variables), { mode: 0o600 });
  const args = [
    ...["dev", ...(main ? [main] : []), "--config", config, "--env-file", secrets],
    ...["--ip", "127.0.0.1", "--port", String(port)],
    ...["--inspector-ip", "127.0.0.1", "--inspector-port", String(await freePort())],
    ...["--persist-to", state, "--show-interactive-dev-session=false"],
    ...(assets ? ["--assets", assets] : []),
  ];
  const running = startProgram("gateway", WRANGLER, args, { env: wranglerEnv(env, home) });
  noteCanary("gateway", variables.ADMIN_API_KEY);
  noteCanary("gateway", variables.ADMIN_READ_KEY);

  const url = `http://127.0.0.1:${port}`;
  const endBy = async (end) => {
    await end();
    clean();
    process.off("exit", clean);
  };
  const stop = () => endBy(running.stop);
  /** Ends wrangler and workerd at once, with nothing written that was not yet written. */
  const kill = () => endBy(running.kill);
  try {
    // The line first: until then another program could be answering the port.
    await running.line(/Ready on /, 60_000);
    await running.until(() => isReady(`${url}${readyPath}`), 30_000);
  } catch (error) {
    await stop();
    throw error;
  }
  /** Waits until a changed Worker or page is served, after that much of the log. */
  const reloaded = async (logLength) => {
    await running.line(/Local server updated and ready/, 30_000, logLength);
  };
  return { url, port, log: running.output, ended: running.ended, reloaded, stop, kill };
}

/**
 * Asks a gateway again and again whether it is up, until what is given back is called.
 *
 * Between a test and the Worker is the proxy of `wrangler dev`. When it writes to a connection that
 * workerd has just closed as idle, it takes the Worker for restarted (its `ProxyWorker` compares
 * addresses of which one has a path): it puts a GET aside until the next request comes, which without
 * this would be never, and answers anything else itself ({@link isOfTheProxy}). Neither the upstream
 * nor an object is asked.
 */
export function keepNudging(url, milliseconds = 250) {
  const nudge = () => fetch(`${url}/healthz`).then((response) => response.text());
  const timer = setInterval(() => nudge().catch(() => {}), milliseconds);
  return () => clearInterval(timer);
}

/**
 * Whether an answer is that of wrangler's own proxy, in place of the Worker's: see {@link keepNudging}.
 *
 * @param {{ status: number, text: string }} answer
 */
export function isOfTheProxy({ status, text }) {
  return status === 503 && text.startsWith("Your worker restarted mid-request");
}

function variablesOf({ upstreamUrl, adminKey, readKey, secret, allowedOrigins, vars }) {
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

/** Writes variables so that wrangler's reader takes every value literally. */
function envFile(variables) {
  return Object.entries(variables)
    .map(([name, value]) => `${name}=${quote(name, value)}\n`)
    .join("");
}

function quote(name, value) {
  const mark = ["'", '"', "`"].find((candidate) => !value.includes(candidate));
  if (!mark || (mark === '"' && /\\[nr]/.test(value))) {
    throw new Error(`${name}: its value cannot be written to an environment file`);
  }
  // A dollar would otherwise begin the name of another variable.
  return mark + value.replaceAll("$", "\\$") + mark;
}

/** Quiet, without questions or network use of its own, and away from the user's home. */
function wranglerEnv(env, home) {
  const { CLOUDFLARE_ENV: _environment, CLOUDFLARE_API_TOKEN: _token, ...rest } = env;
  return {
    ...rest,
    CI: "true",
    CLOUDFLARE_CF_FETCH_ENABLED: "false",
    CLOUDFLARE_INCLUDE_PROCESS_ENV: "false",
    CLOUDFLARE_LOAD_DEV_VARS_FROM_DOT_ENV: "true",
    FORCE_COLOR: "0",
    HOME: home,
    WRANGLER_CACHE_DIR: join(home, "cache"),
    WRANGLER_HIDE_BANNER: "true",
    WRANGLER_LOG_PATH: join(home, "logs"),
    WRANGLER_REGISTRY_PATH: join(home, "registry"),
    WRANGLER_SEND_ERROR_REPORTS: "false",
    WRANGLER_SEND_METRICS: "false",
    X_LOCAL_EXPLORER: "false",
    XDG_CACHE_HOME: join(home, "cache"),
    XDG_CONFIG_HOME: join(home, "config"),
  };
}

async function isReady(url) {
  const response = await fetch(url, { signal: AbortSignal.timeout(5000) });
  await response.body?.cancel();
  return response.status === 200 ? true : undefined;
}
