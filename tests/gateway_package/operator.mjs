/** A simulated operator's machine with Node, npm and wrangler, but without Rust. */
import assert from "node:assert/strict";
import {
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { capture } from "../../scripts/child.mjs";
import { ROOT } from "../../scripts/versions.mjs";
import { wranglerEnv } from "../harness/wrangler.mjs";
import { packed } from "../package/installed.mjs";

/** The only programs on the operator's PATH. */
const PROGRAMS = ["node", "npm", "npx", "sh"];
const QUIET = ["--offline", "--no-audit", "--no-fund", "--loglevel=error"];

/** Makes the machine and installs both packages from their tarballs, in the folder `first`. */
export async function prepareOperator() {
  const home = realpathSync(mkdtempSync(join(tmpdir(), "quillgate-operator-")));
  process.once("exit", () => rmSync(home, { recursive: true, force: true, maxRetries: 5 }));
  const [gateway, client] = await Promise.all([packGateway(home), packed()]);
  const operator = new Operator(home, { gateway, client });
  await operator.install("first", [gateway.path, client]);
  return operator;
}

async function packGateway(destination) {
  const args = ["pack", "--pack-destination", destination, "--json", "--loglevel=error"];
  const { code, stdout, stderr } = await capture("npm", args, { cwd: join(ROOT, "gateway") });
  assert.equal(code, 0, stderr);
  const [{ filename, files, size }] = JSON.parse(stdout);
  return { path: join(destination, filename), files, size };
}

class Operator {
  constructor(home, tarballs) {
    this.home = home;
    this.tarballs = tarballs;
    const bin = join(home, "bin");
    mkdirSync(bin);
    for (const name of PROGRAMS) symlinkSync(findProgram(name), join(bin, name));
    this.env = { ...wranglerEnv({ PATH: bin }, home), npm_config_cache: join(home, "npm") };
  }

  withVariables(variables) {
    return Object.assign(Object.create(this), { env: { ...this.env, ...variables } });
  }

  /** Runs a program in a folder of the machine. A path that begins with `.` starts there. */
  async run(folder, command, ...args) {
    const program = command.startsWith(".") ? join(this.home, folder, command) : command;
    const cwd = join(this.home, folder);
    const { code, stdout, stderr } = await capture(program, args, { cwd, env: this.env });
    return { code, output: stdout + stderr };
  }

  async succeed(folder, command, ...args) {
    const { code, output } = await this.run(folder, command, ...args);
    assert.equal(code, 0, `${command} ${args.join(" ")}: ${output}`);
    return output;
  }

  async install(folder, tarballs) {
    mkdirSync(join(this.home, folder), { recursive: true });
    await this.succeed(folder, "npm", "install", ...QUIET, ...tarballs);
  }

  async writeFolder(name, ...flags) {
    await this.succeed("first", "./node_modules/.bin/quillgate", "init", `../${name}`, ...flags);
    return join(this.home, name);
  }

  /** Writes a folder with `init` and installs the tarballs and the repository's wrangler. */
  async init(name, ...flags) {
    const folder = await this.writeFolder(name, ...flags);
    const path = join(folder, "package.json");
    const manifest = readManifest(folder);
    const { wrangler, ...devDependencies } = manifest.devDependencies;
    assert.ok(wrangler, "the manifest lacks wrangler");
    const local = {
      ...manifest,
      dependencies: replaceVersions(manifest.dependencies, {
        "quillgate-gateway": this.tarballs.gateway.path,
      }),
      devDependencies: replaceVersions(devDependencies, { quillgate: this.tarballs.client }),
    };
    writeFileSync(path, JSON.stringify(local, null, 2));
    await this.succeed(name, "npm", "install", ...QUIET);
    for (const link of ["node_modules/wrangler", "node_modules/.bin/wrangler"]) {
      symlinkSync(realpathSync(join(ROOT, link)), join(folder, link));
    }
    return folder;
  }

  /** Writes a folder with `init` and shares the installed dependencies of another folder. */
  async initLike(other, name, ...flags) {
    const folder = await this.writeFolder(name, ...flags);
    const [own, others] = [folder, join(this.home, other)].map((path) => readManifest(path));
    const packagesOf = ({ dependencies, devDependencies: { wrangler: _, ...rest } }) =>
      Object.keys({ ...dependencies, ...rest });
    const message = "both folders have the same dependencies";
    assert.deepEqual(packagesOf(own), packagesOf(others), message);
    symlinkSync(join(this.home, other, "node_modules"), join(folder, "node_modules"));
    return folder;
  }
}

function readManifest(folder) {
  return JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
}

/** Replaces versions by tarballs. There must be a tarball for every package. */
function replaceVersions(dependencies, tarballs) {
  assert.deepEqual(Object.keys(dependencies), Object.keys(tarballs));
  return Object.fromEntries(Object.entries(tarballs).map(([name, path]) => [name, `file:${path}`]));
}

function findProgram(name) {
  const folders = [dirname(process.execPath), ...process.env.PATH.split(delimiter)];
  for (const folder of folders) {
    try {
      return realpathSync(join(folder, name));
    } catch {
      // Not in this folder.
    }
  }
  throw new Error(`${name} is not on the PATH`);
}
