/** The Worker in real workerd, through `wrangler dev`, with nothing left behind but what is asked for. */
import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { ROOT } from "../../scripts/versions.mjs";
import { noteCanary } from "./canary.mjs";
import { freePort, startProgram } from "./process.mjs";

const WRANGLER = join(ROOT, "node_modules", ".bin", "wrangler");
const WORKER = join(ROOT, "worker");
const CONFIG = join(WORKER, "wrangler.toml");
/** The name of the archive's database, as docs/deploy.md has it. */
const DATABASE = "quillgate-archive";
/** What fires the cron trigger with `wrangler dev --test-scheduled`. */
const CRON_PATH = "/__scheduled";
const execute = promisify(execFile);

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
 * @property {boolean | "without tables"} [archive] with a database for the daily archive; what is kept there is named by
 *   ARCHIVE_PROJECTS
 * @property {string} [readyPath] what answers 200 when it is ready
 * @property {NodeJS.ProcessEnv} [env]
 */

/** How often it is started when its port is taken. */
const MOST_STARTS = 3;

/**
 * Starts the Worker, which must have been built, and waits until it answers.
 * A variable that is not given is not set.
 *
 * @param {GatewayOptions} options
 */
export async function startGateway(options = {}) {
  for (let attempt = 1; ; attempt++) {
    try {
      return await startOnce(options);
    } catch (error) {
      // A port that was free may be another program's by the time when it is bound.
      const isTaken = options.port === undefined && /Address already in use/.test(error.message);
      if (!isTaken || attempt === MOST_STARTS) throw error;
    }
  }
}

async function startOnce(options) {
  const { assets, archive, main, readyPath = "/healthz", env = process.env } = options;
  const port = options.port ?? (await freePort());
  const variables = variablesOf(options);
  // Outside of the repository: wrangler's home, its state and the secrets.
  const home = mkdtempSync(join(tmpdir(), "quillgate-gateway-"));
  const clean = () => rmSync(home, { recursive: true, force: true, maxRetries: 5 });
  process.once("exit", clean);

  const state = resolve(options.state ?? join(home, "state"));
  const ownConfig = options.config ?? CONFIG;
  const config = archive ? writeArchiveConfig(ownConfig, home) : ownConfig;
  if (archive === true) await migrate(config, state, wranglerEnv(env, home));
  const secrets = join(home, "secrets.env");
  writeFileSync(secrets, envFile(variables), { mode: 0o600 });
  const args = [
    ...["dev", ...(main ? [main] : []), "--config", config, "--env-file", secrets],
    ...["--ip", "127.0.0.1", "--port", String(port)],
    ...["--inspector-ip", "127.0.0.1", "--inspector-port", String(await freePort())],
    ...["--persist-to", state, "--show-interactive-dev-session=false"],
    ...(assets ? ["--assets", assets] : []),
    ...(archive ? ["--test-scheduled"] : []),
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
    await running.line(/Ready on /, 120_000);
    await running.until(() => isReady(`${url}${readyPath}`), 90_000);
  } catch (error) {
    await stop();
    throw error;
  }
  /** Waits until a changed Worker or page is served, after that much of the log. */
  const reloaded = async (logLength) => {
    await running.line(/Local server updated and ready/, 90_000, logLength);
  };
  /** Fires the cron trigger, and waits until its handler has ended. */
  const runCron = async () => {
    const response = await fetch(url + CRON_PATH);
    const text = await response.text();
    if (!response.ok) throw new Error(`the cron trigger: ${response.status} ${text}`);
  };
  return { url, port, log: running.output, ended: running.ended, reloaded, runCron, stop, kill };
}

/** The configuration with a database, from anywhere: its paths are absolute. */
function writeArchiveConfig(config, home) {
  const text = readFileSync(config, "utf8")
    .replace('main = "build/', `main = "${WORKER}/build/`)
    .replace('directory = "../', `directory = "${ROOT}/`)
    // Where the cron trigger is fired: a path of the Worker's, since assets stand before the rest.
    .replace("run_worker_first = [", `run_worker_first = ["${CRON_PATH}", `);
  const database = `
[[d1_databases]]
binding = "ARCHIVE"
database_name = "${DATABASE}"
database_id = "00000000-0000-4000-8000-000000000000"
migrations_dir = "${join(WORKER, "migrations")}"
`;
  const written = join(home, "wrangler.toml");
  writeFileSync(written, text + database);
  return written;
}

/** Makes the tables, where they are not there yet. */
async function migrate(config, state, env) {
  const place = ["--local", "--persist-to", state, "--config", config];
  await execute(WRANGLER, ["d1", "migrations", "apply", DATABASE, ...place], { env });
}

/**
 * Runs SQL on the archive of a folder of durable storage, while no gateway uses it.
 *
 * @param {string} state
 * @param {string} sql
 * @returns {Promise<object[]>} the rows of the last statement
 */
export async function queryArchive(state, sql) {
  const home = mkdtempSync(join(tmpdir(), "quillgate-archive-"));
  try {
    const config = writeArchiveConfig(CONFIG, home);
    const place = ["--local", "--persist-to", state, "--config", config, "--json"];
    const args = ["d1", "execute", DATABASE, ...place, "--command", sql];
    const options = { env: wranglerEnv(process.env, home), maxBuffer: 2 ** 28 };
    const { stdout } = await execute(WRANGLER, args, options);
    return JSON.parse(stdout).at(-1).results;
  } finally {
    rmSync(home, { recursive: true, force: true, maxRetries: 5 });
  }
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

/** wrangler's variables: quiet, without questions or network use of its own, and away from the user's home. */
export function wranglerEnv(env, home) {
  const { CLOUDFLARE_ENV: _environment, CLOUDFLARE_API_TOKEN: _token, ...rest } = env;
  return {
    ...rest,
    CI: "true",
    CLOUDFLARE_CF_FETCH_ENABLED: "false",
    CLOUDFLARE_INCLUDE_PROCESS_ENV: "false",
    CLOUDFLARE_LOAD_DEV_VARS_FROM_DOT_ENV: "true",
    FORCE_COLOR: "0",
    HOME: home,
    // Without its inspector, of which wrangler's proxy keeps every message, such as each line of the log
    // and each request to the upstream, until DevTools come, or until there is no memory left.
    VSCODE_INSPECTOR_OPTIONS: "{}",
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
  const response = await fetch(url, { signal: AbortSignal.timeout(20_000) });
  await response.body?.cancel();
  return response.status === 200 ? true : undefined;
}
