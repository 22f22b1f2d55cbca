/** workerd as it is, without wrangler: any number of services in one process. */
import { randomBytes } from "node:crypto";
import { closeSync, existsSync, openSync, rmSync } from "node:fs";
import { mkdir, mkdtemp, readFile, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { hasEnded, spawnGroup, stopGroup } from "../../scripts/child.mjs";
import { ROOT } from "../../scripts/versions.mjs";
import { freePort } from "../../tests/harness/process.mjs";
import { accessClaims, mintToken, newSecret } from "../../tests/harness/token.mjs";
import { bundleInto, compatibility, UPSTREAM } from "./variants.mjs";

/**
 * A file system in memory where there is one: how long a disk takes to write is no gateway's
 * doing, and far from even. `TMPDIR` names another place.
 */
const MEMORY = "/dev/shm";
const PLACE = process.env.TMPDIR ?? (existsSync(MEMORY) ? MEMORY : tmpdir());

const WORKERD = createRequire(join(ROOT, "package.json"))("workerd").default;

export const PROJECT = "demo-docs";
export const ALLOWED_ORIGIN = "https://docs.example";
const SCOPE = "jobs:create jobs:read analytics:read";

/**
 * What all services share.
 *
 * @typedef {object} Bench
 * @property {string} folder bundles, configurations and storage; temporary
 * @property {string} secret
 * @property {(changes?: object, secret?: string) => string} token signs a good token, unless
 *   its claims are changed
 * @property {Server} upstream
 * @property {Record<string, string>} vars the gateways' variables
 * @property {() => Promise<void>} stop ends the upstream and removes the folder
 *
 * @typedef {object} Server
 * @property {number} pid
 * @property {Record<string, number>} ports by service
 * @property {() => Promise<void>} stop
 */

/** Bundles the workers and starts the upstream. */
export async function startBench() {
  const folder = await mkdtemp(join(PLACE, "quillgate-bench-"));
  const remove = () => rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  // However this ends: it holds secrets, and may be held in memory.
  process.once("exit", remove);
  try {
    await bundleInto(folder);
    const secret = newSecret();
    const adminKey = `mint_${randomBytes(16).toString("hex")}`;
    const upstream = await startServer(folder, [UPSTREAM], { ADMIN_API_KEY: adminKey });
    const stop = async () => {
      await upstream.stop();
      remove();
    };
    const vars = variables(upstream.ports.upstream, { adminKey, secret });
    return { folder, secret, token: signer(secret), upstream, vars, stop };
  } catch (error) {
    remove();
    throw error;
  }
}

/** Limits that are never reached, and a window that keeps no more rows than it must. */
function variables(port, { adminKey, secret }) {
  return {
    ADMIN_API_KEY: adminKey,
    ACCESS_TOKEN_SECRET: secret,
    ALLOWED_ORIGINS: ALLOWED_ORIGIN,
    UPSTREAM_BASE_URL: `http://127.0.0.1:${port}`,
    UPSTREAM_TIMEOUT_SECONDS: "3",
    CREATE_LIMIT_PER_HOUR: "1000000",
    MESSAGE_LIMIT_PER_HOUR: "1000000",
    ANALYTICS_LIMIT_PER_HOUR: "1000000",
    LIMIT_WINDOW_SECONDS: "1",
    ANALYTICS_FRESH_SECONDS: "86400",
  };
}

function signer(own) {
  return (changes = {}, secret = own) => {
    const claims = accessClaims({ sub: "bench", projects: [PROJECT], scope: SCOPE });
    return mintToken({ ...claims, ...changes }, secret);
  };
}

let servers = 0;

/**
 * Starts services in one process; each has a port of its own.
 *
 * @param {string} folder
 * @param {import("./variants.mjs").Variant[]} variants
 * @param {Record<string, string>} vars
 * @returns {Promise<Server>}
 */
export async function startServer(folder, variants, vars) {
  const name = `server-${servers++}`;
  const storage = join(folder, name);
  await mkdir(storage);
  const ports = {};
  for (const variant of variants) ports[variant.name] = await freePort();
  const file = join(folder, `${name}.capnp`);
  await writeFile(file, await configuration(variants, ports, vars, storage), { mode: 0o600 });

  const errors = join(folder, `${name}.log`);
  const log = openSync(errors, "w");
  // What the gateway logs goes where it costs what writing costs, and nobody reads it.
  const stdio = ["ignore", "ignore", log];
  const child = spawnGroup(WORKERD, ["serve", file], { cwd: folder, stdio });
  closeSync(log);
  try {
    await Promise.all(Object.values(ports).map((port) => answering(port, child)));
  } catch (error) {
    await stopGroup(child);
    throw new Error(`${error.message}\n${await readFile(errors, "utf8")}`);
  }
  return { pid: child.pid, ports, stop: () => stopGroup(child) };
}

async function answering(port, child) {
  for (let attempt = 0; attempt < 200; attempt++) {
    if (hasEnded(child)) throw new Error("workerd has ended");
    const response = await fetch(`http://127.0.0.1:${port}/healthz`).catch(() => undefined);
    await response?.body?.cancel();
    if (response) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`workerd does not answer on port ${port}`);
}

// --- configuration ---------------------------------------------------------

async function configuration(variants, ports, vars, storage) {
  const { date, flags } = await compatibility();
  const common = [
    `compatibilityDate = ${text(date)}`,
    `compatibilityFlags = [${flags.map(text).join(", ")}]`,
    'globalOutbound = "loopback"',
  ];
  const services = variants.map((variant) => service(variant, vars, common));
  const sockets = variants.map(
    ({ name }) =>
      `(name = ${text(name)}, address = "127.0.0.1:${ports[name]}", http = (), service = ${text(name)})`,
  );
  return `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [
    (name = "loopback", network = (allow = ["local"])),
    (name = "storage", disk = (path = ${text(storage)}, writable = true)),
    ${services.join(",\n    ")}
  ],
  sockets = [
    ${sockets.join(",\n    ")}
  ],
);
`;
}

function service({ name, script, wasm, objects = {}, vars: own = {} }, vars, common) {
  const modules = [`(name = ${text(script)}, esModule = embed ${text(script)})`];
  if (wasm) modules.push(`(name = ${text(`./${wasm}`)}, wasm = embed ${text(wasm)})`);
  const bindings = [
    ...Object.entries({ ...vars, ...own }).map(
      ([name, value]) => `(name = ${text(name)}, text = ${text(value)})`,
    ),
    ...Object.entries(objects).map(
      ([binding, className]) =>
        `(name = ${text(binding)}, durableObjectNamespace = ${text(className)})`,
    ),
  ];
  const namespaces = Object.values(objects).map(
    (className) =>
      `(className = ${text(className)}, uniqueKey = ${text(`${name}-${className}`)}, enableSql = true)`,
  );
  const members = [
    `modules = [${modules.join(", ")}]`,
    `bindings = [${bindings.join(", ")}]`,
    ...common,
  ];
  if (namespaces.length > 0) {
    members.push(`durableObjectNamespaces = [${namespaces.join(", ")}]`);
    members.push('durableObjectStorage = (localDisk = "storage")');
  }
  return `(name = ${text(name)}, worker = (${members.join(", ")}))`;
}

/** Text as Cap'n Proto writes it. */
function text(value) {
  return JSON.stringify(value);
}
