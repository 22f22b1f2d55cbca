/** Runs a Worker under `wrangler dev`. Most gateway tests use plain workerd instead. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ROOT } from "../../scripts/versions.mjs";
import { noteCanary } from "./canary.mjs";
import { isReady, variablesOf } from "./gateway.mjs";
import { freePort, startProgram } from "./process.mjs";

const WRANGLER = join(ROOT, "node_modules", ".bin", "wrangler");
const CONFIG = join(ROOT, "worker", "wrangler.toml");

/** Starts `wrangler dev` and waits until the Worker answers. */
export async function startWithWrangler(options = {}) {
  const { config = CONFIG, readyPath = "/healthz", env = process.env } = options;
  const port = options.port ?? (await freePort());
  // Wrangler's home, state and secrets stay outside of the repository.
  const home = mkdtempSync(join(tmpdir(), "quillgate-wrangler-"));
  const clean = () => rmSync(home, { recursive: true, force: true, maxRetries: 5 });
  process.once("exit", clean);
  const secrets = join(home, "secrets.env");
  const variables = variablesOf(options);
  writeFileSync(secrets, envFile(variables), { mode: 0o600 });
  const args = [
    ...["dev", "--config", config, "--env-file", secrets],
    ...["--ip", "127.0.0.1", "--port", String(port)],
    ...["--inspector-ip", "127.0.0.1", "--inspector-port", String(await freePort())],
    ...["--persist-to", join(home, "state"), "--show-interactive-dev-session=false"],
  ];
  const running = startProgram("wrangler", WRANGLER, args, { env: wranglerEnv(env, home) });
  noteCanary("gateway", variables.ADMIN_API_KEY);
  const url = `http://127.0.0.1:${port}`;
  const stop = async () => {
    await running.stop();
    clean();
    process.off("exit", clean);
  };
  try {
    // Until wrangler listens on the port, another program could answer there.
    await running.line(/Ready on /, 120_000);
    await running.until(() => isReady(`${url}${readyPath}`), 90_000);
  } catch (error) {
    await stop();
    throw error;
  }
  return { url, port, log: running.output, ended: running.ended, stop };
}

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
  // An unescaped dollar would refer to another variable.
  return mark + value.replaceAll("$", "\\$") + mark;
}

/** Keeps wrangler quiet, off the network, and out of the user's home. */
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
