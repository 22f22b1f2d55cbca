/** Selects suites by the files that changed. */
import { capture, StepError } from "../child.mjs";

/**
 * Suites by the paths of the files that they test. The first matching pattern decides.
 *
 * @type {[RegExp, string[]][]}
 */
const TESTED_BY = [
  [/^tests\/harness\/(?:.*\.test\.mjs)$/, ["format", "harness"]],
  [/^tests\/harness\//, ["format", "harness", "gateway", "page", "package", "cli"]],
  [/^tests\/core\//, ["format", "lint", "core"]],
  [/^tests\/upstream\//, ["format", "lint", "core", "gateway", "contract"]],
  [/^tests\/bindings\//, ["format", "lint", "bindings-node"]],
  [/^tests\/client\//, ["format", "lint", "core"]],
  [/^tests\/client_web\//, ["format", "lint", "client-node"]],
  [/^tests\/([a-z_]+)\//, ["format", "$1"]],
  [/^worker\/openapi\//, ["format", "lint", "core", "package", "openapi"]],
  [/^worker\//, ["format", "lint", "core", "worker-node", "gateway", "openapi"]],
  [/^src\/client\//, ["format", "lint", "core", "client-node"]],
  [/^src\//, ["format", "lint", "core", "bindings-node", "package", "gateway"]],
  [/^pkg\/wasm\//, ["format", "lint", "bindings-node", "package"]],
  [/^pkg\/generate\//, ["format", "lint", "core", "package", "openapi"]],
  [/^pkg\/(?:src\/)?cli\b/, ["format", "cli"]],
  [/^pkg\/.*\.md$/, ["harness", "package"]],
  [/^pkg\//, ["format", "package", "cli", "action"]],
  [/^www\//, ["format", "page"]],
  [/^gateway\/check_config\//, ["format", "lint", "core", "gateway_package"]],
  [/^gateway\//, ["format", "gateway_package"]],
  [/^action\//, ["format", "action"]],
  [/^examples\//, ["format", "examples"]],
  [/^bench\//, ["format", "soak"]],
  [/^scripts\//, ["format", "harness", "build"]],
  [/^\.github\//, ["harness"]],
  [/\.md$/, ["harness"]],
  [
    /^(?:Cargo\.(?:toml|lock)|deny\.toml|package(?:-lock)?\.json)$/,
    ["format", "lint", "core", "supply", "build"],
  ],
];

/**
 * Selects the suites that test what changed since a commit, uncommitted changes included.
 *
 * @param {string} base a commit
 * @returns {Promise<{ suites: string[], files: string[] }>} `files` are the changed paths
 */
export async function selectChanged(base) {
  const files = await changedFiles(base);
  return { suites: [...new Set(files.flatMap(suitesFor))], files };
}

async function changedFiles(base) {
  const tracked = await git("diff", "--name-only", base);
  const untracked = await git("ls-files", "--others", "--exclude-standard");
  return [...new Set([...tracked, ...untracked])].sort();
}

/** @param {string} file */
export function suitesFor(file) {
  for (const [pattern, suites] of TESTED_BY) {
    const match = pattern.exec(file);
    if (match) return suites.map((name) => name.replace("$1", match[1]));
  }
  return ["format"];
}

async function git(...args) {
  const { code, stdout, stderr } = await capture("git", args);
  if (code !== 0) throw new StepError(`git ${args.join(" ")}: ${stderr.trim()}`);
  return stdout.split("\n").filter((line) => line !== "");
}
