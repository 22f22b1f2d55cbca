/** Runs any number of Workers in one workerd process, without wrangler. */
import { randomBytes } from "node:crypto";
import { closeSync, existsSync, openSync, rmSync } from "node:fs";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { hasEnded, spawnGroup, stopGroup } from "../../scripts/child.mjs";
import { ROOT } from "../../scripts/versions.mjs";
import { freePort } from "../../tests/harness/process.mjs";
import { accessClaims, mintToken, newSecret } from "../../tests/harness/token.mjs";
import {
  bundleVariants,
  OBJECTS,
  readCompatibility,
  SCRIPT,
  TEXT,
  VARIANTS,
  WASM,
} from "./variants.mjs";

/** In memory, because the speed of a disk varies. `TMPDIR` overrides it. */
const MEMORY = "/dev/shm";
const PLACE = process.env.TMPDIR ?? (existsSync(MEMORY) ? MEMORY : tmpdir());

const WORKERD = createRequire(join(ROOT, "package.json"))("workerd").default;

export const PROJECT = "demo-docs";
const ALLOWED_ORIGIN = "https://docs.example";
const SCOPE = "jobs:create jobs:read analytics:read";

/** Bundles the variants and starts the upstream. */
export async function startBench(baseline) {
  const folder = await mkdtemp(join(PLACE, "quillgate-bench-"));
  const remove = () => rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  // The folder contains secrets and may occupy memory, so it is removed even after a failure.
  process.once("exit", remove);
  try {
    await bundleVariants(folder, baseline);
    const secret = newSecret();
    const adminKey = `mint_${randomBytes(16).toString("hex")}`;
    const upstream = await startServer({ folder, vars: { ADMIN_API_KEY: adminKey } }, ["upstream"]);
    const stop = async () => {
      await upstream.stop();
      remove();
    };
    const vars = buildVariables(upstream.ports.upstream, { adminKey, secret });
    return { folder, signToken: createSigner(secret), upstream, vars, stop };
  } catch (error) {
    remove();
    throw error;
  }
}

/** Sets limits that are never reached, and the shortest window, which stores few rows. */
function buildVariables(port, { adminKey, secret }) {
  return {
    ADMIN_API_KEY: adminKey,
    ACCESS_TOKEN_SECRET: secret,
    ALLOWED_ORIGINS: ALLOWED_ORIGIN,
    UPSTREAM_BASE_URL: `http://127.0.0.1:${port}`,
    UPSTREAM_TIMEOUT_SECONDS: "3",
    CREATE_LIMIT_PER_HOUR: "1000000",
    MESSAGE_LIMIT_PER_HOUR: "1000000",
    ANALYTICS_LIMIT_PER_HOUR: "1000000",
    READ_LIMIT_PER_HOUR: "1000000",
    LIMIT_WINDOW_SECONDS: "1",
    ANALYTICS_FRESH_SECONDS: "86400",
  };
}

function createSigner(secret) {
  const common = { sub: "bench", projects: [PROJECT], scope: SCOPE };
  return (claims) => mintToken(accessClaims({ ...common, ...claims }), secret);
}

export async function startServer(bench, names, v8Flags) {
  const server = await launchServer(bench, names, v8Flags);
  const ports = Object.values(server.ports);
  const responses = ports.map((port) => server.waitForResponse(port, "/healthz"));
  for (const response of await Promise.all(responses)) await response.body?.cancel();
  return server;
}

const START_TIMEOUT = 20_000;
let servers = 0;

/** Starts variants in one process, and returns before they respond. */
export async function launchServer({ folder, vars }, names, v8Flags = []) {
  const name = `server-${servers++}`;
  const storage = join(folder, name);
  await mkdir(storage);
  const ports = {};
  for (const variant of names) ports[variant] = await freePort();
  const file = join(folder, `${name}.capnp`);
  const configuration = await buildConfiguration(ports, vars, storage, v8Flags);
  await writeFile(file, configuration, { mode: 0o600 });

  const errors = join(folder, `${name}.log`);
  const log = openSync(errors, "w");
  // Writing the log is part of the measured cost. Only a failed start reads its content.
  const stdio = ["ignore", "ignore", log];
  const started = performance.now();
  const child = spawnGroup(WORKERD, ["serve", file], { cwd: folder, stdio });
  closeSync(log);
  const stop = async () => {
    await stopGroup(child);
    await rm(storage, { recursive: true, force: true, maxRetries: 5 });
  };
  const waitForResponse = async (port, target, init) => {
    const deadline = performance.now() + START_TIMEOUT;
    while (performance.now() < deadline && !hasEnded(child)) {
      const response = await fetch(`http://127.0.0.1:${port}${target}`, init).catch(() => {});
      if (response) return response;
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
    await stop();
    throw new Error(`workerd does not respond:\n${await readFile(errors, "utf8")}`);
  };
  return { pid: child.pid, ports, started, waitForResponse, stop };
}

// --- configuration ---------------------------------------------------------

async function buildConfiguration(ports, vars, storage, v8Flags) {
  const { date, flags } = await readCompatibility();
  const common = [
    `compatibilityDate = ${quote(date)}`,
    `compatibilityFlags = [${flags.map(quote).join(", ")}]`,
    'globalOutbound = "loopback"',
  ];
  const services = Object.keys(ports).map((name) => buildService(name, vars, common));
  const sockets = Object.entries(ports).map(
    ([name, port]) =>
      `(name = ${quote(name)}, address = "127.0.0.1:${port}", http = (), service = ${quote(name)})`,
  );
  return `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  v8Flags = [${v8Flags.map(quote).join(", ")}],
  services = [
    (name = "loopback", network = (allow = ["local"])),
    (name = "storage", disk = (path = ${quote(storage)}, writable = true)),
    ${services.join(",\n    ")}
  ],
  sockets = [
    ${sockets.join(",\n    ")}
  ],
);
`;
}

function buildService(name, vars, common) {
  const { isBuild, hasObjects } = VARIANTS[name];
  const script = join(name, SCRIPT);
  const modules = [`(name = ${quote(SCRIPT)}, esModule = embed ${quote(script)})`];
  if (isBuild) {
    modules.push(`(name = ${quote(`./${WASM}`)}, wasm = embed ${quote(join(name, WASM))})`);
    modules.push(`(name = ${quote(`./${TEXT}`)}, text = embed ${quote(join(name, TEXT))})`);
  }
  const objects = hasObjects ? Object.entries(OBJECTS) : [];
  const bindings = [
    ...Object.entries(vars).map(([key, value]) => `(name = ${quote(key)}, text = ${quote(value)})`),
    ...objects.map(
      ([key, value]) => `(name = ${quote(key)}, durableObjectNamespace = ${quote(value)})`,
    ),
  ];
  const fields = [
    `modules = [${modules.join(", ")}]`,
    `bindings = [${bindings.join(", ")}]`,
    ...common,
  ];
  if (hasObjects) {
    const namespaces = objects.map(
      ([, value]) =>
        `(className = ${quote(value)}, uniqueKey = ${quote(`${name}-${value}`)}, enableSql = true)`,
    );
    fields.push(`durableObjectNamespaces = [${namespaces.join(", ")}]`);
    fields.push('durableObjectStorage = (localDisk = "storage")');
  }
  return `(name = ${quote(name)}, worker = (${fields.join(", ")}))`;
}

/** Quotes a string for Cap'n Proto. */
function quote(value) {
  return JSON.stringify(value);
}
