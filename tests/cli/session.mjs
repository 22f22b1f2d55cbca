/** Runs the command line against a stand-in for the gateway, with a new folder per test. */
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, afterEach, before, beforeEach } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { Interruption } from "../../pkg/dist/cli/errors.js";
import { makeFolder } from "../harness/folder.mjs";
import { runCommand } from "./command_line.mjs";
import { PROJECT, startStandIn } from "./stand_in.mjs";

export let server;
export let folder;
let override;

const envOf = ({ url }) => ({
  QUILLGATE_BASE_URL: url,
  QUILLGATE_PROJECT_ID: PROJECT,
  QUILLGATE_TOKEN: "token",
});

/** Starts the stand-in of a test file. Its `override` applies unless a test has set another. */
export function useStandIn({ rows, override: otherwise } = {}) {
  before(async () => {
    const respond = (...args) => override?.(...args) ?? otherwise?.(...args);
    server = await startStandIn({ rows, override: respond });
  });
  after(() => server.stop());
  beforeEach(() => {
    override = undefined;
    server.requests.length = 0;
    server.refillBudget();
    folder = mkdtempSync(join(tmpdir(), "quillgate-cli-"));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));
}

export function respondWith(respond) {
  override = respond;
}

/** Responds to requests whose path matches; others get the default response. */
export function respondTo(pattern, response) {
  override = ({ path }) => (pattern.test(path) ? response : undefined);
}

/** Interrupts the command at the first request whose path matches. Returns the command's signal. */
export function interruptAt(pattern, code = 130) {
  const controller = new AbortController();
  override = ({ path }) => {
    if (!pattern.test(path)) return undefined;
    controller.abort(new Interruption(code));
    return { stall: "head" };
  };
  return controller.signal;
}

export const env = () => envOf(server);
export const quillgate = (args, { env: more, ...options } = {}) =>
  runCommand(args, { folder, ...options, env: { ...env(), ...more } });
export const quillgateJob = (args, options) => quillgate(["job", ...args], options);

/** Runs a command that must succeed. */
export async function succeed(args, options) {
  const result = await quillgate(args, options);
  assert.equal(result.code, 0, result.stderr);
  return result;
}

/** Runs a command that must succeed, and returns the JSON that it prints. */
export async function readJson(args, options) {
  const { stdout } = await succeed([...args, "--json"], options);
  return JSON.parse(stdout);
}

export const read = (name) => readFileSync(join(folder, name), "utf8");
export const write = (name, content) => writeFileSync(join(folder, name), content);

export function writeProgram(name, script) {
  const path = join(folder, name);
  writeFileSync(path, `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  return path;
}

/** Installs a `quillgate-gateway` package with a single module. */
export function installGatewayPackage(target, name, source) {
  const gateway = join(target, "node_modules", "quillgate-gateway");
  mkdirSync(gateway, { recursive: true });
  const exports = { [`./${name}`]: `./${name}.js` };
  const description = { name: "quillgate-gateway", version: "0.0.0", type: "module", exports };
  writeFileSync(join(gateway, "package.json"), JSON.stringify(description));
  writeFileSync(join(gateway, `${name}.js`), source);
}

/** Returns variables with a browser that writes its address to the file `opened`. */
export function browserEnv() {
  const BROWSER = writeProgram("browser", `echo "$1" > "${folder}/opened"`);
  return { BROWSER, PATH: process.env.PATH };
}

export async function waitForFile(name) {
  for (let attempt = 0; attempt < 1000; attempt++) {
    try {
      const text = read(name);
      if (text !== "") return text.trim();
    } catch {}
    await delay(20);
  }
  throw new Error(`${name} was not written`);
}

export async function startSession(t, rows) {
  let respond;
  const own = await startStandIn({ rows, override: (...args) => respond?.(...args) });
  t.after(() => own.stop());
  const home = makeFolder(t, "cli");
  return {
    ...{ server: own, folder: home },
    env: { ...envOf(own), PATH: process.env.PATH, XDG_CONFIG_HOME: home },
    respondWith(changed) {
      respond = changed;
    },
    read: (name) => readFileSync(join(home, name), "utf8"),
  };
}
