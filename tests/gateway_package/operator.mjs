/** An operator's machine: the packed packages, Node, npm and wrangler, and no Rust. */
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
import { wranglerEnv } from "../harness/gateway.mjs";

/** All that is on the operator's PATH. */
const PROGRAMS = ["node", "npm", "npx", "sh"];
const QUIET = ["--offline", "--no-audit", "--no-fund", "--loglevel=error"];

/**
 * Makes the machine, with both packages packed and, in an empty folder, installed.
 *
 * @returns {Promise<Operator>}
 */
export async function prepareOperator() {
  const home = realpathSync(mkdtempSync(join(tmpdir(), "quillgate-operator-")));
  process.once("exit", () => rmSync(home, { recursive: true, force: true, maxRetries: 5 }));
  const [gateway, client] = [await pack("gateway", home), await pack("pkg", home)];
  const operator = new Operator(home, { gateway, client });
  await operator.install("first", [gateway.path, client.path]);
  return operator;
}

async function pack(folder, destination) {
  const args = ["pack", "--pack-destination", destination, "--json", "--loglevel=error"];
  const { code, stdout, stderr } = await capture("npm", args, { cwd: join(ROOT, folder) });
  assert.equal(code, 0, stderr);
  const [{ filename, files, unpackedSize, size }] = JSON.parse(stdout);
  return { path: join(destination, filename), files, unpackedSize, size };
}

class Operator {
  /** @type {NodeJS.ProcessEnv} for every program that the operator runs */
  env;

  constructor(home, tarballs) {
    this.home = home;
    this.tarballs = tarballs;
    const bin = join(home, "bin");
    mkdirSync(bin);
    for (const name of PROGRAMS) symlinkSync(findProgram(name), join(bin, name));
    this.env = { ...wranglerEnv({ PATH: bin }, home), npm_config_cache: join(home, "npm") };
  }

  /** The same machine, with further variables. */
  withVariables(variables) {
    return Object.assign(Object.create(this), { env: { ...this.env, ...variables } });
  }

  /** Runs a program in a folder of the machine. */
  async run(folder, command, ...args) {
    const program = command.startsWith(".") ? join(this.home, folder, command) : command;
    const cwd = join(this.home, folder);
    const { code, stdout, stderr } = await capture(program, args, { cwd, env: this.env });
    return { code, output: stdout + stderr };
  }

  /** Runs a program that has to succeed, and gives what it has written. */
  async succeed(folder, command, ...args) {
    const { code, output } = await this.run(folder, command, ...args);
    assert.equal(code, 0, `${command} ${args.join(" ")}: ${output}`);
    return output;
  }

  async install(folder, tarballs) {
    mkdirSync(join(this.home, folder), { recursive: true });
    await this.succeed(folder, "npm", "install", ...QUIET, ...tarballs);
  }

  /**
   * Has `init` write a folder, and installs what its manifest names. The registry has no package of a
   * version that is being made, so the tarballs are in their place, and wrangler is the repository's.
   *
   * @returns {Promise<string>} the folder's path
   */
  async init(name, ...flags) {
    await this.succeed(
      "first",
      "./node_modules/.bin/quillgate-gateway",
      "init",
      `../${name}`,
      ...flags,
    );
    const folder = join(this.home, name);
    const path = join(folder, "package.json");
    const manifest = JSON.parse(readFileSync(path, "utf8"));
    const { wrangler, ...devDependencies } = manifest.devDependencies;
    assert.ok(wrangler, "the manifest names wrangler");
    const local = {
      ...manifest,
      dependencies: replaceVersions(manifest.dependencies, {
        "quillgate-gateway": this.tarballs.gateway.path,
      }),
      devDependencies: replaceVersions(devDependencies, { quillgate: this.tarballs.client.path }),
    };
    writeFileSync(path, JSON.stringify(local, null, 2));
    await this.succeed(name, "npm", "install", ...QUIET);
    for (const link of ["wrangler", ".bin/wrangler"]) {
      symlinkSync(
        realpathSync(join(ROOT, "node_modules", link)),
        join(folder, "node_modules", link),
      );
    }
    return folder;
  }
}

/** Each package has its tarball, and there is no other. */
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
      // Another folder has it.
    }
  }
  throw new Error(`${name} is not on the PATH`);
}
