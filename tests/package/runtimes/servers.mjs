/** Runs the package in Node, Deno and Bun. */
import { capture } from "../../../scripts/child.mjs";
import { runProgram, toolPath, versionOf } from "../installed.mjs";
import { cell, conclude, folder, INLINE, resultsIn } from "./fixtures.mjs";

export const DENO = toolPath(`@deno/${process.platform}-${process.arch}-glibc`, "deno");
const BUN_ARCH = process.arch === "arm64" ? "aarch64" : process.arch;
export const BUN = toolPath("@oven", `bun-${process.platform}-${BUN_ARCH}`, "bin", "bun");

const IMPORTING = { "`import`": "main.mjs", [INLINE]: "inline.mjs" };
const REQUIRING = { "`require`": "main.cjs", "`require` of `quillgate/inline`": "inline.cjs" };

const [OWN_MAJOR] = process.versions.node.split(".");

export function checkOwnNode() {
  checkNode(OWN_MAJOR, process.execPath);
}

export function checkOtherNodes() {
  const platform = `${process.platform}-${process.arch}`;
  for (const major of ["22", "24"].filter((each) => each !== OWN_MAJOR)) {
    checkNode(major, toolPath(`node-${major}-${platform}`, "bin", "node"));
  }
}

function checkNode(major, program) {
  for (const [way, file] of Object.entries({ ...IMPORTING, ...REQUIRING })) {
    cell(`Node ${major}`, way, async (row) => {
      const { stdout } = await capture(program, ["--version"]);
      row.version = stdout.trim().slice(1);
      const output = await runProgram(`node-${major}`, program, [file], { cwd: folder });
      conclude(row, resultsIn(output));
    });
  }
}

export const checkDeno = () => checkImports("Deno", runInDeno);
export const checkBun = () => checkImports("Bun", runInBun);

function checkImports(runtime, run) {
  for (const [way, file] of Object.entries(IMPORTING)) {
    cell(runtime, way, async (row) => {
      row.version = versionOf(runtime.toLowerCase());
      conclude(row, await run(file, folder));
    });
  }
}

export async function runInNode(file, cwd) {
  return resultsIn(await runProgram("node", process.execPath, [file], { cwd }));
}

export async function runInBun(file, cwd) {
  return resultsIn(await runProgram("bun", BUN, ["run", "--no-install", file], { cwd }));
}

export async function runInDeno(file, cwd) {
  // Deno denies access to the environment, so the package must treat every variable as unset.
  const allowed = ["--allow-net=127.0.0.1", "--allow-read=."];
  const args = ["run", "--no-prompt", "--no-remote", ...allowed, file];
  return resultsIn(await runProgram("deno", DENO, args, { cwd, env: denoEnv(cwd) }));
}

export function denoEnv(folder) {
  return { ...process.env, DENO_NO_UPDATE_CHECK: "1", DENO_DIR: `${folder}/.deno` };
}
